"""An answer as an object: it cannot be changed, and it is equal to itself only."""

import pickle

import numpy as np
import pytest
from numpy.random import RandomState

from okspca import OKSPCA
from okspca.basis import Basis


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
