"""What people read of the service study: tables, figures, comparison and one page."""

from dataclasses import replace
from pathlib import Path

from rich.console import Console

from okspca import outputs
from okspca.report.page import Code, Part, Picture, Section, page
from okspca.report.printable import printable
from okspca.report.provenance import as_lines
from okspca.report.tables import Table
from okspca_lab.studies.comparison import (
    Comparison,
    comparison_table,
    counted,
    side_by_side,
    write_comparison,
)
from okspca_lab.studies.pages import pictures
from okspca_lab.studies.services import tables
from okspca_lab.studies.services.claims import Claim, claims, claims_table
from okspca_lab.studies.services.compare import compare
from okspca_lab.studies.services.explained import explanations
from okspca_lab.studies.services.plan import Plan
from okspca_lab.studies.services.results import Results, read_provenance, read_results
from okspca_lab.studies.workloads import REGIMES, SCHEDULES

TITLE = "The service study"
LEAD = (
    "What it costs to supply a basis of the current moment on request, and how good, complete and "
    "fresh it is: five workloads, five schedules, five seeds. First the paper's implementation "
    "again, each published number beside ours; then okspca's own services and solvers from "
    "elsewhere, given the same compiled front end."
)


def write(plan: Plan, out: Path, console: Console) -> None:
    """Read all rows under ``out``, write what people read, and print the main findings."""
    paper, ours = (read_results(out, build, quick=plan.quick) for build in ("paper", "ours"))
    lines, found = compare(paper), claims(ours)
    write_comparison(out / "comparison.csv", lines)
    drawn = pictures("services", out, console, paper, ours, out)
    parts = sections(paper, ours, lines, found, drawn, out)
    outputs.write(out / "index.html", page(TITLE, LEAD, parts))
    shown = [part for section in parts[:-1] for part in section.parts if isinstance(part, Table)]
    text = "\n".join(table.markdown() for table in shown)
    outputs.write(out / "tables.md", f"# {TITLE}\n\n{text}")
    _print(console, paper, lines, found)
    console.print(f"All of it: {printable(out / 'index.html')}", markup=False, highlight=False)
    if plan.quick:
        console.print("This was a quick run on a few rows: it only shows that everything works.")


def _print(console: Console, paper: Results, lines: list[Comparison], found: list[Claim]) -> None:
    """Print what matters most."""
    if paper.rows:
        console.print(tables.schedule_table(paper).rich())
        console.print(counted(lines), highlight=False)
    if found:
        console.print(claims_table(found).rich())
        held = sum(claim.holds for claim in found)
        console.print(f"{held} of {len(found)} cells hold.", highlight=False)


def sections(
    paper: Results,
    ours: Results,
    lines: list[Comparison],
    found: list[Claim],
    drawn: dict[str, Picture],
    out: Path,
) -> list[Section]:
    """Lay out the page."""

    def shown(*names: str) -> list[Part]:
        return [drawn[name] for name in names if name in drawn]

    joint = [tables.joint_table(paper, regime, "paper") for regime in REGIMES]
    return [
        Section("The open question", [*_answer(found), *shown("frontier")]),
        Section(
            "Agreement with the paper",
            [
                f"{counted(lines)} Each has its tolerance beside it.",
                *_differing(lines),
                *explanations(paper),
            ],
        ),
        Section("Schedules", [tables.schedule_table(paper), tables.group_table(paper)]),
        Section("Cost and quality, the paper's build", joint),
        Section("Along the streams", shown("R256", "R128")),
        Section("Requests", [tables.total_table(paper), tables.terminal_table(paper)]),
        Section(
            "Selection, variation and repeats",
            [
                tables.candidate_table(paper),
                tables.variation_table(paper),
                tables.repeat_table(paper),
                tables.batch_table(paper, "paper"),
            ],
        ),
        Section("Cost and quality, okspca's build", _ours(ours)),
        Section("How this was made", _made(out)),
        Section("Side by side", side_by_side(lines)),
    ]


def _answer(found: list[Claim]) -> list[Part]:
    """Say whether there are services that are fresh, of full rank, accurate and cheap."""
    if not found:
        return ["okspca's own build was not run."]
    held = sum(claim.holds for claim in found)
    return [
        "The paper leaves open whether a service can be fresh, of full rank, accurate and cheap at "
        f"once. Everything asked for is there in {held} of the {len(found)} cells.",
        claims_table(found),
    ]


def _ours(ours: Results) -> list[Part]:
    """Every regime and schedule of our build."""
    there = [
        tables.joint_table(ours, regime, "ours", schedule)
        for regime in REGIMES
        for schedule in SCHEDULES
        if ours.seconds(regime, schedule, "exact").size
    ]
    return [*there, tables.batch_table(ours, "ours")]


def _differing(lines: list[Comparison]) -> list[Part]:
    """Show what does not agree."""
    differ = [
        replace(line, row=f"{line.artefact}: {line.row}")
        for line in lines
        if line.verdict == "differs"
    ]
    return [comparison_table("Numbers that differ", differ)] if differ else []


def _made(out: Path) -> list[Part]:
    """Tell how each pass was made."""
    parts: list[Part] = []
    for name, told in read_provenance(out).items():
        parts += [f"{name}:", Code(as_lines(told))]
    return parts
