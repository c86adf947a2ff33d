"""What people read of the monitoring study: tables, the figure and one page."""

from pathlib import Path

from rich.console import Console

from okspca.report.page import Section
from okspca_lab.studies.monitoring.plan import Plan
from okspca_lab.studies.monitoring.results import read
from okspca_lab.studies.monitoring.streams import N_CALIBRATION, N_LEARNED
from okspca_lab.studies.monitoring.tables import delays, faults, named, overview, rates
from okspca_lab.studies.pages import pictures, write_page
from okspca_lab.studies.rows import Record

LEAD = (
    f"Models that have learned {N_LEARNED:,} rows are frozen; {N_CALIBRATION:,} rows in control "
    "calibrate every alarm, and then rows are watched, in control or with a change."
)


def write(plan: Plan, out: Path, console: Console) -> None:
    """Write tables, figure and page, and print the main table."""
    rows, told = read(plan, out), Record(out / "provenance.json").read() or {}
    drawn = Section("Figure", list(pictures("monitoring", out, console, rows).values()))
    tables = [overview(rows), rates(rows), delays(rows), faults(rows), named(rows)]
    write_page(out, console, ("Monitoring", LEAD), told, drawn, tables)
