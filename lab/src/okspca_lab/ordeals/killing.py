"""Kill `okspca fit` again and again: ``python -m okspca_lab.ordeals.killing --kills 200``.

Every process gets SIGKILL at a random moment.  In one half of them the moment is a time on the
clock after learning began; in the other half it is a step of writing a checkpoint (before, between
and after its system calls, and in the middle of the data), since those pass too quickly to be hit
often by the clock.  After each kill the file must be absent or whole, and so must the one kept
before it.  Then the same command goes on with ``--resume``, until one process reaches the end: its
file must equal, byte for byte, that of a run that was never killed.
"""

import json
import multiprocessing
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from multiprocessing.context import ForkServerProcess as Process
from pathlib import Path
from random import Random
from typing import Annotated, ClassVar

import numpy as np
import pyarrow as pa
import typer
from numpy.random import RandomState
from pyarrow import csv

from okspca import outputs
from okspca.errors import StateError
from okspca.estimators import OKSPCA
from okspca.estimators.saving import load_model
from okspca.files.fitting import BLOCK
from okspca.state.files import previous
from okspca_lab.ordeals import killed
from okspca_lab.ordeals.killed import PHASES, STARTING

# Each process is a copy of a fresh one that has the modules loaded and has done nothing else.
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["okspca_lab.ordeals.killed"])
N_ROWS = 2 * BLOCK + 700
#: Steps of one checkpoint; where there is no old file to keep, three kinds of them are missing.
STEPS = 14
#: Checkpoints of a whole run: one after every block, and one at the end.
CHECKPOINTS = 19
#: A process that was hit by the clock rather than a step dies within this time of its learning.
LONGEST_DELAY = 0.5
BASE = ("--target", "y", "--checkpoint-every", "1", "--random-features", "64", "--quiet")
#: Options that together use every kind of state.
SETTINGS: tuple[tuple[str, ...], ...] = (
    ("--drop", "label", "--missing", "skip"),
    ("--drop", "label", "--missing", "skip", "--preset", "paper", "--solver", "adam", "--evaluate"),
    ("--one-hot", "4", "--stability", "4", "--missing", "impute"),
    ("--drop", "label", "--missing", "impute", "--bandwidth", "median", "--forget", "0.999"),
)


@dataclass
class Tally:
    """What became of the processes.

    Examples
    --------
    >>> Tally().is_clean
    True
    """

    kills: int = 0
    asked: int = 0
    runs: int = 0
    identical: int = 0
    phases: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    @property
    def is_clean(self) -> bool:
        """Whether every run ended in the bytes of one that was never killed."""
        return not self.failures and self.identical == self.runs


def write_rows(path: Path) -> None:
    """Write the input: numbers, a column of text, a few gaps."""
    random = RandomState(0)
    X = random.normal(size=(N_ROWS, 4)).round(6)
    text = np.array(["a", "b", "c", "d", "e"])[random.randint(0, 5, N_ROWS)]
    gaps = pa.array(X[:, 2], mask=random.uniform(size=N_ROWS) < 0.01)
    columns = {"u": X[:, 0], "v": X[:, 1], "w": gaps, "label": text}
    csv.write_csv(pa.table({**columns, "y": (np.sin(X[:, 0]) + X[:, 3]).round(6)}), path)


