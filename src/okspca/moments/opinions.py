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
    limits_of,
    log_expit,
    log_odds_of,
    log_odds_row,
    log_softmax_row,
    log_sum,
)

#: What the second opinion may count, and by how much rows must be likelier with it alone, as a
#: logarithm, to believe it.
BLENDS = np.linspace(0.0, 1.0, 9)
DOUBT = 4.0
_TINY = float(np.finfo(np.float64).tiny)
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


class CalibrationMap(NamedTuple):
    """From claims to log probabilities, class against the rest, by so many rows."""

    shares: Floats
    slopes: Floats
    shifts: Floats
    n_rows: float

    def of(self, claims: Floats) -> Floats:
        """Logarithms of the probabilities of classes, before they are made to sum to one."""
        found = np.array(claims, dtype=np.float64, order="C")
        map_rows(found, self)
        return found


class Voices(NamedTuple):
    """What the second opinion rests on, and what tells how much it counts.

    Coefficients without rows are those of nobody; without rows, M leaves scores as they are.
    """

    coefficients: Floats
    losses: Floats
    unit: float
    M: Floats
    shift: Floats


@compiled
def mean_spread(spreads: Floats) -> float:
    """Root mean square of the distances of classes from the rest.

    Examples
    --------
    >>> mean_spread(np.array([1.0, 7.0]))
    5.0
    """
    total = 0.0
    for c in range(spreads.shape[0]):
        total += spreads[c] * spreads[c]
    return math.sqrt(total / spreads.shape[0])


@compiled
def blend_weight(losses: Floats, unit: float) -> float:
    """How much the second opinion counts beside the first; ``unit`` is a row's weight."""
    best, total, found = -np.inf, 0.0, 0.0
    for b in range(losses.shape[0]):
        best = max(best, -losses[b] / max(unit, _TINY) - DOUBT * BLENDS[b])
    for b in range(losses.shape[0]):
        likely = math.exp(-losses[b] / max(unit, _TINY) - DOUBT * BLENDS[b] - best)
        total += likely
        found += likely * BLENDS[b]
    return found / total


@compiled
def _map_numbers(first: CalibrationMap) -> MapNumbers:
    """What turns claims into the first opinion."""
    base, limits = log_odds_of(first.shares), limits_of(first.shares, first.n_rows)
    return MapNumbers(first.slopes, first.shifts, base, limits)


@compiled
def _second_numbers(A: Floats, shares: Floats, n_rows: float) -> SecondNumbers:
    """What turns scores into the second opinion, by so many rows."""
    return SecondNumbers(np.log(shares), log_odds_of(shares), A, limits_of(shares, n_rows))


@compiled
def claim_rows(values: Floats, shares: Floats, spreads: Floats) -> tuple[Floats, Floats]:
    """Claims and scores by discriminants that have these values."""
    numbers, own = ClaimNumbers(log_odds_of(shares), spreads), np.empty(shares.shape[0])
    into = ScoreNumbers(np.log(shares), mean_spread(spreads), np.empty((0, 0)), np.empty(0))
    claims, scores = np.empty(values.shape), np.empty(values.shape)
    for i in range(values.shape[0]):
        _claim_row(values[i], numbers, claims[i])
        _score_row(values[i], into, own, scores[i])
    return claims, scores


@compiled
def map_rows(claims: Floats, first: CalibrationMap) -> None:
    """Replace claims by the first opinion."""
    numbers = _map_numbers(first)
    for i in range(claims.shape[0]):
        _map_row(claims[i], numbers)


@compiled
def second_rows(scores: Floats, A: Floats, shares: Floats, n_rows: float) -> Floats:
    """The second opinion on rows with these scores, by so many rows."""
    numbers = _second_numbers(A, shares, n_rows)
    found = np.empty(scores.shape)
    for i in range(scores.shape[0]):
        _second_row(scores[i], numbers, found[i])
    return found


@compiled
def believed(
    values: Floats, shares: Floats, spreads: Floats, first: CalibrationMap, second: Voices
) -> Floats:
    """Both opinions on rows with these values of the discriminants, blended."""
    claims, maps = ClaimNumbers(log_odds_of(shares), spreads), _map_numbers(first)
    into = ScoreNumbers(np.log(shares), mean_spread(spreads), second.M, second.shift)
    asked = _second_numbers(second.coefficients, shares, first.n_rows)
    weight = blend_weight(second.losses, second.unit)
    blend = np.log(weight), np.log1p(-weight)
    found = np.empty(values.shape)
    scores, translated = np.empty(values.shape[1]), np.empty(values.shape[1])
    log_p = np.empty(values.shape[1])
    for i in range(values.shape[0]):
        log_q = found[i]
        _claim_row(values[i], claims, log_q)
        _map_row(log_q, maps)
        if asked.A.shape[0] > 0:
            _score_row(values[i], into, scores, translated)
            _second_row(translated, asked, log_p)
            log_softmax_row(log_q)
            for c in range(log_q.shape[0]):
                log_q[c] = log_sum(blend[0] + log_p[c], blend[1] + log_q[c])
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
