"""What people read of the precision study: tables, the figure and one page."""

from pathlib import Path

from rich.console import Console

from okspca.report.page import Section
from okspca_lab.studies.pages import pictures, write_page
from okspca_lab.studies.precision.plan import Plan
from okspca_lab.studies.precision.results import read
from okspca_lab.studies.precision.tables import errors, scores
from okspca_lab.studies.rows import Record

LEAD = (
    "The six tasks with rows of float64 and of float32, whose features are computed in single "
    "precision: what that does to scores and to features. Development rows and seeds."
)


def write(plan: Plan, out: Path, console: Console) -> None:
    """Write tables, figure and page, and print the main table."""
    rows, told = read(plan, out), Record(out / "provenance.json").read() or {}
    figures = Section("Figure", list(pictures("precision", out, console, rows).values()))
    write_page(out, console, ("Precision", LEAD), told, figures, [scores(rows), errors(rows)])
