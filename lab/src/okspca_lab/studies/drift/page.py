"""What people read of the drift study: tables, the figure and one page."""

from pathlib import Path

from rich.console import Console

from okspca.report.page import Section
from okspca_lab.studies.drift.plan import Plan
from okspca_lab.studies.drift.results import read
from okspca_lab.studies.drift.streams import WINDOW
from okspca_lab.studies.drift.tables import alarms, recovery
from okspca_lab.studies.pages import pictures, write_page
from okspca_lab.studies.rows import Record

LEAD = (
    "Two signal directions in twenty inputs turn by 90 degrees: at once, slowly or back and forth. "
    f"A window is {WINDOW:,} rows, 1 / (1 − forgetting)."
)


def write(plan: Plan, out: Path, console: Console) -> None:
    """Write tables, figure and page, and print the main table."""
    rows, told = read(plan, out), Record(out / "provenance.json").read() or {}
    figures = Section("Figure", list(pictures("drift", out, console, rows).values()))
    tables = [recovery(rows), alarms(rows)]
    write_page(out, console, ("Drift", LEAD), told, figures, tables)
