"""An answer as an object: it cannot be changed, and it is equal to itself only."""

import pickle

import numpy as np
import pytest
from numpy.random import RandomState

from okspca import OKSPCA
from okspca.basis import Basis
from okspca.numerics.arrays import Floats


def data() -> tuple[Floats, Floats]:
    X = RandomState(0).normal(size=(300, 5))
    return X, np.sin(X[:, 0]) + X[:, 1] ** 2


def answered() -> Basis:
    X = RandomState(0).normal(size=(80, 3))
    return OKSPCA(2, n_random_features=16, random_state=0).partial_fit(X, X[:, 0]).basis()


def test_an_answer_equals_itself_only() -> None:
    basis, same = answered(), answered()
    assert basis == basis
    assert basis != same
    assert (basis == same) is False
    assert {basis: 1}[basis] == 1


def test_nothing_of_an_answer_can_be_changed() -> None:
    basis = answered()
    with pytest.raises(AttributeError):
        basis.age = 3  # type: ignore[misc]
    for array in (basis.vectors, basis.singular_values):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0
    assert basis.vectors.flags.c_contiguous


def test_an_answer_can_be_pickled() -> None:
    basis = answered()
    back = pickle.loads(pickle.dumps(basis))
    assert type(back) is Basis
    assert np.array_equal(back.vectors, basis.vectors)
    assert back.certificate == basis.certificate


def test_singular_values_belong_to_the_columns_shown() -> None:
    X, Y = data()
    model = OKSPCA(3, random_state=0, align=True).fit(X, Y)
    C = model.moment_.matrix()
    expected = np.linalg.norm(C.T @ model.components_.T, axis=0)
    np.testing.assert_allclose(model.singular_values_, expected, rtol=1e-10)
    earlier = OKSPCA(3, random_state=0).fit(X[:80], Y[:80]).basis()
    turned = model.basis(align_to=earlier)
    np.testing.assert_allclose(
        turned.singular_values, np.linalg.norm(C.T @ turned.vectors, axis=0), rtol=1e-9
    )


def test_a_basis_prints_as_one_line() -> None:
    X, Y = data()
    text = repr(OKSPCA(2, random_state=0).fit(X, Y).basis())
    assert "\n" not in text
    assert "captures at least 0.99999999" in text
