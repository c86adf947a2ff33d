"""What a reader must know to judge the agreement: conventions, and why numbers may differ."""

from okspca.studies.page import Part
from okspca.studies.services.results import Results

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
    return [*ALWAYS, *_selection(paper)]


def _selection(paper: Results) -> list[Part]:
    """Tell how far the selection can be trusted where shortfalls decide it."""
    if not paper.kind("candidate", regime="R256"):
        return []
    return [
        "In R256 the selection rests on a handful of shortfalls among some six thousand requests, "
        "which the first few observations decide; other draws can favour another step."
    ]
