"""Named features: standardised each by its own rows, with frequencies of their own."""

import numpy as np
import pytest

from okspca import DataError
from okspca.distributed.named import NamedFeatures
from okspca.standardize import CausalStandardizer


def test_features_that_are_always_there_are_standardised_as_ever() -> None:
    X = np.random.RandomState(0).normal(size=(50, 3)) * 10.0 + 5.0
    named = NamedFeatures(8, 1.0, seed=0)
    named.learn_names("abc")
    Z = named.scan(named.rows([dict(zip("abc", row, strict=True)) for row in X]))
    plain = CausalStandardizer(3)
    np.testing.assert_array_equal(Z[:, 1:], plain.scan(X, np.ones(50)))
    np.testing.assert_array_equal(named.mean[1:], plain.mean)
    np.testing.assert_array_equal(named.transform(named.rows([])), np.empty((0, 4)))


def test_a_column_belongs_to_its_name() -> None:
    one, two = NamedFeatures(8, 2.0, seed=3), NamedFeatures(8, 2.0, seed=3)
    for named, names in ((one, "ab"), (two, "b"), (two, "ac"), (two, "a")):
        named.learn_names(names)
    assert (one.weights.shape, two.weights.shape) == ((8, 3), (8, 4))
    for name in "ab":
        mine, theirs = one.weights[:, one.columns[name]], two.weights[:, two.columns[name]]
        np.testing.assert_array_equal(mine, theirs)
    np.testing.assert_array_equal(one.phases, two.phases)


def test_absent_features_add_nothing() -> None:
    named = NamedFeatures(8, 1.0, seed=0)
    named.learn_names(["a"])
    rows = [{"a": float(value)} for value in range(5)]
    named.scan(named.rows(rows))
    before = named.map().transform(named.transform(named.rows(rows)))
    named.learn_names(["b"])
    Z = named.transform(named.rows([*rows, {"a": None, "b": float("nan")}, {}]))
    assert (Z[-2:] == 0.0).all()
    np.testing.assert_array_equal(named.map().transform(Z[:-2]), before)


@pytest.mark.parametrize(("value", "told"), [("red", "not a number"), (1e200, "rescale")])
def test_values_that_cannot_be_learned_are_named(value: object, told: str) -> None:
    named = NamedFeatures(8, 1.0, seed=0)
    named.learn_names(["colour"])
    with pytest.raises(DataError, match=f"'colour'.*{told}"):
        named.rows([{"colour": value}])
