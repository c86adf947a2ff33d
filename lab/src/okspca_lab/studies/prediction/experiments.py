"""Experiments: what moves the numbers that differ from the published ones.

``splits``: Sensorless with other split seeds, since the published one is not known.  ``loadings``:
CIPLS with a component's own score in its loadings.  ``rounding``: what makes the seeds differ where
nothing is drawn (Raw-X).  ``columns``: how the bandwidth grows with the number of inputs.
"""

import math
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.random import RandomState
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.preprocessing import StandardScaler

from okspca.numerics.arrays import Floats
from okspca_lab.studies.prediction import methods, published
from okspca_lab.studies.prediction.fits import (
    FRACTIONS,
    final_rows,
    geometry,
    score_row,
    scored,
    scored_rows,
)
from okspca_lab.studies.prediction.protocol import MOST_ITERATIONS, PROBE, median_width
from okspca_lab.studies.prediction.tasks import Split, Task, sensorless_split
from okspca_lab.studies.rows import Row

#: Split seeds tried, and the stream seeds of each; the first is the one of the published path.
SPLITS = tuple(range(1, 11))
SPLIT_STREAMS = (published.ADVERSE_SEED, 100, 101)
#: Shares of the columns that the bandwidth rule is applied to, and how often they are drawn.
SHARES, DRAWS = (0.125, 0.25, 0.5, 1.0), 20

AS_STUDIED = "as in the study"
#: How the probe of Raw-X is fitted: what is held fixed or changed.
ROUNDING: dict[str, dict[str, Any]] = {
    AS_STUDIED: {},
    "same order of rows for all seeds": {"ordered": False},
    "same probe seed for all seeds": {"probe": PROBE},
    "tolerance 1e-6": {"tol": 1e-6},
    "at most 100 iterations": {"max_iter": 100},
    "single precision": {"dtype": np.float32},
}


def split_rows(task: Task, split_seed: int, *, quick: bool) -> list[Row]:
    """Score the tracker and linear CIPLS on another split, and follow the tracker's path."""
    split_again = sensorless_split(split_seed)[0]
    other = replace(task, final=lambda seed: split_again)
    rows: list[Row] = []
    for seed in SPLIT_STREAMS[: 1 if quick else None]:
        split = final_rows(other, seed, quick=quick)
        models = methods.comparators(other, split, seed)
        chosen = {name: models[name] for name in (methods.LINEAR_CIPLS, methods.CIPLS_ANY)}
        found = [*_tracker_rows(other, split, seed), *scored_rows(chosen, other, split, seed)]
        rows += [{**row, "kind": f"split {row['kind']}", "split": split_seed} for row in found]
    return rows


def _tracker_rows(task: Task, split: Split, seed: int) -> list[Row]:
    """Score the tracker and look at its basis at the five checkpoints."""
    model = methods.okspca(task, split, seed, task.rank)
    rows, start = [], 0
    for fraction in FRACTIONS:
        stop = math.ceil(fraction * len(split.X))
        model.partial_fit(split.X[start:stop], split.y[start:stop])
        rows.append({**geometry(model), "seed": seed, "fraction": fraction})
        start = stop
    return [*rows, score_row(methods.OKSPCA_NAME, seed, scored(task, model, split, seed))]


def loading_rows(task: Task, seed: int, *, quick: bool) -> list[Row]:
    """Score CIPLS with a component's own score in its loadings, with both ways to go on."""
    split = final_rows(task, seed, quick=quick)
    return scored_rows(methods.own_loadings(task, split, seed), task, split, seed)


def rounding_rows(task: Task, seed: int, *, quick: bool) -> list[Row]:
    """Score Raw-X with one thing about its probe changed at a time."""
    rows = []
    for variant, changed in ROUNDING.items():
        score, iterations = _raw_score(task, seed, quick=quick, **changed)
        row = {"kind": "rounding", "seed": seed, "variant": variant}
        rows.append({**row, "score": score, "iterations": iterations})
    return rows


def _raw_score(
    task: Task,
    seed: int,
    *,
    quick: bool,
    ordered: bool = True,
    probe: int | None = None,
    dtype: Any = np.float64,
    **settings: Any,
) -> tuple[float, int]:
    """Macro-F1 of a probe on the inputs, and how many iterations it took."""
    split = final_rows(task, seed if ordered else 0, quick=quick)
    scaler = StandardScaler()
    train = scaler.fit_transform(split.X.astype(dtype))
    state = PROBE + seed if probe is None else probe
    chosen = {"C": 1.0, "tol": 1e-4, "max_iter": MOST_ITERATIONS, **settings}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = LogisticRegression(**chosen, random_state=state).fit(train, split.y)
    guess = model.predict(scaler.transform(split.X_test.astype(dtype)))
    return float(f1_score(split.y_test, guess, average="macro")), int(np.max(model.n_iter_))


def column_rows(task: Task, seed: int, *, quick: bool) -> list[Row]:
    """Apply the median rule to some of the columns, drawn at random."""
    del quick
    random, rows = RandomState(seed), []
    n_inputs = task.final(0).X.shape[1]
    for share in SHARES:
        n_columns = math.ceil(share * n_inputs)
        draws = [random.permutation(n_inputs)[:n_columns] for _ in range(DRAWS)]
        widths: Floats = np.array([median_width(task, columns) for columns in draws])
        row = {"kind": "columns", "columns": n_columns, "mean": float(widths.mean())}
        rows.append({**row, "low": float(widths.min()), "high": float(widths.max())})
    return rows
