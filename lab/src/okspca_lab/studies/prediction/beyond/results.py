"""The rows past the paper, asked for by name."""

import numpy as np

from okspca.numerics.arrays import Floats
from okspca_lab.studies.prediction.beyond.plan import EVERYTHING
from okspca_lab.studies.prediction.results import Results, read

__all__ = ["read", "shares"]


def shares(results: Results, task: str) -> Floats:
    """Relevance of the inputs of a task, one row per seed."""
    found = [
        row["shares"]
        for row in results.rows
        if row["kind"] == "relevance" and (row["task"], row["method"]) == (task, EVERYTHING.name)
    ]
    return np.array(found) if found else np.zeros((0, 0))
