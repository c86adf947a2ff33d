"""One process, two, and two of which one is killed: throughput and the bytes of the result."""

import os
import signal
import tempfile
import threading
import time
from hashlib import sha256
from pathlib import Path
from typing import Any

from okspca_lab.studies.distributed.engines import client_of, cluster, delayed, engine
from okspca_lab.studies.distributed.stream import ranges, rows, settings
from okspca_lab.studies.rows import Cell, Row

PILOT_ROWS = 100_000
WARM_UP = 4
LOOK_EVERY = 0.1


def scale(cell: Cell) -> list[Row]:
    """Learn generated rows on a cluster; a pilot fixes the standardisers, so there is one pass."""
    n, size, workers = cell["rows"], cell["partition"], cell["workers"]
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "log")
        log.touch()
        with cluster(workers) as running, client_of(running) as client:
            fit = _fit(client, workers, size)
            killer = _Killer(log, n // 2) if cell["kill"] else None
            start = time.time()
            model = fit(ranges(n, size, log))
            seconds = time.time() - start
            killed = None if killer is None else killer.result(start)
        lines = [line.split() for line in log.read_text(encoding="utf-8").splitlines()]
    return [
        {
            **cell,
            "seconds": seconds,
            "rows_per_second": n / seconds,
            "sha256": sha256(model.to_bytes()).hexdigest(),
            "rows_learned": model.n_samples_seen_,
            "state_bytes": len(model.to_bytes()),
            "killed_at": killed,
            "log": [[round(float(t) - start, 2), int(pid), int(k)] for t, pid, k in lines],
        }
    ]


def _fit(client: Any, workers: int, size: int) -> Any:
    """Wait for the workers and let them compile; return what fits ranges of rows."""
    client.wait_for_workers(workers)
    module, pilot = engine("dask"), rows(0, PILOT_ROWS)

    def fit(parts: Any) -> Any:
        return module.fit_blocks(delayed(parts), model=settings(), pilot=pilot)

    fit(ranges(WARM_UP * workers * min(size, 10_000), min(size, 10_000)))
    return fit


class _Killer(threading.Thread):
    """Kills the process that finished a partition last, once half of the rows were learned."""

    def __init__(self, log: Path, due: int) -> None:
        super().__init__(daemon=True)
        self.log, self.due = log, due
        self.at: float | None = None
        self.over = threading.Event()
        self.start()

    def run(self) -> None:
        """Look at the log until it is time."""
        while not self.over.wait(LOOK_EVERY):
            lines = [line.split() for line in self.log.read_text(encoding="utf-8").splitlines()]
            if sum(int(line[2]) for line in lines) >= self.due:
                os.kill(int(lines[-1][1]), signal.SIGKILL)
                self.at = time.time()
                return

    def result(self, start: float) -> float | None:
        """When it happened, in seconds from the start."""
        self.over.set()
        self.join()
        return None if self.at is None else self.at - start
