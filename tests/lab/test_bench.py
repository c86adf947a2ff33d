"""The benchmark: it runs, checks quality, divides the right times, and writes what it found.

No test looks at how long anything takes.
"""

import csv
import gc
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from threadpoolctl import threadpool_info, threadpool_limits
from typer.testing import CliRunner, Result

from okspca.cli import app
from okspca_lab.bench import plain
from okspca_lab.bench.cells import (
    CLAIMS,
    HAS_RIVER,
    IN_BLOCKS,
    IN_BLOCKS_WHITENED,
    LIVE_ROWS,
    ONE_ROW,
    OPTIONS,
    SINGLY,
    TEST_THEN_TRAIN,
    THREADS,
    all_cells,
    chosen_cells,
)
from okspca_lab.bench.contenders import Contender, Ours, OursByBlock, Paper
from okspca_lab.bench.entries import ENTRIES, our_adam, paper_adam
from okspca_lab.bench.feed import Feed, draw_feed, turns
from okspca_lab.bench.libraries import randomized
from okspca_lab.bench.limits import Peaks, measure_peaks, work
from okspca_lab.bench.measure import Timed, repeat
from okspca_lab.bench.memory import resident_bytes, stream_and_watch
from okspca_lab.bench.one_row import OurRow
from okspca_lab.bench.quality import WRONG_RANK, Witness, largest_difference
from okspca_lab.bench.ratios import Ratio, ratios_of
from okspca_lab.bench.timing import Lap, quiet, race
from okspca_lab.studies.partial_svd import arpack, full_svd, propack
from okspca_lab.studies.workloads import REGIMES, SCHEDULES, Regime

PNG = b"\x89PNG\r\n\x1a\n"
SMALL = Regime("small", 6, 24, 16, 3, 100, None)
LABELS = Regime("labels", 5, 24, 4, 2, 100, 4)


def okspca(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["bench", *arguments])


def table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_a_quick_run_writes_rows_tables_and_pictures(tmp_path: Path) -> None:
    out = tmp_path / "results" / "bench"
    cases = ("serve/C2/every-1", "adam/R256/every-1", "scaling/k/1")
    result = okspca("--quick", "--out", str(out), *(f"--cases={case}" for case in cases))
    assert result.exit_code == 0, result.output
    times, ratios = table(out / "times.csv"), table(out / "ratios.csv")
    assert {row["cell"] for row in times} == set(cases)
    assert all(float(row["mean_us"]) > 0.0 and float(row["median_us"]) > 0.0 for row in times)
    assert all(float(row["ratio"]) > 0.0 for row in ratios)
    bounded = [row for row in ratios if row["must"]]
    assert [(row["must"], row["aim"]) for row in bounded] == [("0.09", "0.05"), ("0.25", "0.08")]
    for row in times:
        if row["contender"] in ("ours", "ours-blocks", "paper-exact"):
            assert float(row["angle_degrees"]) <= 1e-6
            assert int(row["checks"]) > 0
    assert all(float(row["span_radians"]) <= 1e-10 for row in bounded[1:])
    text = (out / "table.md").read_text(encoding="utf-8")
    for expected in (
        "| work |",
        "C2, every observation",
        "0.25 / 0.08",
        "k = 1",
        "measures nothing",
    ):
        assert expected in text
    assert "C2, every observation" in result.stdout
    for name in ("claims", "ratios", "scaling"):
        assert (out / f"{name}.png").read_bytes().startswith(PNG)


def test_without_a_folder_it_only_prints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = okspca("--quick", "--cases", "serve/C2/bernoulli")
    assert result.exit_code == 0, result.output
    assert "serve/C2/bernoulli: ours ÷ paper-exact" in result.stdout
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_case_is_refused_with_a_list() -> None:
    result = okspca("--cases", "serve/R512/*")
    assert result.exit_code == 2
    assert "serve/R512/*" in result.output
    assert "factor/256x256" in result.output


def test_a_folder_that_cannot_be_made_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    result = okspca("--quick", "--cases", "row/R256", "--out", str(tmp_path / "file"))
    assert result.exit_code == 1
    assert "could not be written" in result.output


def test_without_matplotlib_the_rows_are_still_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A module that is None in sys.modules cannot be imported.
    for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, "okspca_lab.bench.figures", raising=False)
    result = okspca("--quick", "--cases", "row/R256", "--out", str(tmp_path))
    assert result.exit_code == 0, result.output
    assert "pip install" in result.stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "limits.csv",
        "ratios.csv",
        "table.md",
        "times.csv",
    ]


