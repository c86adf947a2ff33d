"""Tables and figures of the rows past the paper."""

import csv
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from okspca import outputs
from okspca.numerics.arrays import Floats
from okspca.report.page import Code, Picture, Section, page
from okspca.report.printable import printable
from okspca.report.provenance import as_lines
from okspca.report.tables import Table, mean_sd
from okspca_lab.studies.prediction.beyond import EVERYTHING, GOALS, TRUE_INPUTS, VARIANTS, Goal
from okspca_lab.studies.prediction.results import Results

COLUMNS = ("task", "seed", "method", "score", "converged", "ridge", "fit_seconds")
CAPTION = (
    "Share of each input in what the prediction depends on, all seeds; filled: inputs that the "
    "response really depends on."
)
LEAD = (
    "The paper's target is the limit of its own predictions. Here other targets and input metrics "
    "are set beside it: same seeds, splits, number of random features, rank and probes."
)
USED, UNUSED = "#D55E00", "#9a9a9a"


def render_beyond(results: Results, out: Path, console: Console, told: dict[str, str]) -> None:
    """Write tables, figure and page, and print the main table."""
    tables = [goals(results), ablation(results), relevance_table(results)]
    scores = [row for row in results.rows if row["kind"] == "score"]
    with outputs.replacing_text(out / "scores.csv") as file:
        writer = csv.DictWriter(file, COLUMNS, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(scores)
    text = [as_lines(told), "", *(table.markdown() for table in tables)]
    outputs.write(out / "tables.md", "\n".join(text))
    sections = [Section("How it was made", [Code(as_lines(told))]), Section("Tables", tables)]
    png = _picture(results)
    if png is not None:
        outputs.write(out / "relevance.png", png)
        sections.insert(1, Section("Which inputs matter", [Picture(png, CAPTION)]))
    html = page("Past the paper", LEAD, sections)
    outputs.write(out / "index.html", html)
    console.print(tables[0].rich())
    console.print(f"Rows, tables, figure and index.html are in {printable(out)}", markup=False)


def goals(results: Results) -> Table:
    """Set the best of the paper, what must be reached and what was reached side by side."""
    rows = []
    for task in results.tasks:
        goal, scores = goal_of(task), results.scores(task, EVERYTHING.name)
        reached = float(scores.mean())
        verdict = "aim" if reached >= goal.aim else "must" if reached >= goal.must else "fails"
        limits = (f"{x:.3f}" for x in (goal.reduced, goal.unreduced, goal.must, goal.aim))
        rows.append((task, *limits, mean_sd(reached, _sd(scores)), verdict))
    header = (
        "task",
        "best reduced, paper",
        "all features, paper",
        "must",
        "aim",
        "ours",
        "reached",
    )
    return Table("One setting for all tasks", header, rows, words=(6,))


def ablation(results: Results) -> Table:
    """Mean scores with each ingredient added alone."""
    rows = [
        (v.name, *(f"{results.scores(task, v.name).mean():.3f}" for task in results.tasks))
        for v in VARIANTS
    ]
    return Table("Each ingredient alone", ("representation", *results.tasks), rows)


def relevance_table(results: Results) -> Table:
    """Share of relevance that the true inputs have."""
    rows = []
    for task in [name for name in results.tasks if name in TRUE_INPUTS]:
        found = shares(results, task)[:, : TRUE_INPUTS[task]].sum(axis=1)
        if found.size:
            rows.append((task, str(TRUE_INPUTS[task]), f"{found.mean():.3f}", f"{found.min():.3f}"))
    header = ("task", "inputs that matter", "their share, mean", "smallest over seeds")
    return Table("Learned relevance", header, rows)


def shares(results: Results, task: str) -> Floats:
    """Relevance of the inputs of a task, one row per seed."""
    found = [
        row["shares"]
        for row in results.rows
        if row["kind"] == "relevance" and (row["task"], row["method"]) == (task, EVERYTHING.name)
    ]
    return np.array(found) if found else np.zeros((0, 0))


def goal_of(task: str) -> Goal:
    """What a task is measured against, under the name of the data that are there."""
    return GOALS["HAR" if task.startswith("HAR") else task]


def _sd(scores: Floats) -> float:
    """Standard deviation over seeds."""
    return float(scores.std(ddof=1)) if scores.size > 1 else 0.0


def _picture(results: Results) -> bytes | None:
    """Draw the shares, where matplotlib is there to draw them."""
    tasks = [t for t in results.tasks if t in TRUE_INPUTS and shares(results, t).size]
    try:
        figures: Any = import_module("matplotlib.figure")
        shared: Any = import_module("okspca_lab.studies.figures")
    except ImportError:
        return None
    if not tasks:
        return None
    figure = figures.Figure(figsize=(4.2 * len(tasks), 3.2), layout="constrained")
    for axes, task in zip(figure.subplots(1, len(tasks), squeeze=False)[0], tasks, strict=True):
        found = shares(results, task)
        for j, column in enumerate(found.T):
            is_true = j < TRUE_INPUTS[task]
            colour = USED if is_true else UNUSED
            axes.plot(
                np.full(len(column), j + 1), column, "o" if is_true else "x", color=colour, ms=4
            )
        total = found[:, : TRUE_INPUTS[task]].sum(axis=1).mean()
        axes.set_title(f"{task}: true inputs hold {total:.1%}", fontsize=11)
        axes.set_xlabel("input")
        shared.plain(axes)
        axes.set_ylim(bottom=-0.02)
    figure.axes[0].set_ylabel("share of relevance")
    return bytes(shared.png(figure))
