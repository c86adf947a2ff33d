"""What people read of the study of many processes: tables, figures and one page."""

import csv
from pathlib import Path

from rich.console import Console

from okspca import outputs
from okspca.report.page import Code, Section, page
from okspca.report.printable import printable
from okspca.report.provenance import as_lines
from okspca.report.tables import Table
from okspca_lab.studies.distributed.plan import Plan
from okspca_lab.studies.distributed.results import read, told_of
from okspca_lab.studies.distributed.tables import TABLES
from okspca_lab.studies.pages import pictures

LEAD = "Rows that many processes learn, one model, and what that costs."


def write(plan: Plan, out: Path, console: Console) -> None:
    """Write everything and print the tables."""
    rows = read(plan, out)
    made = {name: table(rows) for name, table in TABLES.items()}
    for name, table in made.items():
        _write_csv(out / f"{name}.csv", table)
    tables = [table for table in made.values() if table.rows]
    told = [f"{part}\n\n{as_lines(lines)}\n" for part, lines in told_of(out, rows).items()]
    outputs.write(out / "tables.md", "\n".join([*told, *(table.markdown() for table in tables)]))
    figures = list(pictures("distributed", out, console, rows).values())
    sections = [Section("How it was made", [Code("\n".join(told))]), Section("Tables", tables)]
    sections += [Section("Figures", figures)] if figures else []
    outputs.write(out / "index.html", page("Many processes", LEAD, sections))
    for table in tables:
        console.print(table.rich())
    console.print(f"Rows, tables, figures and index.html are in {printable(out)}", markup=False)


def _write_csv(path: Path, table: Table) -> None:
    """Write a table for the pages; they show also which parts were not run."""
    blank = ("not run", *["–"] * (len(table.header) - 1))
    with outputs.replacing_text(path) as file:
        csv.writer(file, lineterminator="\n").writerows([table.header, *(table.rows or [blank])])
