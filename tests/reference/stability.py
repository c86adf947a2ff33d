"""Half-sampling from whole arrays of features, written from the definition."""

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def moment(Phi: Floats, Psi: Floats, w: Floats) -> Floats:
    """Weighted centred cross-moment of rows."""
    W = w.sum()
    left, right = w @ Phi / W, w @ Psi / W
    return sum(
        (w_i / W) * np.outer(phi - left, psi - right)
        for w_i, phi, psi in zip(w, Phi, Psi, strict=True)
    )


def weights_of(n: int, forgetting: float) -> Floats:
    """Weight of each of n rows after the last one."""
    return np.array([forgetting ** (n - 1 - i) for i in range(n)])


def projector(C: Floats, q: int) -> Floats:
    """Projector on the leading left singular directions."""
    U = np.linalg.svd(C)[0][:, :q]
    return U @ U.T


def half_sample_distances(
    Phi: Floats, Psi: Floats, w: Floats, n_groups: int, q: int
) -> list[float]:
    """Distance of every half of the groups from all rows; row i is in group i mod n_groups."""
    group = np.arange(len(Phi)) % n_groups
    whole = projector(moment(Phi, Psi, w), q)
    distances = []
    for half in combinations(range(n_groups), n_groups // 2):
        own = np.isin(group, half)
        P = projector(moment(Phi[own], Psi[own], w[own]), q)
        distances.append(float(np.linalg.norm(P - whole)))
    return distances
