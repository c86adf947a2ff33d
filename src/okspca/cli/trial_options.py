"""Options of commands that try settings on the rows of a file."""

from typing import Annotated

import typer

Target = Annotated[str, typer.Option(help="Name of the target column.")]
Test = Annotated[
    str | None, typer.Option(help="A file to judge by; the last quarter of the rows by default.")
]
Columns = Annotated[
    list[str] | None, typer.Option(help="An input column; repeat it. All by default.")
]
Drop = Annotated[list[str] | None, typer.Option(help="A column to leave out; repeat it.")]
OneHot = Annotated[
    int, typer.Option(min=0, help="Make at most so many indicator columns of each text column.")
]
Dates = Annotated[bool, typer.Option("--dates", help="Take dates and times as days since 1970.")]
Task = Annotated[str, typer.Option(help="auto, classification or regression.")]
Seed = Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Seed of the features.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
