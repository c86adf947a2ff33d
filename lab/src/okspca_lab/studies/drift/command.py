"""`okspca reproduce drift`: the options."""

from pathlib import Path
from typing import Annotated

import typer

from okspca_lab.studies.options import Jobs
from okspca_lab.studies.runner import run


def command(
    quick: Annotated[
        bool, typer.Option("--quick", help="Only show that everything runs, on one seed.")
    ] = False,
    features: Annotated[
        bool,
        typer.Option(
            "--features", help="Instead, follow trained features after other inputs matter."
        ),
    ] = False,
    jobs: Jobs = 1,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for rows, tables, figures and the page; by default results/drift, "
            "or results/drift/features."
        ),
    ] = None,
) -> None:
    """Signal directions that move: how soon forgetting and windows follow (not in the paper).

    A run that was stopped goes on where it was when the same command is given again.
    """
    study, folder = ("drift.features", "drift/features") if features else ("drift", "drift")
    run(study, out or Path("results", folder), jobs=jobs, quick=quick)
