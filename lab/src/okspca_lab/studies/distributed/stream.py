r"""The stream of the study: any row can be made alone, on whichever worker needs it.

Row i has 32 inputs x ~ N(0, I) and the response::

    y = sin(x_1) + 0.5 (x_2^2 - 1) + 0.75 x_3 x_4 + 0.25 x_5 + 0.25 e,

as in :mod:`okspca.datasets.response_surface`, with the numbers of
:mod:`okspca.datasets.counter_random`.
"""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from okspca.datasets.counter_random import gaussian_rows
from okspca.estimators import OKSPCA
from okspca.numerics.arrays import Floats

N_INPUTS, BLOCK, SEED = 32, 4096, 9
COLUMNS = [f"x{number}" for number in range(N_INPUTS)]


def settings(**changes: object) -> OKSPCA:
    """The model of the study."""
    model = OKSPCA(n_components=4, n_random_features=256, random_state=0)
    return model.set_params(**changes)


def rows(start: int, stop: int) -> tuple[Floats, Floats]:
    """Make rows ``start`` to ``stop - 1``.

    Examples
    --------
    >>> X, y = rows(0, 100)
    >>> bool((rows(99, 100)[0][0] == X[99]).all()), X.shape
    (True, (100, 32))
    """
    drawn = gaussian_rows(start, stop, N_INPUTS + 1, seed=SEED)
    X, e = np.ascontiguousarray(drawn[:, :N_INPUTS]), drawn[:, N_INPUTS]
    y = np.sin(X[:, 0]) + 0.5 * (X[:, 1] ** 2 - 1.0) + 0.75 * X[:, 2] * X[:, 3]
    return X, y + 0.25 * X[:, 4] + 0.25 * e


class RowRange:
    """Rows of the stream in blocks that are made when they are asked for.

    Parameters
    ----------
    start, stop : int
        Numbers of the first row and of the one after the last.
    log : path, optional
        File that gets a line (time, process, rows) when all blocks were taken.
    """

    def __init__(self, start: int, stop: int, log: Path | None = None) -> None:
        self.start, self.stop, self.log = start, stop, log

    def __iter__(self) -> Iterator[tuple[Floats, Floats]]:
        """Make the blocks."""
        for start in range(self.start, self.stop, BLOCK):
            yield rows(start, min(start + BLOCK, self.stop))
        if self.log is not None:
            line = f"{time.time():.3f} {os.getpid()} {self.stop - self.start}\n"
            with self.log.open("a", encoding="utf-8") as file:
                file.write(line)


def ranges(n: int, size: int, log: Path | None = None) -> list[RowRange]:
    """Cut the first ``n`` rows into ranges."""
    return [RowRange(start, min(start + size, n), log) for start in range(0, n, size)]


def apart(found: OKSPCA, wanted: OKSPCA) -> float:
    """Relative distance of two dense moments."""
    C = wanted.moment_.matrix()
    return float(np.linalg.norm(found.moment_.matrix() - C) / np.linalg.norm(C))
