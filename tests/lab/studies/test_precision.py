"""The precision study: what is compared with what, and the quick form of the command."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from okspca.cli import app
from okspca_lab.studies.precision.cells import AS_THEY_ARE, GIVEN, MODELS, ROUNDED, SINGLE
from okspca_lab.studies.precision.plan import QUICK_TASKS, Plan
from okspca_lab.studies.precision.results import by_form, largest_change
from okspca_lab.studies.precision.tables import errors, scores
from okspca_lab.studies.rows import read_rows


def test_a_score_that_moves_too_far_is_said_to() -> None:
    rows = [
        {"task": "A", "rows": "A", "seed": seed, "model": model, "given": given, "score": score}
        for model, moved in zip(MODELS, (0.0005, 0.002), strict=True)
        for given, change in ((AS_THEY_ARE, 0.0), (ROUNDED, 0.0), (SINGLE, moved))
        for seed, score in ((1, 0.7 - change), (0, 0.9 - change))
    ]
    forms = by_form(rows, "A", MODELS[1])
    assert largest_change(forms[SINGLE], forms[AS_THEY_ARE]) == pytest.approx(0.002)
    assert [line[-1] for line in scores(rows).rows] == ["yes", "no"]


def test_the_quick_form_runs(tmp_path: Path) -> None:
    told = ["reproduce", "precision", "--quick", "--out", str(tmp_path)]
    result = CliRunner().invoke(app, told)
    assert result.exit_code == 0, result.output
    plan = Plan(QUICK_TASKS, (0,), quick=True)
    rows = read_rows(tmp_path / "rows.jsonl", plan.settings)
    assert len(rows) == len(GIVEN) * len(MODELS) * len(QUICK_TASKS)
    assert {row["precision"] for row in rows if row["given"] == SINGLE} == {"float32"}
    assert {row["precision"] for row in rows if row["given"] != SINGLE} == {"float64"}
    assert {line[-1] for line in scores(rows).rows} == {"yes"}
    for task in QUICK_TASKS:
        for row in by_form(rows, task, MODELS[0])[SINGLE]:
            assert 0.0 < row["largest"] <= row["of_rows"]
    assert len(errors(rows).rows) == len(QUICK_TASKS) * len(MODELS)
    for name in ("tables.md", "index.html", "changes.png"):
        assert (tmp_path / name).stat().st_size > 0
