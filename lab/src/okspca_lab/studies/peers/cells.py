"""One cell: a method fitted to a data set with a seed, scored, and what that cost."""

import warnings
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import RandomState

from okspca import OKSPCA
from okspca_lab.studies.peers.data import DATA
from okspca_lab.studies.peers.measure import seconds_of, spent
from okspca_lab.studies.peers.methods import BY_NAME, Method
from okspca_lab.studies.peers.plan import Plan
from okspca_lab.studies.peers.streams import cells as stream_cells
from okspca_lab.studies.prediction.beyond.cells import rung_of
from okspca_lab.studies.prediction.protocol import fitted_probe, score_of, streamed
from okspca_lab.studies.prediction.tasks import Split, Task
from okspca_lab.studies.rows import Cell, Row
from okspca_lab.studies.runner import Part

QUICK_ROWS = 600
WARM_ROWS, WARM_INPUTS, WARM_WIDTH = 600, 5, 32
MICRO, LONG = 1e6, 1.0


def work(cell: Cell) -> list[Row]:
    """Do one cell."""
    task, method, seed = DATA[cell["data"]], BY_NAME[cell["method"]], cell["seed"]
    split = _split(cell["data"], seed)
    if cell["quick"]:
        split = split.first(QUICK_ROWS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of optimisers that others stop early
        _warm(method.name, labels=task.labels)
        row = measured(method, task, split, seed)
    names = {"data": cell["data"], "method": method.name, "group": method.group, "seed": seed}
    return [{**names, **row}]


def parts(plan: Plan, out: Path) -> list[Part]:
    """All cells, ready to be run; streams have rows of their own."""
    cells = plan.cells()
    own = [Part.of_cells(out, plan.settings, cells, work)] if cells else []
    return [*own, *stream_cells.parts(plan.stream_cells(), out, quick=plan.quick)]


def measured(method: Method, task: Task, split: Split, seed: int) -> Row:
    """Fit a method and score it, with what it cost to fit and to use."""
    n = min(method.most_rows or len(split.y), len(split.y))
    model = method.make(task, split.X.shape[1], seed)
    _, cost = spent(lambda: model.fit(split.X[:n], split.y[:n]))
    use = model.predict if method.predicts else model.transform
    (guess, used), converged = spent(lambda: use(split.X_test)), True
    # Short work is timed again, once nothing has to be loaded any more.
    seconds = used.seconds if used.seconds > LONG else seconds_of(lambda: use(split.X_test))
    if not method.predicts:
        probe, converged = fitted_probe(task, use(split.X), split.y, seed)
        guess = probe.predict(guess)
    return {
        "score": score_of(task, split.y_test, guess),
        "accuracy": float(np.mean(guess == split.y_test)) if task.labels else None,
        "converged": converged,
        "fit_seconds": round(cost.seconds, 4),
        "embed_us": round(MICRO * seconds / len(split.y_test), 3),
        "memory": cost.memory,
        "rung": rung_of(model) if isinstance(model, OKSPCA) else None,
        **_sizes(split, n),
    }


def _sizes(split: Split, n: int) -> Row:
    """How many rows and inputs there were."""
    return {
        "rows": len(split.y),
        "rows_fitted": n,
        "test_rows": len(split.y_test),
        "inputs": split.X.shape[1],
    }


@lru_cache(maxsize=1)
def _split(name: str, seed: int) -> Split:
    """Rows of a data set in stream order; the methods of a seed come one after the other."""
    return streamed(DATA[name].development(seed), seed)


@cache
def _warm(name: str, *, labels: bool) -> None:
    """Fit once in this process, so that compiling and importing are not on the clock."""
    random = RandomState(0)
    X = random.standard_normal((WARM_ROWS, WARM_INPUTS))
    signal = X[:, 0] * X[:, 1]
    y: Any = (signal > 0.0).astype(np.int64) if labels else signal
    task = replace(DATA["moons-30"], labels=labels, n_features=WARM_WIDTH)
    split = Split(X, y, X[:100], y[:100])
    measured(BY_NAME[name], task, split, 0)
