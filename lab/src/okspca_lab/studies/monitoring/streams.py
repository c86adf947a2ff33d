r"""The streams: eight inputs and a response, in control and after a change.

Three are drawn.  With C the correlations 0.8 of inputs 0 and 1 and 0.6 of inputs 2 and 3, and all
others zero, x has that correlation and is, row by row,

* a *mixture* of two normal clouds, 1.4 apart in inputs 0, 1 and 2;
* *heavy tails*: Student's t with five degrees of freedom;
* *autocorrelated*: normal, each row 0.7 times the one before it and fresh noise.

In all three ``y = sin(2 x_0) + x_2 + x_4^2 / 2 + noise``, noise ~ N(0, 0.3^2).  The fourth is a
simulated *process* (:mod:`okspca_lab.studies.monitoring.process`).

Changes of drawn streams, the input j being the seed modulo 8: the *mean* of x_j moves by one
standard deviation; its *variance* becomes four times what it was; the *correlation* of inputs 0 and
1 ends while each remains distributed as it was; x_j is *stuck* at its last value; the *relation* of
x and y changes, ``sin(2 x_0)`` becoming ``-sin(2 x_0)``.
"""

from typing import NamedTuple

import numpy as np
from numpy.random import RandomState

from okspca.numerics.arrays import Floats
from okspca_lab.studies.monitoring.process import FAULTS, Reactor

N_INPUTS = 8
PROCESS = "process"
DRAWN = ("mixture", "heavy tails", "autocorrelated")
KINDS = (*DRAWN, PROCESS)
CHANGES = ("mean", "variance", "correlation", "stuck", "relation")
#: Rows learned, rows of the calibration, rows watched; in control before a change, and after it.
N_LEARNED, N_CALIBRATION, N_QUIET = 1000, 3000, 2000
N_BEFORE, N_AFTER = 250, 2000
AGAIN = 0.7


class Rows(NamedTuple):
    """Inputs and responses."""

    X: Floats
    y: Floats

    def part(self, start: int, stop: int) -> "Rows":
        """Some of them."""
        return Rows(self.X[start:stop], self.y[start:stop])


class Stream(NamedTuple):
    """One stream: rows in control, and the same with each change, whose inputs are named."""

    learned: Rows
    calibration: Rows
    quiet: Rows
    changed: dict[str, Rows]
    causes: dict[str, tuple[int, ...]]


def stream(kind: str, seed: int) -> Stream:
    """Draw a stream.

    Examples
    --------
    >>> found = stream("mixture", 0)
    >>> found.quiet.X.shape, found.causes["correlation"], len(found.changed)
    ((2000, 8), (0, 1), 5)
    """
    random = RandomState(seed)
    if kind == PROCESS:
        return _of_process(random)
    n = N_LEARNED + N_CALIBRATION + N_QUIET
    X = _inputs(kind, n, random)
    y = response(X, random)
    spread, j, changed = X[:N_LEARNED].std(axis=0), seed % N_INPUTS, {}
    for change in CHANGES:
        rows = _inputs(kind, N_BEFORE + N_AFTER, random)
        turned = np.repeat([1.0, -1.0 if change == "relation" else 1.0], [N_BEFORE, N_AFTER])
        target = response(rows, random, turned)
        other = _inputs(kind, N_AFTER, random)[:, 1]
        _change(rows, change, j, spread[j], other)
        changed[change] = Rows(rows, target)
    causes: dict[str, tuple[int, ...]] = {"correlation": (0, 1), "relation": ()}
    causes = {change: causes.get(change, (j,)) for change in CHANGES}
    return Stream(*_in_control(Rows(X, y)), changed, causes)


def response(X: Floats, random: RandomState, turned: Floats | float = 1.0) -> Floats:
    """The response, its first part with a sign for each row."""
    clean = turned * np.sin(2.0 * X[:, 0]) + X[:, 2] + X[:, 4] ** 2 / 2.0
    return np.asarray(clean + 0.3 * random.normal(size=len(X)))


def _in_control(rows: Rows) -> tuple[Rows, Rows, Rows]:
    """Rows learned, of the calibration, and watched."""
    ends = np.cumsum([N_LEARNED, N_CALIBRATION, N_QUIET]).tolist()
    return rows.part(0, ends[0]), rows.part(ends[0], ends[1]), rows.part(ends[1], ends[2])


def _inputs(kind: str, n: int, random: RandomState) -> Floats:
    """Inputs in control."""
    C = np.eye(N_INPUTS)
    C[0, 1] = C[1, 0] = 0.8
    C[2, 3] = C[3, 2] = 0.6
    X = random.normal(size=(n, N_INPUTS)) @ np.linalg.cholesky(C).T
    if kind == "mixture":
        side = np.where(random.uniform(size=(n, 1)) < 0.5, 0.7, -0.7)
        return np.asarray(0.7 * X + side * (np.arange(N_INPUTS) < 3))
    if kind == "heavy tails":
        return np.asarray(X / np.sqrt(random.chisquare(5.0, size=(n, 1)) / 5.0))
    for row in range(1, n):
        X[row] = AGAIN * X[row - 1] + np.sqrt(1.0 - AGAIN**2) * X[row]
    return X


def _change(X: Floats, change: str, j: int, spread: float, other: Floats) -> None:
    """Change the rows after the first ones, in place."""
    after = X[N_BEFORE:]
    if change == "mean":
        after[:, j] += spread
    elif change == "variance":
        after[:, j] *= 2.0
    elif change == "correlation":
        after[:, 1] = other
    elif change == "stuck":
        after[:, j] = X[N_BEFORE - 1, j]


def _of_process(random: RandomState) -> Stream:
    """A stream of the reactor; every fault goes on from where it was in control."""
    reactor = Reactor(random)
    quiet = _in_control(Rows(*reactor.run(N_LEARNED + N_CALIBRATION + N_QUIET)))
    changed = {}
    for fault in FAULTS:
        before = Rows(*reactor.run(N_BEFORE))
        after = Rows(*reactor.twin().run(N_AFTER, fault=fault))
        changed[fault] = Rows(np.vstack([before.X, after.X]), np.append(before.y, after.y))
    return Stream(*quiet, changed, {fault: found.causes for fault, found in FAULTS.items()})
