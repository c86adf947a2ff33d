"""From rows to everything people read: tables, figures, `comparison.csv` and one page."""

import csv
from importlib import import_module
from pathlib import Path

from rich.console import Console

from okspca import outputs
from okspca.report.page import Code, Part, Picture, Section, page
from okspca.report.printable import printable
from okspca.report.provenance import as_lines
from okspca.report.tables import Table
from okspca_lab.studies.comparison import (
    Comparison,
    Verdict,
    agreement,
    comparison_table,
    counted,
    write_comparison,
)
from okspca_lab.studies.prediction.compare import compare
from okspca_lab.studies.prediction.explained import explanations
from okspca_lab.studies.prediction.results import Results
from okspca_lab.studies.prediction.tables import all_tables, labelled

NO_MATPLOTLIB = "The figures need matplotlib: pip install 'okspca[plot]'"
QUICK = "This was a quick run: it shows that everything works, and its numbers mean nothing."
SCORES = ("task", "seed", "part", "method", "representation", "score", "converged", "rate", "clip")
GEOMETRY = (
    "task", "seed", "observation", "reference_rank", "rank", "rho", "angle",
    "distance", "relative_gap", "tie", "rho_lower", "angle_upper",
)  # fmt: skip
FIGURES = {
    "classification": (
        "Macro-F1 at the rank cap: points are seeds, diamonds their means (the paper's figure 1)."
    ),
    "checkpoints": (
        "The same-target comparison over the stream: five checkpoints of every seed, the path "
        "between them at fifty points, and what the certificate proved there and then."
    ),
}


def render(results: Results, out: Path, console: Console, told: dict[str, str]) -> None:
    """Write everything into a folder and print the summary."""
    lines, tables = compare(results), all_tables(results)
    pictures = _pictures(results, out, console)
    write_comparison(out / "comparison.csv", lines)
    _write_rows(out / "scores.csv", SCORES, [r for r in results.rows if r["kind"] == "score"])
    _write_rows(out / "geometry.csv", GEOMETRY, [r for r in results.rows if r.get("checkpoint")])
    text = [as_lines(told), "", *([QUICK, ""] if results.quick else [])]
    text += [table.markdown() for table in [summary(lines), *tables]]
    outputs.write(out / "tables.md", "\n".join(text))
    html = _page(results, lines, tables, pictures, told)
    outputs.write(out / "index.html", html)
    console.print(summary(lines).rich())
    if results.quick:
        console.print(QUICK, markup=False)
    place = printable(out)
    console.print(
        f"Rows, tables, figures, comparison.csv and index.html are in {place}", markup=False
    )


def summary(lines: list[Comparison]) -> Table:
    """Count the verdicts of each artefact."""
    rows = []
    for artefact in dict.fromkeys(line.artefact for line in lines):
        own = [line for line in lines if line.artefact == artefact]
        agree, of = agreement(own)
        rows.append((artefact, str(agree), str(of - agree), str(len(own) - of)))
    agree, of = agreement(lines)
    rows.append(("all", str(agree), str(of - agree), str(len(lines) - of)))
    columns = ("artefact", "agrees", "differs", "not run")
    return Table("Agreement with the paper", columns, rows, counted(lines))


def _pictures(results: Results, out: Path, console: Console) -> dict[str, bytes]:
    """Draw and write the figures, where matplotlib is there to draw them."""
    try:
        figures = import_module("okspca_lab.studies.prediction.figures")
    except ImportError:
        console.print(NO_MATPLOTLIB, markup=False)
        return {}
    tasks = labelled(results)
    drawn = {name: getattr(figures, name)(results, tasks) for name in FIGURES if tasks}
    for name, png in drawn.items():
        outputs.write(out / f"{name}.png", png)
    return drawn


def _page(
    results: Results,
    lines: list[Comparison],
    tables: list[Table],
    pictures: dict[str, bytes],
    told: dict[str, str],
) -> str:
    """Put the page together."""
    differing = [line for line in lines if line.verdict is Verdict.DIFFERS]
    why: list[Part] = [comparison_table("What differs", differing)] if differing else []
    sections = [
        Section("How it was made", [Code(as_lines(told)), *([QUICK] if results.quick else [])]),
        Section("Agreement", [summary(lines), *_probes(results)]),
        Section("What differs, and why", [*why, *explanations(results)]),
        Section("Figures", [Picture(png, FIGURES[name]) for name, png in pictures.items()]),
        Section("Tables", tables),
        Section("Side by side", _side_by_side(lines)),
    ]
    lead = (
        "Six tasks, ten seeds, five reduced pipelines, two unreduced controls and same-target "
        "diagnostics: the paper's sections 3, S2 and S3 run again, each published number beside "
        "ours."
    )
    return page("The prediction study", lead, sections)


def _probes(results: Results) -> list[Part]:
    """Say whether every probe came to its end."""
    unfinished = results.not_converged()
    if not unfinished:
        return ["Every update of every tracker was regular, and every probe converged."]
    names = sorted({f"{row['method']} on {row['task']}" for row in unfinished})
    return [
        f"Every update of every tracker was regular. {len(unfinished)} probes used all their "
        f"iterations: {', '.join(names)}."
    ]


def _side_by_side(lines: list[Comparison]) -> list[Part]:
    """One table per artefact."""
    return [
        comparison_table(artefact, [line for line in lines if line.artefact == artefact])
        for artefact in dict.fromkeys(line.artefact for line in lines)
    ]


def _write_rows(path: Path, names: tuple[str, ...], rows: list[dict[str, object]]) -> None:
    """Write flat rows; what is None becomes empty."""
    with outputs.replacing_text(path) as file:
        writer = csv.DictWriter(file, names, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
