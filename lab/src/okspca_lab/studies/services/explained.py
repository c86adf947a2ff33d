"""What a reader must know to judge the agreement: conventions, and why numbers may differ."""

import numpy as np

from okspca.report.page import Part
from okspca_lab.studies.services import published
from okspca_lab.studies.services.methods import CONTROL, LABELS, NEVER
from okspca_lab.studies.services.results import Results
from okspca_lab.studies.workloads import SCHEDULES

ALWAYS = (
    "Streams, maps and starts are drawn by the paper's laws from its seeds, but by another "
    "generator than its own, so a seed here is another stream there. What the schedule fixes is "
    "equal to the unit. What moves with the first labels of a stream (two equal labels leave no "
    "target at t = 2), with random requests, or with the rank of an early moment has the tolerance "
    "that stands beside it.",
    "Angles are computed here from sines where they are small, so exact services show 1e-13 "
    "degrees; the paper's 1e-6 is the rounding of an arc cosine near one. Exact d_P is rounding "
    "here and a printed zero there.",
    "Times are of another machine, so absolute ones are compared within a factor of four, and "
    "ratios by who is ahead.",
    "The final streams of the projected gradient use the steps that the paper selected, so that "
    "its numbers can be compared; the selection is repeated beside them.",
)


def explanations(paper: Results) -> list[Part]:
    """Say what always holds, and what this run found."""
    return [*ALWAYS, *_directions(paper), *_orderings(paper), *_selection(paper)]


def _directions(paper: Results) -> list[Part]:
    """Where another method is ahead than in the paper, say what decides it here."""
    found: list[Part] = []
    for regime, by_schedule in published.GROUPS.items():
        for schedule, printed in by_schedule.items():
            every = SCHEDULES[schedule].every
            learning, adam, exact = (
                paper.microseconds(regime, *of)
                for of in ((NEVER, CONTROL), (schedule, "adam"), (schedule, "exact-on-request"))
            )
            if every is None or learning is None or adam is None or exact is None:
                continue
            ratio = float(np.median(paper.ratios(regime, schedule, "adam", "exact-on-request")))
            if (ratio < 1.0) == (float(printed.median) < 1.0):
                continue
            solving = every * (exact - learning)
            found.append(
                f"{regime}, {schedule}: the paper has Adam ÷ exact at {printed.median}, here it is "
                f"{ratio:.2f}. Learning takes {learning:,.0f} µs a row, Adam's upkeep "
                f"{adam - learning:,.0f} more, and one decomposition {solving:,.0f}, "
                f"which {every} rows share. The two meet where a decomposition costs {every} times "
                "the upkeep; which side of that a machine is on depends on its library for "
                "decompositions, not on the method."
            )
    return found


#: Pairs of which the paper's first is the cheaper one, and what decides where it is not here.
CHEAPER = (
    (
        *("R128", "cache-10", "adam"),
        "A cache pays a tenth of a decomposition a row, Adam its upkeep",
    ),
    (
        *("C11", "contrast", "exact-on-request"),
        "Contrast replaces one decomposition of eleven columns by a QR factorisation, a smaller "
        "decomposition and a product, each a call of the library",
    ),
)


def _orderings(paper: Results) -> list[Part]:
    """Where a method that is cheaper in the paper is not here, say by how much and why."""
    found: list[Part] = []
    for regime, cheap, dear, reason in CHEAPER:
        times = [paper.microseconds(regime, "every-1", name) for name in (cheap, dear)]
        if None in times or times[0] < times[1]:  # type: ignore[operator]
            continue
        found.append(
            f"{regime}, every-1: {LABELS[cheap]} takes {times[0]:,.0f} µs a row here, "
            f"{LABELS[dear]} {times[1]:,.0f}; the paper has it the other way round. {reason}: "
            "which is less depends on the machine and its library."
        )
    return found


def _selection(paper: Results) -> list[Part]:
    """Tell how far the selection can be trusted where shortfalls decide it."""
    if not paper.kind("candidate", regime="R256"):
        return []
    return [
        "In R256 the selection rests on a handful of shortfalls among some six thousand requests, "
        "which the first few observations decide; other draws can favour another step."
    ]
