"""The open question: whether a service can be fresh, of full rank, accurate and cheap.

In every regime and schedule, the cheapest of our services that passed on quality is taken, and its
time is set beside three others, paired by seed: the paper's Adam (timed in the same run), the full
SVD on request with the same compiled front end, and the cheapest service of any kind that is not a
cache.
"""

from dataclasses import dataclass

import numpy as np

from okspca.report.tables import Table
from okspca_lab.studies.services.methods import ANCHOR, CACHED, LABELS, OWN_EXACT, methods_of
from okspca_lab.studies.services.results import Results
from okspca_lab.studies.workloads import REGIMES, SCHEDULES

MOST_DEGREES = 1e-6
MOST_OF_ADAM, MOST_OF_FULL, MOST_OF_CHEAPEST = 0.12, 0.5, 1.05
FULL_REGIMES = ("R128", "R256")
FULL_SCHEDULES = ("every-1", "every-10", "every-100", "bernoulli")


@dataclass(frozen=True)
class Claim:
    """What was found in one regime with one schedule.

    Attributes
    ----------
    regime, schedule : str
        Where.
    method : str or None
        Our cheapest service that is fresh, of full rank and accurate.
    angle : float
        Its largest angle in degrees at any request.
    microseconds : float
        Its time per observation, requests included.
    of_adam, of_full, of_cheapest : float
        Its time over that of the paper's Adam, of the full SVD, and of the cheapest.
    cheapest : str
        Who that is.

    Examples
    --------
    >>> Claim("R256", "every-1", "exact", 1e-9, 50.0, 0.05, 0.01, 1.0, "exact").holds
    True
    >>> Claim("R256", "every-1", "exact", 1e-9, 50.0, 0.05, 0.6, 1.0, "exact").holds
    False
    """

    regime: str
    schedule: str
    method: str | None
    angle: float = float("nan")
    microseconds: float = float("nan")
    of_adam: float = float("nan")
    of_full: float = float("nan")
    of_cheapest: float = float("nan")
    cheapest: str = ""

    @property
    def needs_full(self) -> bool:
        """Whether the comparison with the full SVD is part of the question here."""
        return self.regime in FULL_REGIMES and self.schedule in FULL_SCHEDULES

    @property
    def holds(self) -> bool:
        """Whether everything that was asked for is there."""
        return (
            self.method is not None
            and self.of_adam <= MOST_OF_ADAM
            and (self.of_full <= MOST_OF_FULL or not self.needs_full)
            and self.of_cheapest <= MOST_OF_CHEAPEST
        )


def claims(results: Results) -> list[Claim]:
    """Look in every regime and schedule that was timed."""
    return [
        claim_in(results, regime, schedule)
        for regime in REGIMES
        for schedule in SCHEDULES
        if results.seconds(regime, schedule, "exact").size
    ]


def claim_in(results: Results, regime: str, schedule: str) -> Claim:
    """Find our cheapest sound service and compare it."""
    every = [m for m in methods_of(REGIMES[regime], "ours") if m not in CACHED]
    times = {m: results.microseconds(regime, schedule, m) for m in every}
    medians = {m: time for m, time in times.items() if time is not None}
    sound = [m for m in medians if m in OWN_EXACT and is_sound(results, regime, schedule, m)]
    if not sound:
        return Claim(regime, schedule, None)
    best = min(sound, key=lambda m: medians[m])
    cheapest = min(medians, key=lambda m: medians[m])

    def over(other: str) -> float:
        ratios = results.ratios(regime, schedule, best, other)
        return float(np.median(ratios)) if ratios.size else float("nan")

    worst = results.over_seeds("quality", regime, schedule, best, "worst_angle").max()
    return Claim(
        regime,
        schedule,
        best,
        float(worst),
        medians[best],
        over(ANCHOR),
        over("full-svd"),
        over(cheapest),
        cheapest,
    )


def is_sound(results: Results, regime: str, schedule: str, method: str) -> bool:
    """Fresh, never short of a rank, and accurate, at every request of every seed."""
    worst = results.over_seeds("quality", regime, schedule, method, "worst_angle")
    short = results.count(regime, method, "shortfall", schedule)
    stale = results.count(regime, method, "stale", schedule)
    return bool(worst.size) and short == 0 and stale == 0 and float(worst.max()) <= MOST_DEGREES


def claims_table(found: list[Claim]) -> Table:
    """Show the answer to the open question."""
    rows = [
        (
            f"{c.regime}, {c.schedule}",
            "none" if c.method is None else LABELS[c.method],
            f"{c.angle:.1e}",
            f"{c.microseconds:.1f}",
            f"{c.of_adam:.3f}",
            f"{c.of_full:.3f}",
            f"{c.of_cheapest:.3f}",
            LABELS.get(c.cheapest, ""),
            "holds" if c.holds else "fails",
        )
        for c in found
    ]
    header = (
        "regime, schedule",
        "our service",
        "worst angle (deg)",
        "µs a row",
        "÷ paper's Adam",
        "÷ full SVD",
        "÷ cheapest",
        "cheapest",
        "verdict",
    )
    note = (
        f"Wanted: no shortfall, nothing stale, angle at most {MOST_DEGREES:g}°, at most "
        f"{MOST_OF_ADAM} of the paper's Adam, at most {MOST_OF_FULL} of the full SVD with the same "
        f"front end (in {' and '.join(FULL_REGIMES)}, except every 1000), at most "
        f"{MOST_OF_CHEAPEST} of the cheapest service that is not a cache. Medians over seeds of "
        "paired ratios of whole-stream times, answers with certificate, row by row."
    )
    return Table("Fresh, of full rank, accurate and cheap", header, rows, note, words=(1, 7, 8))
