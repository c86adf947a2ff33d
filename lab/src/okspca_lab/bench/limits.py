r"""What bounds the cost of a row and of a request, and how far we are from it.

A step cannot be faster than its floating-point operations at the peak of the processor, nor than
the bytes it must read and write at the speed of memory.  With d inputs, D features, a moment of w
stored columns (classes, or the directions of a compressed response) and k components, the least
work of each step is::

    features of x     2 D d + c D operations        8 D d bytes
    moment, one row   4 D w                         16 D w    (read and written)
    request           D w^2 + 2 k w D               8 D w

A whitened moment also adds the row to a covariance, D^2 operations for one half of it, which is
read and written once for a block of rows.  A request after one more row turns a triangular factor,
3 D^2, and its certificate takes a product with the covariance and two solves, 4 D^2 k; the factor,
twice, and the covariance pass by.

A cosine counts as c = 24 operations.  The request forms the Gram matrix of the moment (one half of
it) and turns k vectors back; the eigenproblem in between costs a few w^3, which are added as
(4/3) w^3.  Both peaks are measured in the same run, on one thread: a product of two matrices, and
the copying of an array that fits into the cache next to the core, since a moment does.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from okspca.estimators import OKSPCA
from okspca.report.tables import Table
from okspca_lab.bench.tables import number
from okspca_lab.bench.timing import quiet
from okspca_lab.studies.workloads import REGIMES, Regime, draw_maps, stream

COSINE = 24
BYTES = 8
SEED = 6200
SHOWN = ("R256", "R128", "C2")
#: Rows of a whitened moment that are added together, and how many of these steps are timed.
FOLDED, TIMED = 256, 200


@dataclass(frozen=True)
class Limit:
    """One step of one regime: its least work, the least time that takes, and ours.

    Attributes
    ----------
    regime, step : str
        What was measured.
    width : int
        Stored columns w of the moment.
    flops, n_bytes : float
        Least operations and bytes moved.
    bound_us : float
        The larger of the two times at the measured peaks, in microseconds.
    ours_us : float
        What the step took through the public door.
    """

    regime: str
    step: str
    width: int
    flops: float
    n_bytes: float
    bound_us: float
    ours_us: float

    @property
    def times_bound(self) -> float:
        """How many times the bound ours takes."""
        return self.ours_us / self.bound_us


@dataclass(frozen=True)
class Peaks:
    """What the machine can do on one thread: operations and bytes per second."""

    flops: float
    n_bytes: float

    def bound_us(self, flops: float, n_bytes: float) -> float:
        """Least time of so much work, in microseconds.

        Examples
        --------
        >>> Peaks(1e9, 1e9).bound_us(2000.0, 1000.0)
        2.0
        """
        return 1e6 * max(flops / self.flops, n_bytes / self.n_bytes)


def work(regime: Regime, width: int, *, whitened: bool = False) -> dict[str, tuple[float, float]]:
    """Return the least operations and bytes of learning a row and of answering a request.

    Examples
    --------
    >>> work(REGIMES["C2"], 2)["learn one row"]
    (4608.0, 12288.0)
    """
    d, D, k, w = regime.n_inputs, regime.n_input_features, regime.n_components, width
    own = 0 if regime.n_classes else regime.n_target_features  # features of the response
    encoding = 4 * own * w if own else 0  # onto the stored directions and back
    learning = 2 * D * d + COSINE * (D + own) + encoding + 4 * D * w
    moved = float(BYTES * (D * d + own * (1 + w)) + 2 * BYTES * D * w)
    asked = float(BYTES * D * w)
    asking = D * w**2 + 2 * k * w * D + 4 * w**3 / 3
    if whitened:
        learning += D**2
        moved = BYTES * D * d + 2 * BYTES * (D * w + D**2) / FOLDED
        asking += 3 * D**2 + 4 * D**2 * k
        asked += 3 * BYTES * D**2
    return {
        "learn one row": (float(learning), float(moved)),
        "answer a request": (float(asking), float(asked)),
    }


def measure_peaks(repeats: int = 400) -> Peaks:
    """Measure a matrix product and a copy in the nearest caches; the best of many counts.

    Each is short, so that some of them are not interrupted even on a busy machine.
    """
    n = 256
    A, B = np.ones((n, n)), np.ones((n, n))
    out, source = np.empty_like(A), np.ones(n * n // 4)
    copied = np.empty_like(source)
    product = best(lambda: np.dot(A, B, out), repeats)
    copy = best(lambda: np.copyto(copied, source), repeats)
    return Peaks(2.0 * n**3 / product, 2.0 * source.nbytes / copy)


def best(action: Callable[[], object], repeats: int) -> float:
    """Return the shortest time in seconds."""
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        action()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def measure_limits(n_rows: int = 512) -> tuple[Peaks, list[Limit]]:
    """Measure the peaks and our steps, all on one thread."""
    with quiet():
        peaks = measure_peaks()
        found = [limit for name in SHOWN for limit in _limits(name, peaks, n_rows)]
        return peaks, [*found, *_limits(SHOWN[0], peaks, n_rows, whitened=True)]


def _limits(name: str, peaks: Peaks, n_rows: int, *, whitened: bool = False) -> list[Limit]:
    """Time the steps of one regime after ``n_rows`` rows."""
    regime = REGIMES[name]
    X, y = stream(regime, SEED, n_rows + TIMED)
    maps = draw_maps(regime, SEED)
    settings: dict[str, Any] = {"target_map": maps.target_map}
    if whitened:
        settings, name = {"objective": "whitened"}, f"{name}, whitened"
    model = OKSPCA(regime.n_components, input_map=maps.input_map, random_state=0, **settings).fit(
        X[:n_rows], y[:n_rows]
    )
    learning, asking = [], []
    for row in zip(X[n_rows:], y[n_rows:].tolist(), strict=True):
        learning.append(best(partial(model.learn_one, *row), 1))
        # Once after every row: what was answered is remembered until the next.
        asking.append(best(model.basis, 1))
    # Most rows wait to be added together, so it is their mean that counts.
    middle = np.mean if whitened else np.median
    times, width = (middle(learning), middle(asking)), model.moment_.width
    steps = work(regime, width, whitened=whitened)
    return [
        Limit(name, step, width, flops, moved, peaks.bound_us(flops, moved), 1e6 * float(seconds))
        for (step, (flops, moved)), seconds in zip(steps.items(), times, strict=True)
    ]


def table(peaks: Peaks, limits: list[Limit]) -> Table:
    """Set our times beside the bounds."""
    title = (
        f"Limits at {peaks.flops / 1e9:.0f} Gflop/s (matrix product) and "
        f"{peaks.n_bytes / 1e9:.0f} GB/s (copy), both measured"
    )
    header = ("step", "w", "kflop", "kB", "bound µs", "ours µs", "ours ÷ bound")
    rows = [
        (
            f"{limit.regime}: {limit.step}",
            str(limit.width),
            number(limit.flops / 1e3),
            number(limit.n_bytes / 1e3),
            number(limit.bound_us),
            number(limit.ours_us),
            number(limit.times_bound),
        )
        for limit in limits
    ]
    return Table(title, header, rows)
