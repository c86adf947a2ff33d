"""Which cells the population study computes: seeds, sizes, and the real data that are there."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from okspca_lab.studies.population.halves import SHUFFLES, available
from okspca_lab.studies.population.published import PAPER
from okspca_lab.studies.rows import Cell

SEEDS = tuple(range(20))
SIZES = tuple(2**p for p in range(8, 16))
QUICK_SEEDS, QUICK_SIZES = SEEDS[:3], SIZES[:4]
#: Further seeds, in batches of 20, that show how much a median over 20 seeds varies by chance.
BATCHES = tuple(range(1, 51))
BATCH_SIZE = 256
TRUTH_ROWS, QUICK_TRUTH_ROWS = 2_000_000, 20_000


@dataclass(frozen=True)
class Plan:
    """What to run.

    Attributes
    ----------
    quick : bool
        Only show that everything runs, with few seeds and sizes.
    data : tuple of str
        Real data sets.

    Examples
    --------
    >>> len(Plan().cells()), len(Plan(quick=True).cells()), len(Plan(data=("Kin8nm",)).cells())
    (90, 8, 106)
    """

    quick: bool = False
    data: tuple[str, ...] = ()

    @property
    def settings(self) -> dict[str, Any]:
        """What the rows depend on."""
        return {"study": "population", "quick": self.quick}

    def cells(self) -> list[Cell]:
        """All cells, long ones first."""
        seeds, sizes = (QUICK_SEEDS, QUICK_SIZES) if self.quick else (SEEDS, SIZES)
        truth_rows = QUICK_TRUTH_ROWS if self.quick else TRUTH_ROWS
        per_batch = len(seeds)
        confirmed: list[Cell] = [
            {"part": "random features", "seed": s, "sizes": list(sizes), "truth_rows": truth_rows}
            for s in seeds
        ]
        recovered = [{"part": "bounded", "seed": s, "sizes": list(sizes)} for s in seeds]
        batches = [
            {
                "part": "by chance",
                "batch": b,
                "seeds": [1000 * b + s for s in range(per_batch)],
                "n": BATCH_SIZE,
                "columns": sorted({column for n, column, *_ in PAPER if n == BATCH_SIZE}),
            }
            for b in (BATCHES[:2] if self.quick else BATCHES)
        ]
        return [*confirmed, *recovered, *batches, *_real_cells(self.data)]


def planned(*, quick: bool) -> Plan:
    """Make a plan; a quick one leaves out real data."""
    return Plan(quick, () if quick else tuple(available()))


def _real_cells(names: Sequence[str]) -> list[Cell]:
    """List the cells of real data sets."""
    return [
        {"part": "real data", "data": name, "standardize": mode, "seed": seed}
        for name in names
        for mode in ("causal", "frozen")
        for seed in SHUFFLES
    ]
