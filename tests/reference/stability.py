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


def word(seed: int, counter: int) -> int:
    """Word of SplitMix64 at a place of its stream, counted from zero."""
    z = (seed + (counter + 1) * 0x9E3779B97F4A7C15) % 2**64
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
    return z ^ (z >> 31)


def groups_of_rows(n: int, n_groups: int, seed: int) -> list[int]:
    """Group of each of n rows: every round of rows is dealt in the order of its words."""
    groups: list[int] = []
    for start in range(0, n, n_groups):
        words = [word(seed, start + j) for j in range(n_groups)]
        groups += sorted(range(n_groups), key=words.__getitem__)
    return groups[:n]


def half_sample_distances(
    Phi: Floats, Psi: Floats, w: Floats, group: list[int], q: int
) -> list[float]:
    """Distance of every half of the groups from all rows."""
    n_groups = max(group) + 1
    whole = projector(moment(Phi, Psi, w), q)
    distances = []
    for half in combinations(range(n_groups), n_groups // 2):
        own = np.isin(group, half)
        P = projector(moment(Phi[own], Psi[own], w[own]), q)
        distances.append(float(np.linalg.norm(P - whole)))
    return distances
