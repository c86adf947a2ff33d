r"""Linear discriminants of classes, and how confident they may be.

With class shares p, distances d_c of the class means from the mean and a common covariance V within
classes, all in an embedding z, the logarithm of the posterior of class c is, up to a constant::

    l_c(z) = log p_c + d_c^T V^-1 (z - mean) - d_c^T V^-1 d_c / 2.

The embedding was fitted to the rows that V is taken from, which therefore lie too close to their
class means.  Leaving one row out at a time, a ridge regression of f degrees of freedom on n rows
has residuals larger by about 1 / (1 - f / n) (generalised cross-validation).  So V is inflated by
the square of that, in each direction at most to the covariance of all rows, where nothing is left
that tells classes apart.
"""

import numpy as np
from scipy.linalg import eigh

from okspca.numerics.arrays import Floats
from okspca.numerics.compiled import compiled
from okspca.numerics.matrix import product
from okspca.numerics.posteriors import log_odds_row
from okspca.numerics.whitening import freedom

#: What is added to the variances within classes, relative to their mean.
WITHIN_RIDGE = 1e-6
_TINY = float(np.finfo(np.float64).tiny)
_LEAST_LEFT = 1e-3
_ROUNDING, _LEAST = float(np.finfo(np.float64).eps), 1e-200


def discriminants(
    distances: Floats, total: Floats, shares: Floats, inflation: float = 1.0
) -> tuple[Floats, Floats]:
    """Return weights (columns x classes) and offsets for an embedding whose mean is zero.

    Parameters
    ----------
    distances : ndarray of shape (n_classes, q)
        Class means of the embedding, less the mean.
    total : ndarray of shape (q, q)
        Its covariance.
    shares : ndarray of shape (n_classes,)
        Shares of the classes, all positive.
    inflation : float
        Factor of the covariance within classes.

    Examples
    --------
    >>> w, b = discriminants(np.array([[-1.0], [1.0]]), np.array([[2.0]]), np.array([0.5, 0.5]))
    >>> (w[0, 1] - w[0, 0]).round(5)
    np.float64(2.0)
    """
    between = product((distances * shares[:, np.newaxis]).T, distances)
    within = total - between
    if inflation > 1.0:
        within = _inflated(within, total, inflation)
    # Where classes do not vary, what rounding leaves of the variance of all rows is the unit.
    unit = max(float(np.trace(within)), _ROUNDING * float(np.trace(total)), _LEAST) / len(within)
    ridged = within + WITHIN_RIDGE * unit * np.eye(len(within))
    pseudo_inverse = np.asarray(np.linalg.pinv(ridged, hermitian=True), dtype=np.float64)
    weights = product(pseudo_inverse, distances.T)
    return weights, np.log(shares) - 0.5 * product(distances, weights).diagonal()


def left_out_inflation(R: Floats, ridge: float, n_rows: float) -> float:
    """How much larger squared residuals are where a row is left out, from the ridge's factor.

    Examples
    --------
    >>> round(left_out_inflation(np.eye(2) * np.sqrt(2.0), ridge=1.0, n_rows=8.0), 3)
    1.778
    """
    return max(1.0 - freedom(R, ridge) / n_rows, _LEAST_LEFT) ** -2


def log_odds(values: Floats) -> Floats:
    """Logarithm of the odds of each class against all others, from log posteriors (rows x classes).

    Examples
    --------
    >>> log_odds(np.log([[0.5, 0.25, 0.25]])).round(4).tolist()
    [[0.0, -1.0986, -1.0986]]
    """
    found = np.array(values, dtype=np.float64, order="C")
    _log_odds_rows(found)
    return found


@compiled
def _log_odds_rows(values: Floats) -> None:
    """Replace log posteriors by log odds."""
    for i in range(values.shape[0]):
        log_odds_row(values[i], values[i])


def _inflated(within: Floats, total: Floats, inflation: float) -> Floats:
    """Multiply a covariance within classes, nowhere beyond that of all rows."""
    q = len(total)
    whole = total + WITHIN_RIDGE * max(float(np.trace(total)) / q, _TINY) * np.eye(q)
    # In these directions the variance within is a share of that of all rows, so at most one.
    shares, directions = eigh(within, whole)
    spread = product(whole, directions)
    return product(spread * np.minimum(inflation * shares.clip(0.0), 1.0), spread.T)
