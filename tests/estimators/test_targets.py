"""What may be a target, in blocks and alone, and that what may not leaves no trace."""

from typing import Any

import numpy as np
import pytest
from numpy.random import RandomState

from okspca import OKSPCA, DataError
from okspca.features import FeatureMap
from okspca.numerics.arrays import Floats

X = RandomState(0).normal(size=(300, 5))
Y = np.sin(X[:, 0]) + X[:, 1] ** 2


def rows(n: int = 1500, seed: int = 0) -> tuple[Floats, Floats]:
    X = RandomState(seed).normal(size=(n, 3))
    return X, np.sin(2.0 * X[:, 0]) + 0.5 * X[:, 1]


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (Y.astype(object), "at row 0, and has dtype object"),
        (np.datetime64("2026-01-01") + np.arange(300), "dtype datetime64"),
        (np.zeros((300, 0)), "no columns"),
        (Y.astype(complex), "dtype complex"),
    ],
)
def test_targets_that_are_neither_numbers_nor_labels(y: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        OKSPCA(random_state=0).partial_fit(X, y)


def test_declared_classes_must_be_of_the_kind_of_the_labels() -> None:
    with pytest.raises(DataError, match="classes holds text, but y holds numbers"):
        OKSPCA().partial_fit(X, (Y > 0).astype(int), classes=["0", "1"])


def test_classes_may_be_a_list_of_numpy_scalars() -> None:
    labels = np.array([3, 1, 2, 1])
    X = np.arange(8.0).reshape(4, 2)
    plain = OKSPCA(1, random_state=0).partial_fit(X, labels, classes=[1, 2, 3])
    listed = OKSPCA(1, random_state=0).partial_fit(X, labels, classes=list(np.unique(labels)))
    np.testing.assert_array_equal(plain.classes_, listed.classes_)
    words = OKSPCA(1, random_state=0).partial_fit(X, list(np.array(["b", "a", "a", "b"])))
    assert list(words.classes_) == ["b", "a"]


@pytest.mark.parametrize(
    ("x", "y"),
    [
        ([1j, 0.0, 0.0], 1.0),
        ([0.0, 0.0, 0.0], 10**400),
        ([10**400, 0.0, 0.0], 1.0),
    ],
)
def test_what_is_no_number_is_refused(x: Any, y: Any) -> None:
    X, targets = rows(60)
    model = OKSPCA(1, n_random_features=16, random_state=0).partial_fit(X, targets)
    before = model.to_bytes()
    with pytest.raises(DataError):
        model.learn_one(x, y)
    assert model.to_bytes() == before


@pytest.mark.parametrize("dtype", ["datetime64[ns]", "timedelta64[ns]", object])
def test_a_block_of_one_row_is_checked_as_longer_ones_are(dtype: Any) -> None:
    X, y = rows(60)
    model = OKSPCA(1, n_random_features=16, random_state=0).partial_fit(X, y)
    with pytest.raises(DataError):
        model.partial_fit(X[:1], np.array([1.5 if dtype is object else 1], dtype=dtype))
    assert model.n_samples_seen_ == 60


class Picky(FeatureMap):
    """Refuses large inputs."""

    n_inputs, n_features = 3, 3

    def transform(self, Z: Floats) -> Floats:
        if np.abs(Z).max(initial=0.0) > 50.0:
            message = "out of my domain"
            raise ValueError(message)
        return Z

    def equals(self, other: FeatureMap) -> bool:
        return isinstance(other, Picky)


@pytest.mark.parametrize("one_row", [True, False])
def test_a_class_whose_row_was_not_learned_is_not_known(one_row: bool) -> None:
    X, y = rows(60)
    model = OKSPCA(1, input_map=Picky(), random_state=0).partial_fit(X, np.where(y > 0, "a", "b"))
    far = np.full((1, 3), 1e6)
    with pytest.raises(ValueError, match="my domain"):
        model.learn_one(far[0], "c") if one_row else model.partial_fit(far, ["c"])
    assert set(model.classes_.tolist()) == {"a", "b"}
    assert model.n_samples_seen_ == 60
    model.learn_one(X[0], "d")
    assert set(model.classes_.tolist()) == {"a", "b", "d"}
