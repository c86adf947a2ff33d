"""The command of the service study in its quick form, and what is made of its rows."""

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from okspca.cli import app
from okspca_lab.studies.comparison import Verdict
from okspca_lab.studies.rows import Row
from okspca_lab.studies.services import process
from okspca_lab.studies.services.accounting import geometry
from okspca_lab.studies.services.claims import claim_in
from okspca_lab.studies.services.compare import compare
from okspca_lab.studies.services.explained import explanations
from okspca_lab.studies.services.frontier import points
from okspca_lab.studies.services.launch import LOCK, alone, timed_in_a_process
from okspca_lab.studies.services.methods import ANCHOR, delivered, make_server, methods_of
from okspca_lab.studies.services.plan import QUICK_ROWS, Plan
from okspca_lab.studies.services.quality import quality_rows, walk_of
from okspca_lab.studies.services.results import PERIODIC, Results, read_results
from okspca_lab.studies.services.timed import run_timed, serve, wanted_of
from okspca_lab.studies.workloads import REGIMES, draw_maps, stream

RESULTS = Path(__file__).parents[4] / "results" / "services"


@pytest.fixture(scope="module")
def quick_run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    out = tmp_path_factory.mktemp("services")
    result = CliRunner().invoke(app, ["reproduce", "services", "--quick", "--out", str(out)])
    assert result.exit_code == 0, result.output
    return out, result.output