@pytest.mark.parametrize("name", ["memory", "heavy_tails"])
def test_memory_is_written_and_drawn(tmp_path: Path, name: str) -> None:
    tails = ["--heavy-tails"] if name == "heavy_tails" else []
    result = okspca("--memory", "5000", *tails, "--out", str(tmp_path))
    assert result.exit_code == 0, result.output
    assert "5,000 rows" in result.stdout
    rows = table(tmp_path / f"{name}.csv")
    assert [int(row["rows"]) for row in rows] == [1024, 2048, 3072, 4096, 5000]
    assert all(int(row["resident_bytes"]) > 2**20 for row in rows)
    assert (tmp_path / f"{name}.png").read_bytes().startswith(PNG)


def test_memory_is_noted_at_about_two_hundred_points(monkeypatch: pytest.MonkeyPatch) -> None:
    learned: list[int] = []

    class Model:
        def partial_fit(self, X: Any, y: Any) -> None:
            learned.append(len(X))

        def basis(self) -> None:
            pass

    monkeypatch.setattr("okspca_lab.bench.memory._model", lambda seed, **_: Model())
    points = stream_and_watch(1_000_000)
    assert sum(learned) == 1_000_000
    assert max(learned) == 1024
    assert 190 <= len(points) <= 201
    assert resident_bytes() > 2**20


def test_claims_point_at_cells_and_contenders_that_exist() -> None:
    cells = {cell.name: cell for cell in all_cells()}
    assert len(cells) == len(all_cells())
    for claim in CLAIMS:
        assert {claim.ours, claim.other} <= set(cells[claim.cell].contenders)
        assert claim.must > claim.aim > 0.0
    assert {cell.name for cell in chosen_cells(["must"], quick=False)} == {c.cell for c in CLAIMS}


def test_every_regime_meets_every_schedule_and_every_curve_is_there() -> None:
    names = {cell.name for cell in chosen_cells([], quick=True)}
    assert {f"serve/{r}/{s}" for r in REGIMES for s in SCHEDULES} <= names
    assert {name.split("/")[1] for name in names if name.startswith("scaling/")} == {
        "D_x",
        "D_y",
        "d_x",
        "k",
        "n",
    }


#: These deliver nothing, or the directions of another target.
UNJUDGED = (
    *("paper-accumulate", "ours-proba-one", *ONE_ROW, *THREADS["whitened"]),
    *(name for name in OPTIONS if name != "plain-blocks"),
    *(*LIVE_ROWS, *TEST_THEN_TRAIN, "plain-scratch", "ours-structured", "plain-dense"),
    *(*IN_BLOCKS, *IN_BLOCKS_WHITENED, *SINGLY),
)


@pytest.mark.parametrize("name", ENTRIES)
@pytest.mark.parametrize("regime", [SMALL, LABELS], ids=lambda regime: regime.name)
def test_every_contender_serves(name: str, regime: Regime) -> None:
    if name in TEST_THEN_TRAIN and regime.n_classes is None:
        pytest.skip("it learns labels")
    if name == "river-forest" and not HAS_RIVER:
        pytest.skip("needs river")
    feed = draw_feed(regime, SCHEDULES["every-10"], seed=3, warm_up=60, rows=40)
    contender = ENTRIES[name].make(feed)
    contender.warm_up(60)
    witness = Witness(feed)
    for start, stop in turns(feed.wanted, 60, 100, 10):
        contender.prepare(start, stop)
        contender.serve(start, stop)
        witness.learn_to(stop)
        angles = witness.angles(contender.delivered())
        is_judged = not name.startswith("sklearn") and name not in UNJUDGED
        assert len(angles) == is_judged
        if is_judged and "adam" not in name:
            assert angles[0] <= 1e-6


def test_a_quick_run_asks_for_single_rows(tmp_path: Path) -> None:
    cases = ("one-row/number", "one-row/classes")
    result = okspca("--quick", "--out", str(tmp_path), *(f"--cases={case}" for case in cases))
    assert result.exit_code == 0, result.output
    bounded = [row for row in table(tmp_path / "ratios.csv") if row["must"]]
    assert [(row["cell"], row["ours"], row["must"]) for row in bounded] == [
        (case, f"ours-{call}-one", "0.1") for case in cases for call in ("transform", "predict")
    ]


