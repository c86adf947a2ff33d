"""Limits and alarms keep what they promise, whatever the distribution."""

import math

import numpy as np
import pytest
from numpy.random import RandomState
from scipy.stats import binom

from okspca.diagnostics.evidence import (
    Standing,
    autocorrelation_time,
    followed,
    limit_of,
    scale_of,
    threshold_of,
)
from tests.reference import monitoring as plain

PROMISES = {"level": 0.01, "confidence": 0.9}


@pytest.mark.parametrize(("n", "level"), [(500, 0.01), (2000, 0.01), (2000, 0.005)])
def test_limits_are_exceeded_no_more_than_promised(n: int, level: float) -> None:
    """Of 400 calibrations at confidence 0.9, at most so many as chance allows may fail."""
    random, failed = RandomState(0), 0
    for _ in range(400):
        limit, promised = limit_of(np.sort(random.uniform(size=n)), n, level, 0.9)
        assert promised <= level
        failed += 1.0 - limit > level
    assert failed <= binom.ppf(0.999, 400, 0.1)


def test_the_largest_of_few_values_promises_what_it_can() -> None:
    random, failed = RandomState(0), 0
    for _ in range(400):
        values = np.sort(random.uniform(size=60))
        limit, promised = limit_of(values, 60, 0.01, 0.9)
        assert limit == values[-1]
        failed += 1.0 - limit > promised
    assert promised == pytest.approx(1.0 - 0.1 ** (1.0 / 60.0))
    assert binom.ppf(0.001, 400, 0.1) <= failed <= binom.ppf(0.999, 400, 0.1)


@pytest.mark.parametrize("n", [100, 1000])
@pytest.mark.parametrize("power", [0.2, 0.5])
def test_bets_are_fair_given_the_scale(n: int, power: float) -> None:
    """The mean of e over all rows in control is at most one, but for one scale in ten."""
    random, failed = RandomState(0), 0
    for _ in range(400):
        values = np.sort(random.uniform(size=n))
        scale = scale_of(values, (power,), **PROMISES, dependence=1.0)
        above = np.diff(np.concatenate([[0.0], values, [1.0]]))[::-1]
        failed += float(above @ np.exp(scale.gains[:, 0])) > 1.0
    assert failed <= binom.ppf(0.999, 400, 0.1)


def test_gains_are_those_of_ranks() -> None:
    values = RandomState(0).normal(size=120).round(1)
    scale = scale_of(values, (0.3,), **PROMISES, dependence=2.0)
    new = np.array([-5.0, values[3], 0.05, 9.0])
    p = [plain.p_value(values, value, 60.0) for value in new]
    expected = [(math.log(0.7) - 0.3 * math.log(one)) / 2.0 for one in p]
    gaps = scale.gain(new)[:, 0] - expected
    # All bets are divided by one and the same number, at least one.
    np.testing.assert_allclose(gaps, gaps[0], atol=1e-12)
    assert gaps[0] < 0.0


def test_alarms_are_those_of_the_loop() -> None:
    gains = RandomState(0).normal(0.1, 1.0, size=(400, 3))
    parts = RandomState(1).normal(size=(3, 400, 2))
    _, _, raised = followed(Standing.start(3, 2), gains, parts, 4.0)
    assert [(one.row, one.place, one.since) for one in raised] == plain.alarms(gains, 4.0)
    assert len({one.place for one in raised}) == 3
    for one in raised:
        rows = slice(one.row - one.since + 1, one.row + 1)
        np.testing.assert_allclose(one.contributions, parts[one.place, rows].mean(axis=0))


def test_evidence_is_cut_invariant() -> None:
    gains = RandomState(0).normal(0.1, 1.0, size=(90, 2))
    parts = RandomState(1).normal(size=(2, 90, 2))
    whole = followed(Standing.start(2, 2), gains, parts, 4.0)
    standing, raised = Standing.start(2, 2), []
    for start, stop in ((0, 1), (1, 40), (40, 40), (40, 90)):
        standing, _, more = followed(standing, gains[start:stop], parts[:, start:stop], 4.0)
        raised += more
    assert [one[:3] for one in raised] == [one[:3] for one in whole[2]]
    for mine, theirs in zip(standing, whole[0], strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_false_alarms_are_as_rare_as_promised() -> None:
    """200 streams of 500 rows, at one alarm in 2,000 rows or fewer: at most a quarter alarm."""
    random, alarmed = RandomState(0), 0
    threshold = threshold_of(2000.0, 2)
    for _ in range(200):
        scale = scale_of(random.standard_t(2, size=800), (0.2, 0.5), level=0.01, confidence=0.95)
        gains = scale.gain(random.standard_t(2, size=500))
        _, _, raised = followed(Standing.start(2, 1), gains, np.zeros((2, 500, 1)), threshold)
        alarmed += bool(raised)
    assert alarmed <= 50


def test_dependent_rows_count_less() -> None:
    random = RandomState(0)
    series = np.zeros(4000)
    for row in range(1, 4000):
        series[row] = 0.8 * series[row - 1] + random.normal()
    tau = autocorrelation_time(series)
    assert 7.0 < tau < 11.0  # in theory (1 + 0.8) / (1 - 0.8)
    given = scale_of(series, (0.5,), **PROMISES, dependence=tau)
    free = scale_of(series, (0.5,), **PROMISES, dependence=1.0)
    assert given.limit >= free.limit
    assert given.gains.max() < free.gains.max() / 7.0