class Chain:
    """One fit that is killed and resumed until it ends."""

    settings: ClassVar[Sequence[tuple[str, ...]]] = SETTINGS
    base: ClassVar[Sequence[str]] = BASE

    @staticmethod
    def write_rows(path: Path) -> None:
        """Write the input."""
        write_rows(path)

    def __init__(self, folder: Path, options: Sequence[str], random: Random) -> None:
        self.place, self.out = folder / "place", folder / "model.okspca"
        #: Processes that were asked to end, rather than killed.
        self.asked = 0
        self.random, self.options = random, options
        self.rows = folder / "rows.csv"
        for old in folder.glob("*model.okspca*"):
            old.unlink()
        for old in folder.glob(".model.okspca*"):
            old.unlink()

    def start(self, last_step: int, out: Path) -> Process:
        """Start a process that goes on from what is there."""
        self.place.write_bytes(bytes([STARTING]))
        words = ["fit", str(self.rows), *self.base, *self.options, "--out", str(out), "--resume"]
        process = PROCESSES.Process(target=killed.run, args=(self.place, last_step, words))
        process.start()
        return process

    def ends_well(self, out: Path) -> bool:
        """Whether a process that nobody kills does what it should."""
        process = self.start(0, out)
        process.join()
        return process.exitcode == 0

    def whole(self) -> bytes:
        """The file of a run that nobody kills."""
        out = self.out.with_name("whole.okspca")
        out.unlink(missing_ok=True)
        if not self.ends_well(out):
            message = "The run that nobody kills failed."
            raise RuntimeError(message)
        return out.read_bytes()

    def kill_once(self) -> str | None:
        """Start a process and kill it; return the phase it died in, or None if it ended before."""
        by_step = self.random.random() < 0.5
        process = self.start(self._step() if by_step else 0, self.out)
        if not by_step:
            while process.is_alive() and self.phase() == STARTING:
                time.sleep(0.002)
            time.sleep(self.random.uniform(0.0, LONGEST_DELAY))
            process.kill()
        process.join()
        if process.exitcode == 0:
            return None
        if process.exitcode != -signal.SIGKILL:
            message = f"it ended with code {process.exitcode}"
            raise RuntimeError(message)
        return PHASES[self.phase()]

    def phase(self) -> int:
        """Where the process is, or was when it died."""
        return self.place.read_bytes()[0]

    def _step(self) -> int:
        """Choose a step in one of the next few checkpoints."""
        return self.random.randint(1, STEPS * self.random.randint(1, CHECKPOINTS // 3))

    def partial(self) -> str | None:
        """Say which file cannot be loaded, if there is one."""
        for path in (self.out, previous(self.out)):
            if path.exists():
                try:
                    load_model(OKSPCA, path)
                except StateError as failure:
                    return str(failure)
        return None


def run(
    kills: int,
    seed: int,
    folder: Path,
    most_per_run: int | None = None,
    kind: type[Chain] = Chain,
) -> Tally:
    """Kill so many processes; a run that met enough of them is let through to its end."""
    tally, random = Tally(), Random(seed)
    kind.write_rows(folder / "rows.csv")
    whole: dict[tuple[str, ...], bytes] = {}
    while tally.kills < kills:
        options = kind.settings[tally.runs % len(kind.settings)]
        chain = kind(folder, options, random)
        if options not in whole:
            whole[options] = chain.whole()
        tally.runs += 1
        enough = kills if most_per_run is None else tally.kills + most_per_run
        _follow(chain, tally, min(kills, enough))
        tally.asked += chain.asked
        if chain.out.exists() and chain.out.read_bytes() == whole[options]:
            tally.identical += 1
        else:
            tally.failures.append(f"run {tally.runs} ({' '.join(options)}) ended in other bytes")
    return tally


def _follow(chain: Chain, tally: Tally, kills: int) -> None:
    """Kill and resume until one run has ended, or has been killed enough and is let through."""
    while tally.kills < kills:
        try:
            phase = chain.kill_once()
        except RuntimeError as failure:
            tally.failures.append(f"run {tally.runs}, after {tally.kills} kills: {failure}")
            return
        if phase is None:
            return
        tally.kills += 1
        tally.phases[phase] += 1
        wrong = chain.partial()
        if wrong is not None:
            tally.failures.append(f"kill {tally.kills} ({phase}): {wrong}")
    if not chain.ends_well(chain.out):
        tally.failures.append(f"run {tally.runs} could not be resumed after its last kill")


def main(
    kills: Annotated[int, typer.Option(min=1, help="How many processes to kill.")] = 10,
    seed: Annotated[int, typer.Option(help="Seed of the moments.")] = 0,
    out: Annotated[Path | None, typer.Option(help="Write the tally to this JSON file.")] = None,
) -> None:
    """Kill `okspca fit` at random moments and see that it always resumes to the same bytes."""
    tell_of(f"killing --kills {kills} --seed {seed}", lambda at: run(kills, seed, at), out)


def tell_of(command: str, work: Callable[[Path], Tally], out: Path | None) -> None:
    """Do the work of a command, tell what became of the processes, and end the process."""
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        tally = work(Path(folder))
    seconds = time.perf_counter() - start
    for line in tally.failures[:20]:
        print(line, file=sys.stderr)
    print(f"{tally.kills} processes were killed in {seconds:.0f} s, in {tally.runs} runs.")
    if tally.asked:
        print(f"{tally.asked} more were asked to end.")
    print(f"{tally.identical} of {tally.runs} runs ended in the bytes of one never killed.")
    for phase in PHASES:
        print(f"{tally.phases[phase]:>5}  {phase}")
    if out is not None:
        summary = {
            "command": f"python -m okspca_lab.ordeals.{command}",
            "kills": tally.kills,
            "asked to end": tally.asked,
            "runs": tally.runs,
            "identical": tally.identical,
            "phases": {phase: tally.phases[phase] for phase in PHASES},
            "failures": tally.failures,
        }
        out.parent.mkdir(parents=True, exist_ok=True)
        outputs.write(out, json.dumps(summary, indent=2) + "\n")
    raise typer.Exit(0 if tally.is_clean else 1)


if __name__ == "__main__":
    typer.run(main)
