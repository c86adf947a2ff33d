"""The tables of the page, from the rows of a build."""

import numpy as np

from okspca.numerics.arrays import Floats
from okspca.report.tables import Table
from okspca_lab.studies.services.methods import ANCHOR, CONTROL, LABELS, NEVER, methods_of
from okspca_lab.studies.services.published import REPEAT_COLUMNS, REPEATS
from okspca_lab.studies.services.results import PERIODIC, Results
from okspca_lab.studies.services.selection import CANDIDATES, selected, totals
from okspca_lab.studies.workloads import REGIMES, SCHEDULES

DASH = "–"
ADAM, EXACT = "adam", "exact-on-request"


def schedule_table(results: Results) -> Table:
    """Adam's time over exact-request's in all 25 groups."""
    rows = [
        (regime, *(_median(results.ratios(regime, s, ADAM, EXACT)) for s in SCHEDULES))
        for regime in REGIMES
    ]
    return Table(
        "Adam ÷ exact-request, whole streams",
        ("regime", *SCHEDULES),
        rows,
        "Medians of ratios paired by seed; below one, Adam is faster.",
    )


def group_table(results: Results) -> Table:
    """The same with ranges, counts, and initialisation included."""
    rows = []
    for regime in REGIMES:
        for schedule in SCHEDULES:
            ratios = results.ratios(regime, schedule, ADAM, EXACT)
            whole = results.ratios(regime, schedule, ADAM, EXACT, inclusive=True)
            if not ratios.size:
                continue
            rows.append(
                (
                    f"{regime}, {schedule}",
                    _median(ratios),
                    f"{ratios.min():.3f}",
                    f"{ratios.max():.3f}",
                    f"{np.count_nonzero(ratios < 1.0)} of {ratios.size}",
                    _median(whole),
                )
            )
    header = ("group", "median", "min", "max", "Adam faster", "with initialisation")
    return Table("Timing groups: Adam ÷ exact-request", header, rows)


def joint_table(results: Results, regime: str, build: str, schedule: str = "every-1") -> Table:
    """Cost, geometry, coverage and freshness of every service."""
    base = EXACT if build == "paper" else ANCHOR
    methods = methods_of(REGIMES[regime], build)
    rows = [
        (
            LABELS[method],
            _microseconds(results, regime, schedule, method),
            _median(results.ratios(regime, schedule, method, base)),
            _number(results.mean(regime, method, "rho", schedule), ".6f"),
            _number(results.mean(regime, method, "distance", schedule), ".3g"),
            _number(results.mean(regime, method, "angle", schedule), ".3g"),
            _worst(results.over_seeds("quality", regime, schedule, method, "worst_angle")),
            f"{_count(results, regime, method, 'matched', schedule)} / "
            f"{_count(results, regime, method, 'positive', schedule)}",
            _count(results, regime, method, "shortfall", schedule),
            _count(results, regime, method, "stale", schedule),
        )
        for method in methods
    ]
    header = (
        "service",
        "µs a row",
        f"÷ {LABELS[base]}",
        "mean ρ",
        "mean d_P",
        "mean angle",
        "worst angle",
        "matched / positive",
        "shortfall",
        "stale",
    )
    note = (
        f"Learning alone: {_microseconds(results, regime, NEVER, CONTROL)} µs a row. Means over "
        "matched requests within a seed, then over seeds; angles in degrees."
    )
    return Table(f"{regime}, {schedule}", header, rows, note)


def candidate_table(results: Results) -> Table:
    """Shortfalls and loss of every step of the projected gradient."""
    rows = []
    for regime in REGIMES:
        found = totals(results.kind("candidate", regime=regime))
        if found:
            cells = tuple(f"{shortfall} / {loss:.5f}" for _, shortfall, loss in found)
            rows.append((regime, *cells, f"{selected(found):g}"))
    header = ("regime", *(f"step {step:g}" for step in CANDIDATES), "selected")
    note = "Shortfalls and loss on three development streams. First fewest shortfalls, then loss."
    return Table("Steps of the projected gradient", header, rows, note)