def test_the_quick_form_leaves_everything(quick_run: tuple[Path, str]) -> None:
    out, said = quick_run
    assert "quick run on a few rows" in said
    with (out / "comparison.csv").open(encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    assert len(lines) > 500
    assert {line["verdict"] for line in lines} <= {str(verdict) for verdict in Verdict}
    page = (out / "index.html").read_text(encoding="utf-8")
    assert "The open question" in page
    assert page.count("data:image/png") == 2
    told = json.loads((out / "paper" / "provenance-A0.json").read_text(encoding="utf-8"))
    assert "one at a time" in told["timed"]


def test_a_second_run_times_nothing_again(quick_run: tuple[Path, str]) -> None:
    out, _ = quick_run
    before = {path: path.read_bytes() for path in sorted((out / "paper").glob("*.json*"))}
    words = ["reproduce", "services", "--quick", "--out", str(out)]
    assert CliRunner().invoke(app, words).exit_code == 0
    assert {path: path.read_bytes() for path in before} == before


def test_rows_of_a_quick_run_are_not_continued_by_a_full_one(quick_run: tuple[Path, str]) -> None:
    words = ["reproduce", "services", "--passes", "C", "--out", str(quick_run[0])]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 1
    assert "other settings; choose another --out" in result.output


def test_wrong_options_are_explained() -> None:
    result = CliRunner().invoke(app, ["reproduce", "services", "--build", "theirs"])
    assert result.exit_code == 1
    assert "--build theirs is not known; choose from paper, ours" in result.output


def test_totals_of_a_run_add_up(quick_run: tuple[Path, str]) -> None:
    _add_up(read_results(quick_run[0], "paper", quick=True))


@pytest.mark.skipif(
    not (RESULTS / "paper" / "quality.jsonl").exists(), reason="no rows of a full run are there"
)
def test_totals_of_the_kept_run_add_up() -> None:
    _add_up(read_results(RESULTS, "paper", quick=False))


def _add_up(results: Results) -> None:
    for schedules in (tuple(Plan().schedules), PERIODIC):
        found = results.totals(schedules)
        assert found["requests"] > 0
        assert found["positive"] == found["matched"] + found["shortfall"]
        assert found["shortfall"] == found["missing"] + found["unequal"]
        statuses = ("valid", "not_initialised", "no_target")
        assert found["requests"] == sum(found[name] for name in statuses)
        assert found["stale"] <= found["requests"] - found["not_initialised"]


def test_a_walk_with_one_moment_gives_what_each_service_gives_for_itself() -> None:
    regime, n = REGIMES["C4"], 40
    walk = walk_of("paper", "C4", 6200, methods_of(regime, "paper"), n)
    maps, (X, y) = draw_maps(regime, 6200), stream(regime, 6200, n)
    for method, ledger in walk.ledgers.items():
        server = make_server("paper", method, regime, maps)
        last = delivered(serve(server, list(X), y.tolist(), wanted_of("every-1", n, 6200)))
        assert last.built_at == ledger.built_at[-1]
        if last.vectors is None:
            assert ledger.is_status(last.status)[-1]
            continue
        found = ledger.rho[-1], ledger.angle[-1], ledger.distance[-1]
        assert found == geometry(walk.last, last.vectors)
    assert walk.structure["contrast"] < 1e-10
    row = quality_rows(walk, 6200)["adam"][0]
    assert row["rho"] == pytest.approx(np.nanmean(walk.ledgers["adam"].rho))


def test_our_services_are_exact_where_they_say_so() -> None:
    methods = ("exact", "warm-block", "full-svd", "incremental")
    walk = walk_of("ours", "R128", 6200, methods, 40)
    for ledger in walk.ledgers.values():
        assert ledger.matched.sum() == ledger.positive.sum()
        assert np.nanmax(ledger.angle) < 1e-6


@pytest.mark.parametrize("part", ["A0", "B"])
def test_timed_rows_hold_what_the_pass_measures(part: str) -> None:
    cell = {"part": part, "regime": "C2", "schedule": "every-10", "seed": 6200, "method": "adam"}
    (row,) = run_timed("paper", [cell], QUICK_ROWS)
    assert row["requests"] == 5
    if part == "A0":
        assert 0.0 < row["init_wall"] < row["wall"]
        assert row["cpu"] > 0.0
    else:
        assert row["batches"] == 1
        assert 0.0 < row["query_median"] <= row["query_max"]
        assert row["batch_median"] * QUICK_ROWS > row["query_median"]


def test_whole_streams_of_one_job_run_in_copies_in_their_order() -> None:
    where = {"part": "A0", "regime": "C2", "seed": 6200, "method": "adam"}
    cells = [{**where, "schedule": name} for name in ("every-10", "every-1", "never")]
    rows = timed_in_a_process("paper", cells, QUICK_ROWS, None)
    assert [row["requests"] for row in rows] == [5, QUICK_ROWS, 0]


def test_a_timed_process_that_fails_says_why() -> None:
    where = {"part": "A0", "regime": "C2", "seed": 6200, "schedule": "every-1"}
    cells = [{**where, "method": "adam"}, {**where, "method": "nonesuch"}]
    with pytest.raises(RuntimeError, match="nonesuch"):
        timed_in_a_process("paper", cells, QUICK_ROWS, None)


def test_whoever_inherits_the_lock_holds_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fcntl = pytest.importorskip("fcntl")
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path))
    with alone() as lock:
        heir = subprocess.Popen(
            [sys.executable, "-c", "input()"], stdin=subprocess.PIPE, pass_fds=lock
        )
    with (tmp_path / LOCK).open("a") as file:
        with pytest.raises(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        heir.communicate(b"\n")
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_a_timed_process_inherits_the_lock(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(*_: Any, pass_fds: tuple[int, ...] = (), **__: Any) -> Any:
        assert [os.path.basename(os.readlink(f"/proc/self/fd/{fd}")) for fd in pass_fds] == [LOCK]
        return subprocess.CompletedProcess([], 0, stdout=json.dumps({"rows": []}))

    if not Path("/proc/self/fd").exists():
        pytest.skip("needs /proc")
    monkeypatch.setattr(subprocess, "run", run)
    assert timed_in_a_process("paper", [], QUICK_ROWS, None) == []


def test_a_study_gives_the_signal_to_end_back(tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGTERM)
    wrong = ["reproduce", "services", "--regimes", "nonesuch", "--out", str(tmp_path)]
    assert CliRunner().invoke(app, wrong).exit_code == 1
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_request_to_end_leaves_no_process_behind(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "okspca", "reproduce", "services", "--out", str(tmp_path)]
    study = subprocess.Popen(
        [*command, "--passes", "A0", "--seeds", "1"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    rows = tmp_path / "paper" / "timing.jsonl"
    while not (rows.exists() and rows.read_text().count("\n") > 1):
        assert study.poll() is None
        time.sleep(0.05)
    study.terminate()
    assert study.communicate(timeout=30)[1].startswith("Interrupted")
    assert study.returncode == 130
    assert _is_gone(study.pid)


def _is_gone(group: int) -> bool:
    """Whether no process of a group is left, once the system has cleared away those that ended."""
    for _ in range(200):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False


def _timed(method: str, seed: int, wall: float) -> Row:
    where = {"regime": "R128", "schedule": "every-1", "method": method, "seed": seed}
    return {"kind": "A0", **where, "wall": wall, "init_wall": 0.5}


def _judged(method: str, seed: int, angle: float) -> Row:
    where = {"regime": "R128", "schedule": "every-1", "method": method, "seed": seed}
    counts = {"missing": 0, "unequal": 0, "stale": 0, "matched": 9, "requests": 10}
    return {"kind": "quality", **where, **counts, "angle": angle, "worst_angle": angle}


def test_ratios_are_paired_by_seed_before_their_median() -> None:
    rows = [_timed("adam", seed, 1.0 + seed) for seed in range(3)]
    rows += [_timed("exact-on-request", seed, 2.0) for seed in (2, 1, 0)]
    results = Results(rows)
    assert results.ratios("R128", "every-1", "adam", "exact-on-request").tolist() == [0.5, 1, 1.5]
    whole = results.ratios("R128", "every-1", "adam", "exact-on-request", inclusive=True)
    assert whole.tolist() == [1.5 / 2.5, 1.0, 3.5 / 2.5]
    median = next(
        line for line in compare(results) if (line.row, line.column) == ("R128, every-1", "median")
    )
    assert (median.ours, median.verdict) == (1.0, Verdict.DIFFERS)


def test_a_claim_takes_the_cheapest_service_that_is_sound() -> None:
    times = {"exact": 1.0, "warm-block": 0.9, "adam": 0.95, "full-svd": 4.0, ANCHOR: 20.0}
    rows = [_timed(name, 6200, wall) for name, wall in times.items()]
    rows += [_judged("exact", 6200, 1e-9), _judged("warm-block", 6200, 1e-3)]
    claim = claim_in(Results(rows), "R128", "every-1")
    assert (claim.method, claim.cheapest) == ("exact", "warm-block")
    assert (claim.of_adam, claim.of_full) == (0.05, 0.25)
    assert claim.of_cheapest == pytest.approx(1.0 / 0.9)
    assert not claim.holds


def test_points_know_whether_a_service_is_fresh_and_complete() -> None:
    stale = _judged("cache-10", 6200, 2.0) | {"stale": 3}
    rows = [_timed("exact", 6200, 1.0), _judged("exact", 6200, 1e-9)]
    rows += [_timed("cache-10", 6200, 1.0), stale]
    found = points(Results([]), Results(rows), "R128", "every-1")
    assert {point.method: point.is_sound for point in found} == {"exact": True, "cache-10": False}


@pytest.mark.parametrize(("cache", "said"), [(3.0, True), (1.0, False)])
def test_an_ordering_that_is_not_the_papers_is_explained(cache: float, said: bool) -> None:
    rows = [_timed("cache-10", 6200, cache), _timed("adam", 6200, 2.0)]
    found = " ".join(str(part) for part in explanations(Results(rows)))
    assert ("Cache-10 takes 732 µs a row here, Adam 488" in found) == said
    assert ("the other way round" in found) == said


def test_short_streams_are_served_again_in_turns_and_medians_are_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    walls = {"exact": [0.1, 0.5, 0.2], "adam": [0.9], "full-svd": [0.15, 0.1, 0.12]}
    order: list[str] = []

    def served(_build: str, cell: dict[str, Any], _n_rows: int | None) -> list[dict[str, Any]]:
        order.append(cell["method"])
        times = walls[cell["method"]]
        return [{**cell, "requests": 4, "wall": times[order.count(cell["method"]) - 1]}]

    monkeypatch.setattr(process, "_in_a_copy", served)
    cells = [{"method": method} for method in walls]
    rows = process.in_turns("ours", cells, None, rounds=3)
    assert order == ["exact", "adam", "full-svd", *["exact", "full-svd"] * 2]
    assert [row["wall"] for row in rows] == [0.2, 0.9, 0.12]
    assert [row["rounds"] for row in rows] == [3, 1, 3]
    assert [row["requests"] for row in rows] == [4, 4, 4]
