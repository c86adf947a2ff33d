"""`okspca reproduce prediction`: the options."""

from pathlib import Path
from typing import Annotated

import typer

from okspca_lab.studies.options import Jobs
from okspca_lab.studies.runner import run


def command(
    tasks: Annotated[
        list[str] | None,
        typer.Option(help="A task, such as Kin8nm; can be given several times. All by default."),
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(min=1, max=10, help="How many of the ten seeds, from 100 on.")
    ] = None,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick",
            help="Only show that everything runs: two seeds, few rows, what data are there.",
        ),
    ] = False,
    beyond: Annotated[
        bool,
        typer.Option(
            "--beyond",
            help="Instead, run the rows past the paper: whitened inputs, features that learn.",
        ),
    ] = False,
    jobs: Jobs = 1,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for rows, tables, figures and the page; by default results/prediction, "
            "or results/beyond."
        ),
    ] = None,
) -> None:
    """Six tasks, ten seeds: scores, controls and same-target diagnostics (sections 3, S2 and S3).

    A run that was stopped goes on where it was when the same command is given again.
    """
    study, folder = ("prediction.beyond", "beyond") if beyond else ("prediction", "prediction")
    out = out or Path("results", folder)
    run(study, out, jobs=jobs, tasks=tasks or [], n_seeds=seeds, quick=quick)
