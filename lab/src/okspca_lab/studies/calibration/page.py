"""What people read of the calibration study: tables, the figure and one page."""

from pathlib import Path

from rich.console import Console

from okspca.report.page import Section
from okspca_lab.studies.calibration.plan import Plan
from okspca_lab.studies.calibration.results import read
from okspca_lab.studies.calibration.tables import errors, losses
from okspca_lab.studies.pages import pictures, write_page
from okspca_lab.studies.rows import Record

LEAD = (
    "Probabilities of OKSPCAClassifier with its defaults, in one pass, beside those of logistic "
    "regression and of plain linear discriminants, which were fitted to its embedding of all rows."
)


def write(plan: Plan, out: Path, console: Console) -> None:
    """Write tables, figure and page, and print the main table."""
    rows, told = read(plan, out), Record(out / "provenance.json").read() or {}
    figures = Section("Figure", list(pictures("calibration", out, console, rows).values()))
    write_page(out, console, ("Calibration", LEAD), told, figures, [losses(rows), errors(rows)])
