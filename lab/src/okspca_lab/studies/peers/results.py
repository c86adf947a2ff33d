"""The rows of the comparison, asked for by data set and method."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from okspca.numerics.arrays import Floats
from okspca_lab.studies.peers.data import DATA
from okspca_lab.studies.peers.methods import METHODS, Method
from okspca_lab.studies.peers.plan import Plan
from okspca_lab.studies.rows import Row, read_rows

#: What a difference of scores must exceed besides its error to count.
MARGIN = 0.005


class Difference(NamedTuple):
    """Mean of paired differences, its standard error (not known for one pair), and the pairs."""

    mean: float
    error: float
    pairs: int

    @property
    def counts(self) -> int:
        """1 where it is surely positive and not tiny, -1 where negative, otherwise 0."""
        is_sure = abs(self.mean) > MARGIN + 2.0 * self.error
        return int(np.sign(self.mean)) if is_sure else 0


class Results:
    """Rows of a run, as far as it went.

    Parameters
    ----------
    rows : sequence of dict
        As the cells gave them.
    """

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = list(rows)
        self._found = {(row["data"], row["method"], row["seed"]): row for row in rows}
        self.data = [name for name in DATA if any(row["data"] == name for row in rows)]

    def of(self, data: str, method: Method) -> dict[int, Row]:
        """Rows of a method on a data set, by seed."""
        found = self._found.items()
        return {s: row for (d, m, s), row in found if (d, m) == (data, method.name)}

    def values(self, data: str, method: Method, name: str = "score") -> Floats:
        """One number of each seed; none where it was not run or is not known."""
        found = [row[name] for _, row in sorted(self.of(data, method).items())]
        return np.array([value for value in found if value is not None], dtype=np.float64)

    def difference(
        self, data: str, one: Method, other: Method, name: str = "score"
    ) -> Difference | None:
        """How much one is above the other on the seeds that both have."""
        first, second = self.of(data, one), self.of(data, other)
        seeds = sorted(set(first) & set(second))
        if not seeds or any(first[seed][name] is None for seed in seeds):
            return None
        return paired(np.array([first[s][name] - second[s][name] for s in seeds]))

    def methods(self, *groups: str) -> list[Method]:
        """Methods of some groups that were run."""
        run = {row["method"] for row in self.rows}
        return [one for one in METHODS if one.group in groups and one.name in run]


def paired(differences: Floats) -> Difference:
    """Mean and standard error of differences.

    Examples
    --------
    >>> paired(np.array([0.0, 0.02]))
    Difference(mean=0.01, error=0.01, pairs=2)
    """
    n = differences.size
    error = float(differences.std(ddof=1) / np.sqrt(n)) if n > 1 else float("nan")
    return Difference(float(differences.mean()), error, n)


def read(plan: Plan, out: Path) -> Results:
    """Read all rows that were computed so far."""
    return Results(read_rows(out / "rows.jsonl", plan.settings))
