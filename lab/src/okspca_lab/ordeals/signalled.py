"""Signals that meet a pipe: idle, after some rows and part of one, or busy, in full flow."""

import os
import signal
import subprocess
import threading
import time
from pathlib import Path
from random import Random
from typing import NamedTuple

from okspca.estimators import OKSPCA
from okspca.estimators.saving import load_model
from okspca_lab.ordeals.bad_inputs import FIT, OPTIONS, PATIENCE, row_bytes

HEADER = b"a,b,y\n"
WIDTH = len(row_bytes(0, 1))
#: Rows that a busy pipe is given at a time.
PORTION = 500
SIGNALLED = {
    "SIGINT to an idle pipe": ("SIGINT", False),
    "SIGTERM to an idle pipe": ("SIGTERM", False),
    "SIGINT to a busy pipe": ("SIGINT", True),
    "SIGTERM to a busy pipe": ("SIGTERM", True),
}


class Found(NamedTuple):
    """How a process ended that got a signal, and how many rows its model has."""

    code: int
    seconds: float
    rows: int
    fault: str


class Feed:
    """A pipe of which both ends are held, so that what nobody took can be counted."""

    def __init__(self) -> None:
        self.out, self._into = os.pipe()
        self.written, self._wanted = 0, True
        self._thread: threading.Thread | None = None

    def write(self, data: bytes) -> None:
        """Write everything."""
        while data:
            n = os.write(self._into, data)
            self.written += n
            data = data[n:]

    def flow(self) -> None:
        """Write row after row in a thread of its own."""
        self._thread = threading.Thread(target=self._flow)
        self._thread.start()

    def _flow(self) -> None:
        first = 0
        while self._wanted:
            self.write(row_bytes(first, first + PORTION))
            first += PORTION

    def left(self) -> int:
        """Stop writing; return the bytes that nobody took, and close the pipe."""
        self._wanted = False
        os.set_blocking(self.out, False)
        left = 0
        while self._thread is not None and self._thread.is_alive():
            left += self._drained()
            self._thread.join(0.01)
        left += self._drained()
        os.close(self._into)
        os.close(self.out)
        return left

    def _drained(self) -> int:
        """Take what lies in the pipe, and count it."""
        size = 0
        try:
            while piece := os.read(self.out, 1 << 16):
                size += len(piece)
        except BlockingIOError:
            pass
        return size


def signalled_run(name: str, is_busy: bool, number: int, folder: Path) -> Found:
    """Start a fit on a pipe, send it a signal, and count the rows."""
    random, feed, model = Random(f"{name}{is_busy}{number}"), Feed(), folder / "model"
    words = [*FIT, "-", *OPTIONS, "--checkpoint-every", "1s", "--out", str(model)]
    process = subprocess.Popen(
        words, stdin=feed.out, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        feed.write(HEADER)
        if is_busy:
            feed.flow()
        else:
            rows = row_bytes(0, random.randint(2, 2000))
            feed.write(rows + row_bytes(0, 1)[: random.randrange(WIDTH)])
        if not _learns(process, model):
            return Found(0, 0.0, 0, "no checkpoint was written")
        time.sleep(random.uniform(0.0, 1.5))
        before = feed.written
        start = time.perf_counter()
        process.send_signal(signal.Signals[name])
        process.wait(PATIENCE)
        seconds = time.perf_counter() - start
    except subprocess.TimeoutExpired:
        return Found(0, PATIENCE, 0, "it hangs")
    finally:
        process.kill()
        said = process.communicate()[1].decode(errors="replace")
        left = feed.left()
    return _found(process.returncode, seconds, said, model, (before, feed.written - left), name)


def _learns(process: "subprocess.Popen[bytes]", model: Path) -> bool:
    """Wait for the first checkpoint."""
    deadline = time.perf_counter() + PATIENCE
    while not model.exists():
        if process.poll() is not None or time.perf_counter() > deadline:
            return False
        time.sleep(0.02)
    return True


def _sentences(said: str) -> list[str]:
    """What a process said about its end: not that it was learning features, which takes time."""
    return [line for line in said.splitlines() if not line.startswith("okspca is learning")]


def _found(
    code: int, seconds: float, said: str, model: Path, marks: tuple[int, int], name: str
) -> Found:
    """Compare the rows of the model with the lines that were sent before, and with those taken."""
    sent, taken = ((size - len(HEADER)) // WIDTH for size in marks)
    record = load_model(OKSPCA, model)[1]
    rows = 0 if record is None else record.rows_read
    fault = ""
    if code != 128 + signal.Signals[name]:
        fault = f"its code was {code}"
    elif f"Interrupted after {rows} rows" not in said or len(_sentences(said)) != 1:
        fault = "its sentence does not tell the rows of the model"
    elif rows != taken or rows < sent:
        fault = "rows were lost or learned twice"
    return Found(code, seconds, rows, fault)
