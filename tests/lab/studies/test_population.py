"""The population study: its setting, its rows, what is made from them, and its command."""

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from okspca.cli import app
from okspca.datasets import DataFileError, response_surface, spherical_pairs
from okspca.numerics.subspace import projector_distance
from okspca_lab.studies.population import halves
from okspca_lab.studies.population.cells import work
from okspca_lab.studies.population.compare import compare
from okspca_lab.studies.population.models import (
    RANK,
    bounded,
    linear_model,
    population_moment,
    separated,
    tracker,
)
from okspca_lab.studies.population.plan import SEEDS, SIZES, Plan
from okspca_lab.studies.population.random_features import population_basis
from okspca_lab.studies.population.recovery import measure, moment_of, recover
from okspca_lab.studies.population.results import batch_medians, calibration, checks
from okspca_lab.studies.rows import Row
from tests.reference.moments import RawMoment
from tests.reference.services import Adam as PlainAdam

FOLDER = Path(__file__).parents[3] / "results" / "population"


def test_the_known_moment_has_the_papers_spectrum_and_its_bounds_hold() -> None:
    C = population_moment()
    assert C.shape == (32, 8)
    assert np.allclose(np.linalg.svd(C)[1][:4] ** 2, [0.49, 0.36, 0.25, 0.15])
    assert separated().gap == pytest.approx(0.1)
    bounded().check(*spherical_pairs(2000, C, seed=0))


def test_sizes_are_nested_and_the_tracker_shares_no_seed_with_the_stream() -> None:
    small, large = recover({"seed": 3, "sizes": [64]}), recover({"seed": 3, "sizes": [64, 128]})
    assert small[0] == large[0]
    starts = [tracker(seed) for seed in (0, 1)]
    X, Y = spherical_pairs(1, population_moment())
    first, second = (model.partial_fit(X, Y).basis(kind="maintained").vectors for model in starts)
    assert projector_distance(first, second) > 1.0


def test_distances_and_ratios_are_those_of_the_definitions() -> None:
    C_star, n = population_moment(), 200
    X, Y = spherical_pairs(n, C_star, seed=5)
    online, ours = tracker(5), linear_model("exact", stability=8)
    row = measure(moment_of(X, Y), online.fit(X, Y), ours.fit(X, Y))
    centred = (X - X.mean(axis=0)).T @ (Y - Y.mean(axis=0)) / n
    U_exact, U_star = (np.linalg.svd(M)[0][:, :RANK] for M in (centred, C_star))
    U = online.basis(kind="maintained").vectors
    P, P_exact, P_star = (V @ V.T for V in (U, U_exact, U_star))
    assert row["d_stat"] == pytest.approx(np.linalg.norm(P_exact - P_star))
    assert row["d_opt_online"] == pytest.approx(np.linalg.norm(P - P_exact))
    assert row["d_total_online"] == pytest.approx(np.linalg.norm(P - P_star))
    assert row["d_opt_ours"] < 1e-12
    for name, V, M in (
        ("rho_sample_online", U, centred),
        ("rho_population_online", U, C_star),
        ("rho_population_exact", U_exact, C_star),
    ):
        best = np.sum(np.linalg.svd(M)[1][:RANK] ** 2)
        assert row[name] == pytest.approx(np.linalg.norm(M.T @ V) ** 2 / best)
    assert row["d_opt_online"] <= row["d_opt_bound"]


def test_the_tracker_follows_stages_b_and_c_of_the_algorithm() -> None:
    X, Y = spherical_pairs(40, population_moment(), seed=2)
    model = tracker(2)
    model.partial_fit(X[:1], Y[:1])  # the first moment is zero, so the basis is still the initial
    plain, moment = PlainAdam(model.basis(kind="maintained").vectors), RawMoment(32, 8)
    for x, y in zip(X, Y, strict=True):
        moment.update(x, y)
        plain.observe(moment)
    model.partial_fit(X[1:], Y[1:])
    assert np.allclose(model.basis(kind="maintained").vectors, plain.U, atol=1e-10)


def test_all_cells_of_the_paper_are_run() -> None:
    cells = [cell for cell in Plan().cells() if cell["part"] == "bounded"]
    assert [cell["seed"] for cell in cells] == list(range(20))
    assert {tuple(cell["sizes"]) for cell in cells} == {SIZES}
    assert SIZES == (256, 512, 1024, 2048, 4096, 8192, 16384, 32768)
    seen = [s for cell in Plan().cells() if cell["part"] == "by chance" for s in cell["seeds"]]
    assert len(set(seen)) == len(seen)
    assert not set(seen) & set(SEEDS)


