"""`okspca reproduce distributed`: reads the options; heavy parts are imported when it runs."""

import sys
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from okspca import outputs
from okspca.report.printable import printable
from okspca.report.provenance import command_line

PARTS = ("equal", "turns", "scale", "spark", "merge", "sparse")


def command(
    part: Annotated[
        list[str] | None,
        typer.Option(help=f"Run only this part; can be repeated: {', '.join(PARTS)}."),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Only show that everything runs, on few rows.")
    ] = False,
    out: Annotated[
        Path, typer.Option(help="Folder for rows, tables, figures and the page.")
    ] = Path("results/distributed"),
) -> None:
    """Many processes, one model: equality, throughput, a killed worker, merging, sparse rows.

    A run that was stopped goes on where it was when the same command is given again.  The part
    "spark" writes Parquet files to the temporary folder of the system (TMPDIR).
    """
    parts = PARTS if not part else tuple(part)
    unknown = [name for name in parts if name not in PARTS]
    if unknown:
        typer.echo(f"There is no part {unknown[0]!r}; give one of {', '.join(PARTS)}.", err=True)
        raise typer.Exit(2)
    study = import_module("okspca_lab.studies.distributed.study")
    console = Console(width=None if sys.stdout.isatty() else 140)
    told = command_line(sys.argv)
    try:
        outputs.check_folder(out)
        study.run(out, console, command=told, parts=parts, quick=quick)
    except (OSError, ValueError) as error:
        typer.echo(printable(f"The study cannot go on: {error}"), err=True)
        raise typer.Exit(1) from error
