"""Which cells the precision study computes: every task with every development seed."""

from dataclasses import dataclass
from typing import Any

from okspca_lab.studies.prediction.protocol import DEVELOPMENT_SEEDS
from okspca_lab.studies.prediction.tasks import resolved
from okspca_lab.studies.rows import Cell

TASKS = ("XOR-Gauss", "Spirals-3", "Friedman-1", "Kin8nm", "HAR", "Sensorless")
SEEDS, QUICK_SEEDS = DEVELOPMENT_SEEDS, DEVELOPMENT_SEEDS[:1]
QUICK_TASKS, QUICK_ROWS = ("XOR-Gauss", "Friedman-1"), 400


@dataclass(frozen=True)
class Plan:
    """Which tasks and seeds.

    Examples
    --------
    >>> Plan(("Kin8nm",), (0,)).cells()
    [{'task': 'Kin8nm', 'seed': 0, 'quick': False}]
    """

    tasks: tuple[str, ...] = TASKS
    seeds: tuple[int, ...] = SEEDS
    quick: bool = False

    @property
    def settings(self) -> dict[str, Any]:
        """What the rows depend on."""
        return {"study": "precision", "version": 1, "quick": self.quick}

    def cells(self) -> list[Cell]:
        """All cells."""
        return [
            {"task": name, "seed": seed, "quick": self.quick}
            for name in self.tasks
            for seed in self.seeds
        ]


def planned(*, quick: bool) -> Plan:
    """Make a plan; a file that is missing is fetched, or the error says where to get it."""
    plan = Plan(QUICK_TASKS, QUICK_SEEDS, quick=True) if quick else Plan()
    for name in plan.tasks:
        resolved(name)
    return plan
