"""What is believed of classes, row by row, against its plainest form."""

import numpy as np
import pytest
from numpy.random import RandomState

from okspca.moments.calibration import Belief
from okspca.moments.class_discriminants import Discriminants, Translation
from okspca.moments.opinions import CalibrationMap
from okspca.moments.second_opinion import SecondOpinion
from okspca.numerics.posteriors import bounded_ratio, limits_of, log_expit, log_sum
from tests.reference import belief as reference


def parts(
    n_classes: int, seed: int
) -> tuple[Discriminants, CalibrationMap, SecondOpinion, Translation]:
    random = RandomState(seed)
    shares, others = (random.dirichlet(np.full(n_classes, 2.0)) for _ in range(2))
    spreads = random.uniform(0.5, 3.0, n_classes)
    found = Discriminants(np.zeros((1, n_classes)), np.zeros(n_classes), shares, spreads)
    first = CalibrationMap(others, random.uniform(0.2, 2.0, n_classes), 0.3 * shares, 80.0)
    M = np.eye(n_classes) + 0.2 * random.normal(size=(n_classes, n_classes))
    second = SecondOpinion.none(n_classes)._replace(
        coefficients=random.normal(size=(n_classes + 1, n_classes)),
        losses=random.normal(size=9),
    )
    return found, first, second, Translation(M, random.normal(size=n_classes))


@pytest.mark.parametrize("n_classes", [2, 3, 9])
@pytest.mark.parametrize("scale", [0.1, 3.0, 200.0])
def test_both_opinions_and_their_blend_are_those_of_the_plain_form(
    n_classes: int, scale: float
) -> None:
    found, first, second, into = parts(n_classes, n_classes)
    values = scale * RandomState(0).normal(size=(40, n_classes))
    believed = Belief(found, first, second, into, 1.5).of(values)
    weight = second.weight(1.5)
    claims, scores = found.claims_and_scores(values)
    for v, claim, row in zip(values, claims, believed, strict=True):
        log_q = reference.first(v, found, first.shares, first.slopes, first.shifts, 80.0)
        log_p = reference.second(v, found, into, second.coefficients, 80.0)
        np.testing.assert_allclose(row, reference.blended(log_p, log_q, weight), rtol=1e-9)
        np.testing.assert_allclose(first.of(claim[np.newaxis])[0], log_q, rtol=1e-9)
    for v, row in zip(values, second.log_p(scores, found.shares, 80.0), strict=True):
        expected = reference.second(v, found, None, second.coefficients, 80.0)
        np.testing.assert_allclose(row, expected, rtol=1e-9, atol=1e-13)


def test_without_a_translation_the_first_opinion_stands_alone() -> None:
    found, first, second, _ = parts(4, 1)
    values = RandomState(0).normal(size=(5, 4))
    believed = Belief(found, first, second, None, 1.0).of(values)
    np.testing.assert_array_equal(believed, first.of(found.claims_and_scores(values)[0]))


def test_a_row_is_believed_alike_alone_and_among_others() -> None:
    belief, values = Belief(*parts(5, 2), 1.0), RandomState(0).normal(size=(64, 5))
    alone = [belief.of(values[row : row + 1])[0] for row in range(64)]
    np.testing.assert_array_equal(alone, belief.of(values))


def test_what_is_not_a_number_stays_so() -> None:
    found, first, second, into = parts(3, 0)
    for translation in (into, None):
        belief = Belief(found, first, second, translation, 1.0)
        assert np.isnan(belief.of(np.full((1, 3), np.nan))).all()


def test_logarithms_of_sums_and_odds() -> None:
    for a, b in [(0.0, 0.0), (-np.inf, -np.inf), (-np.inf, 2.0), (700.0, 710.0), (-800.0, -801.0)]:
        assert log_sum(a, b) == pytest.approx(np.logaddexp(a, b))
    assert log_expit(-800.0) == -800.0
    assert log_expit(800.0) == 0.0
    limits = limits_of(np.array([0.5, 0.5]), 18.0)
    assert round(bounded_ratio(50.0, limits, 0), 2) == 2.3
    assert round(bounded_ratio(-50.0, limits, 0), 2) == -2.21
