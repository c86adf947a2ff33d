"""Which cells are computed past the paper: every variant of its target, and what is aimed at."""

from dataclasses import dataclass
from typing import Any

from okspca_lab.studies.prediction import plan as prediction
from okspca_lab.studies.rows import Cell


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


@dataclass(frozen=True)
class Plan(prediction.Plan):
    """What to run."""

    @property
    def settings(self) -> dict[str, Any]:
        """What the rows depend on."""
        return {"study": "prediction beyond the paper", "version": 2, "quick": self.quick}

    def cells(self) -> list[Cell]:
        """All cells; each is one variant on one task and seed."""
        return [
            {"task": task, "seed": seed, "variant": variant.name, "quick": self.quick}
            for task in self.longest_first()
            for seed in self.seeds
            for variant in VARIANTS
        ]


def planned(**options: Any) -> Plan:
    """Make a plan from what was asked for, as the prediction study does."""
    plan = prediction.planned(**options)
    return Plan(plan.tasks, plan.seeds, plan.quick)
