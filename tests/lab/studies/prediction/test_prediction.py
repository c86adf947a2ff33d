"""The prediction study: protocol, statistics, comparison, and the quick form of the command."""

import csv
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.random import RandomState
from typer.testing import CliRunner

from okspca.cli import app
from okspca_lab.studies.comparison import Verdict
from okspca_lab.studies.prediction import experiments, fits, methods, protocol, published
from okspca_lab.studies.prediction.beyond.plan import VARIANTS
from okspca_lab.studies.prediction.cells import work
from okspca_lab.studies.prediction.compare import compare
from okspca_lab.studies.prediction.excursions import longest_run, pairwise_back
from okspca_lab.studies.prediction.plan import Plan, planned
from okspca_lab.studies.prediction.results import Results
from okspca_lab.studies.prediction.statistics import paired_effect, selection
from okspca_lab.studies.prediction.tasks import (
    SPLIT_SEED,
    TASKS,
    is_local,
    resolved,
    sensorless_split,
)

SHARED = Path(__file__).resolve().parents[4].parent / "shared" / "data"


def real(name: str) -> Any:
    if "OKSPCA_DATA" not in os.environ and SHARED.is_dir():
        os.environ["OKSPCA_DATA"] = str(SHARED)
    if not is_local(name):
        pytest.skip(f"the data of {name} are not there")
    return resolved(name)


def test_the_bootstrap_is_a_percentile_interval_of_resampled_means() -> None:
    differences = RandomState(0).normal(size=10)
    random = RandomState(50000)
    means = sorted(
        float(np.mean([differences[i] for i in random.randint(10, size=10)])) for _ in range(10000)
    )
    effect = paired_effect(differences)
    assert effect.mean == pytest.approx(differences.mean())
    # Linear interpolation between the order statistics around 2.5 % of 9,999 steps.
    assert effect.low == pytest.approx(means[249] + 0.975 * (means[250] - means[249]))
    assert effect.high == pytest.approx(means[9749] + 0.025 * (means[9750] - means[9749]))


def test_selection_takes_the_best_average_rank_and_breaks_ties_by_size() -> None:
    scores = {(0.003, 0.5): 0.1, (0.003, 1.0): 0.1, (0.03, 0.5): 0.3, (0.03, 1.0): 0.3}
    rows = [
        {"task": task, "seed": seed, "rate": rate, "clip": clip, "score": score + seed}
        for task in ("a", "b")
        for seed in (0, 1)
        for (rate, clip), score in scores.items()
    ]
    ranked = selection(rows)
    assert [(c.rate, c.clip, c.rank) for c in ranked] == [
        (0.03, 0.5, 1.5),
        (0.03, 1.0, 1.5),
        (0.003, 0.5, 3.5),
        (0.003, 1.0, 3.5),
    ]
    assert ranked[0].scores == {"a": pytest.approx(0.8), "b": pytest.approx(0.8)}


def test_seeds_of_the_parts() -> None:
    task = TASKS["Friedman-1"]
    split = protocol.streamed(task.final(104), 104)
    order = RandomState(10104).permutation(4000)
    np.testing.assert_array_equal(split.X, task.final(104).X[order])
    drawn = RandomState(20104).standard_normal((128, 10)) / 3.20342
    np.testing.assert_allclose(protocol.input_map(task, 104, 10).weights, drawn)
    target = protocol.target_map(task, 104)
    assert target is not None
    np.testing.assert_allclose(
        target.weights, RandomState(20105).standard_normal((128, 1)) / 0.70961
    )
    model = methods.okspca(task, split, 104, 4)
    assert model.solver.random_state == 30104  # type: ignore[union-attr]
    np.testing.assert_array_equal(
        methods.comparators(TASKS["Spirals-3"], TASKS["Spirals-3"].final(100), 100)[
            "CIPLS"
        ].random_state,
        20100,
    )


