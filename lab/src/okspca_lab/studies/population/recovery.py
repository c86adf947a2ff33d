r"""One stream of the bounded generator, measured at every size.

With P_* of the population, P_exact from a plain SVD of the moment of the rows, and P delivered::

    d_stat = ||P_exact - P_*||,   d_opt = ||P - P_exact||,   d_total = ||P - P_*||

(Frobenius norms of projectors), and three objective ratios: the delivered basis on the sample, the
delivered basis on the population, and the exact basis on the population.  Delivered are two: the
paper's tracker ("online") and this library's exact service ("ours").
"""

import numpy as np

from okspca.datasets import spherical_pairs
from okspca.diagnostics.bounds import Separated, objective_gap
from okspca.estimators import OKSPCA
from okspca.numerics.arrays import Floats
from okspca.numerics.subspace import principal_angles, projector_distance
from okspca_lab.studies.population.models import (
    D_X,
    N_GROUPS,
    RANK,
    linear_model,
    population_moment,
    tracker,
)
from okspca_lab.studies.rows import Cell, Row


def recover(cell: Cell) -> list[Row]:
    """Run one seed through all sizes: ``{"seed": 0, "sizes": [256, ...]}``.

    Examples
    --------
    >>> [row["n"] for row in recover({"seed": 0, "sizes": [64, 128]})]
    [64, 128]
    """
    seed, sizes = cell["seed"], cell["sizes"]
    X, Y = spherical_pairs(sizes[-1], population_moment(), seed)
    online, ours = tracker(seed), linear_model("exact", stability=N_GROUPS)
    rows, start = [], 0
    for n in sizes:
        for model in (online, ours):
            model.partial_fit(X[start:n], Y[start:n])
        measured = measure(moment_of(X[:n], Y[:n]), online, ours)
        rows.append({"seed": seed, "n": n, **measured})
        start = n
    return rows


def recover_batch(cell: Cell) -> list[Row]:
    """Run other seeds at one size and keep some columns: ``{"batch": 1, "seeds": [...], ...}``."""
    rows = [row for s in cell["seeds"] for row in recover({"seed": s, "sizes": [cell["n"]]})]
    kept = ("seed", "n", *cell["columns"])
    return [{"batch": cell["batch"], **{name: row[name] for name in kept}} for row in rows]


def moment_of(X: Floats, Y: Floats) -> Floats:
    """C̄ of all rows at once, by the definition."""
    moment: Floats = (X - X.mean(axis=0)).T @ (Y - Y.mean(axis=0)) / len(X)
    return moment


def measure(C: Floats, online: OKSPCA, ours: OKSPCA) -> Row:
    """Measure everything at one size."""
    truth = population_moment()
    left, sigma, _ = np.linalg.svd(C)
    exact, population = left[:, :RANK], np.linalg.svd(truth)[0][:, :RANK]
    best, best_population = (float(np.sum(np.linalg.svd(M)[1][:RANK] ** 2)) for M in (C, truth))
    row: Row = {
        "d_stat": projector_distance(exact, population),
        "angle": float(principal_angles(exact, population)[0]),
        "rho_population_exact": _objective(truth, exact) / best_population,
        "moment_error": float(np.linalg.norm(C - truth, 2)),
        "operator_error": float(np.linalg.norm(C @ C.T - truth @ truth.T, 2)),
    }
    for name, model in (("online", online), ("ours", ours)):
        U = model.basis().vectors
        row[f"d_opt_{name}"] = projector_distance(U, exact)
        row[f"d_total_{name}"] = projector_distance(U, population)
        row[f"rho_sample_{name}"] = _objective(C, U) / best
        row[f"rho_population_{name}"] = _objective(truth, U) / best_population
    spectrum = Separated(tuple(sigma.tolist()), RANK, D_X)
    row["d_opt_bound"] = objective_gap(spectrum, min(row["rho_sample_online"], 1.0))
    return {**row, **estimated(ours)}


def estimated(model: OKSPCA) -> Row:
    """Return what the model says about its own statistical error."""
    stability = model.estimate_stability()
    assert stability.interval is not None
    return {
        "estimate": stability.distance,
        "low": stability.interval[0],
        "high": stability.interval[1],
        "angle_estimate": stability.angles[0],
        "angle_low": stability.angle_intervals[0][0],
        "angle_high": stability.angle_intervals[0][1],
        "recommended_rank": stability.recommended_rank,
    }


def _objective(C: Floats, U: Floats) -> float:
    """J(U; C)."""
    return float(np.sum((C.T @ U) ** 2))
