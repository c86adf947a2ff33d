"""Which cells are computed past the paper: every variant of its target, and what is aimed at."""

from dataclasses import dataclass
from typing import Any

from okspca.features.ladder import DRAWN, MIXED, SCALED, TRAINED
from okspca_lab.studies.prediction import plan as prediction
from okspca_lab.studies.rows import Cell

#: Rows that features are learned from, the library's default.
PILOT_ROWS = 8192


@dataclass(frozen=True)
class Variant:
    """What is added to the paper's target."""

    name: str
    whitened: bool = False
    scale_free: bool = False
    response: bool = False
    frequencies: str = DRAWN
    pilot_rows: int = PILOT_ROWS

    @property
    def learns_inputs(self) -> bool:
        """Whether it finds out which inputs matter."""
        return self.frequencies != DRAWN


def _predictive(name: str, frequencies: str, pilot_rows: int = PILOT_ROWS) -> Variant:
    """Everything at once, with frequencies of one rung of the ladder."""
    return Variant(name, True, True, True, frequencies, pilot_rows)


PAPER_TARGET = Variant("paper's target, solved exactly")
EVERYTHING = _predictive("predictive: trained", TRAINED)
LADDER = (
    _predictive("predictive: drawn", DRAWN),
    _predictive("predictive: scaled", SCALED),
    _predictive("predictive: mixed", MIXED),
    EVERYTHING,
)
#: For streams long enough to tell the difference.
LONG_PILOT = _predictive("predictive: trained, 16,384 rows", TRAINED, 16384)
LONG_STREAMS = ("Sensorless",)
VARIANTS = (
    PAPER_TARGET,
    Variant("+ scale-free standardiser", scale_free=True),
    Variant("+ whitened inputs", whitened=True),
    Variant("+ learned scales", frequencies=SCALED),
    Variant("whitened and scale-free", whitened=True, scale_free=True),
    *LADDER,
    LONG_PILOT,
)


def variants(task: str) -> list[Variant]:
    """Variants that are run on a task.

    Examples
    --------
    >>> len(variants("Sensorless")) - len(variants("Kin8nm"))
    1
    """
    return [one for one in VARIANTS if one != LONG_PILOT or task in LONG_STREAMS]


@dataclass(frozen=True)
class Goal:
    """What a task's score is measured against.

    Without a number that must be reached, the score must not be below that of the setting before
    by more than two standard errors of the paired difference.
    """

    reduced: float
    unreduced: float
    aim: float
    must: float | None = None


#: Best reduced pipeline of the paper, all random features, what is aimed at, what must be reached.
GOALS = {
    "XOR-Gauss": Goal(0.596, 0.660, 0.998),
    "Spirals-3": Goal(0.37, 0.360, 0.40),
    "Friedman-1": Goal(0.722, 0.853, 0.953),
    "HAR": Goal(0.853, 0.939, 0.962),
    "Sensorless": Goal(0.763, 0.945, 0.99, 0.985),
    "Kin8nm": Goal(0.455, 0.657, 0.93, 0.92),
}
#: Inputs that the response depends on, where that is known.
TRUE_INPUTS = {"XOR-Gauss": 2, "Spirals-3": 2, "Friedman-1": 5}


@dataclass(frozen=True)
class Plan(prediction.Plan):
    """What to run."""

    @property
    def settings(self) -> dict[str, Any]:
        """What the rows depend on."""
        return {"study": "prediction beyond the paper", "version": 3, "quick": self.quick}

    def cells(self) -> list[Cell]:
        """All cells; each is one variant on one task and seed."""
        return [
            {"task": task, "seed": seed, "variant": variant.name, "quick": self.quick}
            for task in self.longest_first()
            for seed in self.seeds
            for variant in variants(task)
        ]


def planned(**options: Any) -> Plan:
    """Make a plan from what was asked for, as the prediction study does."""
    plan = prediction.planned(**options)
    return Plan(plan.tasks, plan.seeds, plan.quick)
