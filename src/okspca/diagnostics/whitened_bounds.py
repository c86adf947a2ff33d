"""What every answer needs of :mod:`okspca.diagnostics.whitened_certificate`, compiled."""

import math
from typing import NamedTuple

import numpy as np

from okspca.diagnostics.certificate import Allowances, noise_of, smallest_eigenvalue
from okspca.numerics.arrays import Floats
from okspca.numerics.compiled import compiled
from okspca.numerics.matrix import multiplied
from okspca.numerics.products import gram, row_products
from okspca.numerics.sums import distance, square

#: Where turning columns into weights may cost more than this, nothing is proven.
MOST_TURN = 1e-2
#: For the rounding of bounds themselves.
_SAFELY = 1.0 + 1e-9


class Errors(NamedTuple):
    """What whitened coordinates and the matrix shown in them may be off by.

    Attributes
    ----------
    distortion, slack, drift : float
        As in :class:`okspca.numerics.whitening.FactorBounds`.
    dropped : float
        Bound on the norm of what compression left out, in units of the matrix.

    Examples
    --------
    >>> turn_of(Errors(0.0, 1e-12, 0.0, 0.0), 4) < 3e-12
    True
    """

    distortion: float
    slack: float
    drift: float
    dropped: float


@compiled
def turn_of(errors: Errors, q: int) -> float:
    """Distance between q columns and the weights they were turned into, in whitened coordinates."""
    return float(1.1 * errors.slack * math.sqrt(q))


@compiled
def inspected(
    rows: Floats, Ct: Floats, ritz: Floats, errors: Errors
) -> tuple[Floats, float, float, Allowances]:
    """Theta of orthonormal rows, a bound on ``A Y - Y theta``, the squared norm of Ct, allowances.

    The allowances are as for :func:`okspca.diagnostics.certificate.bounds_within`; ``ritz``: the
    Ritz values.
    """
    q, D = rows.shape
    projected = row_products(rows, Ct)
    small, total = gram(projected), square(Ct)
    residual = distance(multiplied(projected, Ct), multiplied(small, rows))
    known = distance_in_steps(small.copy(), residual, ritz, (D + Ct.shape[0], total), errors)
    shift = 2.0 * math.sqrt(2.0) * turn_of(errors, q)
    error = errors.dropped + (errors.slack + errors.drift) * math.sqrt(total)
    noise = noise_of(D + Ct.shape[0] + ritz.size, (total, error)) + 2.0 * shift * total
    e = errors.distortion
    residual = (residual + noise + e * math.sqrt(square(small))) / (1.0 - e)
    return small, residual, total, (noise, e / (1.0 - e), shift, known + shift)


@compiled
def distance_in_steps(
    small: Floats, residual: float, ritz: Floats, sizes: tuple[int, float], errors: Errors
) -> float:
    """Bound on the distance of projectors, one step from V to the exact answer after the other.

    ``residual``: that of V in the matrix as it is stored, of ``sizes``: how many terms rounding
    grows with, and the squared norm.  Destroys ``small``; infinite where a gap is not proven.
    """
    n_summed, total = sizes
    q, e, off = small.shape[0], errors.distortion, errors.dropped
    off += (errors.slack + errors.drift) * math.sqrt(total)
    noise, tail = noise_of(n_summed + ritz.size, (total, 0.0)), total
    for j in range(ritz.size):
        tail -= ritz[j]
    following = float(ritz[q]) if q < ritz.size else 0.0
    outside = following + max(tail, 0.0) + noise
    inside = (float(ritz[q - 1]) if q <= ritz.size else 0.0) - noise
    separation = smallest_eigenvalue(small, outside) - noise - outside
    least, most = math.sqrt(max(inside, 0.0)) - off, math.sqrt(outside) + off
    if not (separation > 0.0 and least > most):
        return np.inf
    # Singular vectors of the stored matrix, those of the exact R^-T C, and those where N is I.
    to_stored = (residual + noise) / separation
    to_solved = math.sqrt(2.0) * off / (least - most + off)
    turn = 0.5 * e / (1.0 - e)
    ratio = (most / least * (1.0 + turn)) ** 2
    if not ratio < 1.0:
        return np.inf
    to_exact = math.sqrt(q) * turn * ((1.0 + ratio) / (1.0 - ratio) + 1.0 / (1.0 - turn))
    found = math.sqrt(2.0) * _SAFELY * (to_stored + to_solved + to_exact)
    return found if found < np.inf else np.inf


@compiled
def proven(
    rows: Floats, columns: Floats, lost: tuple[float, float], total: float, errors: Errors
) -> float:
    """Bound on ``A Y - Y theta``, for the best theta, given the residual of the stored numbers.

    ``columns`` (as rows, q x D) is that residual, and ``lost`` what it may be off by: absolutely,
    and relative to ``total``.
    """
    along = row_products(columns, rows)
    across = distance(columns, multiplied(along, rows))
    e, turn = errors.distortion, turn_of(errors, rows.shape[0])
    across += errors.slack * math.sqrt(square(columns)) + (e + turn) * math.sqrt(square(along))
    across += lost[0] + lost[1] * total
    bound = across / (1.0 - e) / (1.0 - turn) + noise_of(0, (total, errors.dropped))
    # Nothing is proven by NaN; infinity says so and compares as it should.
    return bound if bound < np.inf else np.inf