def repeat_table(results: Results) -> Table:
    """The twelve prescribed repeats."""
    rows = []
    for name in REPEATS:
        row = next((r for r in results.kind("A0") if r.get("repeat") == name), None)
        if row is not None:
            wall, cpu = 1e3 * row["wall"], 1e3 * row["cpu"]
            values = (wall, cpu, wall + 1e3 * row["init_wall"], cpu + 1e3 * row["init_cpu"])
            rows.append((name, *(f"{value:.2f}" for value in values)))
    return Table("Prescribed repeats: C4, seed 6200, every ten", ("", *REPEAT_COLUMNS), rows)


def terminal_table(results: Results) -> Table:
    """The last answers of Adam in R256."""
    rows = [
        (
            str(row["seed"]),
            str(row["r_ref"]),
            str(row["q_ref"]),
            str(row["q_out"]),
            _number(row["rho"], ".6f"),
            _number(row["angle"], ".3f"),
            _number(row["distance"], ".4f"),
            _number(None if row["distance"] is None else row["distance"] ** 2 / 2.0, ".2f"),
            _number(row["relative_gap"], ".6f"),
        )
        for row in sorted(
            results.kind("terminal", regime="R256", method=ADAM), key=lambda r: r["seed"]
        )
    ]
    header = ("seed", "r_ref", "q_ref", "q_out", "ρ", "θ_max", "d_P", "d_P² / 2", "gap / J*")
    return Table("R256: the last answers of Adam", header, rows)


def total_table(results: Results) -> Table:
    """What became of all requests."""
    every, periodic = results.totals(), results.totals(PERIODIC)
    words = {
        "requests": "requests",
        "positive": "positive references",
        "matched": "valid and of matched rank",
        "shortfall": "shortfalls",
        "missing": "– no valid answer",
        "unequal": "– another rank",
        "stale": "stale (overlaps)",
        "tied": "tied boundary (overlaps)",
        "valid": "status valid",
        "not_initialised": "status not initialised",
        "no_target": "status no target",
    }
    rows = [(text, f"{every[n]:,}", f"{periodic[n]:,}") for n, text in words.items()]
    return Table("Requests", ("", "all schedules", "periodic schedules"), rows)


def batch_table(results: Results, build: str) -> Table:
    """Pass B: batches of 64 observations, and single requests."""
    rows = []
    for regime in REGIMES:
        for method in methods_of(REGIMES[regime], build):
            values = [
                results.over_seeds("B", regime, "every-1", method, name)
                for name in ("batch_median", "batch_p99", "query_median", "query_p99", "query_max")
            ]
            if values[0].size:
                cells = tuple(f"{np.median(v):.1f}" for v in values)
                rows.append((f"{regime}, {LABELS[method]}", *cells))
    header = (
        "service",
        "batch mean, median",
        "batch mean, 99%",
        "request, median",
        "request, 99%",
        "request, max",
    )
    note = (
        "Microseconds, a request after every observation; medians over seeds. Batch means include "
        "requests; they are no latencies of single updates, and no parts of the times above."
    )
    return Table("Batches of 64 and single requests (pass B)", header, rows, note)


def variation_table(results: Results) -> Table:
    """How much trackers and caches vary from seed to seed."""
    rows = []
    for regime in REGIMES:
        for method in ("adam", "projected-gradient", "cache-10", "cache-100"):
            values = results.varied(regime, method, "angle")
            if values.size:
                low, middle, high = np.quantile(values, (0.0, 0.5, 1.0))
                row = (f"{regime}, {LABELS[method]}", str(values.size))
                rows.append((*row, f"{low:.3g}", f"{middle:.3g}", f"{high:.3g}"))
    header = ("service", "seeds", "smallest", "median", "largest")
    note = (
        "Mean angle of a stream in degrees. The seeds beyond the first five are looked at every "
        "seventh observation."
    )
    return Table("How much the draw of map and start matters", header, rows, note)


def _microseconds(results: Results, regime: str, schedule: str, method: str) -> str:
    """Time per observation, median over seeds."""
    return _number(results.microseconds(regime, schedule, method), ".1f")


def _median(values: Floats) -> str:
    return f"{np.median(values):.3f}" if values.size else DASH


def _worst(values: Floats) -> str:
    return f"{values.max():.2g}" if values.size else DASH


def _number(value: float | None, form: str) -> str:
    return DASH if value is None else format(value, form)


def _count(results: Results, regime: str, method: str, name: str, schedule: str) -> str:
    value = results.count(regime, method, name, schedule)
    return DASH if value is None else f"{value:,}"
