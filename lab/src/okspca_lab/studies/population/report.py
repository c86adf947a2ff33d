"""Everything that is made from the rows of the population study: figures, tables, page."""

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from rich.console import Console

from okspca import outputs
from okspca.report.page import Code, Part, Picture, Section, page
from okspca.report.printable import printable
from okspca.report.provenance import as_lines
from okspca.report.tables import Table
from okspca_lab.studies.comparison import Comparison, comparison_table, counted, write_comparison
from okspca_lab.studies.population.summary import comparison, is_complete, tables
from okspca_lab.studies.rows import Row

TITLE = "Population recovery"
LEAD = (
    "Three subspaces are kept apart: that of the source of the data (population), that of the rows "
    "so far (exact empirical), and the one that a solver delivered. Here the first is known."
)
FIGURES = {
    "recovery": "Thin: all seeds. Bold: medians; bands: quartiles. Distances do not add up.",
    "calibration": "The stability estimate over the truth it does not know, one mark per seed and "
    "size with its 90% interval. Green: the range wanted for medians.",
    "bounds": "The propositions' bounds (dashed) beside the quantities they bound.",
}


def write_report(out: Path, rows: Sequence[Row], told: dict[str, str], console: Console) -> None:
    """Write comparison, figures, tables and page, and show the summary."""
    lines, made, pictures = comparison(rows), tables(rows), draw(out, rows, console)
    write_comparison(out / "comparison.csv", lines)
    compared = comparison_table("Published numbers beside ours", lines)
    outputs.write(out / "index.html", page(TITLE, LEAD, _sections(made, compared, pictures, told)))
    outputs.write(out / "README.md", _markdown([compared, *made], pictures, lines, told))
    for table in (made[0], compared, made[-1]):
        console.print(table.rich())
    place = printable(out / "index.html")
    console.print(f"{counted(lines)} All of it: {place}", markup=False)
    if not is_complete(rows):
        console.print("This was a quick run on a few seeds: it only shows that everything works.")


def draw(out: Path, rows: Sequence[Row], console: Console) -> dict[str, Picture]:
    """Draw the figures where matplotlib is there."""
    try:
        drawing = import_module("okspca_lab.studies.population.picture")
    except ImportError:
        console.print("The figures need matplotlib: pip install 'okspca[plot]'", markup=False)
        return {}
    pictures = {}
    for name, caption in FIGURES.items():
        png = getattr(drawing, f"{name}_figure")(rows)
        outputs.write(out / f"{name}.png", png)
        pictures[name] = Picture(png, caption)
    return pictures


def _sections(
    made: Sequence[Table], compared: Table, pictures: dict[str, Picture], told: dict[str, str]
) -> list[Section]:
    """Lay out the page."""
    medians, calibrated, confirmed, real, loose, checked = made

    def shown(name: str) -> list[Part]:
        return [pictures[name]] if name in pictures else []

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
    pictures: dict[str, Picture],
    lines: Sequence[Comparison],
    told: dict[str, str],
) -> str:
    """Write the same as Markdown, with the figures as files beside it."""
    shown = [f"![{p.caption}]({name}.png)\n" for name, p in pictures.items()]
    head = [f"# {TITLE}\n", f"{LEAD}\n", f"{counted(lines)}\n"]
    made_by = ["## How this was made\n", "```text", as_lines(told), "```", ""]
    return "\n".join([*head, *shown, *(table.markdown() for table in made), *made_by])
