"""`okspca reproduce distributed`: the options."""

from pathlib import Path
from typing import Annotated

import typer

from okspca_lab.studies.distributed.plan import PARTS
from okspca_lab.studies.options import Out
from okspca_lab.studies.runner import run


def command(
    part: Annotated[
        list[str] | None,
        typer.Option(help=f"Run only this part; can be repeated: {', '.join(PARTS)}."),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Only show that everything runs, on few rows.")
    ] = False,
    out: Out = Path("results/distributed"),
) -> None:
    """Many processes, one model: equality, throughput, a killed worker, merging, sparse rows.

    A run that was stopped goes on where it was when the same command is given again.  The part
    "spark" writes Parquet files to the temporary folder of the system (TMPDIR).
    """
    for name in part or ():
        if name not in PARTS:
            typer.echo(f"There is no part {name!r}; give one of {', '.join(PARTS)}.", err=True)
            raise typer.Exit(2)
    run("distributed", out, parts=part or PARTS, quick=quick)
