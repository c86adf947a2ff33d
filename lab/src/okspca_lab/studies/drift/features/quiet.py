"""Streams without drift, for counting false alarms."""

from typing import Any

import numpy as np
from numpy.random import RandomState

from okspca import OKSPCAClassifier, OKSPCARegressor
from okspca.numerics.arrays import Floats
from okspca_lab.studies.drift.features.streams import SCENARIOS
from okspca_lab.studies.rows import Cell, Row

SETTINGS: dict[str, Any] = {
    **{"n_random_features": 64, "frequencies": "scaled", "pilot_rows": 1024},
    **{"relearn": "on-drift"},
}
ROWS = 100 * 256


def _friedman(seed: int, n: int) -> tuple[Floats, Any]:
    return SCENARIOS["Friedman, no drift"].draw(seed, np.zeros(n))


def _outliers(seed: int, n: int) -> tuple[Floats, Any]:
    """Noise of Student's t with three degrees of freedom."""
    X, y = _friedman(seed, n)
    return X, y + RandomState(seed + 20_000).standard_t(3.0, size=n)


def _classes(seed: int, n: int) -> tuple[Floats, Any]:
    return SCENARIOS["hyperplane, turning"].draw(seed, np.zeros(n))


KINDS: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "Friedman": (OKSPCARegressor, _friedman, {}),
    "Friedman, window": (OKSPCARegressor, _friedman, {"window": 2048}),
    "Friedman, heavy tails": (OKSPCARegressor, _outliers, {}),
    "hyperplane": (OKSPCAClassifier, _classes, {}),
}


def followed(cell: Cell) -> list[Row]:
    """Learn one stream of each kind that has no drift, and count the alarms."""
    found = []
    for kind, (head, draw, options) in KINDS.items():
        model = head(random_state=cell["seed"], **SETTINGS, **options)
        model.fit(*draw(cell["seed"], ROWS))
        found.append({**cell, "kind": kind, "alarms": model.n_drift_alarms_})
    return found
