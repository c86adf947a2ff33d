"""Time contenders side by side: the same rows, in small turns, in one process.

They run on one thread, unless a cell is about threads.

Machines are noisy and slow down or speed up for seconds at a time.  So contenders take turns on
short pieces of one stream, another one going first in each turn: what disturbs one disturbs all,
and the ratio of their times stays.  Quality is checked between the turns, off the clock, against a
full singular value decomposition of a moment that a plain witness keeps.
"""

import gc
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
from threadpoolctl import threadpool_limits

from okspca_lab.bench.contenders import Contender
from okspca_lab.bench.feed import Span
from okspca_lab.bench.quality import Witness

MOST_CHECKS = 12


@dataclass
class Lap:
    """What one contender did in one race.

    Attributes
    ----------
    seconds, rows : list
        Time and length of each turn.
    angles : list of float
        Largest angle in degrees to the exact span, at each checked request.
    """

    seconds: list[float] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    angles: list[float] = field(default_factory=list)

    @property
    def mean_us(self) -> float:
        """Mean time per row in microseconds."""
        return 1e6 * sum(self.seconds) / sum(self.rows)

    @property
    def median_us(self) -> float:
        """Median over the turns of the time per row in microseconds."""
        return 1e6 * float(np.median(np.array(self.seconds) / self.rows))

    @property
    def worst_angle(self) -> float | None:
        """Largest angle found; None where none was measured."""
        return max(self.angles, default=None)


def race(
    contenders: dict[str, Contender], spans: list[Span], witness: Witness | None
) -> dict[str, Lap]:
    """Let the contenders take turns; check what they delivered at up to twelve turns' ends."""
    laps = {name: Lap() for name in contenders}
    checked = set(np.linspace(0, len(spans) - 1, MOST_CHECKS).round().astype(int).tolist())
    for number, (start, stop) in enumerate(spans):
        names = list(contenders)
        shift = number % len(names)
        for name in names[shift:] + names[:shift]:
            contender = contenders[name]
            contender.prepare(start, stop)
            begin = time.perf_counter()
            contender.serve(start, stop)
            laps[name].seconds.append(time.perf_counter() - begin)
            laps[name].rows.append(stop - start)
        if witness is not None and number in checked:
            witness.learn_to(stop)
            for name, contender in contenders.items():
                laps[name].angles.extend(witness.angles(contender.delivered()))
    return laps


@contextmanager
def quiet(n_threads: int = 1) -> Iterator[None]:
    """No more threads than so many, and no garbage collection in the middle of a turn."""
    collects = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        with threadpool_limits(limits=n_threads):
            yield
    finally:
        if collects:
            gc.enable()
