"""One cell of the population study: a seed of one of its parts."""

from pathlib import Path

from okspca_lab.studies.population.halves import compare_halves
from okspca_lab.studies.population.plan import Plan
from okspca_lab.studies.population.random_features import confirm
from okspca_lab.studies.population.recovery import recover, recover_batch
from okspca_lab.studies.rows import Cell, Row
from okspca_lab.studies.runner import Part

#: The parts of the study, and the function that runs a cell of each.
PARTS = {
    "bounded": recover,
    "by chance": recover_batch,
    "random features": confirm,
    "real data": compare_halves,
}


def work(cell: Cell) -> list[Row]:
    """Run one cell and say in every row which part it belongs to."""
    return [_rounded({"part": cell["part"], **row}) for row in PARTS[cell["part"]](cell)]


def parts(plan: Plan, out: Path) -> list[Part]:
    """All cells, ready to be run."""
    return [Part.of_cells(out, plan.settings, plan.cells(), work)]


def _rounded(row: Row) -> Row:
    """Keep nine digits: more than any table shows, and half the size on disk."""
    return {k: float(f"{v:.9g}") if isinstance(v, float) else v for k, v in row.items()}
