r"""The features of a scalar response as polynomials of it.

A scalar response moves along one curve, psi(y) = sqrt(2 / D) cos(w y + b).  Where ``|y| <= reach``,
a few dozen Chebyshev polynomials describe all D features to rounding::

    psi(y) = sum_m T_m(y / reach) c_m,      c_m = (2 - [m = 0]) / M  sum_j psi(reach x_j) T_m(x_j),

with the M nodes ``x_j = cos((j + 1/2) pi / M)``.  The coefficients fall faster than geometrically
once m exceeds ``|w| reach``.  Polynomials cost a multiplication and a subtraction each, so a block
of responses needs far fewer operations than D cosines per row.
"""

from weakref import WeakKeyDictionary

import numpy as np

from okspca.features.base import FeatureMap
from okspca.features.fourier import FourierMap
from okspca.numerics.arrays import Floats, frozen
from okspca.numerics.compiled import compiled
from okspca.numerics.matrix import product
from okspca.numerics.remembered import Remembered
from okspca.numerics.scratch import scratch

#: Reaches are rounded up to a multiple of this, so that blocks of a stream share their tables.
STEP = 0.5
#: Polynomials must be this many times fewer than features to be worth the trouble.
SAVING = 2
#: Blocks of fewer rows are mapped as usual: preparing the coefficients would cost more.
LEAST_ROWS = 192
#: What the coefficients of one map may take, in bytes.
MOST_BYTES = 2**24
#: They go when their map goes.
_TABLES: WeakKeyDictionary[FourierMap, Remembered] = WeakKeyDictionary()


def polynomials(feature_map: FeatureMap, Z: Floats) -> tuple[Floats, Floats] | None:
    """Polynomials of a block of responses, and their coefficients: ``psi = T^T c``.

    Returns
    -------
    T : ndarray of shape (M, n)
        Valid until this thread asks again.
    coefficients : ndarray of shape (M, n_features)
        The same array for blocks with this reach, as long as it is remembered.

    None where the response is no scalar, the map has no such curve, or too many polynomials would
    be needed.

    Examples
    --------
    >>> psi = FourierMap.sample(1, 128, bandwidth=1.0, seed=0)
    >>> Z = np.linspace(-2.0, 2.0, 200)[:, np.newaxis]
    >>> T, coefficients = polynomials(psi, Z)
    >>> bool(np.abs(T.T @ coefficients - psi.transform(Z)).max() < 1e-15)
    True
    """
    if type(feature_map) is not FourierMap or feature_map.n_inputs != 1 or Z.shape[0] < LEAST_ROWS:
        return None
    reach = STEP * np.ceil(np.abs(Z).max() / STEP)
    most = feature_map.n_features // SAVING
    # Not a number fails the first comparison, infinity the second.
    if not reach >= STEP or not _n_nodes(feature_map, reach) <= most:
        return None
    coefficients = _coefficients(feature_map, float(reach))
    T = scratch("polynomials of the response", (coefficients.shape[0], Z.shape[0]))
    _fill(Z[:, 0] / reach, T)
    return T, coefficients


def _n_nodes(feature_map: FourierMap, reach: float) -> float:
    """How many nodes describe every feature to rounding: past ``|w| reach`` terms soon vanish."""
    fastest = float(np.abs(feature_map.weights).max()) * reach
    return fastest + 8.0 * np.cbrt(fastest) + 16.0


def _coefficients(feature_map: FourierMap, reach: float) -> Floats:
    """Coefficients of all features, computed where they are not remembered."""
    tables = _TABLES.get(feature_map)
    if tables is None:
        tables = _TABLES.setdefault(feature_map, Remembered(MOST_BYTES))
    return tables.get(reach, lambda: (_computed(feature_map, reach),))[0]


def _computed(feature_map: FourierMap, reach: float) -> Floats:
    """Coefficients of all features, without the last ones that rounding cannot see."""
    n = int(_n_nodes(feature_map, reach)) + 1
    # Quarter turns are divided into n; whole turns are taken off before anything is rounded.
    cosines = np.cos(np.arange(4 * n) * (np.pi / (2 * n)))
    T = cosines[np.outer(np.arange(n), 2 * np.arange(n) + 1) % (4 * n)]
    # The polynomial of degree one is the node itself.
    coefficients = (2.0 / n) * product(T, feature_map.transform(reach * T[1][:, np.newaxis]))
    coefficients[0] *= 0.5
    # Cut where all that follows, together, is below the rounding of a feature.
    rest = np.cumsum(np.abs(coefficients[::-1]).max(axis=1))[::-1]
    amplitude = np.sqrt(2.0 / feature_map.n_features)
    kept = int(np.count_nonzero(rest > n * np.finfo(np.float64).eps * amplitude / 8))
    return frozen(coefficients[:kept])


@compiled
def _fill(x: Floats, T: Floats) -> None:
    """Chebyshev polynomials of ``x`` by their recurrence, one degree per row."""
    for i in range(x.shape[0]):
        T[0, i] = 1.0
        T[1, i] = x[i]
    for m in range(2, T.shape[0]):
        for i in range(x.shape[0]):
            T[m, i] = 2.0 * x[i] * T[m - 1, i] - T[m - 2, i]
