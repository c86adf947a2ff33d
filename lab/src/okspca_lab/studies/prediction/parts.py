"""One cell of the run: a part of the study or an experiment, of one task and seed."""

from okspca_lab.studies.cells import Cell
from okspca_lab.studies.prediction import experiments, fits
from okspca_lab.studies.prediction.excursions import excursion_rows
from okspca_lab.studies.prediction.nudges import nudge_rows
from okspca_lab.studies.prediction.tasks import resolved
from okspca_lab.studies.rows import Row

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
