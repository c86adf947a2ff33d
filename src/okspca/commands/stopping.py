"""How a command ends early: one sentence on standard error, and a code that says why.

====  =======================================================
code  meaning
====  =======================================================
0     all is well
1     the data, a file or the disk did not allow it
2     the command line was wrong
130   interrupted by Ctrl-C; a checkpoint was written if asked
====  =======================================================
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import typer

FAILED, INTERRUPTED = 1, 130


def stop(sentence: str, code: int = FAILED) -> NoReturn:
    """Say one sentence on standard error and exit."""
    print(sentence, file=sys.stderr)
    raise typer.Exit(code)


@contextmanager
def one_sentence(debug: bool = False) -> Iterator[None]:
    """Turn what data and files can do wrong into one sentence and an exit code."""
    try:
        yield
    except BrokenPipeError:
        # Nobody reads any more; what is still in the buffer must not raise again at the exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        stop("Standard output was closed before everything was written to it.")
    except (ValueError, OSError, ArithmeticError) as failure:
        if debug:
            raise
        reason = getattr(failure, "strerror", None) or str(failure)
        name = getattr(failure, "filename", None)
        sentence = f"{name}: {reason}." if name and getattr(failure, "strerror", None) else reason
        stop(" ".join(sentence.split()))
