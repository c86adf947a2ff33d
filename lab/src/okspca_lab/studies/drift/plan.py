"""Which cells the drift study computes: every scenario with every seed."""

from dataclasses import dataclass
from typing import Any

from okspca_lab.studies.drift.streams import SCENARIOS
from okspca_lab.studies.rows import Cell

SEEDS, QUICK_SEEDS = tuple(range(10)), (0,)
#: What the rows depend on; those of a quick run are part of a full one.
SETTINGS: dict[str, Any] = {"study": "drift", "version": 1}


@dataclass(frozen=True)
class Plan:
    """Which seeds.

    Examples
    --------
    >>> len(Plan().cells())
    30
    """

    seeds: tuple[int, ...] = SEEDS

    def cells(self) -> list[Cell]:
        """All cells."""
        return [{"scenario": name, "seed": seed} for name in SCENARIOS for seed in self.seeds]


def planned(*, quick: bool) -> Plan:
    """Make a plan."""
    return Plan(QUICK_SEEDS if quick else SEEDS)
