r"""A number that depends on five inputs in four different ways.

With x ~ N(0, I) and an independent standard normal e::

    y = sin(x_1) + 0.5 (x_2^2 - 1) + 0.75 x_3 x_4 + 0.25 x_5 + 0.25 e:

a bend, a bowl that no linear method sees, an interaction, a weak slope; all other inputs are noise.
"""

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray

N_ACTIVE = 5


def response_surface(
    n: int, n_inputs: int = 20, seed: int = 0
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Draw rows with a continuous response to the first five inputs.

    ``RandomState(seed)`` draws the n x n_inputs normal inputs first, row by row, then the n noises.

    Parameters
    ----------
    n : int
        Number of rows.
    n_inputs : int, default=20
        Number of inputs; those after the fifth are noise.
    seed : int, default=0
        Seed of all draws.

    Returns
    -------
    X : ndarray of shape (n, n_inputs)
        Inputs.
    y : ndarray of shape (n,)
        Responses.

    Examples
    --------
    >>> X, y = response_surface(1000)
    >>> X.shape, round(float(y.std()), 2)
    ((1000, 20), 1.24)
    """
    if n_inputs < N_ACTIVE:
        message = f"n_inputs={n_inputs} has no room for the five that matter; give at least 5."
        raise ValueError(message)
    random = RandomState(seed)
    X = random.standard_normal((n, n_inputs))
    noise = random.standard_normal(n)
    x1, x2, x3, x4, x5 = X[:, :N_ACTIVE].T
    y = np.sin(x1) + 0.5 * (x2**2 - 1.0) + 0.75 * x3 * x4 + 0.25 * x5 + 0.25 * noise
    return X, y
