"""`okspca reproduce population`: the options."""

from pathlib import Path
from typing import Annotated

import typer

from okspca_lab.studies.options import Jobs, Out
from okspca_lab.studies.runner import run


def command(
    quick: Annotated[
        bool, typer.Option("--quick", help="Only show that everything runs, on a few seeds.")
    ] = False,
    jobs: Jobs = 1,
    out: Out = Path("results/population"),
) -> None:
    """Delivered, exact and population subspace where the truth is known (sections 4 and S4).

    Also measures the stability estimate and the bounds against that truth.  A run that was stopped
    goes on where it was when the same command is given again.
    """
    run("population", out, jobs=jobs, quick=quick)
