"""`okspca reproduce drift`: reads the options; the heavy parts are imported when it runs."""

import sys
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from okspca import outputs
from okspca.report.printable import printable
from okspca.report.provenance import command_line


def command(
    quick: Annotated[
        bool, typer.Option("--quick", help="Only show that everything runs, on one seed.")
    ] = False,
    jobs: Annotated[int, typer.Option(min=1, help="Number of processes.")] = 1,
    out: Annotated[
        Path, typer.Option(help="Folder for rows, tables, figures and the page.")
    ] = Path("results/drift"),
) -> None:
    """Signal directions that move: how soon forgetting and windows follow (not in the paper).

    A run that was stopped goes on where it was when the same command is given again.
    """
    study = import_module("okspca_lab.studies.drift.study")
    console = Console(width=None if sys.stdout.isatty() else 140)
    try:
        outputs.check_folder(out)
        study.run(out, console, command=command_line(sys.argv), jobs=jobs, quick=quick)
    except (OSError, ValueError) as error:
        typer.echo(printable(f"{out} cannot be used: {error}"), err=True)
        raise typer.Exit(1) from error
