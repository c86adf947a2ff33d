"""Streams in the comparison: what changes in them, who is tested before it learns, and the page."""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.random import RandomState
from typer.testing import CliRunner

from okspca import OKSPCAClassifier
from okspca.cli import app
from okspca_lab.studies.peers.plan import planned
from okspca_lab.studies.peers.streams import methods, tables
from okspca_lab.studies.peers.streams.cells import BLOCK, over_time, prequential
from okspca_lab.studies.peers.streams.data import PAIRS, SEA_SUMS, STREAMS
from okspca_lab.studies.peers.streams.methods import BY_NAME, MAJORITY, METHODS, NO_CHANGE
from okspca_lab.studies.peers.streams.plan import cells, settings
from okspca_lab.studies.peers.streams.results import Results
from okspca_lab.studies.rows import Row, read_rows

DRAWN = [name for name, stream in STREAMS.items() if stream.is_drawn]
N = 8000


def share_right(labels: Any, y: Any) -> float:
    return float(np.mean(labels == y))


@pytest.mark.parametrize("name", DRAWN)
def test_seeds_decide_what_is_drawn(name: str) -> None:
    (X, y), (X_again, y_again), (other, _) = (STREAMS[name].draw(N, seed) for seed in (3, 3, 4))
    np.testing.assert_array_equal(X, X_again)
    np.testing.assert_array_equal(y, y_again)
    assert not np.array_equal(X, other)
    assert set(y.tolist()) == {0, 1}


