"""`okspca reproduce`: one command per study of the paper.

To add a study, write `studies/<name>/command.py` with a function ``command`` that Typer can read
(its docstring is the help text, its arguments are the options), and enter the name below.  That
file should import its heavy parts inside the function, so that `okspca --help` stays quick.
"""

import signal
from importlib import import_module

import typer

STUDIES = ("prediction", "population", "services", "drift", "distributed")

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.callback()
def _end_as_by_hand(context: typer.Context) -> None:
    """Run a study of the paper again and set our numbers beside the published ones."""
    # A request to end does what Ctrl-C does, so that no process of a study goes on by itself.
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    context.call_on_close(lambda: signal.signal(signal.SIGTERM, before))


for name in STUDIES:
    app.command(name)(import_module(f"okspca_lab.studies.{name}.command").command)
