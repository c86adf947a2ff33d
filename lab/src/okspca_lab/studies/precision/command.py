"""`okspca reproduce precision`: the options."""

from pathlib import Path
from typing import Annotated

import typer

from okspca_lab.studies.options import Jobs, Out
from okspca_lab.studies.runner import run


def command(
    quick: Annotated[
        bool, typer.Option("--quick", help="Only show that everything runs: two tasks, few rows.")
    ] = False,
    jobs: Jobs = 1,
    out: Out = Path("results/precision"),
) -> None:
    """Scores of the six tasks with rows as float64 and as float32 (not in the paper).

    Development rows and seeds only.  A run that was stopped goes on where it was when the same
    command is given again.
    """
    run("precision", out, jobs=jobs, quick=quick)
