"""What contenders are fed: a stream, the requests in it, and the turns it is cut into."""

from dataclasses import dataclass
from typing import Any

from okspca.numerics.arrays import Floats, Integers
from okspca_lab.studies.workloads import Maps, Regime, Schedule, draw_maps, stream

# Rows at the end of the warm-up that are served as the timed ones will be.
REHEARSED = 8

Span = tuple[int, int]


@dataclass(frozen=True)
class Feed:
    """A stream and the requests in it.

    Attributes
    ----------
    regime, maps : Regime, Maps
        Dimensions and feature maps.
    X, targets : ndarray
        Inputs, and responses or labels.
    y : list
        The targets as plain numbers, as they come with rows that arrive one by one.
    wanted : list of bool
        Whether a basis is requested after each row.
    """

    regime: Regime
    maps: Maps
    X: Floats
    targets: Floats | Integers
    y: list[Any]
    wanted: list[bool]

    def pieces(self, start: int, stop: int) -> list[Span]:
        """Cut rows after each request: what arrives as one block where blocks are possible."""
        ends = [i + 1 for i in range(start, stop - 1) if self.wanted[i]]
        return list(zip([start, *ends], [*ends, stop], strict=True))


def draw_feed(
    regime: Regime, schedule: Schedule | None, seed: int, warm_up: int, rows: int
) -> Feed:
    """Draw a stream of ``warm_up + rows`` rows; only the timed ones follow the schedule.

    The last rows of the warm-up are requested as well, so that nothing happens for the first time
    on the clock.

    Examples
    --------
    >>> from okspca_lab.studies.workloads import REGIMES, SCHEDULES
    >>> feed = draw_feed(REGIMES["C2"], SCHEDULES["every-10"], seed=0, warm_up=20, rows=25)
    >>> [i + 1 for i, wanted in enumerate(feed.wanted) if wanted and i >= 20]
    [30, 40, 45]
    """
    n = warm_up + rows
    X, targets = stream(regime, seed, n)
    wanted = [False] * n
    if schedule is not None:
        for observation in schedule.requests(n, seed).tolist():
            wanted[observation - 1] = observation > warm_up
        for row in range(max(warm_up - REHEARSED, 0), warm_up):
            wanted[row] = True
    return Feed(regime, draw_maps(regime, seed), X, targets, targets.tolist(), wanted)


def turns(wanted: list[bool], start: int, stop: int, size: int) -> list[Span]:
    """Cut rows into turns of at least ``size`` rows that end at requests, where there are any.

    Examples
    --------
    >>> turns([i in (3, 6, 8) for i in range(9)], 1, 9, 3)
    [(1, 4), (4, 7), (7, 9)]
    """
    ends = [i + 1 for i in range(start, stop) if wanted[i]] or range(start + 1, stop + 1)
    cut, begin = [], start
    for end in ends:
        if end - begin >= size or end == stop:
            cut.append((begin, end))
            begin = end
    return cut