def made_up(ratio: float, covered: int) -> list[Row]:
    """Rows of 20 seeds whose estimate is ``ratio`` times the truth; the first seeds are covered."""
    return [
        {
            "part": name,
            "seed": seed,
            "n": 512,
            "estimate": ratio,
            "d_stat": 1.0,
            "low": 0.9 if seed < covered else 1.1,
            "high": 1.2,
            "angle": 1.0,
            "angle_estimate": ratio,
            "angle_low": 0.0,
            "angle_high": 2.0,
            "d_opt_ours": 1e-15,
            "operator_error": 0.1,
            "moment_error": 0.1,
        }
        for name in ("bounded", "random features")
        for seed in range(20)
    ]


@pytest.mark.parametrize(
    ("ratio", "covered", "verdicts"),
    [
        (1.0, 18, [True, True]),
        (1.3, 18, [False, True]),
        (0.7, 18, [False, True]),
        (1.0, 15, [True, False]),
        (1.0, 20, [True, False]),
    ],
)
def test_calibration_checks_can_fail(ratio: float, covered: int, verdicts: list[bool]) -> None:
    rows = made_up(ratio, covered)
    assert calibration(rows[:20])[0].covered == covered
    assert [ok for _, _, ok in checks(rows)] == [*verdicts, *verdicts, True, True]


def test_a_number_of_the_paper_that_is_missed_is_said_to_differ() -> None:
    rows = [{"part": "bounded", "seed": s, "n": 256, "d_stat": 2.0} for s in range(20)]
    columns = ("rho_sample_online", "rho_population_online", "rho_population_exact")
    for row in rows:
        row.update(dict.fromkeys(columns, 0.73), d_total_online=1.4)
    verdicts = [line.verdict.value for line in compare(rows)]
    assert verdicts == ["differs", "differs", *["agrees"] * 3, *["not run"] * 3]


def test_medians_are_taken_within_each_batch() -> None:
    rows = [{"batch": b, "d_stat": float(b * v)} for b in (1, 2) for v in (1, 2, 9)]
    assert batch_medians(rows, "d_stat").tolist() == [2.0, 4.0]


def test_the_truth_of_the_second_source_settles_down() -> None:
    far = projector_distance(population_basis(500), population_basis(40_000))
    near = projector_distance(population_basis(10_000), population_basis(40_000))
    assert near < far / 2.0


@pytest.mark.parametrize("mode", ["causal", "frozen"])
def test_halves_of_a_table_are_as_far_apart_as_their_estimates_say(
    mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = response_surface(8000, 6, seed=0)
    monkeypatch.setattr(halves, "data", lambda _: (X, y))
    monkeypatch.setattr(halves, "frozen", halves.frozen.__wrapped__)  # made-up data are not kept
    ratios = [
        row["expected"] / row["apart"]
        for seed in range(5)
        for row in halves.compare_halves({"data": "Kin8nm", "standardize": mode, "seed": seed})
    ]
    assert 0.7 < np.median(ratios) < 1.4


def test_data_that_cannot_be_loaded_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        if name == "Sensorless":
            message = "not there"
            raise DataFileError(message)

    monkeypatch.setattr(halves, "data", missing)
    assert halves.available() == ["Kin8nm"]


def test_rows_say_which_part_they_belong_to() -> None:
    rows = work({"part": "bounded", "seed": 1, "sizes": [64]})
    assert [(row["part"], row["seed"], row["n"]) for row in rows] == [("bounded", 1, 64)]


def test_the_quick_form_of_the_command_writes_everything(tmp_path: Path) -> None:
    out = tmp_path / "population"
    command = ["reproduce", "population", "--quick", "--out", str(out)]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.output
    assert "quick run" in result.output
    names = {path.name for path in out.iterdir()}
    written = {"rows.jsonl", "provenance.json", "comparison.csv", "index.html", "README.md"}
    pictures = {"recovery.png", "calibration.png", "bounds.png"}
    assert names == {*written, *pictures}
    before = (out / "rows.jsonl").read_bytes()
    assert CliRunner().invoke(app, command).exit_code == 0
    assert (out / "rows.jsonl").read_bytes() == before  # nothing is run twice
    full = CliRunner().invoke(app, [word for word in command if word != "--quick"])
    assert full.exit_code == 1
    assert "other settings" in full.output


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    result = CliRunner().invoke(app, ["reproduce", "population", "--quick", "--out", str(blocked)])
    assert result.exit_code == 1
    assert str(blocked) in result.output


def test_the_committed_results_agree_with_the_paper() -> None:
    if not FOLDER.is_dir():
        pytest.skip("the results are not part of this installation")
    lines = (FOLDER / "comparison.csv").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 9
    assert all(",agrees," in line for line in lines[1:])
    assert "fails" not in (FOLDER / "README.md").read_text(encoding="utf-8")
