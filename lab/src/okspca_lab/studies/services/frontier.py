"""Cost against error: one point per service, and those that no other beats in both."""

from collections.abc import Sequence
from typing import NamedTuple

from okspca_lab.studies.services.methods import methods_of
from okspca_lab.studies.services.results import Results
from okspca_lab.studies.workloads import REGIMES


class Point(NamedTuple):
    """A service in one regime with one schedule: its cost, its mean error, and its soundness."""

    build: str
    method: str
    microseconds: float
    angle: float
    is_sound: bool


def points(paper: Results, ours: Results, regime: str, schedule: str) -> list[Point]:
    """Collect every service of both builds that was timed and judged."""
    found = []
    for build, results in (("paper", paper), ("ours", ours)):
        for method in methods_of(REGIMES[regime], build):
            timed = "every-1" if build == "ours" and method == "exact-each" else schedule
            cost = results.microseconds(regime, timed, method)
            angle = results.mean(regime, method, "angle", schedule)
            if cost is not None and angle is not None:
                sound = not any(
                    results.count(regime, method, name, schedule) for name in ("shortfall", "stale")
                )
                found.append(Point(build, method, cost, angle, sound))
    return found


def frontier(candidates: Sequence[Point]) -> list[Point]:
    """Keep what nobody undercuts in both cost and error, cheapest first.

    Examples
    --------
    >>> cheap, good = Point("ours", "a", 1.0, 9.0, True), Point("ours", "b", 2.0, 1.0, True)
    >>> worse = Point("ours", "c", 3.0, 5.0, True)
    >>> [p.method for p in frontier([worse, good, cheap])]
    ['a', 'b']
    """
    best: list[Point] = []
    for point in sorted(candidates, key=lambda p: (p.microseconds, p.angle)):
        if not best or point.angle < best[-1].angle:
            best.append(point)
    return best
