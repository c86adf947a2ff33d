"""What people read of the rows past the paper: tables, the figure and one page."""

from pathlib import Path

from rich.console import Console

from okspca.report.page import Section
from okspca_lab.studies.pages import pictures, write_csv, write_page
from okspca_lab.studies.prediction.beyond.plan import Plan
from okspca_lab.studies.prediction.beyond.results import read
from okspca_lab.studies.prediction.beyond.tables import (
    ablation,
    every_seed,
    goals,
    relevance_table,
)

SCORES = ("task", "seed", "method", "score", "converged", "ridge", "rung", "fit_seconds")
LEAD = (
    "The paper's target is the limit of its own predictions. Here other targets and features that "
    "learn are set beside it: same seeds, splits, number of random features, rank and probes."
)


def write(plan: Plan, out: Path, console: Console) -> None:
    """Write tables, figure and page, and print the main table."""
    results, told = read(plan, out)
    write_csv(out / "scores.csv", [r for r in results.rows if r["kind"] == "score"], SCORES)
    drawn = pictures("prediction.beyond", out, console, results)
    figures = Section("Rung by rung", list(drawn.values()))
    tables = [goals(results), ablation(results), relevance_table(results), every_seed(results)]
    write_page(out, console, ("Past the paper", LEAD), told, figures, tables)
