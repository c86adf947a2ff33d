"""One cell of the calibration study: a data set and a seed, three kinds of probabilities."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from okspca import OKSPCAClassifier
from okspca.numerics.arrays import Floats, Integers
from okspca_lab.studies.calibration.plan import QUICK_ROWS, Plan, split_of
from okspca_lab.studies.prediction.tasks import Split
from okspca_lab.studies.rows import Cell, Row
from okspca_lab.studies.runner import Part

OURS, LOGISTIC, PLAIN = METHODS = ("ours", "logistic regression", "discriminants alone")
#: Probabilities of the class that is guessed are told apart by so many bins.
N_BINS = 15
LEAST = 1e-15


def work(cell: Cell) -> list[Row]:
    """Fit the classifier, and two others to its embedding."""
    split = split_of(cell["data"], cell["seed"])
    if cell["quick"]:
        split = split.first(QUICK_ROWS)
    names = {"data": cell["data"], "seed": cell["seed"], "rows": len(split.y)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of optimisers that stop early, and of columns of zeros
        found = probabilities(split, cell["seed"])
    places = np.searchsorted(np.unique(split.y), split.y_test)
    return [{**names, "method": name, **measured(p, places)} for name, p in found.items()]


def parts(plan: Plan, out: Path) -> list[Part]:
    """All cells, ready to be run."""
    return [Part.of_cells(out, plan.settings, plan.cells(), work)]


def probabilities(split: Split, seed: int) -> dict[str, Floats]:
    """Probabilities of the classes of rows held out, by method."""
    model = OKSPCAClassifier(random_state=seed).fit(split.X, split.y)
    Z, Z_test = (np.asarray(model.transform(X)) for X in (split.X, split.X_test))
    found = {OURS: model.predict_proba(split.X_test)}
    for name, other in _others().items():
        found[name] = other.fit(Z, split.y).predict_proba(Z_test)
    return found


def _others() -> dict[str, Any]:
    """What is fitted to the embedding of all rows, in a second pass."""
    return {
        LOGISTIC: make_pipeline(StandardScaler(), LogisticRegression(max_iter=3000)),
        PLAIN: LinearDiscriminantAnalysis(),
    }


def measured(p: Floats, places: Integers) -> Row:
    """Log loss, expected calibration error, accuracy, and the bins of a reliability curve."""
    own = np.clip(p[np.arange(len(places)), places], LEAST, 1.0)
    counts, claimed, right = reliability(p, places)
    return {
        "log_loss": float(-np.log(own).mean()),
        "error": calibration_error(counts, claimed, right),
        "accuracy": float(np.mean(p.argmax(axis=1) == places)),
        "counts": counts.astype(int).tolist(),
        "claimed": claimed.tolist(),
        "right": right.tolist(),
    }


def reliability(p: Floats, places: Integers) -> tuple[Floats, Floats, Floats]:
    """By bins of the largest probability: rows, the sum of it, and how many guesses were right."""
    largest, hits = p.max(axis=1), p.argmax(axis=1) == places
    bins = np.minimum((largest * N_BINS).astype(int), N_BINS - 1)
    counted = np.ones(len(p)), largest, hits.astype(np.float64)
    counts, claimed, right = (np.bincount(bins, w, N_BINS).astype(np.float64) for w in counted)
    return counts, claimed, right


def calibration_error(counts: Any, claimed: Any, right: Any) -> float:
    """Mean over rows of the gap between what a bin claims and how often it is right.

    Examples
    --------
    >>> calibration_error(np.array([10, 10]), np.array([6.0, 9.0]), np.array([5.0, 10.0]))
    0.1
    """
    return float(np.abs(np.asarray(claimed) - np.asarray(right)).sum() / np.sum(counts))
