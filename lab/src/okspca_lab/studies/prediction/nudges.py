"""Experiment: how far rounding errors carry the tracker.

All inputs are multiplied by 1 + e, with e a few units in the last place.  The standardised inputs,
and so the exact solution, stay the same to rounding; what changes in the tracker is its own doing.
"""

from okspca_lab.studies.prediction import methods
from okspca_lab.studies.prediction.fits import final_rows, geometry
from okspca_lab.studies.prediction.tasks import Task
from okspca_lab.studies.rows import Row

NUDGES = (0.0, 1e-15, -1e-15)
NUDGED_SEEDS = (100, 101, 104)


def nudge_rows(task: Task, seed: int, *, quick: bool) -> list[Row]:
    """Where the tracker ends for inputs that differ by rounding."""
    split = final_rows(task, seed, quick=quick)
    rows: list[Row] = []
    for nudge in NUDGES:
        model = methods.okspca(task, split, seed, task.rank)
        model.partial_fit(split.X * (1.0 + nudge), split.y)
        rows.append({**geometry(model), "kind": "nudge", "seed": seed, "nudge": nudge})
    return rows
