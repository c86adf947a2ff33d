"""The rows past the paper, asked for by name."""

import csv
from importlib.resources import files

import numpy as np

from okspca.numerics.arrays import Floats
from okspca_lab.studies.prediction.beyond.plan import EVERYTHING
from okspca_lab.studies.prediction.results import Results, read

__all__ = ["before", "read", "shares"]


def shares(results: Results, task: str) -> Floats:
    """Relevance of the inputs of a task, one row per seed."""
    found = [
        row["shares"]
        for row in results.rows
        if row["kind"] == "relevance" and (row["task"], row["method"]) == (task, EVERYTHING.name)
    ]
    return np.array(found) if found else np.zeros((0, 0))


def before(task: str) -> dict[int, float]:
    """Scores by seed of the best setting before frequencies were trained.

    That was whitened, scale-free, with one learned scale per input (4,096 rows) and the paper's
    target features.  The scores are those of the code of that time.

    Examples
    --------
    >>> round(sum(before("Kin8nm").values()) / 10, 3)
    0.711
    """
    text = files("okspca_lab.studies.prediction.beyond").joinpath("before.csv").read_text("utf-8")
    rows = csv.DictReader(text.splitlines())
    return {int(row["seed"]): float(row["score"]) for row in rows if row["task"] == task}
