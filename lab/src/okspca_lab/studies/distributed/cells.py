"""One cell of the study of many processes: a run of an engine, of merging or of sparse rows."""

from pathlib import Path

from okspca_lab.studies.distributed.engines import equal, spark
from okspca_lab.studies.distributed.merging import merging
from okspca_lab.studies.distributed.plan import Plan
from okspca_lab.studies.distributed.results import record_of
from okspca_lab.studies.distributed.scale import scale
from okspca_lab.studies.distributed.sparse import sparse
from okspca_lab.studies.rows import Cell, Row
from okspca_lab.studies.runner import Part

PARTS = {
    "equal": equal,
    "turns": scale,
    "scale": scale,
    "spark": spark,
    "merge": merging,
    "sparse": sparse,
}
#: Parts that run in two processes.
ENGINES = ("equal", "turns", "scale", "spark")


def work(cell: Cell) -> list[Row]:
    """Do one cell."""
    return PARTS[cell["part"]](cell)


def parts(plan: Plan, out: Path) -> list[Part]:
    """All cells, ready to be run, one part after the other."""
    return [
        Part.of_cells(
            out,
            plan.settings,
            plan.cells(name),
            work,
            record=record_of(out, name),
            processes=2 if name in ENGINES else 1,
        )
        for name in plan.parts
    ]
