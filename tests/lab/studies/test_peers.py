"""The comparison with what people use: its data, its order, its verdicts, and the quick form."""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.random import RandomState
from typer.testing import CliRunner, Result

from okspca.cli import app
from okspca.features.bandwidth import sqrt_dimension
from okspca_lab.studies.peers import about, cells, methods, tables
from okspca_lab.studies.peers.data import DATA, LARGE, is_there
from okspca_lab.studies.peers.measure import seconds_of, spent
from okspca_lab.studies.peers.methods import AUTO, BY_NAME, COVARIANCE, HEAD, LONG, METHODS, OURS
from okspca_lab.studies.peers.plan import QUICK_SEEDS, Plan, planned
from okspca_lab.studies.peers.reducers import PLS, kernel_width
from okspca_lab.studies.peers.results import Results
from okspca_lab.studies.prediction.tasks import TASKS, Split
from okspca_lab.studies.rows import Row, read_rows

SHARED = Path(__file__).resolve().parents[3].parent / "shared" / "data"
DRAWN = BY_NAME["okspca drawn"]


@pytest.fixture
def real_data(monkeypatch: pytest.MonkeyPatch) -> None:
    if not is_there("Kin8nm"):
        monkeypatch.setenv("OKSPCA_DATA", str(SHARED))


def rows_of(X: np.ndarray[Any, Any]) -> set[bytes]:
    return {row.tobytes() for row in np.ascontiguousarray(X)}


@pytest.mark.usefixtures("real_data")
@pytest.mark.parametrize("name", list(TASKS))
def test_held_out_rows_of_the_paper_are_never_touched(name: str) -> None:
    if not is_there(name):
        pytest.skip(f"the data of {name} are not here; name their folder in OKSPCA_DATA")
    final, other = TASKS[name].final(100), DATA[name].development(0)
    held_out = rows_of(final.X_test)
    assert not held_out & rows_of(other.X)
    assert not held_out & rows_of(other.X_test)
    assert (DATA[name].rank, DATA[name].n_features) == (TASKS[name].rank, TASKS[name].n_features)


@pytest.mark.usefixtures("real_data")
@pytest.mark.parametrize("name", [name for name in DATA if name != LARGE])
def test_every_seed_has_its_own_rows_and_tests_on_others(name: str) -> None:
    if not is_there(name):
        pytest.skip(f"the data of {name} are not here; name their folder in OKSPCA_DATA")
    one, again, other = (DATA[name].development(seed) for seed in (3, 3, 4))
    np.testing.assert_array_equal(one.X, again.X)
    assert not np.array_equal(one.y_test, other.y_test)
    shared = rows_of(one.X) & rows_of(one.X_test)
    assert len(shared) <= 0.002 * len(one.X_test)  # some real rows come twice
    assert (one.y.dtype.kind in "iu") == DATA[name].labels
    if DATA[name].labels:
        assert DATA[name].rank == len(np.unique(one.y)) - 1


def test_kernels_of_rivals_are_as_wide_as_ours() -> None:
    distance = 1.7
    ours = np.exp(-(distance**2) / (2.0 * sqrt_dimension(12) ** 2))
    assert np.exp(-kernel_width(12) * distance**2) == pytest.approx(ours)


def test_ours_come_first_and_the_largest_set_last() -> None:
    plan = Plan()
    found = plan.cells()
    groups = [BY_NAME[cell["method"]].group for cell in found if cell["data"] != LARGE]
    assert groups == sorted(groups, key=methods.GROUPS.index)
    sets = [cell["data"] for cell in found if BY_NAME[cell["method"]].group == OURS]
    assert list(dict.fromkeys(sets)) == list(DATA)
    first = next(place for place, cell in enumerate(found) if cell["data"] == LARGE)
    assert {cell["data"] for cell in found[first:]} == {LARGE}
    names = [(cell["data"], cell["method"], cell["seed"]) for cell in found]
    assert len(names) == len(set(names))


def test_plans_follow_what_is_asked_for() -> None:
    found = planned(["wine", "diabetes"], ["ours"], 3).cells()
    assert {cell["data"] for cell in found} == {"wine", "diabetes"}
    assert {cell["seed"] for cell in found} == {0, 1, 2}
    everywhere = {m.name for m in METHODS if m.group == OURS and not m.only}
    assert {cell["method"] for cell in found} == everywhere
    numbers = {c["method"] for c in planned(["diabetes"], ["reducers"]).cells()}
    assert "LDA" not in numbers
    assert "Nyström + PLS" in numbers
    full = planned(["wine"]).cells()
    assert {cell["seed"] for cell in full if cell["method"] == AUTO.name} == set(range(10))
    assert {cell["seed"] for cell in full if cell["method"] == "NCA"} == {0, 1, 2}
    with pytest.raises(ValueError, match="'iris' is not a data set; choose from wine"):
        planned(["iris"])
    with pytest.raises(ValueError, match="'theirs' is not a group; choose from ours"):
        planned([], ["theirs"])


