"""The tables of the population study."""

from collections.abc import Sequence

import numpy as np

from okspca.numerics.arrays import Floats
from okspca.report.tables import Table
from okspca_lab.studies.population.results import (
    DELTA,
    bound_on,
    calibration,
    checks,
    is_complete,
    part,
    sizes_of,
    values,
)
from okspca_lab.studies.rows import Row


def all_tables(rows: Sequence[Row]) -> list[Table]:
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
