"""What every answer needs of :mod:`okspca.diagnostics.whitened_certificate`, compiled."""

import math
from typing import NamedTuple

import numpy as np

from okspca.diagnostics.certificate import noise_of
from okspca.numerics.arrays import Floats
from okspca.numerics.compiled import compiled
from okspca.numerics.matrix import multiplied
from okspca.numerics.products import gram, row_products
from okspca.numerics.sums import distance, square

#: Where turning columns into weights may cost more than this, nothing is proven.
MOST_TURN = 1e-2


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
    rows: Floats, Ct: Floats, n_ritz: int, errors: Errors
) -> tuple[Floats, float, float, tuple[float, float, float]]:
    """Theta of orthonormal rows, a bound on ``A Y - Y theta``, the squared norm of Ct, allowances.

    The allowances are as for :func:`okspca.diagnostics.certificate.bounds_within`; ``n_ritz``: the
    number of Ritz values.
    """
    q, D = rows.shape
    projected = row_products(rows, Ct)
    small, total = gram(projected), square(Ct)
    residual = distance(multiplied(projected, Ct), multiplied(small, rows))
    shift = 2.0 * math.sqrt(2.0) * turn_of(errors, q)
    error = errors.dropped + (errors.slack + errors.drift) * math.sqrt(total)
    noise = noise_of(D + Ct.shape[0] + n_ritz, (total, error)) + 2.0 * shift * total
    e = errors.distortion
    residual = (residual + noise + e * math.sqrt(square(small))) / (1.0 - e)
    return small, residual, total, (noise, e / (1.0 - e), shift)


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
