"""Options that several commands share."""

from typing import Annotated

import typer

from okspca.numerics.announcing import unannounced


def _hush(context: typer.Context, quiet: bool) -> bool:
    """Keep back what the library tells by itself too, until the command ends."""
    if quiet:
        context.with_resource(unannounced())
    return quiet


#: What to do where a model would replace something else.
REMEDY = "choose another --out, or replace it with --force"
MostRows = Annotated[int, typer.Option(min=1, help="Look at so many rows at most.")]
Force = Annotated[
    bool, typer.Option("--force", help="Replace --out even if it holds something else.")
]
Quiet = Annotated[
    bool, typer.Option("--quiet", callback=_hush, help="Say nothing unless it fails.")
]
Debug = Annotated[bool, typer.Option("--debug", help="Show tracebacks.")]
