"""`okspca advise`: measures, ranks, and prints a call that works."""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.random import RandomState
from typer.testing import CliRunner

import okspca.services
from okspca import OKSPCA
from okspca.cli import app
from okspca.cli.advice import (
    Candidate,
    Finding,
    Runner,
    Wish,
    candidates,
    keep_common,
    ranked,
    stand_in,
)

QUICK = ["--seconds", "0.1", "--random-features", "32", "--inputs", "5"]


@pytest.mark.slow
def test_the_table_fits_and_the_call_makes_a_model() -> None:
    result = CliRunner().invoke(app, ["advise", *QUICK, "--classes", "3", "--every", "5"])
    assert result.exit_code == 0, result.output
    assert max(len(line) for line in result.output.splitlines()) <= 80
    assert "contrast" in result.output
    call = result.output.rpartition("Use:")[2].strip()
    model = eval(call, {"OKSPCA": OKSPCA, **vars(okspca.services)})
    assert model.n_random_features == 32


def test_only_proven_fresh_answers_suit() -> None:
    result = CliRunner().invoke(app, ["advise", *QUICK, "--json"])
    findings = {found["service"]: found for found in json.loads(result.output)}
    assert findings["exact"]["suits"]
    assert findings["exact"]["certified_degrees"] <= 1e-6
    assert findings["cached, every 10"]["age"] > 0
    assert not findings["cached, every 10"]["suits"]
    order = [found["suits"] for found in json.loads(result.output)]
    assert order == sorted(order, reverse=True)


@pytest.mark.slow
def test_rows_of_a_file_are_measured(tmp_path: Path) -> None:
    random = RandomState(0)
    X = random.normal(size=(150, 3))
    rows = [f"{a},{b},{c},{'high' if a > 0 else 'low'}" for a, b, c in X]
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(["a,b,c,kind", *rows]), encoding="utf-8")
    words = ["advise", str(path), "--target", "kind", "--components", "1", *QUICK[:4]]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    assert "binary" in result.output
    assert str(path.name) in result.output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nowhere.csv", "--target", "y"], "nowhere.csv"),
        (["nowhere.csv"], "--target"),
        (["--components", "40", "--random-features", "8"], "--random-features"),
    ],
)
def test_wrong_input_is_one_sentence(words: list[str], said: str) -> None:
    result = CliRunner().invoke(app, ["advise", *words])
    assert result.exit_code == 1
    assert said in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


def test_candidates_are_ranked_by_suitability_then_cost() -> None:
    def finding(label: str, seconds: float, angle: float | None, age: int) -> Finding:
        made = Candidate(label, "", {})
        return Finding(made, [10], [seconds], [0.0], [1], [angle], [age], [2])

    wish = Wish(max_age=5)
    given = [
        finding("exact", 3.0, 1e-9, 0),
        finding("a", 1.0, None, 0),
        finding("b", 2.0, 1e-9, 5),
        finding("c", 0.5, 1e-9, 6),
        finding("d", 0.1, 1e-3, 0),
    ]
    assert [f.candidate.label for f in ranked(given, wish)] == ["b", "exact", "d", "c", "a"]


def test_all_candidates_see_the_same_rows_and_requests() -> None:
    X, y = stand_in(3, 1, None)
    wish = Wish(2, 16, every=7, block=3)
    for candidate in candidates(None)[:2]:
        runner = Runner(candidate, wish, X[:600], y[:600])
        before = runner.model.n_samples_seen_
        runner.turn(21)
        assert runner.finding.requests == [3]
        assert runner.model.n_samples_seen_ - before == 21
        for _ in range(10):
            runner.turn(21)  # goes on from the first row where the rows end
        assert np.isfinite(runner.finding.total_us)


def test_a_dear_candidate_does_not_win_by_answering_less() -> None:
    def finding(label: str, us: float, angles: list[float | None]) -> Finding:
        n = len(angles)
        return Finding(
            Candidate(label, label, {}), [n], [us * n], [0.0], [n], angles, [0] * n, [2] * n
        )

    cheap = finding("exact", 10.0, [1e-9, 1e-9, 2e-6])
    dear = finding("exact each row", 500.0, [1e-9, 1e-9])
    keep_common([cheap, dear])
    assert ranked([dear, cheap], Wish()) == [cheap, dear]
    assert cheap.suits(Wish(), 2)
