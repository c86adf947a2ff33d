r"""One slope for all classes and a shift for each, by which claimed log odds are best believed.

For class c let x be the points of a grid, n and m the weights at each of rows of that class and of
all others, and l the log odds of its share.  Maximised is the likelihood, class against the rest::

    sum_c sum_x  n log s(l_c + a d_c x + b_c) + m log s(-l_c - a d_c x - b_c),   s(t) = 1/(1+e^-t),

times Gaussians of a and b (Platt's calibration with a prior).  It is concave; Newton's steps are
halved until they gain.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import expit, log_expit

from okspca.numerics.arrays import Floats

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

    def log_odds(self, a: float, b: Floats) -> Floats:
        """Log odds at the points of the grid."""
        return np.asarray((self.base + b)[:, np.newaxis] + a * self.x)


class Prior(NamedTuple):
    """Gaussians of the slope, and of the shifts about zero."""

    slope: float
    slope_spread: float
    shift_spread: Floats


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
    a, b = prior.slope, np.zeros(len(trials.base))
    loss = _loss(trials, prior, a, b)
    for _ in range(_STEPS):
        da, db = _newton_step(trials, prior, a, b)
        for halvings in range(_HALVINGS):
            step = 0.5**halvings
            after = _loss(trials, prior, a - step * da, b - step * db)
            # Equal is enough: at the optimum no step gains anything.
            if after <= loss:
                break
        else:
            return a, b
        gain, loss = loss - after, after
        a, b = a - step * da, b - step * db
        if gain <= _TOLERANCE * max(1.0, loss):
            break
    return a, b


def _newton_step(trials: Trials, prior: Prior, a: float, b: Floats) -> tuple[float, Floats]:
    """Newton's step: shifts touch only the slope and themselves, so they are eliminated."""
    q, total = expit(trials.log_odds(a, b)), trials.weights.sum(axis=1)
    gap, curvature = total * q - trials.weights[:, OWN], total * q * (1.0 - q)
    for_a = float((gap * trials.x).sum()) + (a - prior.slope) / prior.slope_spread**2
    for_b = gap.sum(axis=1) + b / prior.shift_spread**2
    aa = float((curvature * trials.x**2).sum()) + prior.slope_spread**-2
    ab = (curvature * trials.x).sum(axis=1)
    bb = curvature.sum(axis=1) + prior.shift_spread**-2
    # The divisor is positive; rounding may lose that where slope and shifts do the same.
    da = (for_a - float((ab * for_b / bb).sum())) / max(aa - float((ab**2 / bb).sum()), 1e-12 * aa)
    return da, (for_b - ab * da) / bb


def _loss(trials: Trials, prior: Prior, a: float, b: Floats) -> float:
    """Negative logarithm of what is maximised."""
    eta = trials.log_odds(a, b)
    data = (trials.weights[:, OWN] * log_expit(eta)).sum()
    data += (trials.weights[:, OTHERS] * log_expit(-eta)).sum()
    apart = ((a - prior.slope) / prior.slope_spread) ** 2 + ((b / prior.shift_spread) ** 2).sum()
    return float(0.5 * apart - data)