def test_an_answer_about_a_row_that_differs_from_the_blocks_stops_the_bench() -> None:
    feed = draw_feed(LABELS, None, seed=3, warm_up=60, rows=40)
    contender = ENTRIES["ours-predict-one"].make(feed)
    assert isinstance(contender, OurRow)
    contender.warm_up(60)
    contender.model.predict_one = lambda x: 7
    with pytest.raises(RuntimeError, match="predict_one differs from predict"):
        contender.prepare(60, 100)


def test_only_bases_are_judged_by_angles() -> None:
    claims = {claim.is_basis: claim for claim in CLAIMS}
    for is_basis, verdict in ((True, "wrong"), (False, "aim reached")):
        ratio = Ratio("c", "a", "b", (0.001,), 1.0, 1e3, None, None, claims[is_basis])
        assert ratio.verdict == verdict


def test_rows_and_blocks_learn_the_same() -> None:
    feed = draw_feed(LABELS, SCHEDULES["bernoulli"], seed=1, warm_up=50, rows=50)
    by_row, by_block, paper = Ours(feed), OursByBlock(feed), Paper(feed, "exact-on-request")
    for contender in (by_row, by_block, paper):
        contender.warm_up(50)
        contender.prepare(50, 100)
        contender.serve(50, 100)
    dense = paper.pipeline.moment.centred()
    for ours in (by_row, by_block):
        assert ours.model.n_samples_seen_ == 100
        columns = ours.model.classes_.tolist()
        np.testing.assert_allclose(ours.model.moment_.matrix(), dense[:, columns], atol=1e-14)


@pytest.mark.parametrize("solver", [arpack, propack, randomized, full_svd])
def test_solvers_return_leading_factors_in_order(solver: Any) -> None:
    C = np.random.RandomState(0).standard_normal((30, 12)) * 0.5 ** np.arange(12)
    left, sigma = solver(C, 4)
    expected = np.linalg.svd(C)
    np.testing.assert_allclose(sigma, expected[1][:4], rtol=1e-8)
    np.testing.assert_allclose(np.abs(np.diag(left.T @ expected[0][:, :4])), 1.0, rtol=1e-8)


def test_blocks_end_at_requests() -> None:
    feed = draw_feed(SMALL, SCHEDULES["every-10"], seed=0, warm_up=5, rows=30)
    assert feed.pieces(5, 35) == [(5, 10), (10, 20), (20, 30), (30, 35)]
    assert feed.pieces(5, 20) == [(5, 10), (10, 20)]
    silent = draw_feed(SMALL, None, seed=0, warm_up=5, rows=30)
    assert not any(silent.wanted)
    assert silent.pieces(5, 35) == [(5, 35)]


def test_turns_cover_all_rows_once() -> None:
    for schedule in (*SCHEDULES.values(), None):
        feed = draw_feed(SMALL, schedule, seed=0, warm_up=12, rows=333)
        cut = turns(feed.wanted, 12, 345, 16)
        assert [start for start, _ in cut] == [12, *(stop for _, stop in cut[:-1])]
        assert cut[-1][1] == 345
        if schedule is not None:
            assert all(feed.wanted[stop - 1] for _, stop in cut)


class Diary(Contender):
    """Notes what is asked of it; delivers one fixed answer."""

    def __init__(self, feed: Feed, name: str, notes: list[str], answer: Any) -> None:
        super().__init__(feed)
        self.name, self.notes, self.answer = name, notes, answer

    def learn(self, n: int) -> None:
        self.notes.append(f"{self.name} learns {n}")

    def prepare(self, start: int, stop: int) -> None:
        self.notes.append(f"{self.name} prepares {start}")

    def serve(self, start: int, stop: int) -> None:
        self.notes.append(f"{self.name} serves {start}")

    def delivered(self) -> Any:
        return self.answer