def test_the_threshold_and_the_pair_of_each_quarter() -> None:
    X, y = STREAMS["SEA"].draw(N, 0)
    Z, labels = STREAMS["XOR-pairs"].draw(N, 0)
    for quarter, (most, pair) in enumerate(zip(SEA_SUMS, PAIRS, strict=True)):
        here = slice(quarter * N // 4, (quarter + 1) * N // 4)
        assert share_right(X[here, 0] + X[here, 1] <= most, y[here]) == pytest.approx(0.9, abs=0.02)
        same = Z[here, pair[0]] * Z[here, pair[1]] > 0.0
        assert share_right(same, labels[here]) == pytest.approx(0.95, abs=0.02)


def test_the_plane_turns_to_its_opposite() -> None:
    X, y = STREAMS["hyperplane"].draw(N, 0)
    early, late = slice(0, 400), slice(N - 400, N)
    weights = np.linalg.lstsq(X[early], y[early] - 0.5, rcond=None)[0]
    assert share_right(X[early] @ weights > 0.0, y[early]) > 0.88
    assert share_right(X[late] @ weights > 0.0, y[late]) < 0.15


class Told:
    """Predicts the sum of all labels that it was told before."""

    def __init__(self) -> None:
        self.total = 0

    def predict_one(self, row: dict[int, float]) -> int | None:
        return self.total if row else None

    def learn_one(self, row: dict[int, float], label: int) -> None:
        del row
        self.total += label


@pytest.mark.parametrize("delayed", [False, True])
def test_labels_are_known_after_the_row_or_after_the_block(delayed: bool) -> None:
    y = np.ones(250, dtype=np.int64)
    learner = methods.OneByOne(Told(), delayed=delayed)
    guess, seconds = prequential(learner, np.zeros((250, 1)), y)
    rows = np.arange(250)
    np.testing.assert_array_equal(guess, rows // BLOCK * BLOCK if delayed else rows)
    assert seconds.shape == (3,)


def test_ours_predicts_a_block_before_it_learns_it() -> None:
    random = RandomState(0)
    X, y = random.standard_normal((300, 4)), random.randint(2, size=300)
    options: dict[str, Any] = {"n_random_features": 16, "frequencies": "drawn", "random_state": 0}
    guess, _ = prequential(methods.InBlocks(OKSPCAClassifier(**options)), X, y)
    before = OKSPCAClassifier(**options).partial_fit(X[:200], y[:200])
    np.testing.assert_array_equal(guess[200:], before.predict(X[200:]))
    assert (guess[:100] == methods.NO_GUESS).all()


def test_baselines_know_only_what_was_before() -> None:
    y = np.tile([2, 2, 0, 1, 1, 1, 1], 50)
    X = np.zeros((len(y), 1))
    last, _ = prequential(NO_CHANGE.make(3, 0), X, y)
    most, _ = prequential(MAJORITY.make(3, 0), X, y)
    np.testing.assert_array_equal(last[1:], y[:-1])
    plain = [np.bincount(y[:row], minlength=3).argmax() for row in range(1, len(y))]
    np.testing.assert_array_equal(most[1:], plain)
    assert last[0] == most[0] == methods.NO_GUESS


def test_every_tested_row_and_second_is_counted_once() -> None:
    right = RandomState(1).uniform(size=3250) < 0.7
    found = over_time(right, np.arange(33.0))
    assert [row["until"] for row in found] == [1000, 2000, 3000, 3250]
    assert sum(row["rows"] for row in found) == right.size - BLOCK
    assert sum(row["right"] for row in found) == right[BLOCK:].sum()
    assert sum(row["seconds"] for row in found) == np.arange(33.0).sum()


def rows(method: str, right: list[int], data: str = "SEA", seed: int = 0) -> list[Row]:
    names = {"data": data, "method": method, "seed": seed}
    return [
        {**names, "until": 1000 * n, "rows": 900 if n == 1 else 1000, "right": r, "seconds": 0.5}
        for n, r in enumerate(right, start=1)
    ]


def test_kappa_is_the_share_of_errors_avoided() -> None:
    ours = METHODS[-1]
    found = Results(
        [
            *rows(NO_CHANGE.name, [450, 500]),
            *rows(NO_CHANGE.name, [900, 50], seed=1),
            *rows(ours.name, [675, 750]),
            *rows(ours.name, [900, 1000], seed=1),
            *rows(NO_CHANGE.name, [450, 500], "electricity"),
            *rows(ours.name, [675, 750], "electricity", seed=1),
        ]
    )
    np.testing.assert_allclose(found.kappa("SEA", ours, NO_CHANGE), [0.5, 1.0])
    np.testing.assert_allclose(found.kappa("electricity", ours, NO_CHANGE), [0.5])
    assert found.kappa("SEA", ours, MAJORITY).size == 0
    np.testing.assert_allclose(found.cost("SEA", ours), [500.0, 500.0])
    ends, shares = found.over_time("SEA", ours)
    np.testing.assert_allclose(ends, [1000, 2000])
    np.testing.assert_allclose(shares, [0.875, 0.875])
    assert tables.every(found)[0].rows[1] == (ours.name, "0.875", "0.750")


def test_plans_of_streams() -> None:
    plan = planned(["SEA"], ["streams"])
    assert plan.cells() == []
    assert {cell["data"] for cell in plan.stream_cells()} == {"SEA"}
    assert planned(["wine"]).stream_cells() == []
    assert planned(["SEA"], ["ours"]).stream_cells() == []
    seeds = {name: set[int]() for name in BY_NAME}
    for cell in cells(["electricity"], None, quick=False):
        seeds[cell["method"]].add(cell["seed"])
    assert seeds["okspca"] == {0, 1}
    assert seeds["no change"] == {0}
    names = {cell["method"] for cell in cells(DRAWN, None, quick=False)}
    assert "adaptive forest in blocks" not in names


@pytest.mark.parametrize("name", [one.name for one in METHODS if one.needs])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.filterwarnings("ignore")
def test_models_of_river_learn(name: str, n_classes: int) -> None:
    pytest.importorskip("river", reason="needs okspca[river]")
    random = RandomState(2)
    y = random.randint(n_classes, size=1200)
    X = 3.0 * np.eye(3)[y] + random.standard_normal((1200, 3))
    guess, _ = prequential(BY_NAME[name].make(n_classes, 0), X, y)
    assert share_right(guess[600:], y[600:]) > 0.8


@pytest.mark.parametrize("has_river", [True, False])
def test_the_quick_form_runs_with_and_without_river(
    has_river: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if has_river:
        pytest.importorskip("river", reason="needs okspca[river]")
    monkeypatch.setattr(methods, "find_spec", lambda name: find_spec(name) if has_river else None)
    command = ["reproduce", "peers", "--quick", "--seeds", "1", "--only", "streams"]
    done = CliRunner().invoke(app, [*command, "--out", str(tmp_path)])
    assert done.exit_code == 0, done.output
    computed = read_rows(tmp_path / "streams" / "rows.jsonl", settings(quick=True))
    assert {row["method"] for row in computed} == {
        one.name for one in METHODS if not one.real_only and (has_river or not one.needs)
    }
    assert not (tmp_path / "rows.jsonl").exists()
    page = (tmp_path / "tables.md").read_text(encoding="utf-8")
    assert ("since river is not installed: logistic" in page) == (not has_river)
    for name in ("index.html", "streams.csv", "streams.png"):
        assert (tmp_path / name).stat().st_size > 0
