"""The data sets of the comparison: rows, components and features, cheap ones first.

Of the six tasks of the prediction study only development rows are used: seeds of their own where
rows are drawn, splits within the rows that are not held out where they are real, and people kept
apart for HAR.  The other real sets are split anew for every seed.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from sklearn import datasets as sklearn_sets
from sklearn.model_selection import GroupShuffleSplit, train_test_split

from okspca.datasets import (
    DataFileError,
    covtype,
    electricity,
    fashion_mnist,
    load_covtype,
    load_electricity,
    load_fashion_mnist,
    load_har,
)
from okspca.datasets.files import find
from okspca.numerics.arrays import Floats
from okspca_lab.studies.prediction.tasks import TASKS, Split, Task, is_local, resolved, synthetic

Rows = tuple[Floats, NDArray[Any]]
#: Random features, and components of a number, where no task of the paper says otherwise.
WIDTH, RANK = 256, 4
INDEX_INPUTS, MOON_INPUTS = 50, 30
#: All 60,000 pictures and the official test: run only where it is asked for.
LARGE = "Fashion-60000"


def _moons(n: int, seed: int) -> Rows:
    """Two half moons in the first two inputs; the others tell nothing."""
    X, y = sklearn_sets.make_moons(n, noise=0.15, random_state=seed)
    others = RandomState([seed, 1]).standard_normal((n, MOON_INPUTS - 2))
    return np.column_stack([X, others]), y.astype(np.int64)


def _index_model(n: int, seed: int) -> Rows:
    """The sine of one projection of fifty inputs, with some noise."""
    random = RandomState(seed)
    direction = random.standard_normal(INDEX_INPUTS)
    X = random.standard_normal((n, INDEX_INPUTS))
    signal = np.sin(2.0 * X @ direction / np.linalg.norm(direction))
    return X, signal + 0.2 * random.standard_normal(n)


def _friedman(number: int, noise: float) -> Callable[[int], Split]:
    """One of scikit-learn's generators."""
    make = getattr(sklearn_sets, f"make_friedman{number}")
    return synthetic(lambda n, seed: make(n, noise=noise, random_state=seed))


def _sampled(load: Callable[[], Rows], n: int, n_test: int) -> Callable[[int], Split]:
    """So many rows of a large set, and so many others to test, anew for every seed."""

    def split(seed: int) -> Split:
        X, y = load()
        rows = RandomState(seed).permutation(len(y))[: n + n_test]
        return Split(X[rows[:n]], y[rows[:n]], X[rows[n:]], y[rows[n:]])

    return split


def _divided(load: Callable[[], Rows], share: float, *, labels: bool) -> Callable[[int], Split]:
    """All rows of a set, some of them to test, anew for every seed."""

    def split(seed: int) -> Split:
        X, y = load()
        parts = train_test_split(
            X, y, test_size=share, random_state=seed, stratify=y if labels else None
        )
        return Split(parts[0], parts[2], parts[1], parts[3])

    return split


def _development(name: str) -> Rows:
    """Rows of a task of the prediction study that are not held out."""
    split = TASKS[name].final(0)
    return split.X, split.y


def _har(seed: int) -> Split:
    """Keep people apart: a fifth of the training subjects are tested, others for every seed."""
    _, train, _ = _har_rows()
    splitter = GroupShuffleSplit(n_splits=1, test_size=0.2, random_state=seed)
    learn, test = next(splitter.split(train.X, train.y, train.subject))
    return Split(train.X[learn], train.y[learn], train.X[test], train.y[test])


def _official(seed: int) -> Split:
    """All pictures, the same for every seed."""
    del seed
    return Split(*_fashion("train"), *_fashion("test"))


_har_rows, _covtype, _electricity = cache(load_har), cache(load_covtype), cache(load_electricity)
_fashion = cache(load_fashion_mnist)


def _own(name: str) -> Rows:
    """A small set that comes with scikit-learn."""
    X, y = getattr(sklearn_sets, f"load_{name}")(return_X_y=True)
    return X, y


def _set(name: str, k: int, draw: Callable[[int], Split], *, labels: bool) -> Task:
    """Describe a set that is not in the paper."""
    return Task(name, labels, WIDTH, k, k, None, None, draw, draw)


def _task(name: str, draw: Callable[[int], Split]) -> Task:
    """A task of the paper, with other splits."""
    return replace(TASKS[name], final=draw, development=draw)


#: By what a fit costs, cheap ones first.
DATA: dict[str, Task] = {
    task.name: task
    for task in (
        _set("wine", 2, _divided(lambda: _own("wine"), 0.3, labels=True), labels=True),
        _set(
            "breast-cancer",
            1,
            _divided(lambda: _own("breast_cancer"), 0.3, labels=True),
            labels=True,
        ),
        _set("diabetes", RANK, _divided(lambda: _own("diabetes"), 0.3, labels=False), labels=False),
        _set("digits", 9, _divided(lambda: _own("digits"), 0.3, labels=True), labels=True),
        _task("XOR-Gauss", TASKS["XOR-Gauss"].development),
        _task("Spirals-3", TASKS["Spirals-3"].development),
        _task("Friedman-1", TASKS["Friedman-1"].development),
        _set("make_friedman1", RANK, _friedman(1, 1.0), labels=False),
        _set("make_friedman2", RANK, _friedman(2, 50.0), labels=False),
        _set("make_friedman3", RANK, _friedman(3, 0.1), labels=False),
        _set("moons-30", 1, synthetic(_moons), labels=True),
        _set("index-50", RANK, synthetic(_index_model), labels=False),
        _task("Kin8nm", _divided(lambda: _development("Kin8nm"), 0.2, labels=False)),
        _set("electricity", 1, _sampled(lambda: _electricity(), 20_000, 10_000), labels=True),
        _set("covtype", 6, _sampled(lambda: _covtype(), 20_000, 10_000), labels=True),
        _task("Sensorless", _divided(lambda: _development("Sensorless"), 0.25, labels=True)),
        _set("Fashion-MNIST", 9, _sampled(lambda: _fashion("train"), 10_000, 10_000), labels=True),
        _task("HAR", _har),
        _set(LARGE, 9, _official, labels=True),
    )
}
_FILES = {
    "covtype": covtype.FILES,
    "electricity": electricity.FILES,
    "Fashion-MNIST": fashion_mnist.FILES["train"][:1],
    LARGE: fashion_mnist.FILES["train"][:1],
}


def is_there(name: str) -> bool:
    """Whether the rows of a set are on this machine; the network is not used.

    Examples
    --------
    >>> is_there("digits")
    True
    """
    if name in TASKS:
        return is_local(name)
    try:
        if name in _FILES:
            find(*_FILES[name], download=False)
    except DataFileError:
        return False
    return True


def shown(name: str) -> str:
    """Name of a set in tables: of HAR there may be only a part.

    Examples
    --------
    >>> shown("digits")
    'digits'
    """
    return resolved(name).name if name == "HAR" else name
