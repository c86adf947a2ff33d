"""Options that commands share."""

from pathlib import Path
from typing import Annotated

import typer

Jobs = Annotated[int, typer.Option(min=1, help="Number of processes.")]
Out = Annotated[Path, typer.Option(help="Folder for rows, tables, figures and the page.")]
