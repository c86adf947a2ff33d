r"""The streams: which inputs matter, or which mixtures of them, changes half-way.

* Friedman's first problem (:mod:`okspca.datasets.friedman`), whose five inputs become the five
  others: at once, or with a chance that grows from row to row; or not at all.
* An index model, ``y = sin(1.5 u^T x) + cos(1.5 v^T x) / 2 + noise`` with x standard normal, whose
  directions u and v become two that are orthogonal to them.
* A hyperplane that turns by 90 degrees until the end: the sign of ``w(t)^T x``, with one label in
  twenty turned round.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import RandomState

from okspca.datasets import friedman
from okspca.numerics.arrays import Floats

N_INPUTS = 10
#: Rows of a pilot and of a window, 1 / (1 - forgetting).
PILOT = WINDOW = 2048
START, END = 4 * WINDOW, 12 * WINDOW


@dataclass(frozen=True)
class Scenario:
    """A stream: how its rows are drawn, first and last row of the change, where one would call."""

    name: str
    draw: Callable[[int, Floats], tuple[Floats, Any]]
    change: tuple[int, int]
    calls: tuple[int, ...]

    @property
    def has_classes(self) -> bool:
        """Whether targets are classes."""
        return self.draw is _hyperplane

    def rows(self, seed: int) -> tuple[Floats, Any]:
        """Draw the stream."""
        start, stop = self.change
        progress = np.clip((np.arange(END) - start) / max(stop - start, 1e-9), 0.0, 1.0)
        return self.draw(seed, progress)


def _friedman(seed: int, progress: Floats) -> tuple[Floats, Any]:
    """The inputs that matter become the others, each row with a chance of its own."""
    X, y = friedman(len(progress), seed)
    others = RandomState(seed + 10_000).uniform(size=len(progress)) < progress
    return np.where(others[:, np.newaxis], X[:, ::-1], X), y


def _index(seed: int, progress: Floats) -> tuple[Floats, Any]:
    """Two directions turn by a right angle."""
    random, n = RandomState(seed), len(progress)
    frame = np.linalg.qr(random.standard_normal((N_INPUTS, 4)))[0]
    X = random.standard_normal((n, N_INPUTS))
    angle = progress[:, np.newaxis] * np.pi / 2.0
    Z = np.cos(angle) * (X @ frame[:, :2]) + np.sin(angle) * (X @ frame[:, 2:])
    y = np.sin(1.5 * Z[:, 0]) + 0.5 * np.cos(1.5 * Z[:, 1])
    return X, y + 0.2 * random.standard_normal(n)


def _hyperplane(seed: int, progress: Floats) -> tuple[Floats, Any]:
    """A direction turns steadily."""
    random, n = RandomState(seed), len(progress)
    frame = np.linalg.qr(random.standard_normal((N_INPUTS, 2)))[0]
    X = random.uniform(-1.0, 1.0, size=(n, N_INPUTS))
    angle = progress * np.pi / 2.0
    side = (X @ frame[:, 0]) * np.cos(angle) + (X @ frame[:, 1]) * np.sin(angle) > 0.0
    return X, np.where(random.uniform(size=n) < 0.05, ~side, side).astype(np.int64)


SCENARIOS = {
    scenario.name: scenario
    for scenario in (
        Scenario("Friedman, abrupt", _friedman, (START, START), (START,)),
        Scenario("Friedman, gradual", _friedman, (START, 7 * WINDOW), (7 * WINDOW,)),
        Scenario("index, abrupt", _index, (START, START), (START,)),
        Scenario("hyperplane, turning", _hyperplane, (START, END), (START, 7 * WINDOW, 9 * WINDOW)),
        Scenario("Friedman, no drift", _friedman, (END, END), (START,)),
    )
}
