"""Causal standardiser against the plain one, and what is special to it."""

import numpy as np
import pytest
from numpy.random import RandomState
from numpy.typing import NDArray

from okspca.errors import MergeError
from okspca.standardize import (
    PAPER,
    RELATIVE,
    CausalStandardizer,
    FrozenStandardizer,
    NoStandardizer,
    VarianceRule,
)
from tests.reference.standardizer import ReferenceStandardizer

Array = NDArray[np.float64]


def columns(n: int = 60) -> Array:
    """Ordinary, offset, tiny-unit, constant, nearly constant and huge columns."""
    z = RandomState(0).normal(size=(n, 6))
    units = np.array([1.0, 3.0, 1e-6, 0.0, 1e-4, 1e40])
    return z * units + np.array([0.0, 1e3, 0.0, 7.0, 1.0, 0.0])


def test_paper_rule_equals_the_reference_row_by_row() -> None:
    X = columns()[:, :5]
    ours, plain = CausalStandardizer(5, PAPER), ReferenceStandardizer()
    for row in X:
        expected = plain.transform(row)
        np.testing.assert_allclose(
            ours.scan(row[np.newaxis], np.ones(1))[0], expected, rtol=1e-10, atol=1e-12
        )
        plain.learn(row)
    assert ours.count == 60.0


def test_relative_rule_equals_the_reference_with_that_rule() -> None:
    X = columns()
    plain = ReferenceStandardizer(
        clamp=0.0,
        scale_rule=lambda mean, variance: np.sqrt(variance) > RELATIVE.relative * np.abs(mean),
    )
    Z = CausalStandardizer(6).scan(X, np.ones(60))
    for i, row in enumerate(X):
        np.testing.assert_allclose(Z[i], plain.transform(row), rtol=1e-9, atol=1e-12)
        plain.learn(row)


def test_relative_rule_does_not_depend_on_the_unit() -> None:
    X = columns()[:, [0, 1, 4]]
    Z = CausalStandardizer(3).scan(X, np.ones(60))
    for unit in (2.0**-60, 2.0**60):
        scaled = CausalStandardizer(3).scan(X * unit, np.ones(60))
        np.testing.assert_array_equal(scaled[2:], Z[2:])
    assert not np.allclose(CausalStandardizer(3, PAPER).scan(X * 1e-6, np.ones(60))[2:], Z[2:])


def test_small_unit_column_is_scaled_by_default_but_not_under_the_paper_rule() -> None:
    X = columns()
    default, paper = CausalStandardizer(6), CausalStandardizer(6, PAPER)
    default.scan(X, np.ones(60))
    paper.scan(X, np.ones(60))
    assert default.scale()[2] == pytest.approx(1e-6, rel=0.5)
    assert paper.scale()[2] == 1.0
    assert default.scale()[3] == paper.scale()[3] == 1.0


def test_first_rows() -> None:
    Z = CausalStandardizer(1).scan(np.array([[5.0], [7.0], [6.0]]), np.ones(3))
    assert Z.ravel().tolist() == [5.0, 2.0, 0.0]


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e6, 1e9])
def test_variance_survives_an_offset(offset: float) -> None:
    x = RandomState(1).normal(size=(4000, 1))
    state = CausalStandardizer(1)
    state.scan(x + offset, np.ones(4000))
    # The data themselves are rounded by offset * eps; nothing worse may be added.
    assert state.variance[0] == pytest.approx(x.var(), rel=1e-12 + 10 * offset * 2.3e-16)


def test_merge_pools_rows() -> None:
    X = columns(80)
    whole, left, right = CausalStandardizer(6), CausalStandardizer(6), CausalStandardizer(6)
    whole.scan(X, np.ones(80))
    left.scan(X[:30], np.ones(30))
    right.scan(X[30:], np.ones(50))
    left.merge(right)
    np.testing.assert_allclose(left.mean, whole.mean, rtol=1e-13)
    np.testing.assert_allclose(left.variance, whole.variance, rtol=1e-11)
    assert (left.count, left.rows) == (80.0, 80)
    empty = CausalStandardizer(6)
    empty.merge(CausalStandardizer(6))
    assert empty.count == 0.0
    empty.merge(whole)
    np.testing.assert_array_equal(empty.mean, whole.mean)


def test_merge_refuses_another_rule() -> None:
    with pytest.raises(MergeError, match="variance rule"):
        CausalStandardizer(1, PAPER).merge(CausalStandardizer(1))
    with pytest.raises(MergeError, match="frozen"):
        FrozenStandardizer(np.zeros(1), np.ones(1)).merge(
            FrozenStandardizer(np.ones(1), np.ones(1))
        )


def test_transform_is_what_scan_would_give_next() -> None:
    X = columns()
    state = CausalStandardizer(6)
    for row in X:
        shown = state.transform(row[np.newaxis])
        np.testing.assert_array_equal(shown, state.scan(row[np.newaxis], np.ones(1)))


def test_weights_do_not_depend_on_their_unit() -> None:
    X, weights = columns(), RandomState(2).uniform(0.1, 3.0, 60)
    one, other = CausalStandardizer(6), CausalStandardizer(6)
    np.testing.assert_array_equal(one.scan(X, weights), other.scan(X, 0.25 * weights))
    expected = np.average(X, axis=0, weights=weights)
    np.testing.assert_allclose(one.mean, expected, rtol=1e-12, atol=1e-12)


def test_constancy() -> None:
    state = CausalStandardizer(2)
    state.scan(np.full((5, 2), [0.1, 1e6]), np.ones(5))
    assert state.is_constant()
    state.scan(np.array([[0.1, 1e6 + 1e-3]]), np.ones(1))
    assert not state.is_constant()
    assert not NoStandardizer().is_constant()


def test_frozen_learns_nothing() -> None:
    pilot = CausalStandardizer(6, VarianceRule(0.0, 0.5, 0.0))
    pilot.scan(columns(), np.ones(60))
    frozen = FrozenStandardizer.of(pilot)
    Z = frozen.scan(columns(), np.ones(60))
    np.testing.assert_array_equal(Z, frozen.transform(columns()))
    np.testing.assert_array_equal(Z, pilot.transform(columns()))
    assert frozen.divisor[2] == 1.0


@pytest.mark.parametrize("forgetting", [1.0, 1e-9])
def test_a_variance_is_never_negative(forgetting: float) -> None:
    """Not even by rounding, where one row outweighs all before it."""
    rows = RandomState(0).standard_cauchy(size=(300, 4)) * 1e3
    weights = 10.0 ** RandomState(1).uniform(-20.0, 20.0, size=300)
    standardizer = CausalStandardizer(4, forgetting=forgetting)
    for i in range(len(rows)):
        standardizer.scan(rows[i : i + 1], weights[i : i + 1])
        assert standardizer.variance.min() >= 0.0


@pytest.mark.parametrize(
    ("mean", "scale", "message"),
    [
        (np.zeros(2), np.array([1.0, 0.0]), "Column 1 .* scale 0"),
        (np.zeros(2), np.array([np.nan, 1.0]), "Column 0"),
        (np.zeros(2), np.ones(3), "one number per column"),
    ],
)
def test_unusable_frozen_standardisers(mean: Array, scale: Array, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        FrozenStandardizer(mean, scale)
