"""Frequencies that are products of signs and Hadamard matrices, written out as matrices."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]


def hadamard(order: int) -> Array:
    """Hadamard matrix of a power of two, by doubling."""
    H = np.ones((1, 1))
    while len(H) < order:
        H = np.vstack([np.hstack([H, H]), np.hstack([H, -H])])
    return H


def frequencies(signs: NDArray[np.int8], lengths: Array, scales: Array) -> Array:
    """W of all blocks: diag(l) p^(-3/2) H D3 H D2 H D1, the columns that meet inputs, scaled."""
    p = signs.shape[2]
    H = hadamard(p)
    blocks = []
    for first, second, third in signs:
        blocks.append(H @ np.diag(third) @ H @ np.diag(second) @ H @ np.diag(first) / p**1.5)
    directions = np.concatenate(blocks)[: len(lengths), : len(scales)]
    return lengths[:, np.newaxis] * directions * scales
