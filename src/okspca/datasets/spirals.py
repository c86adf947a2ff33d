r"""Three arms of a spiral, hidden among noise inputs.

With u ~ Uniform(0, 1), c uniform on {0, 1, 2} and e ~ N(0, 0.2^2)::

    r = u + e,   theta = 4 pi u + 2 pi c / 3,   x_1 = r cos(theta),   x_2 = r sin(theta);

the label is c, and negative radii are kept.
"""

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray


def spirals(
    n: int, seed: int = 0, *, n_noise: int = 18, spread: float = 0.2
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Draw rows of three spiral arms with standard normal noise inputs appended.

    ``RandomState(seed)`` draws u, then c, then e, then the noise inputs.

    Parameters
    ----------
    n : int
        Number of rows.
    seed : int, default=0
        Seed of all draws.
    n_noise : int, default=18
        Number of noise inputs.
    spread : float, default=0.2
        Standard deviation of the radius.

    Examples
    --------
    >>> X, y = spirals(500)
    >>> X.shape, sorted(set(y.tolist()))
    ((500, 20), [0, 1, 2])
    """
    random = RandomState(seed)
    u = random.uniform(size=n)
    arm = random.randint(3, size=n)
    radius = u + spread * random.standard_normal(n)
    theta = 4.0 * np.pi * u + 2.0 * np.pi * arm / 3.0
    signal = np.column_stack([radius * np.cos(theta), radius * np.sin(theta)])
    X = np.concatenate([signal, random.standard_normal((n, n_noise))], axis=1)
    return X, arm.astype(np.int64)
