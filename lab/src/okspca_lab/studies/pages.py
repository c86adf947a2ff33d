"""What the pages of the studies share: figures where they can be drawn, and flat rows."""

import csv
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from rich.console import Console

from okspca import outputs
from okspca.report.page import Code, Picture, Section, page
from okspca.report.printable import printable
from okspca.report.provenance import as_lines
from okspca.report.tables import Table

NO_MATPLOTLIB = "The figures need matplotlib: pip install 'okspca[plot]'"


def pictures(study: str, out: Path, console: Console, *what: Any) -> dict[str, Picture]:
    """Draw and write the figures of a study by name, where matplotlib is there to draw them."""
    try:
        figures = import_module(f"okspca_lab.studies.{study}.figures")
    except ImportError:
        console.print(NO_MATPLOTLIB, markup=False)
        return {}
    drawn: dict[str, bytes] = figures.draw(*what)
    for name, png in drawn.items():
        outputs.write(out / f"{name}.png", png)
    return {name: Picture(png, figures.CAPTIONS[name]) for name, png in drawn.items()}


def write_page(
    out: Path,
    console: Console,
    heading: tuple[str, str],
    told: dict[str, str],
    figures: Section,
    tables: Sequence[Table],
) -> None:
    """Write a page of one section of figures and one of tables; print the first table.

    A table that stands among the figures is not shown a second time.

    Parameters
    ----------
    out : Path
        Folder of `tables.md` and `index.html`.
    console : Console
        Where the first table is shown.
    heading : (str, str)
        Title and what stands under it.
    told : dict
        How the rows were made.
    figures : Section
        Left out where nothing was drawn.
    tables : sequence of Table
        The main one first.
    """
    text = [as_lines(told), "", *(table.markdown() for table in tables)]
    outputs.write(out / "tables.md", "\n".join(text))
    made = Section("How it was made", [Code(as_lines(told))])
    shown = [figures] if figures.parts else []
    others = Section("Tables", [table for table in tables if table not in figures.parts])
    outputs.write(out / "index.html", page(*heading, [made, *shown, others]))
    console.print(tables[0].rich())
    console.print(f"Rows, tables, figure and index.html are in {printable(out)}", markup=False)


def write_csv(
    path: Path, rows: Sequence[Mapping[str, Any]], names: Sequence[str] | None = None
) -> None:
    """Write flat rows, all columns or those named; what is None becomes empty."""
    with outputs.replacing_text(path) as file:
        columns = list(rows[0]) if names is None else names
        writer = csv.DictWriter(file, columns, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
