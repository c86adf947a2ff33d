"""`okspca reproduce`: one command per study of the paper.

To add a study, write a folder in `studies` with the files that :mod:`okspca_lab.studies.runner`
names, and enter its name below.  Its `command.py` has a function ``command`` that Typer can read
(its docstring is the help text, its arguments are the options).
"""

from importlib import import_module

import typer

STUDIES = (
    "prediction",
    "population",
    "services",
    "drift",
    "distributed",
    "peers",
    "calibration",
    "monitoring",
    "precision",
)

app = typer.Typer(
    help="Run a study of the paper again and set our numbers beside the published ones.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

for name in STUDIES:
    app.command(name)(import_module(f"okspca_lab.studies.{name}.command").command)
