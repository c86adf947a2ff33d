"""`okspca reproduce services`: the options."""

from pathlib import Path
from typing import Annotated

import typer

from okspca_lab.studies.options import Out
from okspca_lab.studies.runner import run


def command(
    regimes: Annotated[
        list[str] | None,
        typer.Option(help="C2, C4, C11, R128 or R256; can be given several times."),
    ] = None,
    schedules: Annotated[
        list[str] | None,
        typer.Option(help="every-1, every-10, every-100, every-1000 or bernoulli; several times."),
    ] = None,
    methods: Annotated[
        list[str] | None, typer.Option(help="A service, such as adam; several times.")
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(min=1, max=5, help="How many of the five seeds, from 6200 on.")
    ] = None,
    build: Annotated[
        str,
        typer.Option(help="paper: plain NumPy as the paper has it.  ours: compiled, and rivals."),
    ] = "paper",
    passes: Annotated[
        list[str] | None,
        typer.Option(
            help="A0 (whole streams timed), B (batches and requests timed) or C (quality, "
            "untimed; beside the others where there is a second core); several times.  All by "
            "default."
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Only show that everything runs, on a few rows.")
    ] = False,
    out: Out = Path("results/services"),
) -> None:
    """What a basis costs on request, and how good and fresh it is (sections 5 and S5).

    Timed work runs in fresh processes, one at a time.  A run that was stopped goes on where it was
    when the same command is given again.
    """
    run(
        "services",
        out,
        build=build,
        regimes=regimes or [],
        schedules=schedules or [],
        methods=methods or [],
        n_seeds=seeds,
        passes=passes or [],
        quick=quick,
    )