def rows(method: str, scores: list[float], data: str = "wine", **others: Any) -> list[Row]:
    common = {"fit_seconds": 1.0, "embed_us": 1.0, "accuracy": None, **others}
    return [
        {"data": data, "method": method, "seed": seed, "score": score, **common}
        for seed, score in enumerate(scores)
    ]


@pytest.mark.parametrize(
    ("gap", "spread", "verdict"),
    [(0.0, 0.0, "held"), (0.004, 0.0, "held"), (0.008, 0.0, "missed"), (0.008, 0.01, "held")],
)
def test_a_loss_counts_beyond_the_margin_and_two_errors(
    gap: float, spread: float, verdict: str
) -> None:
    auto = [0.9, 0.9, 0.9, 0.9]
    drawn = [s + gap + d for s, d in zip(auto, (spread, -spread, spread, -spread), strict=True)]
    found = Results([*rows(AUTO.name, auto), *rows(DRAWN.name, drawn)])
    table = tables.ladder(found)
    assert [line[-1] for line in table.rows] == [verdict]
    assert table.rows[0][2].startswith(f"{gap:+.4f}")


def test_one_seed_is_no_verdict_and_one_miss_is_enough() -> None:
    one = Results([*rows(AUTO.name, [0.9]), *rows(DRAWN.name, [0.5])])
    assert tables.ladder(one).rows[0][-1] == "–"
    assert tables.ladder(one).rows[0][2] == "-0.4000 ± –"
    assert tables.scores(one, "", AUTO).rows == [("wine", "0.900 ± –")]
    missed = Results(
        [
            *rows(AUTO.name, [0.9, 0.9]),
            *rows(DRAWN.name, [0.5, 0.5]),
            *rows(COVARIANCE.name, [0.95, 0.95]),
        ]
    )
    assert tables.ladder(missed).rows[0][-1] == "missed"


def test_wins_and_losses_are_counted_on_shared_seeds() -> None:
    found = Results(
        [
            *rows(HEAD.name, [0.9, 0.9], "wine"),
            {**rows(HEAD.name, [0.1], "wine", fit_seconds=9.0)[0], "seed": 2},  # not shared
            *rows("MLP", [0.8, 0.8], "wine", fit_seconds=4.0),
            *rows(HEAD.name, [0.7, 0.7], "digits"),
            *rows("MLP", [0.9, 0.9], "digits", fit_seconds=9.0),
            *rows(HEAD.name, [0.9, 0.9, 0.9], "moons-30"),
            *rows("MLP", [0.9, 0.9, 0.9], "moons-30", fit_seconds=6.0),
        ]
    )
    line = ("MLP", "head", "1", "1", "1", "+0.000", "-0.033", "2 to 3", "6 ×", "1 ×")
    assert tables.standing(found).rows == [line]
    gaps = tables.gaps(found, "predictors").rows
    assert gaps[:2] == [("wine", "+0.1000 ± 0.0000"), ("digits", "-0.2000 ± 0.0000")]
    # One seed tells no error, and the largest set has one seed only.
    others = [
        row
        for data, n in (("digits", 1), (LARGE, 2))
        for row in (*rows(HEAD.name, [0.9] * n, data), *rows("MLP", [0.1] * n, data))
    ]
    wine = [row for row in found.rows if row["data"] == "wine"]
    assert tables.standing(Results([*wine, *others])).rows[0][2:6] == ("1", "0", "0", "+0.100")


def test_what_was_not_run_is_told() -> None:
    wanted = [*Plan((LARGE,), ("reducers",)).cells(), *Plan(("wine",), ("ours",), 2).cells()]
    done = [row for one in METHODS if one != AUTO for row in rows(one.name, [0.9, 0.9])]
    table = about.not_run("Not run", wanted, [*done, *rows(AUTO.name, [0.9])])
    assert table.rows[0] == ("wine", f"{AUTO.name} 1")
    assert table.rows[1][0] == LARGE
    assert "PCA 1, LDA 1" in table.rows[1][1]
    wine = [cell for cell in wanted if cell["data"] == "wine"]
    assert about.share_run(wine, done) == f"{len(wine) - 2} of {len(wine)}"
    assert not about.not_run("Not run", wine, [*done, *rows(AUTO.name, [0.9, 0.9])]).rows


