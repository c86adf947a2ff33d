"""The six tasks: their data, splits, dimensions and bandwidths.

A synthetic task draws new data for every seed: 4,000 rows to learn and 1,000 to test.  A real task
keeps its held-out rows whatever the seed.  Development never touches the held-out rows of a real
task; for a synthetic one it uses seeds of its own.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GroupShuffleSplit, train_test_split

from okspca.datasets import (
    DataFileError,
    friedman,
    kin8nm,
    load_har,
    load_kin8nm,
    load_sensorless,
    sensorless,
    spirals,
    xor_gauss,
)
from okspca.datasets.files import find
from okspca.datasets.har import FULL
from okspca.numerics.arrays import Floats

SPLIT_SEED = 20260715
N_TRAIN, N_TEST = 4000, 1000


@dataclass(frozen=True)
class Split:
    """Rows to learn from and rows to be scored on."""

    X: Floats
    y: NDArray[Any]
    X_test: Floats
    y_test: NDArray[Any]

    def first(self, n: int) -> "Split":
        """Keep only so many rows to learn, and half as many to test."""
        return Split(self.X[:n], self.y[:n], self.X_test[: n // 2], self.y_test[: n // 2])


@dataclass(frozen=True)
class Task:
    """A task as the paper sets it.

    Attributes
    ----------
    name : str
        As in the tables; "HAR-265" where only the time-domain features are there.
    labels : bool
        Whether the response is a class.
    n_features : int
        Random features of the inputs, D_x (and D_y for a number).
    rank, old_rank : int
        Columns k at the cap C - 1 (4 for a number), and in the control table.
    bandwidth, target_bandwidth : float or None
        Published bandwidths; None where the paper has none for these data.
    final, development : callable
        From a seed to a split.
    """

    name: str
    labels: bool
    n_features: int
    rank: int
    old_rank: int
    bandwidth: float | None
    target_bandwidth: float | None
    final: Callable[[int], Split]
    development: Callable[[int], Split]

    @property
    def metric(self) -> str:
        """How it is scored."""
        return "Macro-F1" if self.labels else "R²"


def synthetic(draw: Callable[[int, int], tuple[Floats, NDArray[Any]]]) -> Callable[[int], Split]:
    """Make the split of a generator."""

    def split(seed: int) -> Split:
        X, y = draw(N_TRAIN + N_TEST, seed)
        return Split(X[:N_TRAIN], y[:N_TRAIN], X[N_TRAIN:], y[N_TRAIN:])

    return split


@cache
def _har() -> tuple[str, Any, Any]:
    """Load once."""
    return load_har()


def _har_final(seed: int) -> Split:
    """Return the official subject-disjoint split."""
    del seed
    _, train, test = _har()
    return Split(train.X, train.y, test.X, test.y)


def _har_development(seed: int) -> Split:
    """Keep people apart: a fifth of the training subjects validate."""
    del seed
    _, train, _ = _har()
    splitter = GroupShuffleSplit(n_splits=1, test_size=0.2, random_state=SPLIT_SEED)
    learn, validate = next(splitter.split(train.X, train.y, train.subject))
    return Split(train.X[learn], train.y[learn], train.X[validate], train.y[validate])


@cache
def _sensorless_rows() -> tuple[Floats, NDArray[Any]]:
    """Load once."""
    return load_sensorless()


def sensorless_split(split_seed: int) -> tuple[Split, Split]:
    """Stratified 60/20/20; the final training rows are the first two parts."""
    X, y = _sensorless_rows()
    rows = np.arange(len(y))
    learn, test = train_test_split(rows, test_size=0.2, random_state=split_seed, stratify=y)
    fit, validate = train_test_split(
        learn, test_size=0.25, random_state=split_seed, stratify=y[learn]
    )
    final = Split(X[learn], y[learn], X[test], y[test])
    return final, Split(X[fit], y[fit], X[validate], y[validate])


@cache
def _sensorless() -> tuple[Split, Split]:
    """Return the split in use."""
    return sensorless_split(SPLIT_SEED)


@cache
def _kin8nm() -> tuple[Split, Split]:
    """80/20 with seed 0, and the training rows 80/20 again."""
    X, y = load_kin8nm()
    learn, X_test, y_learn, y_test = train_test_split(X, y, test_size=0.2, random_state=0)
    parts = train_test_split(learn, y_learn, test_size=0.2, random_state=SPLIT_SEED)
    return Split(learn, y_learn, X_test, y_test), Split(parts[0], parts[2], parts[1], parts[3])


_XOR, _SPIRALS, _FRIEDMAN = synthetic(xor_gauss), synthetic(spirals), synthetic(friedman)
TASKS = {
    task.name: task
    for task in (
        Task("XOR-Gauss", True, 64, 1, 4, 4.49429, None, _XOR, _XOR),
        Task("Spirals-3", True, 64, 2, 5, 4.49160, None, _SPIRALS, _SPIRALS),
        Task("Friedman-1", False, 128, 4, 4, 3.20342, 0.709610, _FRIEDMAN, _FRIEDMAN),
        Task("HAR", True, 1024, 5, 20, 23.0553, None, _har_final, _har_development),
        Task(
            "Sensorless",
            True,
            256,
            10,
            12,
            6.40547,
            None,
            lambda seed: _sensorless()[0],
            lambda seed: _sensorless()[1],
        ),
        Task(
            "Kin8nm",
            False,
            128,
            4,
            4,
            2.81574,
            0.710298,
            lambda seed: _kin8nm()[0],
            lambda seed: _kin8nm()[1],
        ),
    )
}
DEVELOPED = ("XOR-Gauss", "HAR", "Kin8nm")


def is_local(name: str) -> bool:
    """Whether the data of a task are on this machine; the network is not used.

    Examples
    --------
    >>> is_local("XOR-Gauss")
    True
    """
    files = {"Sensorless": sensorless.FILES, "Kin8nm": kin8nm.FILES}
    try:
        if name == "HAR":
            _har()
        elif name in files:
            find(*files[name], download=False)
    except DataFileError:
        return False
    return True


@cache
def resolved(name: str) -> Task:
    """Return a task under the name of the data that are there.

    Examples
    --------
    >>> resolved("Friedman-1").rank
    4
    """
    task = TASKS[name]
    if name == "HAR" and _har()[0] != FULL:
        return replace(task, name=_har()[0], bandwidth=None)
    return task
