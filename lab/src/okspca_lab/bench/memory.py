"""Memory of a long stream: rows are drawn on the fly, learned, and gone.

With heavy tails the noise of the response has Student's t distribution with three degrees of
freedom, the fewest with a variance, and one response in 3,000 is up to a hundred units away.  There
are 1,024 target features, and the solver lets rows be learned in long blocks: whatever were kept
for every distance at which a block's farthest response lies would add up.
"""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from numpy.random import RandomState

from okspca.datasets import response_surface
from okspca.estimators import OKSPCA
from okspca.numerics.arrays import Floats
from okspca_lab.studies.workloads import REGIMES, derived_seed

BLOCK = 1024
N_INPUTS = 16
POINTS = 200
MEBIBYTE = 2.0**20
DEGREES_OF_FREEDOM = 3
OUTLIER_EVERY, FARTHEST = 3000, 100.0
HEAVY_TAILS: dict[str, Any] = {"n_target_features": 1024, "solver": "exact-snapshot"}


@dataclass(frozen=True)
class MemoryPoint:
    """Memory in use after so many rows, in bytes, and the seconds since the start."""

    rows: int
    resident_bytes: int
    seconds: float


def stream_and_watch(
    n_rows: int = 10_000_000,
    done: Callable[[int], object] = lambda rows: None,
    seed: int = 0,
    *,
    heavy_tails: bool = False,
) -> list[MemoryPoint]:
    """Learn rows in blocks, with a request at each of about two hundred points, and note memory.

    Examples
    --------
    >>> points = stream_and_watch(3000)
    >>> points[-1].rows, points[-1].resident_bytes > 0
    (3000, True)
    """
    model = _model(seed, heavy_tails=heavy_tails)
    points, start = [], time.perf_counter()
    due = step = max(n_rows // POINTS, 1)
    for number, begin in enumerate(range(0, n_rows, BLOCK)):
        rows = min(BLOCK, n_rows - begin)
        model.partial_fit(*_block(rows, derived_seed(seed, number), heavy_tails=heavy_tails))
        learned = begin + rows
        if learned >= due or learned == n_rows:
            model.basis()
            points.append(MemoryPoint(learned, resident_bytes(), time.perf_counter() - start))
            done(learned)
            due = (learned // step + 1) * step
    return points


def explained(points: list[MemoryPoint]) -> str:
    """Say how much memory was in use early and late.

    Examples
    --------
    >>> points = [MemoryPoint(n, 2**20 * (100 + (n > 5)), 0.0) for n in range(1, 101)]
    >>> explained(points)
    '100 rows: 101.0 MiB in use after 11 rows, 101.0 MiB at the end, at most 101.0 MiB in between.'
    """
    settled, last = points[len(points) // 10], points[-1]
    most = max(point.resident_bytes for point in points if point.rows >= settled.rows)
    return (
        f"{last.rows:,} rows: {settled.resident_bytes / MEBIBYTE:.1f} MiB in use after "
        f"{settled.rows:,} rows, {last.resident_bytes / MEBIBYTE:.1f} MiB at the end, "
        f"at most {most / MEBIBYTE:.1f} MiB in between."
    )


def resident_bytes() -> int:
    """Return the memory of this process that is in use; where only the peak is told, that."""
    told = Path("/proc/self/statm")
    if told.is_file():
        return int(told.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    resource = import_module("resource")
    peak = int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    return peak if os.uname().sysname == "Darwin" else 1024 * peak


def _block(rows: int, seed: int, *, heavy_tails: bool) -> tuple[Floats, Floats]:
    """Draw rows."""
    X, y = response_surface(rows, N_INPUTS, seed)
    if heavy_tails:
        random = RandomState([seed, 1])
        is_outlier = random.uniform(size=rows) < 1.0 / OUTLIER_EVERY
        away = is_outlier * random.uniform(-FARTHEST, FARTHEST, rows)
        y = y + random.standard_t(DEGREES_OF_FREEDOM, rows) + away
    return X, y


def _model(seed: int, *, heavy_tails: bool) -> OKSPCA:
    """Make a model with the widths of the widest regime."""
    wide = REGIMES["R256"]
    settings: dict[str, Any] = {"n_target_features": wide.n_target_features}
    return OKSPCA(
        wide.n_components,
        n_random_features=wide.n_input_features,
        random_state=seed,
        **(HEAVY_TAILS if heavy_tails else settings),
    )
