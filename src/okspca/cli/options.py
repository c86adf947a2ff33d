"""Options that several commands share."""

from typing import Annotated

import typer

#: What to do where a model would replace something else.
REMEDY = "choose another --out, or replace it with --force"
MostRows = Annotated[int, typer.Option(min=1, help="Look at so many rows at most.")]
Force = Annotated[
    bool, typer.Option("--force", help="Replace --out even if it holds something else.")
]
Quiet = Annotated[bool, typer.Option("--quiet", help="Say nothing unless it fails.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show tracebacks.")]
