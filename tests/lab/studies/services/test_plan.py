"""What is run, and the counts that the schedules alone decide."""

from functools import cache

import numpy as np
import pytest

from okspca.basis import Status
from okspca.numerics.arrays import Floats
from okspca_lab.studies.services.accounting import Ledger, Reference
from okspca_lab.studies.services.methods import ANCHOR, methods_of
from okspca_lab.studies.services.plan import FURTHER_SEEDS, PASSES, SEEDS, Plan, planned
from okspca_lab.studies.services.published import JOINT, PERIODIC
from okspca_lab.studies.services.results import PERIODIC as PERIODIC_SCHEDULES
from okspca_lab.studies.services.selection import losses, selected, totals
from okspca_lab.studies.workloads import REGIMES, SCHEDULES


def reference(q: int) -> Reference:
    return Reference(np.eye(3), np.eye(3)[:, :q], q, q, 1.0, 1.0, False)


def scheduled(method: str, n: int) -> Ledger:
    """Answers of a service by its name."""
    return built_every({"cache-10": 10, "cache-100": 100}.get(method, 1), n)


@cache
def built_every(period: int, n: int) -> Ledger:
    """Answers of a service that is exact when it builds, on a stream that has a target at once."""
    ledger, basis = Ledger(n), np.eye(3)[:, :1]
    for t in range(1, n + 1):
        built_at = t - t % period
        status = Status.NO_TARGET if t == 1 else Status.VALID
        if built_at == 0:
            status = Status.NOT_INITIALISED
        vectors = basis if status is Status.VALID else None
        ledger.enter(t, reference(int(t > 1)), vectors, built_at, status)
    return ledger


@pytest.mark.parametrize("regime", ["R128", "R256"])
@pytest.mark.parametrize("method", ["exact-on-request", "cache-10", "cache-100"])
def test_counts_that_the_schedule_fixes_are_the_papers(regime: str, method: str) -> None:
    ledger, printed = scheduled(method, REGIMES[regime].n_rows), JOINT[regime][method]
    row = ledger.summary(SCHEDULES["every-1"].requests(REGIMES[regime].n_rows, 0))
    assert 5 * row["positive"] == int(printed.positive)
    assert 5 * row["stale"] == int(printed.stale)
    if (regime, method) != ("R256", "cache-10"):  # eight more there are short of a rank
        assert 5 * row["missing"] == int(printed.shortfall)
        assert 5 * row["matched"] == int(printed.matched)


def test_totals_of_the_periodic_schedules_are_the_papers() -> None:
    found = dict.fromkeys(PERIODIC, 0)
    for regime in REGIMES.values():
        ledgers = {m: scheduled(m, regime.n_rows) for m in methods_of(regime, "paper")}
        for schedule in PERIODIC_SCHEDULES:
            at = SCHEDULES[schedule].requests(regime.n_rows, 0)
            for ledger in ledgers.values():
                row = ledger.summary(at)
                for name in found:
                    found[name] += 5 * row[name]
    assert found == {name: int(text.replace(",", "")) for name, text in PERIODIC.items()}


def test_a_plan_names_every_cell_once_and_keeps_passes_apart() -> None:
    for build in ("paper", "ours"):
        plan = Plan(build)
        for name in PASSES:
            cells = [str(sorted(cell.items())) for group in plan.groups(name) for cell in group]
            assert len(cells) == len(set(cells))
    timed = [cell for group in Plan().groups("A0") for cell in group]
    assert len([c for c in timed if "repeat" not in c and c["schedule"] != "never"]) == 825
    assert len([c for c in timed if "repeat" in c]) == 12
    assert all(len(group) == 1 for group in Plan().groups("A0"))
    further = [g[0]["seed"] for g in Plan().groups("C") if g[0]["part"] == "further"]
    assert set(further) == set(FURTHER_SEEDS)
    assert len(FURTHER_SEEDS) + len(SEEDS) >= 20


def test_our_build_times_the_papers_adam_beside_ours_and_exact_each_once() -> None:
    timed = [cell for group in Plan("ours").groups("A0") for cell in group]
    assert {c["schedule"] for c in timed if c["method"] == ANCHOR} == set(SCHEDULES)
    assert {c["schedule"] for c in timed if c["method"] == "exact-each"} == {"every-1"}


def test_options_narrow_the_plan_and_wrong_ones_are_refused() -> None:
    def asked(**changed: object) -> Plan:
        options: dict[str, object] = dict.fromkeys(
            ("regimes", "schedules", "methods", "passes"), ()
        )
        options |= {"build": "paper", "n_seeds": None, "quick": False}
        return planned(**(options | changed))  # type: ignore[arg-type]

    plan = asked(regimes=["R256"], methods=["adam"], n_seeds=2, passes=["C"])
    cells = [cell for group in plan.groups("C") for cell in group]
    assert {(c["regime"], c["method"], c["seed"]) for c in cells} == {
        ("R256", "adam", 6200),
        ("R256", "adam", 6201),
    }
    with pytest.raises(ValueError, match="--regimes R512 is not known; choose from C2, C4"):
        asked(regimes=["R512"])
    with pytest.raises(ValueError, match="--passes D is not known"):
        asked(passes=["D"])


def test_losses_are_those_of_the_definition() -> None:
    ledger = Ledger(4)
    U: Floats = np.array([[np.cos(0.3)], [np.sin(0.3)], [0.0]])
    exact = Reference(np.diag([1.0, 0.0, 0.0]), np.eye(3)[:, :1], 1, 1, 1.0, 1.0, False)
    ledger.enter(1, reference(0), None, 1, Status.NO_TARGET)
    ledger.enter(2, exact, U, 2, Status.VALID)
    ledger.enter(3, exact, None, 3, Status.NO_TARGET)
    ledger.enter(4, exact, np.eye(3)[:, :2], 4, Status.VALID)
    row = losses(ledger)
    assert row["shortfall"] == 2
    assert row["loss"] == pytest.approx((np.sin(0.3) ** 2 + 1.0 + 1.0) / 3.0)


def test_a_step_is_selected_by_shortfalls_then_loss_then_size() -> None:
    assert selected([(0.1, 1, 0.0), (0.3, 0, 0.9), (1.0, 0, 0.8)]) == 1.0
    assert selected([(3.0, 0, 0.5), (1.0, 0, 0.5 + 0.9e-12), (0.1, 0, 0.5 + 2e-12)]) == 1.0
    rows = [
        {"step": step, "seed": seed, "shortfall": seed, "loss": step * seed}
        for step in (0.1, 0.3)
        for seed in (1, 2)
    ]
    (small, large) = totals(rows)
    assert (small[:2], large[:2]) == ((0.1, 3), (0.3, 3))
    assert small[2] == pytest.approx(0.15)
    assert large[2] == pytest.approx(0.45)
