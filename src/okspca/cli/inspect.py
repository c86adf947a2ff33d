"""`okspca inspect`: what a saved model is and what it is worth."""

import json
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from okspca.cli.options import Debug
from okspca.cli.stopping import one_sentence, say
from okspca.cli.wrapping import say_wrapped

HEADING = 10


def inspect(
    model: Annotated[Path, typer.Argument(help="A file that `save` or `okspca fit` has written.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    debug: Debug = False,
) -> None:
    """Describe a saved model: settings, rows, rank, certificate, errors."""
    inspection = import_module("okspca.report.inspection")
    with one_sentence(debug):
        told = inspection.inspect(model)
        if as_json:
            say(json.dumps(told, allow_nan=False))
            return
        _print(model, inspection.lines(told))


def _print(model: Path, lines: list[tuple[str, str]]) -> None:
    """Print headings and lines, broken to the width of the terminal."""
    say(str(model))
    for heading, line in lines:
        say_wrapped(line, f"  {heading:<{HEADING}}", " " * (HEADING + 2))
