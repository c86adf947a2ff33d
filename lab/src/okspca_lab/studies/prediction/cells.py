"""One cell of the prediction study: a part of it or an experiment, of one task and seed."""

from pathlib import Path

from okspca_lab.studies.prediction import experiments, fits
from okspca_lab.studies.prediction.excursions import excursion_rows
from okspca_lab.studies.prediction.nudges import nudge_rows
from okspca_lab.studies.prediction.plan import Plan
from okspca_lab.studies.prediction.tasks import resolved
from okspca_lab.studies.rows import Cell, Row
from okspca_lab.studies.runner import Part

PARTS = {
    "okspca": fits.okspca_rows,
    "comparators": fits.comparator_rows,
    "controls": fits.control_rows,
    "development": fits.development_rows,
    "bandwidth": fits.bandwidth_rows,
    "excursions": excursion_rows,
    "nudges": nudge_rows,
    "splits": experiments.split_rows,
    "loadings": experiments.loading_rows,
    "rounding": experiments.rounding_rows,
    "columns": experiments.column_rows,
}


def work(cell: Cell) -> list[Row]:
    """Do one cell."""
    task = resolved(cell["task"])
    rows = PARTS[cell["part"]](task, cell.get("seed", 0), quick=cell["quick"])
    return [{"part": cell["part"], "task": task.name, **row} for row in rows]


def parts(plan: Plan, out: Path) -> list[Part]:
    """All cells, ready to be run."""
    return [Part.of_cells(out, plan.settings, plan.cells(), work)]