def test_contenders_take_turns_and_are_checked() -> None:
    feed = draw_feed(SMALL, SCHEDULES["every-10"], seed=2, warm_up=40, rows=20)
    exact = Paper(feed, "exact-on-request")
    exact.warm_up(40)
    exact.serve(40, 60)
    right = exact.delivered()
    assert right is not None
    notes: list[str] = []
    contenders: dict[str, Contender] = {
        "a": Diary(feed, "a", notes, right),
        "b": Diary(feed, "b", notes, right[:, :2]),
        "c": Diary(feed, "c", notes, None),
    }
    laps = race(contenders, [(40, 50), (50, 60)], Witness(feed))
    served = [note for note in notes if "serves" in note]
    assert served == [
        f"{name} serves {start}" for name, start in zip("abcbca", [40] * 3 + [50] * 3, strict=True)
    ]
    assert notes[:2] == ["a prepares 40", "a serves 40"]
    assert laps["a"].rows == [10, 10]
    assert laps["a"].angles[1] <= 1e-6 < laps["a"].angles[0]
    assert laps["b"].angles == [WRONG_RANK, WRONG_RANK]
    assert laps["c"].worst_angle is None


def test_time_per_row() -> None:
    lap = Lap(seconds=[1e-6, 6e-6, 40e-6], rows=[1, 2, 10])
    assert lap.mean_us == pytest.approx(47 / 13)
    assert lap.median_us == pytest.approx(3.0)


def test_a_race_is_run_on_one_thread_without_collections() -> None:
    assert gc.isenabled()
    with threadpool_limits(limits=2), quiet():
        assert not gc.isenabled()
        assert {pool["num_threads"] for pool in threadpool_info()} == {1}
    assert gc.isenabled()


def test_the_trackers_are_told_apart() -> None:
    feed = draw_feed(SMALL, None, seed=0, warm_up=40, rows=1)
    assert largest_difference(our_adam(feed), paper_adam(feed), 40) <= 1e-10
    other = draw_feed(SMALL, None, seed=1, warm_up=40, rows=1)
    assert largest_difference(our_adam(feed), paper_adam(other), 40) > 1e-3


def timed(contender: str, repetition: int, us: float, angle: float | None = 0.0) -> Timed:
    return Timed(
        cell="serve/R256/every-1",
        curve="",
        value=0,
        contender=contender,
        repetition=repetition,
        seed=0,
        rows=1,
        requests=1,
        mean_us=us,
        median_us=us,
        angle_degrees=angle,
        checks=1,
        span_radians=None,
    )


def measured(us: float, angle: float | None = 0.0) -> Ratio:
    rows = [timed("ours", i, us * (i + 1), angle) for i in range(3)]
    rows += [timed("paper-exact", i, 1000.0 * (i + 1) ** 2) for i in range(3)]
    return ratios_of(rows)[0]


def test_ratios_are_formed_within_a_repetition() -> None:
    ratio = measured(12.0)
    assert ratio.ratios == pytest.approx((0.012, 0.006, 0.004))
    assert ratio.middle == pytest.approx(0.006)
    assert ratio.spread == pytest.approx((0.004, 0.012))


@pytest.mark.parametrize(
    ("us", "angle", "verdict"),
    [
        (5.0, 1e-7, "aim reached"),
        (12.0, 1e-7, "met"),
        (40.0, 1e-7, "missed"),
        (5.0, 2e-6, "wrong"),
        (5.0, None, "wrong"),
    ],
)
def test_verdicts(us: float, angle: float | None, verdict: str) -> None:
    assert measured(us, angle).verdict == verdict


def test_a_wrong_answer_of_ours_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    cell = chosen_cells(["serve/C2/every-10"], quick=True)[0]

    def tilted(self: Ours) -> NDArray[np.float64]:
        vectors: NDArray[np.float64] = self.answer.vectors + 1e-6
        return vectors / np.linalg.norm(vectors)

    assert all(row.angle_degrees <= 1e-6 for row in ours_in(repeat(cell, 0)))  # type: ignore[operator]
    monkeypatch.setattr(Ours, "delivered", tilted)
    assert all(row.angle_degrees > 1e-6 for row in ours_in(repeat(cell, 0)))  # type: ignore[operator]


def ours_in(rows: list[Timed]) -> list[Timed]:
    return [row for row in rows if row.contender.startswith("ours")]


def test_the_least_work_of_a_step_is_counted() -> None:
    # d = 2, D = 3, k = 1, two classes: 12 + 72 + 24 operations, 48 + 96 bytes.
    tiny = Regime("tiny", 2, 3, 2, 1, 10, 2)
    assert work(tiny, 2)["learn one row"] == (108.0, 144.0)
    # 12 + 12 + 32 / 3 operations, 48 bytes.
    assert work(tiny, 2)["answer a request"] == pytest.approx((24.0 + 32.0 / 3.0, 48.0))


