"""Options that several commands share."""

from typing import Annotated

import typer

#: What to do where a model would replace something else.
REMEDY = "choose another --out, or replace it with --force"
Format = Annotated[str | None, typer.Option("--format", help="csv, tsv, ndjson, parquet or arrow.")]
Delimiter = Annotated[str | None, typer.Option(help="What separates values in a CSV, as ';'.")]
MostRows = Annotated[int, typer.Option(min=1, help="Look at so many rows at most.")]
Force = Annotated[
    bool, typer.Option("--force", help="Replace --out even if it holds something else.")
]
Quiet = Annotated[bool, typer.Option("--quiet", help="Say nothing unless it fails.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show tracebacks.")]
