"""Ten kinds of bad file or option, and what `okspca fit` must say to each: one sentence."""

import gzip
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.random import RandomState

from okspca.cli.stopping import CLOSED_OUTPUT

N_ROWS, N_INPUTS = 60_000, 5
#: The bad row comes when some blocks were learned and most of the file is still to be read.
BAD_ROW = 20_000
#: Whatever has not ended after so many seconds hangs.
PATIENCE = 180.0
FIT = (sys.executable, "-m", "okspca", "fit")
OPTIONS = ("--target", "y", "--random-features", "16", "--quiet")


class Bad(NamedTuple):
    """A command that must fail.

    Attributes
    ----------
    file : str
        The input; ``-`` for a pipe that stays open.
    options : tuple of str
        What follows it.
    code : int
        How the process must exit.
    reader_lives : bool
        Whether a thread reads, or waits for a pipe, when the error is met.
    feed : str
        The file that a pipe gets to read.
    """

    file: str
    options: tuple[str, ...] = OPTIONS
    code: int = 1
    reader_lives: bool = True
    feed: str = ""


BAD = {
    "values separated by another sign": Bad("semicolons.csv", (*OPTIONS, "--delimiter", ",")),
    "a target that is not there": Bad("rows.csv", ("--target", "z", *OPTIONS[2:])),
    "text among numbers": Bad("text.csv"),
    "a line that is too short": Bad("short.csv"),
    "an infinite value": Bad("infinite.csv"),
    "a value that is missing": Bad("missing.csv"),
    "a bad row in a pipe that stays open": Bad("-", feed="infinite.csv"),
    "standard output is closed": Bad("rows.csv", (*OPTIONS[:-1], "--json"), code=CLOSED_OUTPUT),
    "a packed file that is cut off": Bad("cut.csv.gz", reader_lives=False),
    "an option with a wrong value": Bad("rows.csv", (*OPTIONS, "--solver", "magic"), 2, False),
}


def prepare(folder: Path) -> None:
    """Write the inputs, and compile what a fit needs, since that is told on standard error."""
    X = RandomState(0).normal(size=(N_ROWS, N_INPUTS)).round(6)
    names = [*(f"x{i}" for i in range(N_INPUTS - 1)), "y"]
    lines = [",".join(names), *(",".join(map(str, row)) for row in X.tolist())]
    _write(folder / "rows.csv", lines)
    _write(folder / "semicolons.csv", [line.replace(",", ";") for line in lines])
    for name, line in (
        ("text", "0.5,red,1,2,3"),
        ("short", "0.5,1"),
        ("infinite", "0.5,inf,1,2,3"),
        ("missing", "0.5,,1,2,3"),
    ):
        _write(folder / f"{name}.csv", [*lines[:BAD_ROW], line, *lines[BAD_ROW:]])
    packed = gzip.compress("\n".join(lines).encode(), 1)
    (folder / "cut.csv.gz").write_bytes(packed[: len(packed) // 2])
    warm = [*FIT, str(folder / "rows.csv"), *OPTIONS, "--out", os.devnull]
    subprocess.run(warm, check=True, capture_output=True)


def _write(path: Path, lines: list[str]) -> None:
    """Write lines of text."""
    path.write_text("\n".join(lines) + "\n")


def bad_run(bad: Bad, rows: Path, folder: Path) -> tuple[int, float, str]:
    """Run a command that must fail; return its code, its seconds, and what was wrong with it."""
    source = bad.file if bad.file == "-" else str(rows / bad.file)
    words = [*FIT, source, *bad.options, "--out", str(folder / "model")]
    start = time.perf_counter()
    process = subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        said = _said(process, bad, rows)
    except subprocess.TimeoutExpired:
        return 0, time.perf_counter() - start, f"it hangs (longer than {PATIENCE:.0f} s)"
    finally:
        process.kill()
        process.communicate()
    seconds = time.perf_counter() - start
    return process.returncode, seconds, _fault(process.returncode, said, bad.code)


def _said(process: "subprocess.Popen[bytes]", bad: Bad, rows: Path) -> str:
    """Wait for the end and return what was said on standard error."""
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    if bad.code == CLOSED_OUTPUT:
        process.stdout.close()
        process.stdout = None
    if not bad.feed:
        return process.communicate(timeout=PATIENCE)[1].decode(errors="replace")
    try:
        process.stdin.write((rows / bad.feed).read_bytes())
        process.stdin.flush()
    except BrokenPipeError:
        pass  # it ended before everything was written, as it may
    process.wait(PATIENCE)  # with its standard input still open
    return process.stderr.read().decode(errors="replace")


def _fault(code: int, said: str, wanted: int) -> str:
    """Say what is wrong with an end."""
    if code < 0:
        return f"it was ended by signal {-code}"
    if code != wanted:
        return f"its code was {code}, not {wanted}"
    lines = said.splitlines()
    if code == CLOSED_OUTPUT and not lines:
        return ""  # it had learned everything, so nothing is worth saying
    if len(lines) != 1 or not lines[0].endswith("."):
        return f"it said {len(lines)} lines instead of one sentence"
    return ""


def row_bytes(first: int, last: int) -> bytes:
    r"""Rows of a stream, all of the same length, so that bytes can be counted as rows.

    Examples
    --------
    >>> row_bytes(0, 2)
    b'0.00000,0.00000,0.00000\n0.10313,0.01931,0.70711\n'
    """
    i = np.arange(first, last)
    columns = (i * 0.10313 % 1.0, i * 0.01931 % 1.0, i * 0.70711 % 1.0)
    return "".join(f"{a:.5f},{b:.5f},{y:.5f}\n" for a, b, y in zip(*columns, strict=True)).encode()
