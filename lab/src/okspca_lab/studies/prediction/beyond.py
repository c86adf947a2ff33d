"""Past the paper: other targets and input metrics at the same width and rank.

Same seeds, splits, random features, ranks and probes as the rest of the study.  Every ingredient is
added to the paper's target (solved exactly) alone, and then all of them together.  One setting
serves all six tasks; it was chosen on development data.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from okspca import OKSPCA
from okspca_lab.studies.cells import Cell
from okspca_lab.studies.prediction.methods import FLOOR
from okspca_lab.studies.prediction.protocol import input_map, probed, streamed, target_map
from okspca_lab.studies.prediction.tasks import Split, Task, resolved
from okspca_lab.studies.rows import Row

QUICK_ROWS = 600


@dataclass(frozen=True)
class Variant:
    """What is added to the paper's target."""

    name: str
    whitened: bool = False
    relevance: bool = False
    scale_free: bool = False


PAPER_TARGET = Variant("paper's target, solved exactly")
EVERYTHING = Variant("all three", whitened=True, relevance=True, scale_free=True)
VARIANTS = (
    PAPER_TARGET,
    Variant("+ scale-free standardiser", scale_free=True),
    Variant("+ whitened inputs", whitened=True),
    Variant("+ learned relevance", relevance=True),
    Variant("whitened and scale-free", whitened=True, scale_free=True),
    EVERYTHING,
)


@dataclass(frozen=True)
class Goal:
    """What a task's score is measured against."""

    reduced: float
    unreduced: float
    must: float
    aim: float


#: Best reduced pipeline of the paper, all random features, what must be reached, what is aimed at.
GOALS = {
    "XOR-Gauss": Goal(0.596, 0.660, 0.98, 0.995),
    "Spirals-3": Goal(0.37, 0.360, 0.37, 0.40),
    "Friedman-1": Goal(0.722, 0.853, 0.93, 0.945),
    "HAR": Goal(0.853, 0.939, 0.945, 0.96),
    "Sensorless": Goal(0.763, 0.945, 0.95, 0.97),
    "Kin8nm": Goal(0.455, 0.657, 0.68, 0.72),
}
#: Inputs that the response depends on, where that is known.
TRUE_INPUTS = {"XOR-Gauss": 2, "Spirals-3": 2, "Friedman-1": 5}


def cells(tasks: Sequence[str], seeds: Sequence[int], *, quick: bool) -> list[Cell]:
    """All cells; each is one variant on one task and seed."""
    return [
        {"task": task, "seed": seed, "variant": variant.name, "quick": quick}
        for task in tasks
        for seed in seeds
        for variant in VARIANTS
    ]


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


def model_of(variant: Variant, task: Task, split: Split, seed: int) -> OKSPCA:
    """Make the model of a variant, not yet fitted."""
    return OKSPCA(
        task.rank,
        task="classification" if task.labels else "regression",
        objective="whitened" if variant.whitened else "covariance",
        relevance="learned" if variant.relevance else None,
        variance_floor="relative" if variant.scale_free else FLOOR,
        input_map=input_map(task, seed, split.X.shape[1]),
        target_map=target_map(task, seed),
    )


def _rows(variant: Variant, task: Task, split: Split, seed: int) -> list[Row]:
    """Fit, embed and score one variant; tell which inputs it found to matter."""
    model = model_of(variant, task, split, seed)
    start = time.perf_counter()
    model.partial_fit(split.X, split.y)
    seconds = time.perf_counter() - start
    embedded = model.transform(split.X), model.transform(split.X_test)
    score = probed(task, *embedded, split, seed)
    rows: list[Row] = [
        {
            "kind": "score",
            "method": variant.name,
            "representation": "full",
            "score": score.value,
            "converged": score.converged,
            "ridge": getattr(model.moment_, "ridge_in_use", None),
            "fit_seconds": round(seconds, 3),
        }
    ]
    if variant.relevance and hasattr(model, "relevance_"):
        shares = [float(share) for share in model.relevance_]
        rows.append({"kind": "relevance", "method": variant.name, "shares": shares})
    return rows
