"""`okspca reproduce calibration`: the options."""

from pathlib import Path
from typing import Annotated

import typer

from okspca_lab.studies.options import Jobs, Out
from okspca_lab.studies.runner import run


def command(
    quick: Annotated[
        bool, typer.Option("--quick", help="Only show that everything runs: one seed, few rows.")
    ] = False,
    jobs: Jobs = 1,
    out: Out = Path("results/calibration"),
) -> None:
    """Probabilities of the classifier beside those of logistic regression (not in the paper).

    A run that was stopped goes on where it was when the same command is given again.
    """
    run("calibration", out, jobs=jobs, quick=quick)
