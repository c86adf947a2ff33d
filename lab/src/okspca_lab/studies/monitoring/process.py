r"""A cooled stirred tank with a controller: a process with known faults.

A feed of concentration c_f and temperature T_f flows in at the rate q; the substance reacts and
heats the tank; a jacket at T_j, through which coolant of temperature T_w flows at the rate u, takes
the heat away.  In units in which most of these are about one::

    dc/dt  = q (c_f - c) - k c,                          k = 0.8 a exp(6 (1 - 1/T))
    dT/dt  = q (T_f - T) + 0.9 k c - 1.5 b (T - T_j)
    dT_j/dt = 3 u (T_w - T_j) + 2 b (T - T_j)
    u = 1 + 4 (T_m - 1) + 0.5 times the integral of T_m - 1,   between 0.05 and 4,

with a the activity of the catalyst and b the cleanness of the jacket, both one in control, and T_m
the temperature as measured.  c_f, T_f, q and T_w vary about their levels as autoregressive
disturbances (0.9 from row to row).  A row is read every 0.5 units of time: the inputs
are c_f, T_f, q, T_w, T, T_j, u and the power of the stirrer ``0.5 + 0.5 q + 0.4 c``, each with
noise of a hundredth; the response is c, with noise of a fiftieth.

Faults are of sensors, which tell something else than there is, or of the process itself.
"""

import copy
from typing import NamedTuple

import numpy as np
from numpy.random import RandomState

from okspca.numerics.arrays import Floats

INPUTS = ("c_f", "T_f", "q", "T_w", "T", "T_j", "u", "power")
STEPS, DT = 10, 0.05
AGAIN = 0.9
LEVELS, SPREADS = np.array([1.0, 0.9, 1.0, 0.6]), np.array([0.04, 0.01, 0.04, 0.01])
NOISE, RESPONSE_NOISE = 0.01, 0.02


class Fault(NamedTuple):
    """What goes wrong, and the inputs any of which names it rightly."""

    words: str
    causes: tuple[int, ...]


FAULTS = {
    "T_f sensor reads 0.02 too much": Fault("bias", (1,)),
    "q sensor stuck": Fault("stuck", (2,)),
    "T_j sensor drifts": Fault("drift", (5,)),
    "power sensor twice as noisy": Fault("noise", (7,)),
    "coolant valve gives 20 % less": Fault("valve", (5, 6)),
    "jacket fouls": Fault("fouling", (5, 6)),
    "catalyst ages": Fault("ageing", (4, 5, 6, 7)),
}


class Reactor:
    """The tank, in control until a fault is told.

    Parameters
    ----------
    random : RandomState
        What disturbances and noise are drawn from.

    Examples
    --------
    >>> X, y = Reactor(RandomState(0)).run(200)
    >>> X.shape, bool(abs(X[:, 4].mean() - 1.0) < 0.02)
    ((200, 8), True)
    """

    def __init__(self, random: RandomState) -> None:
        self.random = random
        self.state = (0.55, 1.0, 0.85, 0.0)
        self.disturbance = np.zeros(4)
        self.last = 1.0
        self.run(100)

    def twin(self) -> "Reactor":
        """Make a copy that goes on by itself."""
        return copy.deepcopy(self)

    def run(self, n: int, fault: str | None = None) -> tuple[Floats, Floats]:
        """Read n rows of inputs and responses, with a fault from the first of them on."""
        kind = "" if fault is None else FAULTS[fault].words
        X, y = np.empty((n, len(INPUTS))), np.empty(n)
        shocks = self.random.normal(size=(n, 4)) * SPREADS * np.sqrt(1.0 - AGAIN**2)
        noise = NOISE * self.random.normal(size=(n, len(INPUTS)))
        for row in range(n):
            self.disturbance = AGAIN * self.disturbance + shocks[row]
            X[row], y[row] = self._step(kind, row, noise[row])
        _spoil(X, kind, self.random)
        return X, y + RESPONSE_NOISE * self.random.normal(size=n)

    def _step(self, kind: str, row: int, noise: Floats) -> tuple[Floats, float]:
        """Go on to the next row."""
        cf, Tf, q, Tw = (LEVELS + self.disturbance).tolist()
        clean = max(1.0 - 0.0005 * row, 0.6) if kind == "fouling" else 1.0
        active = max(1.0 - 0.0005 * row, 0.6) if kind == "ageing" else 1.0
        open_ = 0.8 if kind == "valve" else 1.0
        c, T, Tj, total = self.state
        error = T + float(noise[4]) - 1.0
        total += error * STEPS * DT
        u = min(max(1.0 + 4.0 * error + 0.5 * total, 0.05), 4.0)
        for _ in range(STEPS):
            k = 0.8 * active * np.exp(6.0 * (1.0 - 1.0 / T))
            heat = clean * (T - Tj)
            dc, dT = q * (cf - c) - k * c, q * (Tf - T) + 0.9 * k * c - 1.5 * heat
            dTj = 3.0 * open_ * u * (Tw - Tj) + 2.0 * heat
            c, T, Tj = c + DT * dc, T + DT * dT, Tj + DT * dTj
        self.state = (c, T, Tj, total)
        read = np.array([cf, Tf, q, Tw, 1.0 + error, Tj, u, 0.5 + 0.5 * q + 0.4 * c])
        read += noise * (np.arange(len(INPUTS)) != 4)
        return read, c


def _spoil(X: Floats, kind: str, random: RandomState) -> None:
    """What a faulty sensor reads instead, in place."""
    if kind == "bias":
        X[:, 1] += 0.02
    elif kind == "stuck":
        X[:, 2] = X[0, 2]
    elif kind == "drift":
        X[:, 5] += 0.00005 * np.arange(len(X))
    elif kind == "noise":
        X[:, 7] += np.sqrt(3.0) * NOISE * random.normal(size=len(X))
