r"""Distances between subspaces, from orthonormal bases stored as columns.

Angles are sine-based where they are small and cosine-based where they are large, so that 1e-12
degrees and 90 degrees are both measurable.  The projector distance is the unnormalised Frobenius
norm ``||UU^T - VV^T||_F``, computed from residuals so that nothing cancels.
"""

import math

import numpy as np

from okspca.numerics.accurate import norm
from okspca.numerics.arrays import Floats
from okspca.numerics.matrix import product
from okspca.numerics.thin_svd import thin_svd


def principal_angles(U: Floats, V: Floats) -> Floats:
    """Principal angles in degrees between two column spans, largest first.

    Examples
    --------
    >>> import numpy as np
    >>> e = np.eye(3)
    >>> principal_angles(e[:, :2], e[:, 1:]).tolist()
    [90.0, 0.0]
    """
    # There are as many angles as the smaller span has columns.
    if U.shape[1] < V.shape[1]:
        U, V = V, U
    overlap = product(U.T, V)
    cosines = thin_svd(overlap).sigma
    sines = thin_svd(V - product(U, overlap)).sigma[::-1]
    # Both are in the order of growing angles; arctan2 leans on whichever is small.
    angles: Floats = np.degrees(np.arctan2(sines, cosines))
    return angles[::-1].copy()


def projector_distance(U: Floats, V: Floats) -> float:
    """Frobenius distance of the two orthogonal projectors; the ranks may differ.

    Examples
    --------
    >>> import numpy as np
    >>> e = np.eye(3)
    >>> round(projector_distance(e[:, :1], e[:, 1:2]), 6)
    1.414214
    """
    outside_U = V - product(U, product(U.T, V))
    outside_V = U - product(V, product(V.T, U))
    return math.hypot(norm(outside_U), norm(outside_V))


def aligned(U: Floats, anchor: Floats) -> Floats:
    """Rotate the columns of ``U`` within their span to lie as close as possible to ``anchor``.

    Orthogonal Procrustes.  Columns that the anchor lacks (or has as zeros) lean towards the basis's
    own, so that their signs are not left to chance.
    """
    shared = min(U.shape[1], int(np.count_nonzero(np.any(anchor != 0.0, axis=0))))
    left, _, right = np.linalg.svd(product(U.T, anchor[:, :shared]))
    matched = left[:, :shared] @ right
    rest = left[:, shared:]
    turn, _, back = np.linalg.svd(rest[shared:].T)
    return product(U, np.concatenate([matched, rest @ (turn @ back)], axis=1))
