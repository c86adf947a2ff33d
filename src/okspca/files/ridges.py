r"""The ridge of a linear readout, by generalised cross-validation.

With G, H and n rows as in :mod:`okspca.files.readouts`, the regression on all columns with a ridge
λ has coefficients B = (G + λ I)⁻¹ H and f = 1 + tr G (G + λ I)⁻¹ degrees of freedom, and leaves::

    Σ |t-s|² - tr Bᵀ (H + λ B)

of the squares of the targets; the error is that over (1 - f / n)².  From a ridge in the middle one
goes on to a neighbour as long as that lowers the error.  Every ridge on the way takes a triangular
factor and its inverse, by the library's own arithmetic: the eigenvectors of G would serve all
ridges, but what computes them starts threads and waits for them in every step.
"""

from typing import NamedTuple

import numpy as np

from okspca.numerics.arrays import Floats
from okspca.numerics.whitening import factored, freedom, ridge_coefficients

#: Ridges to choose from, relative to the mean of the diagonal of G, and where to begin among them.
RIDGES = tuple(float(10.0**power) for power in range(-6, 2))
FIRST = 4
#: The least share of the rows that must be left as degrees of freedom.
LEAST_FREE = 0.02


class Regression(NamedTuple):
    """A ridge and the coefficients B of the regression with it.

    Examples
    --------
    >>> Regression(0.0, np.zeros((3, 1))).coefficients.shape
    (3, 1)
    """

    ridge: float
    coefficients: Floats


def regression(gram: Floats, cross: Floats, square: float, rows: int) -> Regression:
    """Regress on all columns with the ridge of the least error, the larger one if equal.

    Parameters
    ----------
    gram, cross : ndarray of shape (D, D) and (D, m)
        G and H.
    square : float
        Sum of squares of all targets about their means.
    rows : int
        Rows in the sums.

    Examples
    --------
    >>> X = np.linspace(-1.0, 1.0, 9)[:, np.newaxis]
    >>> regression(X.T @ X, 2.0 * X.T @ X, float((4.0 * X**2).sum()), 9).coefficients.round(3)
    array([[2.]])
    """
    unit = _unit(gram)
    if unit <= 0.0:
        return Regression(0.0, np.zeros_like(cross))
    tried: dict[int, tuple[float, Regression]] = {}

    def error(place: int) -> float:
        if place not in tried:
            tried[place] = _tried(gram, cross, square, rows, unit * RIDGES[place])
        return tried[place][0]

    place = FIRST
    while place + 1 < len(RIDGES) and error(place + 1) <= error(place):
        place += 1
    # Downhill one way is uphill the other.
    while place > 0 and place <= FIRST and error(place - 1) < error(place):
        place -= 1
    error(place)
    return tried[place][1]


def _tried(
    gram: Floats, cross: Floats, square: float, rows: int, ridge: float
) -> tuple[float, Regression]:
    """The error with a ridge, and the regression with it."""
    shifted = gram.copy()
    shifted.flat[:: len(gram) + 1] += ridge
    factor = factored(shifted)
    B = ridge_coefficients(factor, cross.T).T
    free = 1.0 - freedom(factor, ridge) / rows
    left = max(square - float((B * (cross + ridge * B)).sum()), 0.0)
    return left / free**2 if free > LEAST_FREE else np.inf, Regression(ridge, B)


def _unit(gram: Floats) -> float:
    """The mean of the diagonal."""
    return float(gram.trace()) / max(len(gram), 1)
