r"""Real data, where nobody knows the truth: the estimate against two disjoint halves.

A data set is shuffled and cut into halves A and B; each half gives a subspace and an estimate of
its error.  The two errors are independent, so ``d(A, B)^2`` should be near the sum of the squared
estimates.  The groups of a half share its standardiser, so what the standardiser itself owes to
chance is not in the estimate: this is measured with causal standardisers, each half with its own,
and with one frozen standardiser for both.
"""

import math
from functools import cache
from typing import Any

import numpy as np

from okspca.datasets import DataFileError, load_kin8nm, load_sensorless
from okspca.estimators import OKSPCA
from okspca.numerics.subspace import projector_distance
from okspca.standardize import CausalStandardizer, FrozenStandardizer
from okspca_lab.studies.population.models import N_GROUPS
from okspca_lab.studies.rows import Cell, Row

LOADERS = {"Kin8nm": (load_kin8nm, 2), "Sensorless": (load_sensorless, 5)}
N_FEATURES, SHUFFLES = 128, tuple(range(8))


def compare_halves(cell: Cell) -> list[Row]:
    """Run one shuffle: ``{"data": "Kin8nm", "standardize": "causal", "seed": 0}``."""
    X, y = data(cell["data"])
    options = {} if cell["standardize"] == "causal" else frozen(cell["data"])
    order = np.random.RandomState(cell["seed"]).permutation(len(X))
    n = len(X) // 2
    halves = [
        OKSPCA(
            LOADERS[cell["data"]][1],
            n_random_features=N_FEATURES,
            stability=N_GROUPS,
            random_state=0,
            **options,
        ).partial_fit(X[rows], y[rows])
        for rows in (order[:n], order[n : 2 * n])
    ]
    estimates = [float(half.estimate_stability().distance or 0.0) for half in halves]
    apart = projector_distance(*(half.basis().vectors for half in halves))
    named = {name: cell[name] for name in ("data", "standardize", "seed")}
    return [{**named, "n": n, "apart": apart, "expected": math.hypot(*estimates)}]


def available() -> list[str]:
    """Names of the data sets that can be loaded here."""
    found = []
    for name in LOADERS:
        try:
            data(name)
        except DataFileError:
            continue
        found.append(name)
    return found


@cache
def data(name: str) -> tuple[Any, Any]:
    """Load a data set once per process."""
    X, y = LOADERS[name][0]()[:2]
    return np.ascontiguousarray(X, dtype=np.float64), y


@cache
def frozen(name: str) -> dict[str, Any]:
    """Return a front end that is the same for both halves: standardisers frozen on all rows."""
    X, y = data(name)
    options: dict[str, Any] = {"standardize": "frozen", "input_standardizer": _frozen_on(X)}
    if np.asarray(y).dtype.kind == "f":
        options["target_standardizer"] = _frozen_on(np.asarray(y).reshape(len(X), -1))
    return options


def _frozen_on(rows: Any) -> FrozenStandardizer:
    pilot = CausalStandardizer(rows.shape[1])
    pilot.scan(np.ascontiguousarray(rows), np.ones(len(rows)))
    return FrozenStandardizer.of(pilot)
