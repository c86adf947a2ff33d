"""A second axis for a picture of one component: what it leaves of the inputs, without a target."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse.linalg import svds

from okspca.estimators import OKSPCA
from okspca.numerics.arrays import Floats

#: Below this many rows or columns a whole decomposition is as quick as a partial one.
SMALL = 8
#: What is left of the inputs counts as nothing below this share of them.
NOTHING = 1e-9


def second_axis(model: OKSPCA, X: ArrayLike, Z: Floats) -> Floats | None:
    """An axis for a picture that would have one: the main direction of what Z leaves of the inputs.

    Returns None where more or fewer than one component is there, or nothing is left.

    Examples
    --------
    >>> X = np.random.RandomState(0).normal(size=(500, 3)) * [1.0, 5.0, 1.0]
    >>> model = OKSPCA(1, standardize=None, random_state=0).fit(X, X[:, 0] > 0.0)
    >>> Z = model.transform(X)
    >>> axis = second_axis(model, X, Z)
    >>> bool(abs(np.corrcoef(axis, X[:, 1])[0, 1]) > 0.9)
    True
    """
    there = np.flatnonzero(np.any(Z != 0.0, axis=0))
    if len(there) != 1 or len(Z) < 3:
        return None
    S = model.standardised(X)
    S, z = S - S.mean(axis=0), Z[:, there[0]] - Z[:, there[0]].mean()
    length = float(z @ z)
    rest = S - np.outer(z, z @ S) / length if length > 0.0 else S
    if not np.linalg.norm(rest) > NOTHING * float(np.linalg.norm(S)):
        return None
    return _leading_scores(rest)


def _leading_scores(rest: Floats) -> Floats:
    """Scores of rows along their main direction, whose largest entry is positive."""
    if min(rest.shape) < SMALL:
        U, values, Vt = np.linalg.svd(rest, full_matrices=False)
    else:
        U, values, Vt = svds(rest, k=1, v0=np.ones(min(rest.shape)))
    sign = np.sign(Vt[0][np.argmax(np.abs(Vt[0]))])
    return np.asarray(sign * U[:, 0] * values[0])
