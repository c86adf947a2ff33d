"""What people read of this study: tables, the figure and one page."""

from pathlib import Path

from rich.console import Console

from okspca.report.page import Section
from okspca_lab.studies.drift.features.plan import Plan
from okspca_lab.studies.drift.features.results import read
from okspca_lab.studies.drift.features.streams import PILOT, START, WINDOW
from okspca_lab.studies.drift.features.tables import false_alarms, recovery
from okspca_lab.studies.pages import pictures, write_page
from okspca_lab.studies.rows import Record

LEAD = (
    f"Features are trained on the first {PILOT:,} rows. From row {START:,} on other inputs matter. "
    f"64 features, four components; a window is {WINDOW:,} rows, 1 / (1 − forgetting)."
)


def write(plan: Plan, out: Path, console: Console) -> None:
    """Write tables, figure and page, and print the main table."""
    rows, told = read(plan, out), Record(out / "provenance.json").read() or {}
    figures = Section("Figure", list(pictures("drift.features", out, console, rows).values()))
    tables = [recovery(rows), false_alarms(rows)]
    write_page(out, console, ("Features after a drift", LEAD), told, figures, tables)
