"""One cell past the paper: a variant of its target, on one task and seed."""

import time
from pathlib import Path

from okspca import OKSPCA
from okspca.features.ladder import DRAWN
from okspca_lab.studies.prediction.beyond.plan import VARIANTS, Plan, Variant
from okspca_lab.studies.prediction.fits import scored
from okspca_lab.studies.prediction.methods import FLOOR
from okspca_lab.studies.prediction.protocol import input_map, streamed, target_map
from okspca_lab.studies.prediction.tasks import Split, Task, resolved
from okspca_lab.studies.rows import Cell, Row
from okspca_lab.studies.runner import Part

QUICK_ROWS = 600


def work(cell: Cell) -> list[Row]:
    """Do one cell."""
    task = resolved(cell["task"])
    split = streamed(task.final(cell["seed"]), cell["seed"])
    if cell["quick"]:
        split = split.first(QUICK_ROWS)
    variant = next(one for one in VARIANTS if one.name == cell["variant"])
    return [
        {"part": "beyond", "task": task.name, "seed": cell["seed"], **row}
        for row in _rows(variant, task, split, cell["seed"])
    ]


def parts(plan: Plan, out: Path) -> list[Part]:
    """All cells, ready to be run."""
    return [Part.of_cells(out, plan.settings, plan.cells(), work)]


def model_of(variant: Variant, task: Task, split: Split, seed: int) -> OKSPCA:
    """Make the model of a variant, not yet fitted."""
    return OKSPCA(
        task.rank,
        task="classification" if task.labels else "regression",
        objective="whitened" if variant.whitened else "covariance",
        frequencies=variant.frequencies,
        pilot_rows=variant.pilot_rows,
        variance_floor="relative" if variant.scale_free else FLOOR,
        input_map=input_map(task, seed, split.X.shape[1]),
        target_features="response" if variant.response else "fourier",
        target_map=None if variant.response else target_map(task, seed),
    )


def _rows(variant: Variant, task: Task, split: Split, seed: int) -> list[Row]:
    """Fit, embed and score one variant; tell which inputs it found to matter."""
    model = model_of(variant, task, split, seed)
    start = time.perf_counter()
    model.partial_fit(split.X, split.y)
    seconds = time.perf_counter() - start
    score = scored(task, model, split, seed)
    rows: list[Row] = [
        {
            "kind": "score",
            "method": variant.name,
            "representation": "full",
            "score": score.value,
            "converged": score.converged,
            "ridge": getattr(model.moment_, "ridge_in_use", None),
            "rung": rung_of(model),
            "fit_seconds": round(seconds, 3),
        }
    ]
    if variant.learns_inputs and hasattr(model, "relevance_"):
        shares = [float(share) for share in model.relevance_]
        rows.append({"kind": "relevance", "method": variant.name, "shares": shares})
    return rows


def rung_of(model: OKSPCA) -> str:
    """The rung of the ladder that the model stands on."""
    search = model.learned.search if model.learned is not None else None
    return DRAWN if search is None else str(search.place.rung)
