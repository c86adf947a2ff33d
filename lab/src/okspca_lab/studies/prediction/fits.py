"""The fits of the study: from a task and a seed to flat rows."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from okspca import OKSPCA
from okspca.numerics.arrays import Floats
from okspca_lab.studies.prediction import methods
from okspca_lab.studies.prediction.protocol import (
    Score,
    median_bandwidths,
    probed,
    streamed,
)
from okspca_lab.studies.prediction.tasks import Split, Task
from okspca_lab.studies.rows import Row

FRACTIONS = (0.1, 0.25, 0.5, 0.75, 1.0)
#: Further points of the path, to see what happens between the checkpoints.
PATH_POINTS = 50
RATES, CLIPS = (0.003, 0.01, 0.03), (0.5, 1.0)
QUICK_ROWS = 240
FULL, EXTRACTED, EXACT = "full", "extracted", "exact"


def final_rows(task: Task, seed: int, *, quick: bool) -> Split:
    """Return the rows of a final seed, in stream order."""
    split = task.final(seed)
    split = streamed(split, seed)
    return split.first(QUICK_ROWS) if quick else split


def okspca_rows(task: Task, seed: int, *, quick: bool) -> list[Row]:
    """Fit the tracker at the primary rank, with checkpoints, and at the old budget."""
    split = final_rows(task, seed, quick=quick)
    model = methods.okspca(task, split, seed, task.rank)
    rows = _follow(model, split, seed)
    scores = _same_target_scores(task, model, split, seed)
    rows += [score_row(methods.OKSPCA_NAME, seed, score, kind) for kind, score in scores.items()]
    score = scores[FULL]
    if task.old_rank != task.rank:
        old = methods.okspca(task, split, seed, task.old_rank).partial_fit(split.X, split.y)
        check_updates(old, len(split.X))
        score = scored(task, old, split, seed)
    rows.append(score_row(methods.OKSPCA_NAME, seed, score, "old budget"))
    return rows


def _follow(model: OKSPCA, split: Split, seed: int) -> list[Row]:
    """Stream the rows and look at the basis at the checkpoints and along the path."""
    n = len(split.X)
    checkpoints = {math.ceil(fraction * n) for fraction in FRACTIONS}
    path = {math.ceil(point * n / PATH_POINTS) for point in range(1, PATH_POINTS + 1)}
    rows, start = [], 0
    for stop in sorted(checkpoints | path):
        model.partial_fit(split.X[start:stop], split.y[start:stop])
        rows.append({**geometry(model), "seed": seed, "checkpoint": stop in checkpoints})
        start = stop
    check_updates(model, n)
    return rows


def geometry(model: OKSPCA) -> Row:
    """Compare the present basis with the exact solution of its own moment, and its certificate."""
    report = model.diagnose()
    compared = report.full or report.extracted
    certificate = model.basis().certificate
    return {
        "kind": "geometry",
        "observation": report.n_samples_seen,
        "reference_rank": report.reference_rank,
        "rank": report.comparison_rank,
        "rho": None if compared is None else compared.rho,
        "angle": None if compared is None else compared.max_angle,
        "distance": None if compared is None else compared.distance,
        "relative_gap": _relative_gap(report),
        "tie": report.reconstruction_tie,
        "rho_lower": None if certificate is None else certificate.rho_lower,
        "angle_upper": None if certificate is None else certificate.angle_upper,
    }


def _relative_gap(report: Any) -> float | None:
    """Boundary gap in units of the largest squared singular value."""
    if report.gap is None or not report.singular_values:
        return None
    return float(report.gap / report.singular_values[0] ** 2)


def check_updates(model: OKSPCA, n: int) -> None:
    """Raise unless every row was one regular update of the tracker."""
    health = model.solver_health()
    if health["steps"] != n or health["reinitialised"]:
        message = f"{n} rows gave {health['steps']} regular updates: {health}."
        raise ArithmeticError(message)


def _same_target_scores(task: Task, model: OKSPCA, split: Split, seed: int) -> dict[str, Score]:
    """Score the maintained basis, the block extracted from it, and the exact solution."""
    features = [
        model.input_map_.transform(model.input_standardizer_.transform(X))
        for X in (split.X, split.X_test)
    ]
    bases: dict[str, Floats] = {
        FULL: model.basis(kind="maintained").vectors,
        EXTRACTED: model.basis().vectors,
        EXACT: np.linalg.svd(model.moment_.matrix(), full_matrices=False)[0],
    }
    rank = model.diagnose().comparison_rank
    bases[EXACT] = bases[EXACT][:, :rank]
    return {
        kind: probed(task, features[0] @ U, features[1] @ U, split, seed)
        for kind, U in bases.items()
    }


def score_row(method: str, seed: int, score: Score, kind: str = FULL) -> Row:
    """One score."""
    return {
        "kind": "score",
        "seed": seed,
        "method": method,
        "representation": kind,
        "score": score.value,
        "converged": score.converged,
    }


def scored_rows(models: Mapping[str, Any], task: Task, split: Split, seed: int) -> list[Row]:
    """Fit every model and score its embedding."""
    rows = []
    for name, model in models.items():
        model.fit(split.X, methods.response(task, model, split))
        rows.append(score_row(name, seed, scored(task, model, split, seed)))
    return rows


def scored(task: Task, model: Any, split: Split, seed: int) -> Score:
    """Score the embedding of a fitted model."""
    return probed(task, model.transform(split.X), model.transform(split.X_test), split, seed)


def comparator_rows(task: Task, seed: int, *, quick: bool) -> list[Row]:
    """Fit and score every comparator."""
    split = final_rows(task, seed, quick=quick)
    return scored_rows(methods.comparators(task, split, seed), task, split, seed)


def control_rows(task: Task, seed: int, *, quick: bool) -> list[Row]:
    """Fit and score the unreduced controls."""
    split = final_rows(task, seed, quick=quick)
    return scored_rows(methods.controls(task, split, seed), task, split, seed)


def development_rows(task: Task, seed: int, *, quick: bool) -> list[Row]:
    """Score the tracker with every rate and clip on the validation rows of one seed."""
    split = streamed(task.development(seed), seed)
    split = split.first(QUICK_ROWS) if quick else split
    rows: list[Row] = []
    for rate in RATES:
        for clip in CLIPS:
            model = methods.okspca(task, split, seed, task.old_rank, rate, clip)
            model.partial_fit(split.X, split.y)
            check_updates(model, len(split.X))
            score = scored(task, model, split, seed)
            row = {**score_row(methods.OKSPCA_NAME, seed, score), "rate": rate, "clip": clip}
            row |= {"clipped": model.solver_health()["clipped"]}
            row |= {"n_train": len(split.X), "n_test": len(split.X_test)}
            rows.append(row)
    return rows


def bandwidth_rows(task: Task, seed: int, *, quick: bool) -> list[Row]:
    """Sizes of the task, and the bandwidths that the median rule gives here."""
    del seed, quick
    split = task.final(100)
    width, target_width = median_bandwidths(task)
    return [
        {
            "kind": "task",
            "n_train": len(split.X),
            "n_test": len(split.X_test),
            "n_inputs": split.X.shape[1],
            "n_classes": len(np.unique(split.y)) if task.labels else None,
            "bandwidth": width,
            "target_bandwidth": target_width or None,
        }
    ]
