r"""Friedman's first regression problem: five of ten uniform inputs matter.

With x ~ Uniform(0, 1)^10 and e ~ N(0, 1)::

    y = 10 sin(pi x_1 x_2) + 20 (x_3 - 0.5)^2 + 10 x_4 + 5 x_5 + e.
"""

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray


def friedman(n: int, seed: int = 0) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Draw rows of Friedman's first problem.

    ``RandomState(seed)`` draws the n x 10 inputs first, row by row, then the n noises.

    Examples
    --------
    >>> X, y = friedman(500)
    >>> X.shape, round(float(y.mean()), 1)
    ((500, 10), 14.1)
    """
    random = RandomState(seed)
    X = random.uniform(size=(n, 10))
    noise = random.standard_normal(n)
    y = 10.0 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20.0 * (X[:, 2] - 0.5) ** 2
    return X, y + 10.0 * X[:, 3] + 5.0 * X[:, 4] + noise
