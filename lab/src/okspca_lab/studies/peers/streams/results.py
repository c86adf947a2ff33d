"""Rows of the streams, asked for by stream and method."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from okspca.numerics.arrays import Floats
from okspca_lab.studies.peers.streams.cells import FOLDER
from okspca_lab.studies.peers.streams.data import STREAMS
from okspca_lab.studies.peers.streams.methods import METHODS, Method
from okspca_lab.studies.peers.streams.plan import settings
from okspca_lab.studies.rows import Record, Row, read_rows

MICRO = 1e6


class Results:
    """Rows of a run, as far as it went.

    Parameters
    ----------
    rows : sequence of dict
        As the cells gave them.
    """

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = list(rows)
        self._found: dict[tuple[str, str], dict[int, list[Row]]] = {}
        for row in rows:
            seeds = self._found.setdefault((row["data"], row["method"]), {})
            seeds.setdefault(row["seed"], []).append(row)
        run = {method for _, method in self._found}
        self.data = [name for name in STREAMS if any(name == data for data, _ in self._found)]
        self.methods = [one for one in METHODS if one.name in run]

    def of(self, data: str, method: Method) -> dict[int, list[Row]]:
        """Rows of a method on a stream in their order, by seed."""
        return self._found.get((data, method.name), {})

    def accuracy(self, data: str, method: Method) -> dict[int, float]:
        """Share of all tested rows that was predicted right, by seed."""
        return {
            seed: sum(row["right"] for row in rows) / sum(row["rows"] for row in rows)
            for seed, rows in self.of(data, method).items()
        }

    def kappa(self, data: str, method: Method, baseline: Method) -> Floats:
        """Share of the baseline's errors that is avoided, one number for each seed."""
        base = self.accuracy(data, baseline)
        pairs = [
            (own, base.get(seed if STREAMS[data].is_drawn else 0))
            for seed, own in self.accuracy(data, method).items()
        ]
        return np.array([1.0 - (1.0 - own) / (1.0 - b) for own, b in pairs if b is not None])

    def cost(self, data: str, method: Method) -> Floats:
        """Processor µs per row to predict and to learn, one number for each seed."""
        runs = self.of(data, method).values()
        found = [sum(row["seconds"] for row in rows) / rows[-1]["until"] for rows in runs]
        return MICRO * np.array(found)

    def over_time(self, data: str, method: Method) -> tuple[Floats, Floats]:
        """Last rows of each thousand, and the share predicted right, mean over seeds."""
        runs = list(self.of(data, method).values())
        shares = [[row["right"] / row["rows"] for row in rows] for rows in runs]
        return np.array([row["until"] for row in runs[0]]), np.mean(shares, axis=0)


def read(out: Path, *, quick: bool) -> Results:
    """Read all rows that were computed so far."""
    return Results(read_rows(out / FOLDER / "rows.jsonl", settings(quick=quick)))


def told(out: Path) -> dict[str, str]:
    """How they were made."""
    return Record(out / FOLDER / "provenance.json").read() or {}