def test_checkpoints_are_rounded_up() -> None:
    n = 46807
    rows = fits.FRACTIONS
    assert [int(np.ceil(f * n)) for f in rows] == [int(row[0]) for row in published.TRAJECTORY]


def test_real_splits() -> None:
    for name in ("HAR", "Sensorless", "Kin8nm"):
        task, printed = real(name), published.TASKS_TABLE[name]
        split = task.final(100)
        assert len(split.X) == int(printed[0].replace(",", ""))
        assert len(split.X_test) == int(printed[1].replace(",", ""))
    development = real("HAR").development(0)
    assert (len(development.X), len(development.X_test)) == (5588, 1764)
    assert real("HAR").name in ("HAR", "HAR-265")
    sensorless = real("Sensorless").development(0)
    assert len(sensorless.X) + len(sensorless.X_test) == 46807


def test_har_265_is_never_shown_as_har() -> None:
    task = real("HAR")
    if task.name == "HAR":
        pytest.skip("the full archive is there")
    assert task.bandwidth is None
    assert 15.0 < protocol.bandwidths(task.name)[0] < 16.5
    lines = compare(Results([], [task.name], [100], quick=False))
    assert all(line.note.startswith("HAR-265") for line in lines if line.row == "HAR")


@pytest.fixture(scope="module")
def quick_run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    if "OKSPCA_DATA" not in os.environ and SHARED.is_dir():
        os.environ["OKSPCA_DATA"] = str(SHARED)
    out = tmp_path_factory.mktemp("prediction")
    result = CliRunner().invoke(app, ["reproduce", "prediction", "--quick", "--out", str(out)])
    assert result.exit_code == 0, result.output
    return out, result.output


