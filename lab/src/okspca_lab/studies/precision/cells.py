"""One cell of the precision study: a task and a seed, the same rows as float64 and as float32."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np

from okspca import OKSPCAClassifier, OKSPCARegressor
from okspca_lab.studies.precision.plan import QUICK_ROWS, Plan
from okspca_lab.studies.prediction import methods
from okspca_lab.studies.prediction.fits import scored
from okspca_lab.studies.prediction.protocol import streamed
from okspca_lab.studies.prediction.tasks import Split, Task, resolved
from okspca_lab.studies.rows import Cell, Row
from okspca_lab.studies.runner import Part

#: Rows as they are; rounded to single precision and given as doubles; given as float32.
AS_THEY_ARE, ROUNDED, SINGLE = GIVEN = ("float64", "rounded, float64", "float32")
HEAD, TRACKER = MODELS = ("head, its defaults", "the paper's tracker")


def work(cell: Cell) -> list[Row]:
    """Fit both models to the rows in each form, and score them on the same rows held out."""
    task = resolved(cell["task"])
    split = streamed(task.development(cell["seed"]), cell["seed"])
    split = split.first(QUICK_ROWS) if cell["quick"] else split
    names = {"task": cell["task"], "rows": task.name, "seed": cell["seed"]}
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of optimisers that stop early
        for given in GIVEN:
            for model in MODELS:
                row = fitted(task, split, cell["seed"], given, model)
                found.append({**names, "given": given, "model": model, **row})
    return found


def parts(plan: Plan, out: Path) -> list[Part]:
    """All cells, ready to be run."""
    return [Part.of_cells(out, plan.settings, plan.cells(), work)]


def fitted(task: Task, split: Split, seed: int, given: str, kind: str) -> Row:
    """Score of one model, and what its features are off by in the rows held out."""
    X: Any = split.X if given == AS_THEY_ARE else split.X.astype(np.float32)
    X = X.astype(np.float64) if given == ROUNDED else X
    if kind == TRACKER:
        model = methods.okspca(task, split, seed, task.rank).partial_fit(X, split.y)
        score = scored(task, model, split, seed).value
    else:
        head = OKSPCAClassifier if task.labels else OKSPCARegressor
        model = head(random_state=seed).fit(X, split.y)
        score = float(model.score(split.X_test, split.y_test))
    error = model.feature_error(split.X_test)
    return {
        "score": score,
        "precision": error.precision,
        "amplitude": error.amplitude,
        "largest": error.largest,
        "of_rows": error.of_rows,
    }
