"""Commands that other distributions add to `okspca`.

A distribution names them in the entry-point group ``okspca.commands``: a Typer application becomes
a command with subcommands, a function becomes a command.  Those of okspca-lab are known here by
name, so that whoever types one without having it is told how to get it.
"""

from importlib.metadata import entry_points

import typer

from okspca.cli.stopping import stop

GROUP = "okspca.commands"
OF_THE_LAB = ("bench", "reproduce")


def add_commands(app: typer.Typer) -> None:
    """Add what is installed, and a word about what is not."""
    found = {entry.name: entry for entry in entry_points(group=GROUP)}
    for name, entry in sorted(found.items()):
        command = entry.load()
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=name)
        else:
            app.command(name)(command)
    for name in OF_THE_LAB:
        if name not in found:
            _add_absent(app, name)


def _add_absent(app: typer.Typer, name: str) -> None:
    """Let a command that is not installed say so, whatever arguments it was given."""

    @app.command(
        name,
        hidden=True,
        add_help_option=False,
        context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
    )
    def absent() -> None:
        """Say how to get the command."""
        stop(f"`okspca {name}` belongs to the laboratory of okspca: pip install okspca-lab")
