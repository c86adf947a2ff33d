"""Every number and every ordering of the running text of sections 5 and S5 beside ours."""

import math
from collections.abc import Callable

import numpy as np

from okspca.services import Adam
from okspca_lab.studies.comparison import (
    ORDERING,
    AtMost,
    Comparison,
    Factor,
    Given,
    Holds,
    Same,
    Tolerance,
    Within,
    compared,
    count_tolerance,
    seeds_range,
)
from okspca_lab.studies.services import published
from okspca_lab.studies.services.methods import LABELS, methods_of
from okspca_lab.studies.services.plan import SEEDS
from okspca_lab.studies.services.quality import AWAY_DEGREES
from okspca_lab.studies.services.results import PERIODIC, Results
from okspca_lab.studies.services.selection import DEVELOPMENT_SEEDS, totals
from okspca_lab.studies.workloads import REGIMES, SCHEDULES

CLASSIFICATION = ("C2", "C4", "C11")
YES = "1"


def compare_text(results: Results) -> list[Comparison]:
    """Compare settings, totals, statements about single cells, and orderings."""
    return [
        *_settings(),
        *_totals(results),
        *_pairs(results),
        *_latter_half(results),
        *_structure(results),
        *_orderings(results),
    ]


def _settings() -> list[Comparison]:
    adam = Adam()
    values: tuple[tuple[str, str, str, float | None], ...] = (
        ("Adam", "α", "0.03", adam.learning_rate),
        ("Adam", "β₁", "0.9", adam.beta1),
        ("Adam", "β₂", "0.999", adam.beta2),
        ("Adam", "clip", "0.5", adam.clip),
        ("Adam", "ε", "1e-8", adam.epsilon),
        ("seeds", "first", "6200", SEEDS[0]),
        ("seeds", "last", "6204", SEEDS[-1]),
        ("development seeds", "first", "6100", DEVELOPMENT_SEEDS[0]),
        ("development seeds", "last", "6102", DEVELOPMENT_SEEDS[-1]),
        ("requests", "Bernoulli probability", "0.01", SCHEDULES["bernoulli"].probability),
        ("grid", "method–regime combinations", "33", _combinations()),
        ("grid", "cells", "825", _combinations() * len(SEEDS) * len(SCHEDULES)),
    )
    return [
        compared("Text: settings", row, column, paper, ours, Given())
        for row, column, paper, ours in values
    ]


def _combinations() -> int:
    return sum(len(methods_of(regime, "paper")) for regime in REGIMES.values())


def _totals(results: Results) -> list[Comparison]:
    """Counts over the whole grid; compared only when the whole grid was run."""
    ran = results.is_complete()
    every, periodic = results.totals(), results.totals(PERIODIC)
    lines = []
    for name, paper in published.TOTALS.items():
        note = "random requests are another draw of the same law"
        tolerance: Tolerance = random_requests()
        if name in ("unequal", "no_target"):
            tolerance, note = Factor(2.0), "moves with draws and first labels"
        if name in ("not_initialised", "missing", "shortfall"):
            tolerance = count_tolerance(paper)
        ours = every[name] if ran else None
        lines.append(compared("Text: totals", "all schedules", name, paper, ours, tolerance, note))
    for name, paper in published.PERIODIC.items():
        ours = periodic[name] if ran else None
        note = "follows from the schedules"
        lines.append(
            compared("Text: totals", "periodic schedules", name, paper, ours, Given(), note)
        )
    return lines


def random_requests() -> Within:
    """How far two draws of the random requests may be apart; all methods of a stream share one."""
    p = SCHEDULES["bernoulli"].probability
    assert p is not None
    variance = sum(
        len(methods_of(regime, "paper")) ** 2 * len(SEEDS) * regime.n_rows * p * (1.0 - p)
        for regime in REGIMES.values()
    )
    return Within(2.0 * math.sqrt(2.0 * variance), "(2 SD)")


def _pairs(results: Results) -> list[Comparison]:
    """Who was faster in how many pairs, and the one timing that went wrong in the paper."""
    ratios = [
        results.ratios(regime, schedule, "adam", "exact-on-request")
        for regime in CLASSIFICATION
        for schedule in SCHEDULES
    ]
    slower = float(sum(np.count_nonzero(r > 1.0) for r in ratios))
    ran = sum(r.size for r in ratios) == 75
    near = results.ratios("R128", "every-10", "adam", "exact-on-request")
    odd = results.cell("A0", "R128", "every-1000", "exact-on-request", 6204)
    share = odd["wall"] / odd["cpu"] if odd else None
    return [
        compared(
            "Text: schedules",
            "classification",
            "pairs in which exact-request is faster",
            "75",
            slower if ran else None,
            Same(),
            kind=ORDERING,
        ),
        compared(
            "Text: schedules",
            "R128, every-10",
            "pairs in which Adam is faster",
            "3",
            float(np.count_nonzero(near < 1.0)) if near.size else None,
            count_tolerance("3", of=len(SEEDS)),
            "the paper's own ratios lie on both sides of one",
            ORDERING,
        ),
        compared(
            "Text: schedules",
            "R128, every-1000, seed 6204",
            "exact-request, wall ÷ CPU",
            "5.16",
            share,
            Factor(2.0),
            "3.225 s and 0.625 s there: a disturbance of that machine, which is not expected here",
        ),
    ]


