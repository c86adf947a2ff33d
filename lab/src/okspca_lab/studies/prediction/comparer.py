"""Collects comparisons with the paper, under the names of the data that were there."""

import numpy as np

from okspca.numerics.arrays import Floats
from okspca_lab.studies.comparison import (
    Comparison,
    Decades,
    Factor,
    Tolerance,
    Within,
    compared,
    score_tolerance,
    seeds_range,
)
from okspca_lab.studies.prediction.results import Results

TINY = Within(0.003)
#: The ratio of two ten-seed standard deviations lies within a factor of two 95 times in 100.
SPREAD = Factor(2.0)
HAR_265 = "HAR-265: 265 of the 561 features"


class Comparer:
    """Collects lines; knows under which name the data of a task are there."""

    def __init__(self, results: Results) -> None:
        self.results = results
        self.lines: list[Comparison] = []

    def name(self, task: str) -> str:
        """Name of the data of a task in this run."""
        return "HAR-265" if task == "HAR" and "HAR-265" in self.results.tasks else task

    def add(
        self,
        artefact: str,
        task: str,
        column: str,
        paper: str,
        ours: float | None,
        tolerance: Tolerance,
    ) -> None:
        """Compare one number."""
        note = HAR_265 if self.name(task) == "HAR-265" else ""
        self.lines.append(compared(artefact, task, column, paper, ours, tolerance, note))

    def mean(
        self,
        artefact: str,
        task: str,
        column: str,
        paper: str,
        values: Floats,
        sd: str | None = None,
    ) -> None:
        """Compare the mean of scores over the seeds, and their spread where it is printed."""
        paper_sd = None if sd is None else float(sd)
        self.add(artefact, task, column, paper, mean(values), score_tolerance(values, paper_sd))
        if sd is not None:
            ours = float(np.std(values, ddof=1)) if values.size > 1 else None
            self.add(artefact, task, f"{column}, SD", sd, ours, SPREAD)


def mean(values: Floats) -> float | None:
    """Mean over the seeds; None where there are none."""
    return float(values.mean()) if values.size else None


def geometric(values: Floats) -> Factor:
    """Factor two, or the published value inside what our seeds gave."""
    return Factor(2.0, seeds_range(values)) if values.size else Factor(2.0)


def add_geometry(c: Comparer, artefact: str, task: str, printed: tuple[str, str, str]) -> None:
    """Compare rho, largest angle and projector distance at the end of the stream."""
    name = c.name(task)
    rho, angle, distance = (c.results.terminal(name, n) for n in ("rho", "angle", "distance"))
    c.add(artefact, task, "ρ", printed[0], mean(rho), Decades(0.5))
    c.add(artefact, task, "θ_max (deg)", printed[1], mean(angle), geometric(angle))
    c.add(artefact, task, "d_P", printed[2], mean(distance), geometric(distance))
