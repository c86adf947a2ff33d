"""T², SPE, their contributions, ranks and evidence, row by row from the equations."""

import math
from typing import Any

import numpy as np

Array = Any


def reference(Z: Array, S: Array) -> dict[str, Array]:
    """What rows in control are like, with weighted residuals."""
    n = len(Z)
    z0, s0 = sum(Z) / n, sum(S) / n
    cov = sum(np.outer(z - z0, z - z0) for z in Z) / (n - 1)
    cross = sum(np.outer(z - z0, s - s0) for z, s in zip(Z, S, strict=True)) / (n - 1)
    inverse = np.linalg.pinv(cov, rcond=1e-12, hermitian=True)
    B = inverse @ cross
    E = np.array([(s - s0) - (z - z0) @ B for z, s in zip(Z, S, strict=True)])
    v = np.array([math.sqrt(sum(e**2) / (n - 1)) for e in E.T])
    R: Array = sum(np.outer(e / v, e / v) for e in E) / (n - 1)
    d = len(R)
    pairs = [(i, j) for i in range(d) for j in range(d) if i != j]
    squares = sum(R[i, j] ** 2 for i, j in pairs)
    chance = sum((1.0 - R[i, j] ** 2) ** 2 for i, j in pairs) / n
    share = 1.0 if squares <= chance else chance / squares
    if n >= 10 * d:
        share = 0.0
    for i, j in pairs:
        R[i, j] *= 1.0 - share
    values, vectors = np.linalg.eigh(R)
    root = sum(np.outer(q, q) / math.sqrt(w) for w, q in zip(values, vectors.T, strict=True))
    return {"z0": z0, "s0": s0, "inverse": inverse, "B": B, "W": np.diag(1.0 / v) @ root}


def t2(known: dict[str, Array], z: Array) -> float:
    """Hotelling's T² of one embedding."""
    apart = z - known["z0"]
    return float(apart @ known["inverse"] @ apart)


def spe_parts(known: dict[str, Array], z: Array, s: Array) -> Array:
    """Contributions to the weighted squared error of one row."""
    error = (s - known["s0"]) - (z - known["z0"]) @ known["B"]
    return (error @ known["W"]) ** 2


def p_value(scale: Array, value: float, n_free: float) -> float:
    """Share of the values in control at or above a new one, which counts as well."""
    p = (1 + sum(1 for one in scale if one >= value)) / (len(scale) + 1)
    return max(p, 1.0 / (n_free + 1.0))


def alarms(gains: Array, threshold: float) -> list[tuple[int, int, int]]:
    """Row, sum and number of rows of every alarm of Page's scheme."""
    n, c = gains.shape
    level, since, found = [0.0] * c, [0] * c, []
    for row in range(n):
        for j in range(c):
            level[j] += gains[row, j]
            since[j] += 1
            if level[j] <= 0.0:
                level[j], since[j] = 0.0, 0
        most = max(range(c), key=lambda j: (level[j], -j))
        if level[most] >= threshold:
            found.append((row, most, since[most]))
            level, since = [0.0] * c, [0] * c
    return found
