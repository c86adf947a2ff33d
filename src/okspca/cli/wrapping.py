"""Lines that fit the terminal: broken at its width, and at 100 where there is none."""

import shutil
from textwrap import wrap

from okspca.cli.stopping import say
from okspca.report.printable import printable

WIDTH, NARROWEST = 100, 40


def width() -> int:
    """Columns of the terminal; 100 where there is none."""
    return max(shutil.get_terminal_size((WIDTH, 1)).columns, NARROWEST)


def say_wrapped(text: str, indent: str = "", hanging: str | None = None) -> None:
    """Print a sentence in as many lines as it takes; what follows the first may hang."""
    rest = indent if hanging is None else hanging
    shown = wrap(
        printable(text),
        width(),
        initial_indent=indent,
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=False,
    )
    for line in shown or [indent]:
        say(line)


def say_table(table: str) -> None:
    """Print the lines of a table as they are."""
    for line in table.split("\n"):
        say(line)
