"""Everything that is made from the rows of the population study: figures, tables, page."""

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from okspca import outputs
from okspca.report.page import Code, Part, Picture, Section, page
from okspca.report.printable import printable
from okspca.report.provenance import as_lines
from okspca.report.tables import Table
from okspca_lab.studies.comparison import Comparison, comparison_table, counted, write_comparison
from okspca_lab.studies.pages import pictures
from okspca_lab.studies.population.compare import compare
from okspca_lab.studies.population.plan import Plan
from okspca_lab.studies.population.results import is_complete, read
from okspca_lab.studies.population.tables import all_tables
from okspca_lab.studies.rows import Record

TITLE = "Population recovery"
LEAD = (
    "Three subspaces are kept apart: that of the source of the data (population), that of the rows "
    "so far (exact empirical), and the one that a solver delivered. Here the first is known."
)


def write(plan: Plan, out: Path, console: Console) -> None:
    """Write comparison, figures, tables and page, and show the summary."""
    rows, told = read(plan, out), Record(out / "provenance.json").read() or {}
    lines, made = compare(rows), all_tables(rows)
    drawn = pictures("population", out, console, rows)
    write_comparison(out / "comparison.csv", lines)
    compared = comparison_table("Published numbers beside ours", lines)
    outputs.write(out / "index.html", page(TITLE, LEAD, _sections(made, compared, drawn, told)))
    outputs.write(out / "README.md", _markdown([compared, *made], drawn, lines, told))
    for table in (made[0], compared, made[-1]):
        console.print(table.rich())
    place = printable(out / "index.html")
    console.print(f"{counted(lines)} All of it: {place}", markup=False)
    if not is_complete(rows):
        console.print("This was a quick run on a few seeds: it only shows that everything works.")


def _sections(
    made: Sequence[Table], compared: Table, drawn: dict[str, Picture], told: dict[str, str]
) -> list[Section]:
    """Lay out the page."""
    medians, calibrated, confirmed, real, loose, checked = made

    def shown(name: str) -> list[Part]:
        return [drawn[name]] if name in drawn else []

    estimate = (
        "model.estimate_stability() compares eight disjoint parts of the stream. It is not told "
        "the truth; below it is measured against it, on the bounded pairs and on a second source "
        "with random features and causal standardisers."
    )
    return [
        Section("Checks", [checked]),
        Section("Recovery", [*shown("recovery"), medians]),
        Section("Comparison with the paper", [compared]),
        Section(
            "Stability estimate", [estimate, *shown("calibration"), calibrated, confirmed, real]
        ),
        Section("Bounds", [*shown("bounds"), loose]),
        Section("How this was made", [Code(as_lines(told))]),
    ]


def _markdown(
    made: Sequence[Table],
    drawn: dict[str, Picture],
    lines: Sequence[Comparison],
    told: dict[str, str],
) -> str:
    """Write the same as Markdown, with the figures as files beside it."""
    shown = [f"![{p.caption}]({name}.png)\n" for name, p in drawn.items()]
    head = [f"# {TITLE}\n", f"{LEAD}\n", f"{counted(lines)}\n"]
    made_by = ["## How this was made\n", "```text", as_lines(told), "```", ""]
    return "\n".join([*head, *shown, *(table.markdown() for table in made), *made_by])
