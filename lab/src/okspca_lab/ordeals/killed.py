"""The process that `killing.py` kills: `okspca fit`, with its place written down.

The file at ``place`` always holds the number of the phase in ``PHASES`` that the process is in, so
that whoever kills it knows where.  With ``last`` above zero the process kills itself at that step
of writing checkpoints; there are steps before and after every system call, and one in the middle of
the data.  With ``last`` below zero it is a step of learning features, such as one of the descent.
"""

import mmap
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

from okspca import outputs
from okspca.cli import app, fit_run
from okspca.estimators import map_search
from okspca.estimators.saving import save_model
from okspca.features.ladder import climbed
from okspca.files import fitting
from okspca.state import files

ORDINARY_OPEN = open
PHASES = (
    "starting",
    "reading and learning",
    "making the bytes of a checkpoint",
    "writing the new file",
    "flushing the new file",
    "setting its permissions",
    "linking the old file",
    "renaming the old file",
    "renaming the new file",
    "flushing the folder",
    "learning features",
)
STARTING, LEARNING, PACKING, WRITING, FLUSHING, ALLOWING, LINKING, KEEPING, RENAMING, FOLDER = (
    range(len(PHASES) - 1)
)
CLIMBING = len(PHASES) - 1


class Place:
    """Where the process is, in memory that outlives it.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     _ = file.write(bytes(1))
    ...     file.flush()
    ...     Place(Path(file.name), 0).step(WRITING)
    ...     PHASES[Path(file.name).read_bytes()[0]]
    'writing the new file'
    """

    def __init__(self, path: Path, last: int) -> None:
        with path.open("r+b") as file:
            self._memory = mmap.mmap(file.fileno(), 1)
        self._left, self._counts_climbing = abs(last), last < 0

    def enter(self, phase: int) -> None:
        """Note a phase."""
        self._memory[0] = phase

    def step(self, phase: int) -> None:
        """Note a phase of writing or climbing, and die if this was the last step."""
        self.enter(phase)
        if (phase == CLIMBING) is not self._counts_climbing:
            return
        self._left -= 1
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def around(self, phase: int, call: Callable[..., Any]) -> Callable[..., Any]:
        """Make a call with a step before and after it."""

        def stepped(*arguments: Any, **options: Any) -> Any:
            self.step(phase)
            result = call(*arguments, **options)
            self.step(phase)
            return result

        return stepped


class SteppedSystem:
    """The module ``os``, with steps around the calls that writing a file makes."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self.chmod = place.around(ALLOWING, os.chmod)
        self.link = place.around(LINKING, os.link)

    def __getattr__(self, name: str) -> Any:
        """Everything else is as it was."""
        return getattr(os, name)

    def fsync(self, handle: int) -> None:
        """Flush a file or a folder."""
        is_folder = os.path.isdir(f"/proc/self/fd/{handle}")
        self._place.around(FOLDER if is_folder else FLUSHING, os.fsync)(handle)

    def replace(self, source: str, target: str) -> None:
        """Rename a file."""
        keeps = str(target).endswith(".previous")
        self._place.around(KEEPING if keeps else RENAMING, os.replace)(source, target)


class SteppedFile:
    """A file that is written in two halves, with a step between them."""

    def __init__(self, file: Any, place: Place) -> None:
        self._file, self._place = file, place

    def __enter__(self) -> "SteppedFile":
        """Open, as it already is."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        self._file.close()

    def __getattr__(self, name: str) -> Any:
        """Everything else is as it was."""
        return getattr(self._file, name)

    def write(self, data: bytes) -> None:
        """Write the data in two halves that really reach the file."""
        for half in (data[: len(data) // 2], data[len(data) // 2 :]):
            self._place.step(WRITING)
            self._file.write(half)
            self._file.flush()


def watch(place: Place) -> None:
    """Put steps into everything that writes a checkpoint, and into learning features."""

    def opened(target: Any, mode: str, **options: Any) -> Any:
        file = ORDINARY_OPEN(target, mode, **options)
        return SteppedFile(file, place) if mode == "wb" else file

    def saved(*arguments: Any, **options: Any) -> None:
        place.enter(PACKING)
        save_model(*arguments, **options)
        place.enter(LEARNING)

    def learned(*arguments: Any, **options: Any) -> Any:
        place.enter(LEARNING)
        return learn(*arguments, **options)

    def climbing(*arguments: Any) -> Any:
        *others, tick, factors = arguments

        def stepped() -> None:
            place.step(CLIMBING)
            tick()

        try:
            return climb(*others, stepped, factors)
        finally:
            place.enter(LEARNING)

    learn = fitting.learn
    climb: Any = climbed
    for module in (outputs, files):
        vars(module).update(os=SteppedSystem(place), open=opened)
    vars(fit_run).update(save_model=saved)
    vars(fitting).update(learn=learned)
    vars(map_search).update(climbed=climbing)


def run(place: Path, last: int, words: list[str]) -> None:
    """Be `okspca` with these words, until killed or done."""
    watch(Place(place, last))
    app(words)
