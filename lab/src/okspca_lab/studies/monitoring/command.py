"""`okspca reproduce monitoring`: the options."""

from pathlib import Path
from typing import Annotated

import typer

from okspca_lab.studies.options import Jobs
from okspca_lab.studies.runner import run


def command(
    quick: Annotated[
        bool, typer.Option("--quick", help="Only show that everything runs, on one seed.")
    ] = False,
    jobs: Jobs = 1,
    out: Annotated[
        Path, typer.Option(help="Folder for rows, tables, figures and the page.")
    ] = Path("results/monitoring"),
) -> None:
    """False alarms in control, delays after changes, and inputs named (not in the paper).

    A run that was stopped goes on where it was when the same command is given again.
    """
    run("monitoring", out, jobs=jobs, quick=quick)
