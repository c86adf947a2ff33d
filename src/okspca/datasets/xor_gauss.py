"""Four Gaussian clouds at the corners of a square; opposite corners share a class.

The corners are (-1, -1), (-1, 1), (1, -1), (1, 1) with labels 0, 1, 1, 0.  No linear function of
the inputs tells the classes apart.
"""

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray

CORNERS = np.array([(-1.0, -1.0), (-1.0, 1.0), (1.0, -1.0), (1.0, 1.0)])
LABELS = np.array([0, 1, 1, 0])


def xor_gauss(
    n: int, seed: int = 0, *, n_noise: int = 18, spread: float = 0.3
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Draw rows of the XOR problem with standard normal noise inputs appended.

    ``RandomState(seed)`` draws the corners, then the deviations from them, then the noise inputs.

    Parameters
    ----------
    n : int
        Number of rows.
    seed : int, default=0
        Seed of all draws.
    n_noise : int, default=18
        Number of noise inputs.
    spread : float, default=0.3
        Standard deviation around the corners.

    Examples
    --------
    >>> X, y = xor_gauss(500)
    >>> X.shape, sorted(set(y.tolist()))
    ((500, 20), [0, 1])
    """
    random = RandomState(seed)
    corner = random.randint(4, size=n)
    signal = CORNERS[corner] + spread * random.standard_normal((n, 2))
    X = np.concatenate([signal, random.standard_normal((n, n_noise))], axis=1)
    return X, LABELS[corner].astype(np.int64)