def test_the_quick_form_writes_everything(quick_run: tuple[Path, str]) -> None:
    out, printed = quick_run
    for name in (
        "rows.jsonl",
        "scores.csv",
        "geometry.csv",
        "comparison.csv",
        "tables.md",
        "index.html",
        "classification.png",
        "checkpoints.png",
        "provenance.json",
    ):
        assert (out / name).stat().st_size > 100, name
    assert "its numbers mean nothing" in printed.replace("\n", " ")
    with (out / "comparison.csv").open(encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    assert len(lines) > 250
    verdicts = {line["verdict"] for line in lines if line["row"] == "Sensorless"}
    assert (Verdict.NOT_RUN.value in verdicts) != is_local("Sensorless")
    assert all(line["ours"] for line in lines if line["row"] == "Friedman-1")
    page = (out / "index.html").read_text(encoding="utf-8")
    assert "Table 2a. Regression" in page
    assert page.count("data:image/png") == 2
    assert "Experiment: CIPLS with other loadings" in page
    for name, title in (
        ("Sensorless", "Experiment: Sensorless on other splits"),
        ("HAR", "Experiment: what makes the seeds of Raw-X differ"),
    ):
        assert (title in page) == is_local(name)


def test_a_second_run_only_renders(quick_run: tuple[Path, str]) -> None:
    out, _ = quick_run
    before = (out / "rows.jsonl").read_bytes(), (out / "provenance.json").read_bytes()
    page = (out / "index.html").read_bytes()
    words = ["reproduce", "prediction", "--quick", "--out", str(out)]
    assert CliRunner().invoke(app, words).exit_code == 0
    assert ((out / "rows.jsonl").read_bytes(), (out / "provenance.json").read_bytes()) == before
    assert (out / "index.html").read_bytes() == page


def test_rows_of_a_quick_run_are_not_continued_by_a_full_one(quick_run: tuple[Path, str]) -> None:
    words = ["reproduce", "prediction", "--tasks", "XOR-Gauss", "--out", str(quick_run[0])]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 1
    assert "other settings; choose another --out" in result.output


def test_wrong_options_are_explained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = CliRunner().invoke(app, ["reproduce", "prediction", "--tasks", "Iris"])
    assert result.exit_code == 1
    assert "'Iris' is not a task; choose from XOR-Gauss" in result.output
    monkeypatch.setenv("OKSPCA_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert Plan().cells()
    assert planned(["Friedman-1"], 3, quick=False).seeds == (100, 101, 102)
    assert not is_local("Kin8nm")
    assert "Kin8nm" not in planned([], None, quick=True).tasks


def test_the_same_cell_gives_the_same_rows() -> None:
    cell = {"part": "comparators", "task": "Spirals-3", "seed": 101, "quick": True}
    assert work(cell) == work(cell)


def test_excursions_are_counted() -> None:
    flags = [False, True, True, False, True]
    assert longest_run(flags) == 2
    assert sum(now and not before for now, before in pairwise_back(flags)) == 2
    cell = {"part": "excursions", "task": "XOR-Gauss", "seed": 100, "quick": True}
    (row,) = work(cell)
    assert row["looks"] == 5
    assert row["away"] <= row["looks"]


def test_the_split_in_use_is_one_of_the_splits() -> None:
    task = real("Sensorless")
    used, again = task.final(100), sensorless_split(SPLIT_SEED)[0]
    np.testing.assert_array_equal(used.X_test, again.X_test)
    other = sensorless_split(experiments.SPLITS[0])[0]
    assert np.abs(used.X_test - other.X_test).max() > 0.0
    assert SPLIT_SEED not in experiments.SPLITS
    rows = work({"part": "splits", "task": "Sensorless", "seed": SPLIT_SEED, "quick": True})
    scores = {row["method"]: row["score"] for row in rows if row["kind"] == "split score"}
    seed = experiments.SPLIT_STREAMS[0]
    cell = {"task": "Sensorless", "seed": seed, "quick": True}
    expected = {
        row["method"]: row["score"]
        for part in ("comparators", "okspca")
        for row in work({"part": part, **cell})
        if row["kind"] == "score" and row["representation"] == "full"
    }
    assert len(scores) == 3
    assert scores == pytest.approx({name: expected[name] for name in scores})


def test_the_rounding_experiment_starts_from_the_control() -> None:
    cell = {"task": "XOR-Gauss", "seed": 101, "quick": True}
    rows = work({"part": "rounding", **cell})
    found = {row["variant"]: row for row in rows}
    control = next(r for r in work({"part": "controls", **cell}) if r["method"] == "Raw-X")
    assert found[experiments.AS_STUDIED]["score"] == pytest.approx(control["score"])
    assert set(found) == set(experiments.ROUNDING)
    assert found["tolerance 1e-6"]["iterations"] > found[experiments.AS_STUDIED]["iterations"]


def test_the_bandwidth_of_all_columns_is_the_one_of_the_task() -> None:
    rows = work({"part": "columns", "task": "Friedman-1", "quick": True})
    width = protocol.median_bandwidths(TASKS["Friedman-1"])[0]
    assert [row["columns"] for row in rows] == [2, 3, 5, 10]
    assert rows[-1]["mean"] == pytest.approx(width)
    assert rows[0]["low"] < rows[0]["mean"] < rows[0]["high"] < width


def test_an_irregular_update_stops_the_run() -> None:
    task = TASKS["XOR-Gauss"]
    split = task.final(100)
    model = methods.okspca(task, split, 100, 1).partial_fit(split.X[:50], split.y[:50])
    with pytest.raises(ArithmeticError, match="51 rows gave 50 regular updates"):
        fits.check_updates(model, 51)


def test_the_rows_past_the_paper_run(tmp_path: Path) -> None:
    words = ["reproduce", "prediction", "--beyond", "--quick", "--tasks", "XOR-Gauss"]
    result = CliRunner().invoke(app, [*words, "--seeds", "1", "--out", str(tmp_path)])
    assert result.exit_code == 0, result.output
    text = (tmp_path / "tables.md").read_text(encoding="utf-8")
    for variant in VARIANTS:
        assert variant.name in text
    assert (tmp_path / "relevance.png").stat().st_size > 0