def _latter_half(results: Results) -> list[Comparison]:
    """The second half of R256 with Adam."""
    rows = results.kind("latter-half", regime="R256", method="adam")
    ran = len(rows) == len(SEEDS)
    last = results.terminal("R256", "adam", "angle")
    seen = seeds_range(results.varied("R256", "adam", "angle")) if ran else None
    away = float(sum(row["away"] for row in rows))
    sound = float(sum(row["sound"] for row in rows))
    of = "R256, Adam, observations 1025–2048"
    values: list[tuple[str, str, float | None, Tolerance]] = [
        ("valid, matched, fresh, untied", "5120", sound if ran else None, Same()),
        (f"of them above {AWAY_DEGREES:g}°", "5120", away if ran else None, Factor(2.0)),
    ]
    lines = [compared("Text: latter half", of, *value) for value in values]
    for column, paper, ours in (
        ("smallest last angle", "84.109", float(last.min()) if last.size else None),
        ("largest last angle", "89.407", float(last.max()) if last.size else None),
    ):
        lines.append(
            compared("Text: latter half", "R256, Adam", column, paper, ours, Factor(2.0, seen))
        )
    return lines


def _structure(results: Results) -> list[Comparison]:
    """Identities behind the structured services, as they hold in floating point."""
    lines = []
    for regime, method in (("C2", "binary"), ("C4", "contrast"), ("C11", "contrast")):
        rows = results.kind("structure", regime=regime, method=method)
        worst = max((row["residual"] for row in rows), default=None)
        lines.append(
            compared(
                "Text: structured services",
                f"{regime}, {LABELS[method]}",
                "largest relative residual of the identity",
                "0",
                worst,
                AtMost(1e-10),
                "the paper measured it and prints none; d_P stands in the tables",
            )
        )
    return lines


def _orderings(results: Results) -> list[Comparison]:
    """Statements about who is ahead; one where it holds here."""

    def rho(regime: str, method: str) -> float | None:
        return results.mean(regime, method, "rho")

    def time(regime: str, method: str) -> float | None:
        ratio = results.ratios(regime, "every-1", method, "exact-on-request")
        return float(np.median(ratio)) if ratio.size else None

    def last(regime: str, method: str) -> float | None:
        values = results.terminal(regime, method, "rho")
        return float(values.mean()) if values.size else None

    pg, adam = "projected-gradient", "adam"
    lines = [
        _ordering(f"PG above Adam in mean ρ, {regime}", rho, (regime, adam), (regime, pg))
        for regime in (*CLASSIFICATION, "R128")
    ]
    lines += [
        _ordering("PG below Adam in mean ρ, R256", rho, ("R256", pg), ("R256", adam)),
        _ordering("Adam above PG in ρ at the end, R128", last, ("R128", pg), ("R128", adam)),
        _ordering("Contrast slower, C4", time, ("C4", "exact-on-request"), ("C4", "contrast")),
        _ordering("Contrast faster, C11", time, ("C11", "contrast"), ("C11", "exact-on-request")),
        _ordering("Cache-10 cheaper than Adam, R128", time, ("R128", "cache-10"), ("R128", adam)),
        _ordering("Cache-10 above Adam in ρ, R128", rho, ("R128", adam), ("R128", "cache-10")),
    ]
    lines += [
        _ordering(f"{LABELS[c]} cheaper than Adam, {r}", time, (r, c), (r, adam))
        for r in CLASSIFICATION
        for c in ("cache-10", "cache-100")
    ]
    return [*lines, _loss_passed_over(results)]


def _ordering(
    claim: str,
    number: Callable[[str, str], float | None],
    smaller: tuple[str, str],
    larger: tuple[str, str],
) -> Comparison:
    """One where the first number is below the second, zero where it is not."""
    low, high = number(*smaller), number(*larger)
    ours = None if low is None or high is None else float(low < high)
    return compared("Text: orderings (1: it holds)", claim, "", YES, ours, Holds())


def _loss_passed_over(results: Results) -> Comparison:
    """In R256 fewest shortfalls decide although another step has the smaller loss."""
    rows = results.kind("candidate", regime="R256")
    ours = None
    if rows:
        found = totals(rows)
        fewest = min(found, key=lambda c: (c[1], c[2]))
        ours = float(min(c[2] for c in found) < fewest[2])
    claim = "R256: the rule passes over a step of smaller loss"
    return compared("Text: orderings (1: it holds)", claim, "", YES, ours, Holds())
