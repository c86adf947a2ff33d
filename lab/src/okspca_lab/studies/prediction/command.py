"""`okspca reproduce prediction`: reads the options; the heavy parts are imported when it runs."""

import sys
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from okspca import outputs
from okspca.report.printable import printable
from okspca.report.provenance import command_line

INTERRUPTED = 130


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
            help="Instead, run the rows past the paper: whitened inputs, learned relevance.",
        ),
    ] = False,
    jobs: Annotated[int, typer.Option(min=1, help="Number of processes.")] = 1,
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
    study = import_module("okspca_lab.studies.prediction.study")
    console = Console(width=None if sys.stdout.isatty() else 110)
    try:
        plan = study.planned(tasks or [], seeds, quick=quick)
        run = study.reproduce_beyond if beyond else study.reproduce
        folder = out or Path("results") / ("beyond" if beyond else "prediction")
        outputs.check_folder(folder)
        run(plan, folder, console, jobs=jobs, command=command_line(sys.argv))
    except (OSError, ValueError) as error:
        typer.echo(printable(error), err=True)
        raise typer.Exit(1) from error
    except KeyboardInterrupt as stop:
        typer.echo("Interrupted; the same command goes on from here.", err=True)
        raise typer.Exit(INTERRUPTED) from stop
