r"""The streams: two signal directions in twenty inputs, which turn.

With A and B orthonormal 20 x 2 blocks, orthogonal to each other, and x standard normal::

    U(t) = cos(a) A + sin(a) B,      y = (2, 1.5) * U(t)^T x + noise,   noise ~ N(0, 0.5^2),

where the angle a(t) jumps, moves slowly, or goes back and forth between 0 and 90 degrees.
"""

from dataclasses import dataclass

import numpy as np
from numpy.random import RandomState

from okspca.numerics.arrays import Floats

N_INPUTS, N_SIGNALS = 20, 2
STRENGTHS, NOISE = np.array([2.0, 1.5]), 0.5
#: Rows of a window, 1 / (1 - forgetting).
WINDOW = 1000
FORGETTING = 1.0 - 1.0 / WINDOW


@dataclass(frozen=True)
class Scenario:
    """When the angle goes from one end to the other: pairs of first and last row, in windows."""

    name: str
    changes: tuple[tuple[float, float], ...]
    length: float

    def angle(self, rows: Floats) -> Floats:
        """Angle in radians at each row."""
        angle = np.zeros(len(rows))
        for number, (start, stop) in enumerate(self.changes):
            # The smallest number keeps a jump from being a division by zero.
            progress = np.clip((rows / WINDOW - start) / max(stop - start, 1e-9), 0.0, 1.0)
            angle += (-1.0) ** number * progress * np.pi / 2.0
        return angle


SCENARIOS = {
    scenario.name: scenario
    for scenario in (
        Scenario("abrupt", ((6.0, 6.0),), 12.0),
        Scenario("gradual", ((6.0, 10.0),), 16.0),
        Scenario("recurring", ((6.0, 6.0), (11.0, 11.0), (16.0, 16.0)), 21.0),
    )
}


def stream(scenario: Scenario, seed: int) -> tuple[Floats, Floats, Floats]:
    """Draw inputs, responses and the true directions (n x 20 x 2)."""
    random = RandomState(seed)
    frame = np.linalg.qr(random.standard_normal((N_INPUTS, 2 * N_SIGNALS)))[0]
    n = round(scenario.length * WINDOW)
    angle = scenario.angle(np.arange(float(n)))[:, np.newaxis, np.newaxis]
    U = np.cos(angle) * frame[:, :N_SIGNALS] + np.sin(angle) * frame[:, N_SIGNALS:]
    X = random.standard_normal((n, N_INPUTS))
    signal = np.einsum("ni,nik->nk", X, U) * STRENGTHS
    return X, signal + NOISE * random.standard_normal((n, N_SIGNALS)), U