def test_the_embedding_of_covtype_is_measured_by_boosting() -> None:
    found = Results(
        [
            *rows(AUTO.name, [0.60, 0.60], "covtype", accuracy=0.80),
            *rows(LONG.name, [0.62, 0.62], "covtype", accuracy=0.79),
            *rows("gradient boosting", [0.63, 0.63], "covtype", accuracy=0.81),
        ]
    )
    verdicts = [line[-1] for line in tables.near_boosting(found).rows]
    assert verdicts == ["held", "missed", "missed", "held"]


def test_all_pictures_have_a_table_of_their_own() -> None:
    common = {"accuracy": 0.87, "rows_fitted": 2000}
    found = Results([*rows("NCA", [0.8, 0.9], LARGE, **common), *rows("NCA", [0.1], "wine")])
    line = ("NCA", "reducers", "0.8500", "0.8700", "1", "1", "2,000", "2")
    assert tables.largest(found).rows == [line]
    assert (
        tables.gaps(Results([*found.rows, *rows(AUTO.name, [0.9], LARGE)]), "reducers").rows == []
    )


def test_a_long_pilot_is_for_a_long_stream() -> None:
    assert [name for name in DATA if LONG.takes(DATA[name])] == ["covtype"]


def test_costs_are_those_of_the_work() -> None:
    random = RandomState(0)
    made, cost = spent(lambda: random.standard_normal(4_000_000))
    assert cost.seconds > 0.01
    if cost.memory is not None:
        assert 0.9 * made.nbytes < cost.memory < 1.5 * made.nbytes
        del made
        assert (spent(lambda: None)[1].memory or 0) < 2**20  # the last peak is forgotten
    assert seconds_of(lambda: None) < 1e-3


def test_indicators_stand_for_classes() -> None:
    random = RandomState(1)
    y = random.randint(3, size=200)
    X = np.eye(3)[y] + 0.1 * random.standard_normal((200, 3))
    scores = PLS(2).fit(X, y).transform(X)
    means = np.array([scores[y == label].mean(axis=0) for label in range(3)])
    gaps = [np.linalg.norm(means[a] - means[b]) for a, b in ((0, 1), (0, 2), (1, 2))]
    assert min(gaps) > 1.0


@pytest.mark.parametrize("name", ["supervised UMAP", "xRFM"])
@pytest.mark.parametrize("labels", [True, False])
@pytest.mark.filterwarnings("ignore")
def test_methods_of_other_packages_run(name: str, labels: bool) -> None:
    method = BY_NAME[name]
    pytest.importorskip(method.needs, reason=f"needs the package {method.needs}")
    random = RandomState(2)
    X = random.standard_normal((240, 3))
    y = np.where(X[:, 0] > 0.0, 7, 3) if labels else 100.0 + 50.0 * X[:, 0]
    task = DATA["moons-30"] if labels else DATA["index-50"]
    row = cells.measured(method, task, Split(X[:200], y[:200], X[200:], y[200:]), seed=0)
    assert row["score"] > (0.75 if labels else 0.5)


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["reproduce", "peers", *map(str, arguments)])


def test_the_quick_form_runs_and_shows_all_that_was_computed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def found(name: str) -> object:
        return None if name in ("umap", "xrfm") else find_spec(name)

    monkeypatch.setattr(methods, "find_spec", found)
    first = run("--quick", "--only", "ours", "--out", tmp_path)
    assert first.exit_code == 0, first.output
    second = run("--quick", "--data", "wine", "--data", "diabetes", "--out", tmp_path)
    assert second.exit_code == 0, second.output
    settings = Plan(quick=True).settings
    computed = read_rows(tmp_path / "rows.jsonl", settings)
    names = {(row["data"], row["method"]) for row in computed}
    assert len(computed) == QUICK_SEEDS * len(names)
    assert ("moons-30", AUTO.name) in names
    assert ("moons-30", "PCA") not in names
    assert ("wine", "RBF SVM") in names
    page = (tmp_path / "tables.md").read_text(encoding="utf-8")
    assert "Not installed where this was run: supervised UMAP (package umap), xRFM" in page
    assert "moons-30" in page
    for name in ("index.html", "scores.csv", "rivals.png", "ladder.png", "costs.png"):
        assert (tmp_path / name).stat().st_size > 0
    before = (tmp_path / "rows.jsonl").read_bytes()
    assert run("--quick", "--data", "wine", "--out", tmp_path).exit_code == 0
    assert (tmp_path / "rows.jsonl").read_bytes() == before
    wrong = run("--quick", "--data", "iris", "--out", tmp_path)
    assert wrong.exit_code == 1
    assert "'iris' is not a data set" in wrong.output
