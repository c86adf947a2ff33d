"""Which cells are computed: every scenario with every seed, and streams without drift."""

from dataclasses import dataclass
from typing import Any

from okspca_lab.studies.drift.features.streams import SCENARIOS
from okspca_lab.studies.rows import Cell

SEEDS, QUIET_SEEDS, QUICK_SEEDS = tuple(range(5)), tuple(range(100)), (0,)
QUICK_SCENARIOS = ("Friedman, abrupt",)
QUIET = "without drift"
#: What the rows depend on; those of a quick run are part of a full one.
SETTINGS: dict[str, Any] = {"study": "drift of features", "version": 1}


@dataclass(frozen=True)
class Plan:
    """Which seeds and scenarios.

    Examples
    --------
    >>> len(Plan().cells())
    125
    """

    seeds: tuple[int, ...] = SEEDS
    quiet_seeds: tuple[int, ...] = QUIET_SEEDS
    scenarios: tuple[str, ...] = tuple(SCENARIOS)

    def cells(self) -> list[Cell]:
        """All cells."""
        found = [{"scenario": name, "seed": seed} for name in self.scenarios for seed in self.seeds]
        return [*found, *({"scenario": QUIET, "seed": seed} for seed in self.quiet_seeds)]


def planned(*, quick: bool) -> Plan:
    """Make a plan."""
    return Plan(QUICK_SEEDS, QUICK_SEEDS, QUICK_SCENARIOS) if quick else Plan()
