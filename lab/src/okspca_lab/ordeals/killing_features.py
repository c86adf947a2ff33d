"""Kill `okspca fit` while it learns features: ``python -m okspca_lab.ordeals.killing_features``.

Learning features takes far longer than anything else that a fit does in its first rows, so this is
where a process is likely to meet its end.  Here every process meets it there: by SIGKILL at a
random step of the search and of the descent, or at a random time after the learning of features
began.  Others are asked to end at such a time by SIGTERM; they save what was learned before and
leave, and are not counted as kills.  As in :mod:`okspca_lab.ordeals.killing`, files must be whole
after each of them, and what is resumed must end in the bytes of a run that was never stopped.
"""

import signal
import time
from collections.abc import Sequence
from multiprocessing.context import ForkServerProcess as Process
from pathlib import Path
from typing import Annotated, ClassVar

import numpy as np
import pyarrow as pa
import typer
from numpy.random import RandomState
from pyarrow import csv

from okspca_lab.ordeals.killed import CLIMBING, PHASES
from okspca_lab.ordeals.killing import Chain, run, tell_of

N_ROWS, PILOT = 1400, 1100
BASE = ("--checkpoint-every", "1", "--random-features", "48", "--quiet")
FEW = ("--pilot-rows", str(PILOT), "--missing", "impute")
#: Every rung, both objectives, numbers and classes.
SETTINGS: tuple[tuple[str, ...], ...] = (
    ("--target", "y", "--drop", "kind", *FEW),
    ("--target", "kind", "--drop", "y", *FEW, "--evaluate"),
    ("--target", "y", "--drop", "kind", *FEW, "--preset", "paper", "--frequencies", "mixed"),
    ("--target", "kind", "--drop", "y", *FEW, "--frequencies", "scaled", "--stability", "4"),
    ("--target", "y", "--drop", "kind", *FEW, "--objective", "covariance", "--forget", "0.999"),
)
#: Climbs are due after 512 rows, 1,024 and 1,100.  They take up to so many steps in all, of which
#: early ones are chosen more often, since some settings take few; and each takes about this long.
STEPS, SECONDS = 250, 0.15
#: Kills after which a run is let through to its end, so that all settings get their share.
MOST_PER_RUN = 4
#: What a process returns that was asked to end.
ASKED = 128 + signal.SIGTERM


def write_waves(path: Path) -> None:
    """Write rows from which there is something to learn on every rung: waves, and a few gaps."""
    random = RandomState(0)
    X = random.normal(size=(N_ROWS, 5)).round(6)
    waves = np.sin(X @ random.normal(size=(5, 3)))
    y = waves.sum(axis=1) + 0.1 * random.normal(size=N_ROWS)
    kind = np.array(["a", "b", "c"])[np.digitize(y, [-0.8, 0.8])]
    gaps = pa.array(X[:, 2], mask=random.uniform(size=N_ROWS) < 0.01)
    columns = {"t": X[:, 0], "u": X[:, 1], "v": gaps, "w": X[:, 3], "x": X[:, 4]}
    csv.write_csv(pa.table({**columns, "y": y.round(6), "kind": kind}), path)


class ClimbingChain(Chain):
    """One fit that is stopped while it learns features, and resumed, until it ends."""

    settings: ClassVar[Sequence[tuple[str, ...]]] = SETTINGS
    base: ClassVar[Sequence[str]] = BASE

    @staticmethod
    def write_rows(path: Path) -> None:
        """Write the input."""
        write_waves(path)

    def kill_once(self) -> str | None:
        """Start a process and kill it; return the phase it died in, or None if it ended before."""
        while (chosen := self.random.random()) < 0.2:
            process = self.start(0, self.out)
            self._wait(process)
            process.terminate()
            process.join()
            if process.exitcode == 0:
                return None
            self._check(process, ASKED)
            self.asked += 1
        by_step = chosen < 0.7
        step = round(STEPS ** self.random.random())
        process = self.start(-step if by_step else 0, self.out)
        if not by_step:
            self._wait(process)
            process.kill()
        process.join()
        if process.exitcode == 0:
            return None
        self._check(process, -signal.SIGKILL)
        return PHASES[self.phase()]

    def _wait(self, process: Process) -> None:
        """Wait until features are being learned, and some time more."""
        while process.is_alive() and self.phase() != CLIMBING:
            time.sleep(0.002)
        time.sleep(self.random.uniform(0.0, SECONDS))

    def _check(self, process: Process, code: int) -> None:
        """Raise where a process ended in another way, or left a file that is not whole."""
        wrong = self.partial()
        if process.exitcode != code or wrong is not None:
            message = wrong or f"it ended with code {process.exitcode}"
            raise RuntimeError(message)


def main(
    kills: Annotated[int, typer.Option(min=1, help="How many processes to kill.")] = 40,
    seed: Annotated[int, typer.Option(help="Seed of the moments.")] = 0,
    out: Annotated[Path | None, typer.Option(help="Write the tally to this JSON file.")] = None,
) -> None:
    """Kill `okspca fit` while it learns features; see that it resumes to the same bytes."""
    command = f"killing_features --kills {kills} --seed {seed}"
    tell_of(command, lambda at: run(kills, seed, at, MOST_PER_RUN, ClimbingChain), out)


if __name__ == "__main__":
    typer.run(main)
