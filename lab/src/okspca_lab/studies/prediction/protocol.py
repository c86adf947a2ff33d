"""What is held fixed: seeds, stream order, bandwidth, probe and score.

Seed s of a run moves four others: 10000 + s orders the stream, 20000 + s draws the input map (and
the adapter's projection; plus one, the target map), 30000 + s the initial basis, 40000 + s the
probe.
"""

import warnings
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import f1_score, r2_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from okspca.features import FourierMap
from okspca.features.bandwidth import MEDIAN_ROWS, median_distance
from okspca.numerics.arrays import Floats
from okspca.standardize import PAPER, CausalStandardizer
from okspca_lab.studies.prediction.tasks import Split, Task, resolved

FINAL_SEEDS = tuple(range(100, 110))
DEVELOPMENT_SEEDS = tuple(range(5))
STREAM, INPUT_MAP, BASIS, PROBE = 10_000, 20_000, 30_000, 40_000
LEARNING_RATE, CLIP = 0.03, 0.5
MOST_ITERATIONS = 2000


def streamed(split: Split, seed: int) -> Split:
    """Put the rows to learn into the order of a seed."""
    order = RandomState(STREAM + seed).permutation(len(split.X))
    return Split(split.X[order], split.y[order], split.X_test, split.y_test)


def input_map(task: Task, seed: int, n_inputs: int) -> FourierMap:
    """Draw the map that all pipelines with random features share."""
    return FourierMap.sample(
        n_inputs, task.n_features, bandwidth=bandwidths(task.name)[0], seed=INPUT_MAP + seed
    )


def target_map(task: Task, seed: int) -> FourierMap | None:
    """Draw the map of a numeric response; None for labels."""
    if task.labels:
        return None
    width = bandwidths(task.name)[1]
    return FourierMap.sample(1, task.n_features, bandwidth=width, seed=INPUT_MAP + seed + 1)


@cache
def bandwidths(name: str) -> tuple[float, float]:
    """Bandwidths in use: the published ones, or those of the median rule where there are none."""
    task = resolved("HAR" if name.startswith("HAR") else name)
    if task.bandwidth is not None:
        return task.bandwidth, task.target_bandwidth or 0.0
    return median_bandwidths(task)


def median_bandwidths(task: Task) -> tuple[float, float]:
    """Apply the median rule to the first rows of the first development stream."""
    width = median_width(task)
    if task.labels:
        return width, 0.0
    y = _first_development_stream(task).y[:MEDIAN_ROWS, np.newaxis]
    return width, median_distance(_standardised(y))


def median_width(task: Task, columns: Any = slice(None)) -> float:
    """Apply the median rule to some columns of the inputs."""
    X = _first_development_stream(task).X[:MEDIAN_ROWS, columns]
    return median_distance(_standardised(np.ascontiguousarray(X)))


def _first_development_stream(task: Task) -> Split:
    """Return the rows behind the bandwidths."""
    return streamed(task.development(DEVELOPMENT_SEEDS[0]), DEVELOPMENT_SEEDS[0])


def _standardised(rows: Floats) -> Floats:
    """Standardise each row by those before it, with the paper's variance floor."""
    return CausalStandardizer(rows.shape[1], PAPER).scan(rows, np.ones(len(rows)))


class Score(NamedTuple):
    """How well a probe on an embedding predicts, and whether its optimiser came to its end."""

    value: float
    converged: bool


def probed(task: Task, train: Floats, test: Floats, split: Split, seed: int) -> Score:
    """Fit an own standardiser and probe to embedded training rows and score the test rows."""
    model, converged = fitted_probe(task, train, split.y, seed)
    return Score(score_of(task, split.y_test, model.predict(test)), converged)


def fitted_probe(task: Task, train: Floats, y: NDArray[Any], seed: int) -> tuple[Any, bool]:
    """Fit a standardiser and probe, and say whether its optimiser came to its end."""
    probe: Any
    if task.labels:
        probe = LogisticRegression(
            C=1.0, tol=1e-4, max_iter=MOST_ITERATIONS, random_state=PROBE + seed
        )
    else:
        probe = Ridge(alpha=1.0, random_state=PROBE + seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = make_pipeline(StandardScaler(), probe).fit(train, y)
    return model, not task.labels or bool(np.max(probe.n_iter_) < MOST_ITERATIONS)


def score_of(task: Task, truth: NDArray[Any], guess: NDArray[Any]) -> float:
    """Macro-F1 of labels, R² of numbers."""
    if task.labels:
        return float(f1_score(truth, guess, average="macro"))
    return float(r2_score(truth, guess))
