"""What the rows of the population study say: medians, calibration, comparison with the paper."""

from collections.abc import Sequence
from dataclasses import dataclass
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
from okspca.report.tables import Table
from okspca_lab.studies.comparison import Comparison, Within, compared
from okspca_lab.studies.population.setting import BATCH_SIZE, SEEDS, SIZES, bounded, separated
from okspca_lab.studies.rows import Row

#: The numbers that the paper states in its text: size, our column, what it is, value, tolerance.
PAPER = (
    (256, "rho_sample_online", "objective ratio, sample, online", "0.995834", 0.003),
    (256, "d_stat", "d_stat", "1.416004", 0.1),
    (256, "rho_population_online", "objective ratio, population, online", "0.731", 0.03),
    (256, "rho_population_exact", "objective ratio, population, exact", "0.731", 0.03),
    (256, "d_total_online", "d_total", "1.395", 0.1),
    (32768, "d_stat", "d_stat", "0.1281", 0.02),
    (32768, "d_total_online", "d_total", "0.1292", 0.02),
    (32768, "d_opt_online", "d_opt", "0.01128", 0.005),
)
RATIO_RANGE, COVERAGE_RANGE, FIRST_CALIBRATED = (0.8, 1.25), (0.80, 0.97), 512
DELTA = 0.1
#: An exact service's distance to a plain SVD of the same rows that counts as rounding.
ROUNDING = 1e-10


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


def comparison(rows: Sequence[Row]) -> list[Comparison]:
    """One line per number of the paper."""
    bounded_rows, by_chance = part(rows, "bounded"), part(rows, "by chance")
    lines = []
    for n, column, name, printed, width in PAPER:
        found = values(bounded_rows, column, n)
        ours = float(np.median(found)) if found.size == len(SEEDS) else None
        note = chance_note(by_chance, column) if n == BATCH_SIZE else ""
        lines.append(
            compared(
                "running text, section 4", f"n = {n:,}", name, printed, ours, Within(width), note
            )
        )
    return lines


def chance_note(rows: Sequence[Row], column: str) -> str:
    """How much a median over so many seeds varies from batch to batch of other seeds."""
    medians = batch_medians(rows, column)
    if medians.size < 20:
        return ""
    low, high = np.quantile(medians, [0.025, 0.975])
    return f"95% of medians over other batches of 20 seeds: {low:.4g} to {high:.4g}"


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


def tables(rows: Sequence[Row]) -> list[Table]:
    """Return the tables of the page, in order."""
    own = part(rows, "bounded")
    calibrated = [
        _calibration_table(f"Estimated against true d_stat: {name}", part(rows, name))
        for name in ("bounded", "random features")
    ]
    real = _real_table(part(rows, "real data"))
    return [_medians_table(own), *calibrated, real, _bounds_table(own), _checks_table(rows)]


def _medians_table(rows: Sequence[Row]) -> Table:
    columns = {
        "d_stat": "d_stat",
        "d_opt online": "d_opt_online",
        "d_total online": "d_total_online",
        "d_opt ours": "d_opt_ours",
        "sample, online": "rho_sample_online",
        "population, online": "rho_population_online",
        "population, exact": "rho_population_exact",
    }
    table = [
        (f"{n:,}", *(f"{np.median(values(rows, c, n)):.4g}" for c in columns.values()))
        for n in sizes_of(rows)
    ]
    note = "Medians over seeds. Online: the paper's tracker. Ours: the exact service."
    return Table("Distances and objective ratios", ("n", *columns), table, note)


def _calibration_table(title: str, rows: Sequence[Row]) -> Table:
    lines = [
        (
            f"{line.n:,}",
            f"{np.median(values(rows, 'd_stat', line.n)):.3f}",
            f"{np.median(values(rows, 'estimate', line.n)):.3f}",
            f"{line.ratio:.3f}",
            f"{line.covered} of {line.cells}",
            f"{line.angle_ratio:.3f}",
            f"{line.angles_covered} of {line.cells}",
            _ranks(values(rows, "recommended_rank", line.n)),
        )
        for line in calibration(rows)
    ]
    header = ("n", "d_stat", "estimate", "ratio", "covered", "angle ratio", "angle covered", "rank")
    note = "Medians; rank: smallest to largest recommended rank over the seeds."
    return Table(title, header, lines, note)


def _real_table(rows: Sequence[Row]) -> Table:
    cases = sorted({(row["data"], row["n"], row["standardize"]) for row in rows})
    lines = []
    for name, n, mode in cases:
        own = [r for r in rows if (r["data"], r["standardize"]) == (name, mode)]
        apart, ratios = (
            np.array([r["apart"] for r in own]),
            np.array([r["expected"] / r["apart"] for r in own]),
        )
        spread = f"{ratios.min():.2f} to {ratios.max():.2f}"
        told = (f"{n:,}", mode, f"{np.median(apart):.3f}", f"{np.median(ratios):.2f}", spread)
        lines.append((name, *told))
    header = ("data", "rows per half", "standardiser", "d(A, B)", "expected / found", "range")
    note = (
        "Medians over 8 shuffles. Causal: each half has its own standardiser, whose own error the "
        "estimate does not see; with heavy-tailed inputs (Sensorless) that matters. Frozen: one "
        "standardiser for both halves."
    )
    if not rows:
        note = "Not run: the data sets were not found, or this was a quick run."
    return Table("Real data: two disjoint halves", header, lines, note, words=(2,))


def _ranks(ranks: Floats) -> str:
    low, high = int(ranks.min()), int(ranks.max())
    return f"{low}" if low == high else f"{low}–{high}"


def _bounds_table(rows: Sequence[Row]) -> Table:
    lines = []
    for n in sizes_of(rows):
        at_n = [row for row in rows if row["n"] == n]
        bounds = [bound_on(row) for row in at_n]
        median = {name: float(np.median([b[name] for b in bounds])) for name in bounds[0]}
        d_stat, error = (float(np.median(values(rows, c, n))) for c in ("d_stat", "moment_error"))
        d_opt_bound, d_opt = (values(rows, c, n) for c in ("d_opt_bound", "d_opt_online"))
        lines.append(
            (
                f"{n:,}",
                f"{error:.3f}",
                f"{median['moment'] / error:.0f}×",
                f"{d_stat:.3f}",
                f"{median['perturbation'] / d_stat:.1f}×",
                f"{median['two steps'] / d_stat:.1f}×",
                f"{median['combination'] / d_stat:,.0f}×",
                f"{np.median(d_opt_bound / d_opt):.1f}×",
            )
        )
    header = (
        "n",
        "moment error",
        "concentration",
        "d_stat",
        "perturbation (true M error)",
        "with operator bound",
        "all combined",
        "objective gap over d_opt",
    )
    note = f"How many times larger than the true quantity each bound is; medians, delta = {DELTA}."
    return Table("How loose the bounds are", header, lines, note)


def _checks_table(rows: Sequence[Row]) -> Table:
    lines = [(what, told, "holds" if ok else "fails") for what, told, ok in checks(rows)]
    if not is_complete(rows):
        lines = [(what, told, "not run") for what, told, _ in lines]
    return Table("Checks", ("statement", "found", "verdict"), lines, words=(1, 2))


def is_complete(rows: Sequence[Row]) -> bool:
    """Whether all seeds and sizes were run."""
    found: set[tuple[Any, Any]] = {(row["seed"], row["n"]) for row in part(rows, "bounded")}
    return found >= {(s, n) for s in SEEDS for n in SIZES}