def test_a_bound_is_the_slower_of_computing_and_moving() -> None:
    assert Peaks(1e9, 2e9).bound_us(1000.0, 1000.0) == 1.0
    assert Peaks(2e9, 1e9).bound_us(1000.0, 1000.0) == 1.0
    found = measure_peaks(1)
    assert found.flops > 0.0
    assert found.n_bytes > 0.0


def test_limits_are_written_beside_the_times(tmp_path: Path) -> None:
    result = okspca("--quick", "--cases", "row/R256", "--out", str(tmp_path))
    assert result.exit_code == 0, result.output
    rows = table(tmp_path / "limits.csv")
    regimes = ("R256", "R128", "C2", "R256, whitened")
    assert [row["regime"] for row in rows] == [name for name in regimes for _ in range(2)]
    assert all(float(row["ours_us"]) > 0.0 < float(row["bound_us"]) for row in rows)
    assert "ours ÷ bound" in (tmp_path / "table.md").read_text(encoding="utf-8")


def test_the_default_case_runs_in_both_environments_and_writes_its_rows(tmp_path: Path) -> None:
    result = okspca("--quick", "--cases=default", "--out", str(tmp_path))
    assert result.exit_code == 0, result.output
    rows = table(tmp_path / "default.csv")
    work = {(row["case"], row["setting"]) for row in rows if row["case"] in plain.TITLES}
    assert work == {(c, s) for c in plain.TITLES for s in (plain.PLAIN, plain.ONE_THREAD)}
    others = {"second process", "bare imports", "pilot", "network"}
    assert others <= {row["case"] for row in rows}
    assert all(float(row["seconds"]) > 0.0 for row in rows)
    text = (tmp_path / "default.md").read_text(encoding="utf-8")
    for expected in ("GridSearchCV(n_jobs=2)", "Thread variables: ", "measures nothing"):
        assert expected in text


def test_the_default_case_measures_the_example_of_the_readme() -> None:
    readme = Path(__file__).parents[2] / "README.md"
    assert f"```python\n{plain.EXAMPLE}```" in readme.read_text(encoding="utf-8")


def test_the_verdicts_of_the_default_case() -> None:
    def times(case: str, setting: str, *seconds: float, digest: str = "a") -> list[Any]:
        return [plain.PlainTime(case, setting, i, s, digest) for i, s in enumerate(seconds)]

    rows = [
        *times("fit", plain.PLAIN, 0.11, 0.11, 9.0),
        *times("fit", plain.ONE_THREAD, 0.1, 0.1, 0.1),
        *times("grid", plain.PLAIN, 3.1, 3.2, 3.3),
        *times("grid", plain.ONE_THREAD, 2.0, 2.0, 2.0),
        *times("second process", plain.PLAIN, 2.7, 2.7, 2.7),
        *times("second process, paper", plain.PLAIN, 2.3, 2.3, 2.3),
        *times("bare imports", plain.PLAIN, 2.0, 2.0, 2.0),
        *times("pilot", plain.ONE_THREAD, 5.0, 5.5, 5.9),
        *times("network", plain.ONE_THREAD, 0.5, 0.5, 0.5),
        *times("first answer", plain.PLAIN, 9.0, 9.0, 15.1, digest="b"),
    ]
    made = plain.plain_table(rows)
    verdicts = ["held", "missed", "missed", "held", "missed", "held"]
    assert [row[-1] for row in made.rows] == verdicts
    assert made.rows[-1][3] == "11.00 (10.00–11.80)"
    assert made.rows[0][3] == "1.10 (1.10–90.00)"
    assert "2 DIFFERENT results" in made.note
    assert "the same bits" in plain.plain_table(rows[:-3]).note


def test_processes_of_the_default_case_get_the_variables_that_their_setting_names(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "7")
    show = [sys.executable, "-c", "import os; print(os.environ.get('OPENBLAS_NUM_THREADS'))"]
    for setting, expected in ((plain.PLAIN, "None\n"), (plain.ONE_THREAD, "1\n")):
        assert plain._run(show, setting)[1] == expected
    monkeypatch.setattr(plain, "MOST_SECONDS", 0.2)
    sleep = [sys.executable, "-c", "import time; time.sleep(60)"]
    assert plain._run(sleep, plain.PLAIN) == (0.2, None)
    monkeypatch.setattr(plain, "MOST_SECONDS", 60.0)
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        plain._run([sys.executable, "-c", "1 / 0"], plain.PLAIN)
