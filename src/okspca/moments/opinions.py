r"""How values of discriminants become probabilities, row by row, compiled.

What is computed is said where it is learned: :mod:`okspca.moments.calibration` and
:mod:`okspca.moments.second_opinion`.
"""

import math
from typing import NamedTuple

import numpy as np

from okspca.numerics.arrays import Floats
from okspca.numerics.compiled import compiled
from okspca.numerics.posteriors import (
    Limits,
    bounded_ratio,
    log_expit,
    log_odds_row,
    log_softmax_row,
    log_sum,
)

#: Claims beyond this, on the scale of the calibration's grid, are all alike.
REACH = 8.0


class ClaimNumbers(NamedTuple):
    """What turns values of discriminants into claims: log odds of the shares, and spreads."""

    base: Floats
    spreads: Floats


class MapNumbers(NamedTuple):
    """What turns claims into the first opinion."""

    slopes: Floats
    shifts: Floats
    base: Floats
    limits: Limits


class ScoreNumbers(NamedTuple):
    """What turns values of discriminants into scores that the second opinion is about.

    Without rows, M leaves scores as they are.
    """

    log_shares: Floats
    mean_spread: float
    M: Floats
    shift: Floats


class SecondNumbers(NamedTuple):
    """What turns scores into the second opinion; without rows of A, nobody asks for it."""

    log_shares: Floats
    base: Floats
    A: Floats
    limits: Limits


class BeliefNumbers(NamedTuple):
    """All of that, and the logarithms of what the second and the first opinion count."""

    claims: ClaimNumbers
    first: MapNumbers
    scores: ScoreNumbers
    second: SecondNumbers
    blend: tuple[float, float]


@compiled
def claim_rows(values: Floats, numbers: ClaimNumbers) -> None:
    """Replace values of discriminants by claims."""
    for i in range(values.shape[0]):
        _claim_row(values[i], numbers, values[i])


@compiled
def map_rows(claims: Floats, numbers: MapNumbers) -> None:
    """Replace claims by the first opinion."""
    for i in range(claims.shape[0]):
        _map_row(claims[i], numbers)


@compiled
def second_rows(scores: Floats, numbers: SecondNumbers) -> Floats:
    """The second opinion on rows with these scores."""
    found = np.empty(scores.shape)
    for i in range(scores.shape[0]):
        _second_row(scores[i], numbers, found[i])
    return found


@compiled
def believed(values: Floats, numbers: BeliefNumbers) -> Floats:
    """Both opinions on rows with these values of the discriminants, blended."""
    found = np.empty(values.shape)
    scores, translated = np.empty(values.shape[1]), np.empty(values.shape[1])
    log_p = np.empty(values.shape[1])
    for i in range(values.shape[0]):
        log_q = found[i]
        _claim_row(values[i], numbers.claims, log_q)
        _map_row(log_q, numbers.first)
        if numbers.second.A.shape[0] > 0:
            _score_row(values[i], numbers.scores, scores, translated)
            _second_row(translated, numbers.second, log_p)
            log_softmax_row(log_q)
            for c in range(log_q.shape[0]):
                log_q[c] = log_sum(numbers.blend[0] + log_p[c], numbers.blend[1] + log_q[c])
    return found


@compiled
def _claim_row(values: Floats, numbers: ClaimNumbers, out: Floats) -> None:
    """Claimed log likelihood ratios, on the scale of the grid."""
    log_odds_row(values, out)
    for c in range(out.shape[0]):
        claim = math.asinh((out[c] - numbers.base[c]) / numbers.spreads[c])
        # What is not a number stays so.
        out[c] = REACH if claim > REACH else -REACH if claim < -REACH else claim


@compiled
def _map_row(claims: Floats, numbers: MapNumbers) -> None:
    """Replace claims by the first opinion."""
    for c in range(claims.shape[0]):
        ratio = claims[c] * numbers.slopes[c] + numbers.shifts[c]
        claims[c] = log_expit(numbers.base[c] + bounded_ratio(ratio, numbers.limits, c))


@compiled
def _score_row(values: Floats, numbers: ScoreNumbers, own: Floats, out: Floats) -> None:
    """Scores of a row by today's discriminants, and as the second opinion knows them."""
    mean = 0.0
    for c in range(own.shape[0]):
        own[c] = values[c] - numbers.log_shares[c]
        mean += own[c]
    mean /= own.shape[0]
    for c in range(own.shape[0]):
        own[c] = out[c] = (own[c] - mean) / numbers.mean_spread
    if numbers.M.shape[0] > 0:
        for c in range(out.shape[0]):
            out[c] = numbers.shift[c]
            for j in range(own.shape[0]):
                out[c] += own[j] * numbers.M[j, c]


@compiled
def _second_row(scores: Floats, numbers: SecondNumbers, out: Floats) -> None:
    """The second opinion on a row."""
    n = scores.shape[0]
    for c in range(n):
        out[c] = numbers.log_shares[c] + numbers.A[n, c]
        for j in range(n):
            out[c] += scores[j] * numbers.A[j, c]
    log_odds_row(out, out)
    for c in range(n):
        ratio = bounded_ratio(out[c] - numbers.base[c], numbers.limits, c)
        out[c] = log_expit(numbers.base[c] + ratio)
    log_softmax_row(out)
