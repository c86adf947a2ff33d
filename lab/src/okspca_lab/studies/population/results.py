"""What the rows of the population study say: values by size, calibration, bounds, checks."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from okspca.diagnostics.bounds import (
    Confidence,
    Sample,
    concentration,
    operator_error,
    perturbation,
    population_distance,
)
from okspca.numerics.arrays import Floats
from okspca_lab.studies.population.models import bounded, separated
from okspca_lab.studies.population.plan import SEEDS, SIZES, Plan
from okspca_lab.studies.rows import Row, read_rows

RATIO_RANGE, COVERAGE_RANGE, FIRST_CALIBRATED = (0.8, 1.25), (0.80, 0.97), 512
DELTA = 0.1
#: An exact service's distance to a plain SVD of the same rows that counts as rounding.
ROUNDING = 1e-10


def read(plan: Plan, out: Path) -> list[Row]:
    """All rows that are there."""
    return read_rows(out / "rows.jsonl", plan.settings)


def part(rows: Sequence[Row], name: str) -> list[Row]:
    """Rows of one part."""
    return [row for row in rows if row["part"] == name]


def sizes_of(rows: Sequence[Row]) -> list[int]:
    """Sizes that occur, ascending."""
    return sorted({row["n"] for row in rows})


def values(rows: Sequence[Row], column: str, n: int) -> Floats:
    """A column at one size, by seed."""
    own = sorted((row["seed"], row[column]) for row in rows if row["n"] == n)
    return np.array([value for _, value in own], dtype=np.float64)


def quartiles(rows: Sequence[Row], column: str) -> Floats:
    """Lower quartile, median and upper quartile (rows) at every size (columns)."""
    each = [np.quantile(values(rows, column, n), [0.25, 0.5, 0.75]) for n in sizes_of(rows)]
    return np.array(each).T


@dataclass(frozen=True)
class Calibration:
    """The stability estimate against the truth at one size."""

    n: int
    cells: int
    ratio: float
    covered: int
    angle_ratio: float
    angles_covered: int


def calibration(rows: Sequence[Row]) -> list[Calibration]:
    """Median ratio and coverage at every size."""
    return [_calibrated([row for row in rows if row["n"] == n], n) for n in sizes_of(rows)]


def _calibrated(cells: list[Row], n: int) -> Calibration:
    return Calibration(
        n,
        len(cells),
        float(np.median([row["estimate"] / row["d_stat"] for row in cells])),
        sum(row["low"] <= row["d_stat"] <= row["high"] for row in cells),
        float(np.median([row["angle_estimate"] / row["angle"] for row in cells])),
        sum(row["angle_low"] <= row["angle"] <= row["angle_high"] for row in cells),
    )


def batch_medians(rows: Sequence[Row], column: str) -> Floats:
    """Median of a column in every batch."""
    batches = sorted({row["batch"] for row in rows})
    return np.array([np.median([r[column] for r in rows if r["batch"] == b]) for b in batches])


def checks(rows: Sequence[Row]) -> list[tuple[str, str, bool]]:
    """What the study must show besides agreement: statement, what was found, whether it holds.

    The statements about calibration are about all seeds and sizes.
    """
    found = []
    for name in ("bounded", "random features"):
        lines = calibration(part(rows, name))
        ratios = [line.ratio for line in lines if line.n >= FIRST_CALIBRATED]
        cells, covered = (sum(getattr(x, f) for x in lines) for f in ("cells", "covered"))
        low, high = RATIO_RANGE
        found.append(
            (
                f"{name}: median estimate / truth in [{low}, {high}] at every n >= 512",
                f"{min(ratios):.3f} to {max(ratios):.3f}",
                low <= min(ratios) and max(ratios) <= high,
            )
        )
        low, high = COVERAGE_RANGE
        found.append(
            (
                f"{name}: 90% interval covers the truth in {low:.0%} to {high:.0%} of cells",
                f"{covered} of {cells} ({covered / cells:.1%})",
                low <= covered / cells <= high,
            )
        )
    own = part(rows, "bounded")
    worst = max(row["d_opt_ours"] for row in own)
    found.append(("exact service: d_opt is rounding", f"at most {worst:.1e}", worst < ROUNDING))
    broken = sum(row["d_stat"] > bound_on(row)["combination"] for row in own)
    found.append((f"bound on d_stat (delta {DELTA}) holds", f"{broken} exceed it", broken == 0))
    return found


def bound_on(row: Row) -> dict[str, float]:
    """What the propositions say about d_stat and the moment of a row."""
    sample, confidence, truth = Sample(row["n"]), Confidence(DELTA), separated()
    return {
        "moment": concentration(sample, bounded(), confidence),
        "combination": population_distance(sample, bounded(), confidence, truth),
        "perturbation": perturbation(truth, row["operator_error"]),
        "two steps": perturbation(truth, operator_error(truth.norm, row["moment_error"])),
    }


def is_complete(rows: Sequence[Row]) -> bool:
    """Whether all seeds and sizes were run."""
    found: set[tuple[Any, Any]] = {(row["seed"], row["n"]) for row in part(rows, "bounded")}
    return found >= {(s, n) for s in SEEDS for n in SIZES}
