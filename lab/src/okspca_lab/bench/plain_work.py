"""The work of `okspca bench --cases default`, as a program that runs in a process of its own.

It does what a person does who sets nothing, and prints the seconds of each piece of work as JSON.
Everything is done once on a few rows first, off the clock, so that machine code is loaded.
"""

import json
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from okspca import OKSPCA, OKSPCAClassifier

N_ROWS, N_INPUTS, README_ROWS = 20_000, 20, 5000
FEW_ROWS = 200
#: Twelve cells.
GRID = {"okspca__n_components": [1, 2, 4], "okspca__bandwidth": [2.0, 4.0, 6.0, 8.0]}


def surface(n_rows: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Draw rows of the README's example."""
    X = np.random.default_rng(0).normal(size=(n_rows, N_INPUTS))
    return X, np.sin(X[:, 0]) + X[:, 1] ** 2


def readme(n_rows: int) -> object:
    """Do what the README's example does, on at most as many rows as it has."""
    n_rows = min(n_rows, README_ROWS)
    X, y = surface(n_rows)
    model = OKSPCA(n_components=2, preset="predictive", random_state=0)
    for block in np.array_split(np.arange(n_rows), 50):
        model.partial_fit(X[block], y[block])
    return model.transform(X[:3]), model.basis().certificate


def fit(n_rows: int) -> object:
    """Fit a regression in one call."""
    return OKSPCA(2, random_state=0).fit(*surface(n_rows))


def blocks(n_rows: int) -> object:
    """Learn the same rows in blocks of a hundred."""
    X, y = surface(n_rows)
    model = OKSPCA(2, random_state=0)
    for start in range(0, n_rows, 100):
        model.partial_fit(X[start : start + 100], y[start : start + 100])
    return model.basis()


def classifier(n_rows: int) -> object:
    """Fit a classifier, whose target is whitened."""
    X, y = surface(n_rows)
    return OKSPCAClassifier(random_state=0).fit(X, np.digitize(y, [0.0, 0.5, 1.0, 2.0]))


def grid(n_rows: int) -> object:
    """Search a grid of twelve cells with two workers."""
    pipeline = make_pipeline(OKSPCA(2, random_state=0), Ridge())
    return GridSearchCV(pipeline, GRID, cv=3, n_jobs=2).fit(*surface(n_rows))


WORK: dict[str, Callable[[int], Any]] = {
    "readme": readme,
    "fit": fit,
    "blocks": blocks,
    "classifier": classifier,
    "grid": grid,
}


def main(names: list[str], n_rows: int) -> None:
    """Do pieces of work, and print how long each took."""
    seconds = {}
    for name in names:
        WORK[name](FEW_ROWS)
        start = time.perf_counter()
        WORK[name](n_rows)
        seconds[name] = time.perf_counter() - start
    print(json.dumps(seconds))


if __name__ == "__main__":
    main(sys.argv[2:], int(sys.argv[1]))
