"""Which cells the monitoring study computes: every kind of stream with every seed."""

from dataclasses import dataclass
from typing import Any

from okspca_lab.studies.monitoring.streams import KINDS
from okspca_lab.studies.rows import Cell

#: Thresholds of the rivals were chosen on seeds from 1,000 on; these were looked at once.
SEEDS, QUICK_SEEDS = tuple(range(50)), (0,)
#: Streams of seeds below this are watched after changes too.
CHANGED = 25
#: What the rows depend on; those of a quick run are part of a full one.
SETTINGS: dict[str, Any] = {"study": "monitoring", "version": 1}


@dataclass(frozen=True)
class Plan:
    """Which seeds.

    Examples
    --------
    >>> len(Plan().cells())
    200
    """

    seeds: tuple[int, ...] = SEEDS

    def cells(self) -> list[Cell]:
        """All cells."""
        return [{"stream": kind, "seed": seed} for kind in KINDS for seed in self.seeds]


def planned(*, quick: bool) -> Plan:
    """Make a plan."""
    return Plan(QUICK_SEEDS if quick else SEEDS)
