r"""The streams: two of real rows in their order, and three that are drawn and change.

With u and v orthonormal and t the share of the stream that is over::

    hyperplane   y = [w(t)^T x > 0],    w(t) = cos(pi t) u + sin(pi t) v,   x standard normal,
    SEA          y = [x_1 + x_2 <= s],  x uniform on (0, 10)^3,   s = 8, 9, 7, 9.5 by quarters,
    XOR-pairs    y = [x_a x_b > 0],     x standard normal,   (a, b) another pair in every quarter.

A share of the labels is exchanged, so nobody can be right more often than one minus this share.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray

from okspca.datasets import load_covtype, load_electricity
from okspca.numerics.arrays import Floats

Rows = tuple[Floats, NDArray[np.int64]]
DRAWN_ROWS, COVTYPE_ROWS, ELECTRICITY_ROWS = 20_000, 30_000, 45_312
N_INPUTS, SEA_INPUTS = 10, 3
SEA_SUMS = np.array([8.0, 9.0, 7.0, 9.5])
PAIRS = np.array([(0, 1), (2, 3), (4, 5), (6, 7)])


@dataclass(frozen=True)
class Stream:
    """Rows in their order.

    Attributes
    ----------
    name : str
        As in the tables.
    draw : callable
        From a number of rows and a seed to inputs and classes 0, 1, and so on.
    rows : int
        How many of them there are.
    says : str
        What changes.
    noise : float or None
        Share of exchanged labels; None where rows are real, and the same for every seed.
    jumps : tuple of float
        When it changes at once, as shares of the stream.
    """

    name: str
    draw: Callable[[int, int], Rows]
    rows: int
    says: str
    noise: float | None = None
    jumps: tuple[float, ...] = ()

    @property
    def is_drawn(self) -> bool:
        """Whether every seed has rows of its own."""
        return self.noise is not None


def _hyperplane(n: int, seed: int) -> Rows:
    """Let a plane through ten inputs make half a turn."""
    random = RandomState(seed)
    frame = np.linalg.qr(random.standard_normal((N_INPUTS, 2)))[0]
    angle = np.pi * np.arange(n) / n
    X = random.standard_normal((n, N_INPUTS))
    turned = np.column_stack([np.cos(angle), np.sin(angle)])
    return X, _exchanged(np.sum((X @ frame) * turned, axis=1) > 0.0, 0.05, random)


def _sea(n: int, seed: int) -> Rows:
    """Two of three inputs are added; the threshold jumps three times."""
    random = RandomState(seed)
    X = random.uniform(0.0, 10.0, (n, SEA_INPUTS))
    return X, _exchanged(X[:, 0] + X[:, 1] <= SEA_SUMS[_quarter(n)], 0.1, random)


def _xor_pairs(n: int, seed: int) -> Rows:
    """Two of ten inputs have the same sign or not; which two changes three times."""
    random = RandomState(seed)
    X = random.standard_normal((n, N_INPUTS))
    both = np.take_along_axis(X, PAIRS[_quarter(n)], axis=1)
    return X, _exchanged(both[:, 0] * both[:, 1] > 0.0, 0.05, random)


def _quarter(n: int) -> NDArray[np.int64]:
    """In which quarter of the stream each row is."""
    return 4 * np.arange(n) // n


def _exchanged(labels: NDArray[np.bool_], share: float, random: RandomState) -> NDArray[np.int64]:
    """Exchange a share of the labels."""
    return (labels ^ (random.uniform(size=len(labels)) < share)).astype(np.int64)


def _in_order(load: Callable[[], tuple[Floats, NDArray[Any]]]) -> Callable[[int, int], Rows]:
    """Return what takes the first rows of a real set, whatever the seed."""
    loaded = cache(load)

    def draw(n: int, seed: int) -> Rows:
        del seed
        X, y = loaded()
        return X[:n], np.unique(y[:n], return_inverse=True)[1].astype(np.int64)

    return draw


QUARTERS = (0.25, 0.5, 0.75)
STREAMS: dict[str, Stream] = {
    stream.name: stream
    for stream in (
        Stream("hyperplane", _hyperplane, DRAWN_ROWS, "turns slowly by 180°", 0.05),
        Stream("SEA", _sea, DRAWN_ROWS, "the threshold jumps three times", 0.1, QUARTERS),
        Stream("XOR-pairs", _xor_pairs, DRAWN_ROWS, "other inputs matter", 0.05, QUARTERS),
        Stream(
            "electricity",
            _in_order(load_electricity),
            ELECTRICITY_ROWS,
            "a market, all rows in their order",
        ),
        Stream("covtype", _in_order(load_covtype), COVTYPE_ROWS, "the first rows in their order"),
    )
}
