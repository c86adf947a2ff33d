r"""A triangular factor that follows its matrix row by row, by rotations.

Let ``N = R^T R`` with R upper triangular, and let Q hold what R has solved, ``R^T Q = C``.  A row x
of weight one, with its target p, changes both sides by rank one::

    N' = N + x x^T,        C' = C + x p^T.

Rotations of row i of ``[R | Q]`` with the new row ``[x | p]``, for i = 1, 2, ..., D, turn x to
zero.  Being orthogonal they leave ``R^T R + x x^T`` and ``R^T Q + x p^T`` what they are, so what
remains is R' and Q'.  Nothing is subtracted and nothing is solved, at ``3 D^2`` multiplications.

How much rounding does: a rotation moves each pair of numbers by at most ``8.5 u`` of its length
(Higham, *Accuracy and Stability of Numerical Algorithms*, section 19.6; u is half a unit in the
last place), and D rotations meet every column.  So R' and Q' are exact for a factor, a Q and a row
that are off by ``8.5 D u`` of the norm of ``[R | Q]`` at most.
"""

import math

import numpy as np

from okspca.numerics.arrays import Floats
from okspca.numerics.compiled import compiled
from okspca.numerics.shared import nothing, row, rows, shared

_UNIT = 0.5 * float(np.finfo(np.float64).eps)


def update_error(n_features: int) -> float:
    """Relative change, in the Frobenius norm, of what one update by rounded rotations is exact for.

    Examples
    --------
    >>> update_error(256) < 3e-13
    True
    """
    return 8.5 * n_features * _UNIT


@shared(nothing, rows, rows, row, row)
def append_row(R: Floats, Q: Floats, x: Floats, p: Floats) -> None:
    """Let R and Q (D x w) follow one row; destroys x and p.

    Examples
    --------
    >>> R, Q = np.eye(2), np.zeros((2, 1))
    >>> append_row(R, Q, np.array([0.0, 1.0]), np.array([2.0]))
    >>> (R.T @ R).round(9).tolist(), (R.T @ Q).round(9).tolist()
    ([[1.0, 0.0], [0.0, 2.0]], [[0.0], [2.0]])
    """
    for i in range(R.shape[0]):
        length = math.sqrt(R[i, i] * R[i, i] + x[i] * x[i])
        c, s = R[i, i] / length, x[i] / length
        R[i, i] = length
        _rotate(R[i, i + 1 :], x[i + 1 :], c, s)
        _rotate(Q[i], p, c, s)


@compiled
def _rotate(upper: Floats, lower: Floats, c: float, s: float) -> None:
    """Rotate two rows."""
    for j in range(upper.shape[0]):
        kept = upper[j]
        upper[j] = c * kept + s * lower[j]
        lower[j] = c * lower[j] - s * kept
