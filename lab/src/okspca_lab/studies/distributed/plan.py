"""Which cells the study of many processes computes: its parts and their sizes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from okspca_lab.studies.rows import Cell

#: How often one process and two take turns, so that both meet the machine in the same moods.
TURNS = 3


@dataclass(frozen=True)
class Plan:
    """Which parts, and whether on few rows only.

    Examples
    --------
    >>> [len(Plan().cells(part)) for part in ("equal", "turns", "scale")]
    [1, 6, 3]
    """

    parts: tuple[str, ...] = ()
    quick: bool = False

    @property
    def settings(self) -> dict[str, Any]:
        """What the rows depend on."""
        return {"study": "distributed", "quick": self.quick, "version": 1}

    def cells(self, part: str) -> list[Cell]:
        """The cells of a part."""
        return [{"part": part, **cell} for cell in _SIZES[part](self.quick)]


def planned(*, parts: Sequence[str], quick: bool) -> Plan:
    """Make a plan."""
    return Plan(tuple(parts), quick)


def _equal(quick: bool) -> list[Cell]:
    n, size = (20_000, 3_000) if quick else (1_000_000, 50_000)
    return [{"rows": n, "partition": size}]


def _turns(quick: bool) -> list[Cell]:
    n, size = (12_000, 3_000) if quick else (6_000_000, 250_000)
    common = {"rows": n, "partition": size, "kill": False}
    return [{**common, "turn": turn, "workers": w} for turn in range(TURNS) for w in (1, 2)]


def _scale(quick: bool) -> list[Cell]:
    n, size = (60_000, 3_000) if quick else (100_000_000, 500_000)
    runs = ((n // 5, 1, False), (n, 2, False), (n, 2, True))
    return [{"rows": r, "workers": w, "kill": kill, "partition": size} for r, w, kill in runs]


def _spark(quick: bool) -> list[Cell]:
    n, files = (10_000, 3) if quick else (5_000_000, 16)
    return [{"rows": n, "files": files}]


def _merge(quick: bool) -> list[Cell]:
    return [{"states": 70 if quick else 10_000}]


def _sparse(quick: bool) -> list[Cell]:
    n, width = (4_000, 5_000) if quick else (1_000_000, 50_000)
    return [{"rows": n, "columns": width, "entries": 50}]


_SIZES = {
    "equal": _equal,
    "turns": _turns,
    "scale": _scale,
    "spark": _spark,
    "merge": _merge,
    "sparse": _sparse,
}
PARTS = tuple(_SIZES)
