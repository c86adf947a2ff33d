"""The line that a running fit shows fits its terminal and says what matters most."""

import io
import sys
from pathlib import Path
from typing import Any

import pytest

from okspca.cli.display import Progress, fitted_line
from okspca.files.position import Position

TOLD: dict[str, Any] = {
    "rows_read": 1_234_567,
    "rows_skipped": 12,
    "values_imputed": 34,
    "rows_per_second": 98_765,
    "seconds_left": 3_725.4,
    "rank": 2,
    "rho_lower": 0.9999999,
    "objective": 0.00123,
    "error_bar": (2.94, 2.3, 3.5),
    "scores": {"measure": "R²", "embedding": 0.8123, "inputs": 0.5},
}


@pytest.mark.parametrize("width", [40, 80, 200])
def test_the_line_fits(width: int) -> None:
    line = fitted_line(TOLD, width)
    assert len(line) <= width
    assert line.startswith("1,234,567 rows")


def test_everything_is_told_where_there_is_room() -> None:
    assert fitted_line(TOLD, 200) == (
        "1,234,567 rows, 12 skipped, 34 values filled in, 98,765 rows/s, 1:02:05 left, rank 2, "
        "solved to 0.999999 of the optimum, objective 0.00123, error 2.9° (2.3–3.5°), "
        "R² 0.812 (inputs 0.500)"
    )
    assert "98,765 rows/s, 1:02:05 left" in fitted_line(TOLD, 80)


def test_a_lower_bound_is_not_rounded_up_and_none_is_words() -> None:
    assert "0.999999" in fitted_line(TOLD | {"rho_lower": 0.9999999999}, 200)
    assert "nothing to certify" in fitted_line(TOLD | {"rho_lower": None}, 200)


def test_the_time_left_follows_the_share_that_was_read(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    position = Position()
    position.total, position.done = 1000, 250
    progress = Progress(quiet=False, as_json=True)
    progress.begin(position, 0)
    for now[0], rows in ((0.0, 10), (0.2, 20), (1.0, 40)):
        progress.show(rows, lambda _: dict(TOLD))
    shown = capsys.readouterr().out.splitlines()
    assert len(shown) == 1
    assert '"seconds_left": 3.0' in shown[0]
    assert '"rows_per_second": 30' in shown[0]


def test_no_live_line_where_nobody_watches(monkeypatch: pytest.MonkeyPatch) -> None:
    said = io.StringIO()
    monkeypatch.setattr(sys, "stderr", said)
    progress = Progress(quiet=False, as_json=False)
    progress.show(1, lambda _: pytest.fail("numbers were asked for"))
    assert said.getvalue() == ""


def test_the_verdict_comes_first(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    told = TOLD | {
        "verdict": "The reduction helps.",
        "target_words": "Objective: the paper's target.",
    }
    Progress(quiet=False, as_json=False).finish(9, lambda _: dict(told), tmp_path / "m")
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["The reduction helps.", "Objective: the paper's target."]
    assert lines[2].startswith("1,234,567 rows")
