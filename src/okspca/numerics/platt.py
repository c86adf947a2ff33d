r"""One slope for all classes and a shift for each, by which claimed log odds are best believed.

For class c let x be the points of a grid, n and m the weights at each of rows of that class and of
all others, and l the log odds of its share.  Maximised is the likelihood, class against the rest::

    sum_c sum_x  n log s(l_c + a d_c x + b_c) + m log s(-l_c - a d_c x - b_c),   s(t) = 1/(1+e^-t),

times Gaussians of a and b (Platt's calibration with a prior).  It is concave; Newton's steps are
halved until they gain.
"""

import math
from typing import NamedTuple

import numpy as np

from okspca.numerics.arrays import Floats
from okspca.numerics.compiled import BoundKernel, compiled

OTHERS, OWN = 0, 1
_STEPS, _HALVINGS, _TOLERANCE = 50, 40, 1e-12


class Trials(NamedTuple):
    """What slope and shifts are fitted to.

    Attributes
    ----------
    weights : ndarray of shape (n_classes, 2, n_points)
        Weights of the rows of others and of its own, for each class.
    base : ndarray of shape (n_classes,)
        Log odds of the shares.
    x : ndarray of shape (n_classes, n_points)
        The grid in the units of the slope.
    """

    weights: Floats
    base: Floats
    x: Floats


class Prior(NamedTuple):
    """Gaussians of the slope, and of the shifts about zero."""

    slope: float
    slope_spread: float
    shift_spread: Floats


class Slopes(NamedTuple):
    """Derivatives by the slope (a) and by each shift (b), and the curvature."""

    a: float
    b: Floats
    aa: float
    ab: Floats
    bb: Floats


def fitted(trials: Trials, prior: Prior) -> tuple[float, Floats]:
    """Return the slope and the shifts of the classes.

    Examples
    --------
    >>> n = np.array([[[3.0, 1.0], [1.0, 3.0]]])  # one class, two points: odds of 1 to 3 and 3 to 1
    >>> trials = Trials(n, np.zeros(1), np.array([[-1.0, 1.0]]))
    >>> a, b = fitted(trials, Prior(0.0, 1e6, np.full(1, 1e6)))
    >>> bool(np.isclose(a, np.log(3.0))), bool(abs(b[0]) < 1e-9)
    (True, True)
    """
    return _FITTED.code(trials, prior)


@compiled
def fit(trials: Trials, prior: Prior) -> tuple[float, Floats]:
    """Do so."""
    a, b = prior.slope, np.zeros(trials.base.shape[0])
    loss, slopes = _loss(trials, prior, a, b)
    for _ in range(_STEPS):
        da, db = _newton_step(slopes)
        gains = False
        for _ in range(_HALVINGS):
            after, found = _loss(trials, prior, a - da, b - db)
            # Equal is enough: at the optimum no step gains anything.
            if after <= loss:
                gains = True
                break
            da *= 0.5
            db *= 0.5
        if not gains:
            break
        a, b = a - da, b - db
        gain, loss, slopes = loss - after, after, found
        if gain <= _TOLERANCE * max(1.0, loss):
            break
    return a, b


@compiled
def _newton_step(slopes: Slopes) -> tuple[float, Floats]:
    """Newton's step: shifts touch only the slope and themselves, so they are eliminated."""
    for_a, for_b, aa, ab, bb = slopes
    gap, left = for_a, aa
    for c in range(for_b.shape[0]):
        gap -= ab[c] * for_b[c] / bb[c]
        left -= ab[c] * ab[c] / bb[c]
    # The divisor is positive; rounding may lose that where slope and shifts do the same.
    da = gap / max(left, 1e-12 * aa)
    return da, (for_b - ab * da) / bb


@compiled
def _loss(trials: Trials, prior: Prior, a: float, b: Floats) -> tuple[float, Slopes]:
    """Negative logarithm of what is maximised, and its derivatives."""
    n = b.shape[0]
    for_b, ab, bb = np.zeros(n), np.zeros(n), np.zeros(n)
    away = (a - prior.slope) / prior.slope_spread
    loss, for_a, aa = 0.5 * away * away, away / prior.slope_spread, prior.slope_spread**-2.0
    for c in range(n):
        shift = b[c] / prior.shift_spread[c]
        loss += 0.5 * shift * shift
        for_b[c], bb[c] = shift / prior.shift_spread[c], prior.shift_spread[c] ** -2.0
        for i in range(trials.x.shape[1]):
            others, own = trials.weights[c, OTHERS, i], trials.weights[c, OWN, i]
            if others == 0.0 and own == 0.0:
                continue
            x = trials.x[c, i]
            eta = trials.base[c] + b[c] + a * x
            small = math.exp(-abs(eta))
            q = (1.0 if eta >= 0.0 else small) / (1.0 + small)
            log_q = min(eta, 0.0) - math.log1p(small)
            loss -= own * log_q + others * (log_q - eta)
            gap, curvature = (own + others) * q - own, (own + others) * q * (1.0 - q)
            for_a += gap * x
            aa += curvature * x * x
            for_b[c] += gap
            ab[c] += curvature * x
            bb[c] += curvature
    return loss, Slopes(for_a, for_b, aa, ab, bb)


_FITTED: BoundKernel[tuple[float, Floats]] = BoundKernel(fit)
