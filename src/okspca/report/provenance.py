"""On what and how a result was made: command, versions, processor, threads."""

import os
import platform
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

VERSIONED = ("okspca", "numpy", "scipy", "scikit-learn", "numba")


def provenance(command: str, *, jobs: int, seconds: float | None = None) -> dict[str, str]:
    """Describe a run in plain words, ready to be written down.

    Parameters
    ----------
    command : str
        What was typed.
    jobs : int
        Number of processes that worked at a time; each uses one thread.
    seconds : float, optional
        How long it took.

    Examples
    --------
    >>> provenance("okspca reproduce prediction", jobs=2, seconds=61.0)["took"]
    '1.0 minutes'
    """
    told = {
        "command": command,
        "versions": versions(),
        "Python": f"{platform.python_version()} on {platform.system()} {platform.machine()}",
        "processor": f"{processor()}, {os.cpu_count()} cores",
        "processes": f"{jobs}, one thread each",
    }
    if seconds is not None:
        told["took"] = f"{seconds / 60.0:.1f} minutes"
    return told


def versions() -> str:
    """Name what the numbers depend on, with its version."""
    return ", ".join(f"{name} {version(name)}" for name in VERSIONED)


def as_lines(told: dict[str, str]) -> str:
    """Write a description as lines of text.

    Examples
    --------
    >>> as_lines({"command": "okspca demo"})
    'command: okspca demo'
    """
    return "\n".join(f"{name}: {value}" for name, value in told.items())


def command_line(words: Sequence[str]) -> str:
    """Write the arguments of this process as they are typed, without the path of the program.

    Examples
    --------
    >>> command_line(["/somewhere/bin/okspca", "reproduce", "prediction"])
    'okspca reproduce prediction'
    """
    return " ".join([Path(words[0]).name, *words[1:]])


def processor() -> str:
    """Name the processor as far as the system tells.

    Examples
    --------
    >>> len(processor()) > 0
    True
    """
    told = Path("/proc/cpuinfo")
    if told.is_file():
        for line in told.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine() or "unknown processor"
