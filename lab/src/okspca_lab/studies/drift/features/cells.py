"""One cell: a scenario and a seed, followed with features that stay and that are learned again."""

from pathlib import Path
from typing import Any

import numpy as np

from okspca import OKSPCAClassifier, OKSPCARegressor
from okspca.numerics.arrays import Floats
from okspca_lab.studies.drift.features import quiet
from okspca_lab.studies.drift.features.plan import QUIET, SETTINGS, Plan
from okspca_lab.studies.drift.features.streams import END, PILOT, SCENARIOS, WINDOW, Scenario
from okspca_lab.studies.rows import Cell, Row
from okspca_lab.studies.runner import Part

#: Rows that are predicted together, then learned.
BLOCK = WINDOW // 4
CALLED = "called"
WINDOWED, FORGETFUL = {"window": WINDOW}, {"forgetting": 1.0 - 1.0 / WINDOW}
ALARM = {"relearn": "on-drift"}
METHODS: dict[str, dict[str, Any]] = {
    "drawn, window": {"frequencies": "drawn", **WINDOWED},
    "trained once, all rows": {},
    "trained once, forgetting": FORGETFUL,
    "trained once, window": WINDOWED,
    "again by call, all rows": {CALLED: True},
    "again by call, window": {CALLED: True, **WINDOWED},
    "again by alarm, all rows": ALARM,
    "again by alarm, window": {**ALARM, **WINDOWED},
}


def work(cell: Cell) -> list[Row]:
    """Follow one stream in every way, or count alarms where there is no drift."""
    if cell["scenario"] == QUIET:
        return quiet.followed(cell)
    scenario = SCENARIOS[cell["scenario"]]
    return [
        {**cell, "method": name, **follow(scenario, cell["seed"], dict(options))}
        for name, options in METHODS.items()
    ]


def parts(plan: Plan, out: Path) -> list[Part]:
    """All cells, ready to be run."""
    return [Part.of_cells(out, SETTINGS, plan.cells(), work)]


def follow(scenario: Scenario, seed: int, options: dict[str, Any]) -> Row:
    """Predict every block before it is learned; tell when features were begun to be learned."""
    calls = scenario.calls if options.pop(CALLED, False) else ()
    head = OKSPCAClassifier if scenario.has_classes else OKSPCARegressor
    settings = {"n_components": 4, "n_random_features": 64, "pilot_rows": PILOT, **options}
    model: Any = head(random_state=seed, **settings)
    X, y = scenario.rows(seed)
    scores: list[float] = []
    began: list[int] = []
    for start in range(0, END, BLOCK):
        rows = slice(start, start + BLOCK)
        if start in calls:
            model.relearn_features()
        if start:
            scores.append(round(score(model, X[rows], y[rows]), 4))
        model.partial_fit(X[rows], y[rows])
        search = model.learned.search
        if search is not None and search.began_at not in (0, *began):
            began.append(search.began_at)
    return {"scores": scores, "began": began, "let_go": _let_go(model), "rung": _rung(model)}


def score(model: Any, X: Floats, y: Any) -> float:
    """Share of a block that is predicted right, or of its variance that is predicted."""
    if y.dtype.kind == "i":
        return float((model.predict(X) == y).mean())
    errors = ((y - model.predict(X)) ** 2).sum()
    return float(1.0 - errors / ((y - y.mean()) ** 2).sum())


def _let_go(model: Any) -> int:
    """Number of rows that new maps have let go."""
    search = model.learned.search
    return 0 if search is None else search.rows_before


def _rung(model: Any) -> str:
    """How far the frequencies were learned."""
    search = model.learned.search
    return "drawn" if search is None else str(search.place.rung)


def rows_at(n_scores: int) -> Floats:
    """Row at which each scored block begins."""
    return BLOCK * np.arange(1.0, n_scores + 1.0)
