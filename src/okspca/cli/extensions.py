"""Commands that other distributions add to `okspca`.

A distribution names them in the entry-point group ``okspca.commands``: a Typer application becomes
a command with subcommands, a function becomes a command.  One is loaded when it is typed or listed,
so that a broken one breaks nothing else.  Those of okspca-lab are known here by name: whoever types
one without having it is told how to get it.
"""

from importlib.metadata import EntryPoint, entry_points
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_group

from okspca.cli.stopping import stop

GROUP = "okspca.commands"
OF_THE_LAB = ("bench", "reproduce")
#: So many signs hold any sentence.
WHOLE = 10_000
#: Whatever follows the name of a command that is not there.
ANYTHING = {"ignore_unknown_options": True, "allow_extra_args": True}


class WholeHelp(TyperGroup):
    """A group whose help tells what each command does in a whole sentence, however long."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the commands; sentences are broken into lines, never cut."""
        found = ((name, self.get_command(ctx, name)) for name in self.list_commands(ctx))
        there = [(name, command) for name, command in found if command and not command.hidden]
        with formatter.section("Commands"):
            formatter.write_dl([(n, command.get_short_help_str(WHOLE)) for n, command in there])


class WithExtensions(WholeHelp):
    """The commands of okspca, and those that are installed beside it."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Names of all commands, our own first."""
        own = super().list_commands(ctx)
        return [*own, *sorted(set(installed()) - set(own))]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command; none where there is none of this name."""
        return super().get_command(ctx, cmd_name) or extension(cmd_name)


def installed() -> dict[str, EntryPoint]:
    """What distributions add, by name."""
    return {entry.name: entry for entry in entry_points(group=GROUP)}


def extension(name: str) -> Any:
    """Load a command, or make one that says why it is not there; None if nobody knows the name."""
    entry = installed().get(name)
    if entry is None:
        told = f"`okspca {name}` belongs to the laboratory of okspca: pip install okspca-lab"
        return _saying(name, told) if name in OF_THE_LAB else None
    try:
        return _built(name, entry.load())
    except Exception as failure:  # whatever another distribution does wrong
        return _saying(name, f"`okspca {name}` ({entry.value}) cannot be loaded: {failure}")


def _built(name: str, command: Any) -> Any:
    """Make a command of what an entry point names."""
    around = typer.Typer(add_completion=False, rich_markup_mode=None)
    if isinstance(command, typer.Typer):
        around.add_typer(command, name=name, cls=WholeHelp)
    else:
        around.command(name)(command)
    return get_group(around).commands[name]


def _saying(name: str, sentence: str) -> Any:
    """Make a command that says one sentence, whatever arguments it is given."""
    around = typer.Typer(add_completion=False, rich_markup_mode=None)

    @around.command(
        name, help=sentence, short_help=sentence, add_help_option=False, context_settings=ANYTHING
    )
    def say_so() -> None:
        stop(sentence)

    return get_group(around).commands[name]
