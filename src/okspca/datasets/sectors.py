r"""Classes laid out like the sectors of a circle, hidden among noise inputs.

With x ~ N(0, I) and independent standard Gumbel g_c, the label is::

    argmax over c of  signal {x_1 cos(2 pi c / C) + x_2 sin(2 pi c / C)} + g_c,   c = 0, ..., C - 1,

the lowest c on ties.  So x_1 and x_2 carry everything there is to know about the label, each class
prefers one direction in their plane, and all other inputs are noise.
"""

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray


def sectors(
    n: int, n_classes: int = 4, n_inputs: int = 20, seed: int = 0, *, signal: float = 1.25
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Draw labelled rows whose class depends on the direction of the first two inputs.

    ``RandomState(seed)`` draws the n x n_inputs normal inputs first, row by row, then the
    n x n_classes Gumbel noises, row by row.

    Parameters
    ----------
    n : int
        Number of rows.
    n_classes : int, default=4
        Number of classes C.
    n_inputs : int, default=20
        Number of inputs; those after the second are noise.
    seed : int, default=0
        Seed of all draws.
    signal : float, default=1.25
        How strongly the inputs decide the label.  The default overlaps the classes heavily, as in
        the paper; with 0 the labels are pure chance.

    Returns
    -------
    X : ndarray of shape (n, n_inputs)
        Inputs.
    y : ndarray of shape (n,)
        Labels 0, ..., C - 1.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = sectors(1000)
    >>> X.shape, np.bincount(y).tolist()
    ((1000, 20), [267, 242, 250, 241])
    """
    if n_classes < 2:
        message = f"n_classes={n_classes} leaves nothing to tell apart; give at least 2."
        raise ValueError(message)
    if n_inputs < 2:
        message = f"n_inputs={n_inputs} has no room for the two that decide; give at least 2."
        raise ValueError(message)
    random = RandomState(seed)
    X = random.standard_normal((n, n_inputs))
    gumbel = random.gumbel(size=(n, n_classes))
    angles = 2.0 * np.pi * np.arange(n_classes) / n_classes
    towards = X[:, :1] * np.cos(angles) + X[:, 1:2] * np.sin(angles)
    return X, np.argmax(signal * towards + gumbel, axis=1).astype(np.int64)
