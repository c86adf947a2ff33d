"""What people read of the prediction study: tables, figures, `comparison.csv` and one page."""

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
    side_by_side,
    write_comparison,
)
from okspca_lab.studies.pages import pictures, write_csv
from okspca_lab.studies.prediction.compare import compare
from okspca_lab.studies.prediction.explained import explanations
from okspca_lab.studies.prediction.plan import Plan
from okspca_lab.studies.prediction.results import Results, read
from okspca_lab.studies.prediction.tables import all_tables

QUICK = "This was a quick run: it shows that everything works, and its numbers mean nothing."
SCORES = ("task", "seed", "part", "method", "representation", "score", "converged", "rate", "clip")
GEOMETRY = (
    "task", "seed", "observation", "reference_rank", "rank", "rho", "angle",
    "distance", "relative_gap", "tie", "rho_lower", "angle_upper",
)  # fmt: skip


def write(plan: Plan, out: Path, console: Console) -> None:
    """Write everything into a folder and print the summary."""
    results, told = read(plan, out)
    lines, tables = compare(results), all_tables(results)
    drawn = pictures("prediction", out, console, results)
    write_comparison(out / "comparison.csv", lines)
    scores = [row for row in results.rows if row["kind"] == "score"]
    write_csv(out / "scores.csv", scores, SCORES)
    checked = [row for row in results.rows if row.get("checkpoint")]
    write_csv(out / "geometry.csv", checked, GEOMETRY)
    text = [as_lines(told), "", *([QUICK, ""] if results.quick else [])]
    text += [table.markdown() for table in [summary(lines), *tables]]
    outputs.write(out / "tables.md", "\n".join(text))
    outputs.write(out / "index.html", _page(results, lines, tables, list(drawn.values()), told))
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


def _page(
    results: Results,
    lines: list[Comparison],
    tables: list[Table],
    drawn: list[Picture],
    told: dict[str, str],
) -> str:
    """Put the page together."""
    differing = [line for line in lines if line.verdict is Verdict.DIFFERS]
    why: list[Part] = [comparison_table("What differs", differing)] if differing else []
    sections = [
        Section("How it was made", [Code(as_lines(told)), *([QUICK] if results.quick else [])]),
        Section("Agreement", [summary(lines), *_probes(results)]),
        Section("What differs, and why", [*why, *explanations(results)]),
        Section("Figures", drawn),
        Section("Tables", tables),
        Section("Side by side", side_by_side(lines)),
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
