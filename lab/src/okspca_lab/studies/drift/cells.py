"""One cell of the drift study: a scenario and a seed, followed in every way."""

from pathlib import Path
from typing import Any

import numpy as np

from okspca import OKSPCA
from okspca.diagnostics.drift import DriftAlarm, lost_share
from okspca.features import IdentityMap
from okspca.numerics.subspace import principal_angles
from okspca.services import Adam
from okspca_lab.studies.drift.plan import SETTINGS, Plan
from okspca_lab.studies.drift.streams import (
    FORGETTING,
    N_INPUTS,
    N_SIGNALS,
    SCENARIOS,
    WINDOW,
    Scenario,
    stream,
)
from okspca_lab.studies.rows import Cell, Row
from okspca_lab.studies.runner import Part

LOOK_EVERY = WINDOW // 20
CHECK_EVERY = WINDOW // 4
#: Looks from here to the first change tell the steady error, in windows.
STEADY_FROM = 3.0
ALLOWANCE = 10.0
FINE = (5.0, 2.0)
METHODS: dict[str, dict[str, Any]] = {
    "exact, all rows": {},
    "Adam, forgetting": {"forgetting": FORGETTING, "solver": "adam"},
    "exact, forgetting": {"forgetting": FORGETTING},
    "exact, window": {"window": WINDOW},
    "whitened, forgetting": {"forgetting": FORGETTING, "objective": "whitened", "ridge": 1e-3},
}


def work(cell: Cell) -> list[Row]:
    """Follow one stream in every way."""
    scenario, seed = SCENARIOS[cell["scenario"]], cell["seed"]
    return [
        {"scenario": scenario.name, "seed": seed, "method": name, **follow(scenario, seed, options)}
        for name, options in METHODS.items()
    ]


def parts(plan: Plan, out: Path) -> list[Part]:
    """All cells, ready to be run."""
    return [Part.of_cells(out, SETTINGS, plan.cells(), work)]


def model_of(options: dict[str, Any], seed: int) -> OKSPCA:
    """Make a linear model of the signal directions."""
    solver = Adam(random_state=seed) if options.get("solver") == "adam" else "exact"
    maps = {"input_map": IdentityMap(N_INPUTS), "target_map": IdentityMap(N_SIGNALS)}
    return OKSPCA(N_SIGNALS, **{**options, **maps, "solver": solver, "random_state": seed})


def follow(scenario: Scenario, seed: int, options: dict[str, Any]) -> Row:
    """Learn a stream and look at the angle to the truth, and at the alarm, along the way."""
    X, Y, U = stream(scenario, seed)
    model, alarm = model_of(options, seed), DriftAlarm()
    angles, alarms, old = [], [], []
    for start in range(0, len(X), LOOK_EVERY):
        stop = start + LOOK_EVERY
        model.partial_fit(X[start:stop], Y[start:stop])
        columns = np.linalg.qr(model.components_.T)[0]
        angles.append(float(principal_angles(columns, U[stop - 1])[0]))
        if stop % CHECK_EVERY == 0:
            old.append(model.basis().vectors)
            if len(old) > WINDOW // CHECK_EVERY:
                loss = lost_share(model.moment_.scaled().Ct, old.pop(0))
                if alarm.raised_by(loss):
                    alarms.append(stop / WINDOW)
    return {"angles": [round(a, 3) for a in angles], "alarms": alarms, **times(scenario, angles)}


def times(scenario: Scenario, angles: list[float]) -> Row:
    """Steady error, and for each change how many windows until the angle is small again."""
    at = (np.arange(len(angles)) + 1.0) * LOOK_EVERY / WINDOW
    seen = np.array(angles)
    first = scenario.changes[0][0]
    steady = float(np.median(seen[(at > STEADY_FROM) & (at <= first)]))
    ends = [*(start for start, _ in scenario.changes[1:]), scenario.length]
    found: Row = {"steady": steady, "recovery": []}
    found.update({f"to_{limit:g}": [] for limit in FINE})
    for (_, stop), end in zip(scenario.changes, ends, strict=True):
        during = (at > stop) & (at <= end)
        found["recovery"].append(settled(at[during] - stop, seen[during], steady + ALLOWANCE))
        for limit in FINE:
            below = np.flatnonzero(seen[during] <= limit)
            reached = float(at[during][below[0]] - stop) if below.size else None
            found[f"to_{limit:g}"].append(reached)
    return found


def settled(at: Any, seen: Any, limit: float) -> float | None:
    """When the angle gets below a limit for good; None where it does not.

    Examples
    --------
    >>> settled(np.array([1.0, 2.0, 3.0]), np.array([9.0, 20.0, 5.0]), limit=10.0)
    3.0
    """
    above = np.flatnonzero(seen > limit)
    place = int(above[-1]) + 1 if above.size else 0
    return float(at[place]) if place < len(at) else None
