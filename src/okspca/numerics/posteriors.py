r"""Log probabilities of classes, row by row, compiled: what one row costs is a few logarithms.

For a row v of logarithms, one for each class, up to a constant::

    log odds      v_c - log sum_{j != c} exp(v_j)
    log softmax   v_c - log sum_j exp(v_j)

and a log likelihood ratio r, of a class against the rest, with one row added on either side that
any point was as likely to be as another; of n rows, a share p is of that class::

    b = log(p n e^r + 1) - log(p n + 1),    -b' likewise from -b with 1 - p in place of p.

A row has at least two classes.
"""

import math
from typing import NamedTuple

import numpy as np

from okspca.numerics.arrays import Floats
from okspca.numerics.compiled import compiled

_TINY, _NEARLY_ALL = float(np.finfo(np.float64).tiny), 1.0 - 1e-16


class Limits(NamedTuple):
    """Logarithms of n and of n + 1, for the rows of each class and for all others."""

    own: Floats
    own_more: Floats
    others: Floats
    others_more: Floats


@compiled
def limits_of(shares: Floats, n_rows: float) -> Limits:
    """Limits by so many rows, of which classes have these shares.

    Examples
    --------
    >>> limits = limits_of(np.array([0.25, 0.75]), 4.0)
    >>> np.exp(limits.own_more).round(9).tolist()
    [2.0, 4.0]
    """
    n = shares.shape[0]
    found = Limits(np.empty(n), np.empty(n), np.empty(n), np.empty(n))
    for c in range(n):
        own = max(shares[c] * n_rows, _TINY)
        others = max((1.0 - shares[c]) * n_rows, _TINY)
        found.own[c], found.own_more[c] = math.log(own), math.log1p(own)
        found.others[c], found.others_more[c] = math.log(others), math.log1p(others)
    return found


@compiled
def log_odds_of(shares: Floats) -> Floats:
    """Log odds of shares, finite also for those of none or all.

    Examples
    --------
    >>> log_odds_of(np.array([0.5, 0.75])).round(4).tolist()
    [0.0, 1.0986]
    """
    found = np.empty(shares.shape[0])
    for c in range(found.shape[0]):
        share = min(max(shares[c], _TINY), _NEARLY_ALL)
        found[c] = math.log(share / (1.0 - share))
    return found


@compiled
def log_odds_row(v: Floats, out: Floats) -> None:
    """Logarithms of the odds of each class against all others; ``out`` may be ``v`` itself."""
    first, second = 0, 1
    if v[1] > v[0]:
        first, second = 1, 0
    for c in range(2, v.shape[0]):
        if v[c] > v[first]:
            first, second = c, first
        elif v[c] > v[second]:
            second = c
    top, next_top = v[first], v[second]
    total = others = 0.0
    for c in range(v.shape[0]):
        if c != first:
            others += math.exp(v[c] - next_top)
            total += math.exp(v[c] - top)
    for c in range(v.shape[0]):
        if c != first:
            shifted = v[c] - top
            # Only the largest is summed without itself; from any other, the difference is safe.
            rest = max(1.0 + total - math.exp(shifted), _TINY)
            out[c] = shifted - math.log(rest)
    out[first] = (top - next_top) - math.log(others)


@compiled
def log_softmax_row(v: Floats) -> None:
    """Replace logarithms of probabilities, up to a constant, by those that sum to one."""
    top = v[0]
    for c in range(1, v.shape[0]):
        top = max(top, v[c])
    total = 0.0
    for c in range(v.shape[0]):
        total += math.exp(v[c] - top)
    shift = top + math.log(total)
    for c in range(v.shape[0]):
        v[c] -= shift


@compiled
def bounded_ratio(ratio: float, limits: Limits, c: int) -> float:
    """What the rows can tell of a log likelihood ratio, class c against the rest."""
    bounded = log_sum(ratio + limits.own[c], 0.0) - limits.own_more[c]
    return -(log_sum(limits.others[c] - bounded, 0.0) - limits.others_more[c])


@compiled
def log_sum(a: float, b: float) -> float:
    """Logarithm of ``exp(a) + exp(b)``."""
    if a == b:
        return a + math.log(2.0)
    return max(a, b) + math.log1p(math.exp(-abs(a - b)))


@compiled
def log_expit(x: float) -> float:
    """Logarithm of ``1 / (1 + exp(-x))``."""
    return min(x, 0.0) - math.log1p(math.exp(-abs(x)))
