"""`okspca reproduce peers`: the options."""

from pathlib import Path
from typing import Annotated

import typer

from okspca_lab.studies.options import Jobs, Out
from okspca_lab.studies.runner import run


def command(
    data: Annotated[
        list[str] | None,
        typer.Option(help="A data set or stream, such as covtype; can be given several times."),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(help="ours, reducers, predictors or streams; can be given several times."),
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(min=1, max=10, help="At most so many seeds, from 0 on.")
    ] = None,
    large: Annotated[
        bool, typer.Option("--large", help="Also all 60,000 pictures of Fashion-MNIST, at last.")
    ] = False,
    quick: Annotated[
        bool,
        typer.Option("--quick", help="Only show that everything runs: two seeds, few rows."),
    ] = False,
    jobs: Jobs = 1,
    out: Out = Path("results/peers"),
) -> None:
    """Is it better than what I use? Reducers and predictors on many data sets (not in the paper).

    Streams are predicted row by row, each before it is learned, by ours and by models of river.

    The page shows all cells that were computed so far, whatever is asked for this time.  A run that
    was stopped goes on where it was when the same command is given again.
    """
    run(
        "peers",
        out,
        jobs=jobs,
        data=data or [],
        groups=only or [],
        n_seeds=seeds,
        large=large,
        quick=quick,
    )
