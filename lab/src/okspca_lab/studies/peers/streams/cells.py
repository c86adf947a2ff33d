"""One cell: a method goes through a stream, tested before it learns."""

import time
import warnings
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from okspca.numerics.arrays import Floats
from okspca_lab.studies.peers.streams.data import STREAMS
from okspca_lab.studies.peers.streams.methods import BY_NAME, Labels, Learner
from okspca_lab.studies.peers.streams.plan import settings
from okspca_lab.studies.rows import Cell, Row
from okspca_lab.studies.runner import Part

#: Rows of a block; the first one is learned only, by everybody.
BLOCK = 100
#: Rows of one point of the score over time.
SPAN = 1000
QUICK_ROWS, WARM_ROWS = 1200, 600
FOLDER = "streams"


def work(cell: Cell) -> list[Row]:
    """Do one cell: a row for every thousand rows of the stream."""
    stream, method, seed = STREAMS[cell["data"]], BY_NAME[cell["method"]], cell["seed"]
    X, y = stream.draw(QUICK_ROWS if cell["quick"] else stream.rows, seed)
    n_classes = int(y.max()) + 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of models that have seen few rows
        _warm(stream.name, method.name)
        guess, seconds = prequential(method.make(n_classes, seed), X, y)
    names = {"data": stream.name, "method": method.name, "seed": seed}
    return [{**names, **row} for row in over_time(guess == y, seconds)]


def parts(names: list[Cell], out: Path, *, quick: bool) -> list[Part]:
    """All cells, ready to be run; they have a file of their own."""
    return [Part.of_cells(out / FOLDER, settings(quick=quick), names, work)] if names else []


def prequential(learner: Learner, X: Floats, y: Labels) -> tuple[Labels, Floats]:
    """Test, then train, block by block; return guesses, and processor seconds of each block."""
    guess, seconds = np.empty_like(y), []
    for start in range(0, len(y), BLOCK):
        here = slice(start, start + BLOCK)
        rows = learner.rows(X[here])
        begin = time.process_time()
        found = learner.step(rows, y[here])
        seconds.append(time.process_time() - begin)
        guess[here] = found
    return guess, np.array(seconds)


def over_time(right: NDArray[np.bool_], seconds: Floats) -> list[Row]:
    """Count, for every thousand rows, those tested and those predicted right, with the time.

    Examples
    --------
    >>> over_time(np.arange(1500) % 2 == 0, np.full(15, 0.5))[0]
    {'until': 1000, 'rows': 900, 'right': 450, 'seconds': 5.0}
    """
    return [
        {
            "until": min(start + SPAN, right.size),
            "rows": right[max(start, BLOCK) : start + SPAN].size,
            "right": int(right[max(start, BLOCK) : start + SPAN].sum()),
            "seconds": round(float(seconds[start // BLOCK : (start + SPAN) // BLOCK].sum()), 6),
        }
        for start in range(0, right.size, SPAN)
    ]


@cache
def _warm(stream: str, method: str) -> None:
    """Begin once in this process, so that compiling and importing are not on the clock."""
    X, y = STREAMS[stream].draw(WARM_ROWS, 0)
    prequential(BY_NAME[method].make(int(y.max()) + 1, 0), X, y)
