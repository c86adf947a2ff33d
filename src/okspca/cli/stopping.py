"""What a command says, and how it ends early: one sentence on standard error, and a code.

====  ================================================================
code  meaning
====  ================================================================
0     all is well
1     the data, a file or the disk did not allow it
2     the command line was wrong
129   the terminal was closed; `fit` has saved what was learned
130   interrupted by Ctrl-C; `fit` has saved what was learned
141   whoever read standard output has closed it, as in `... | head`
143   asked to end by a signal; `fit` has saved what was learned
====  ================================================================
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import typer

from okspca.outputs import PlaceError
from okspca.report.printable import printable

FAILED, WRONG_COMMAND, INTERRUPTED = 1, 2, 130
#: What a signal's number is added to, by the custom of shells.
SIGNALLED = 128
#: Programs that are not asked end by SIGPIPE, number 13, when nobody reads what they write.
CLOSED_OUTPUT = SIGNALLED + 13
STANDARD_OUTPUT = "Standard output"
SHOW_CURSOR = b"\x1b[?25h"


def say(line: str) -> None:
    """Print one line on standard output, harmless to a terminal."""
    try:
        typer.echo(printable(line))
    except BrokenPipeError:
        raise
    except OSError as failure:
        raise OSError(failure.errno, failure.strerror, STANDARD_OUTPUT) from failure


def stop(sentence: str, code: int = FAILED) -> NoReturn:
    """Say one sentence on standard error and exit."""
    print(printable(sentence), file=sys.stderr, flush=True)
    raise typer.Exit(code)


@contextmanager
def one_sentence(debug: bool = False, code: int = FAILED) -> Iterator[None]:
    """Turn what data and files can do wrong into one sentence and an exit code.

    If whoever read standard output has seen enough, that is no fault: nothing is said, unless a
    fit was ended by it.
    """
    try:
        yield
    except BrokenPipeError as failure:
        _let_go_of_output()
        told = f"{STANDARD_OUTPUT} was closed before everything was written to it."
        if not getattr(failure, "__notes__", ()):
            raise typer.Exit(CLOSED_OUTPUT) from failure
        stop(_with_notes(told, failure), CLOSED_OUTPUT)
    except (ValueError, OSError, ArithmeticError, MemoryError) as failure:
        if getattr(failure, "filename", None) == STANDARD_OUTPUT:
            _let_go_of_output()
        if debug:
            raise
        stop(_with_notes(_sentence(failure), failure), code)


def _sentence(failure: BaseException) -> str:
    """What went wrong, and with which file."""
    if isinstance(failure, MemoryError):
        return f"There is not enough memory: {failure}." if str(failure) else "Memory is used up."
    reason, name = getattr(failure, "strerror", None), getattr(failure, "filename", None)
    if isinstance(failure, PlaceError) or not reason:
        return str(failure)
    return f"{os.fspath(name)}: {reason}." if name else f"{reason}."


def _with_notes(sentence: str, failure: BaseException) -> str:
    """Append what was noted on the way out, in one line."""
    return " ".join(" ".join([sentence, *getattr(failure, "__notes__", ())]).split())


def _let_go_of_output() -> None:
    """Drop what is still in the buffer: nobody takes it, and it must not raise again."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)


def leave_at_once(*_: object) -> NoReturn:
    """Exit at once on Ctrl-C: an exception would get lost in the compiler's callbacks.

    Only system calls are made, since the interrupt may come in the middle of printing.
    """
    if os.isatty(1):
        os.write(1, SHOW_CURSOR)
    os.write(2, b"\nInterrupted before the end.\n")
    os._exit(INTERRUPTED)
