"""A signal while features are being learned: the run ends soon, and a resumed one tells nothing."""

import os
import signal
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from okspca import OKSPCA
from okspca.cli import app
from okspca.estimators import map_search
from okspca.estimators.saving import load_model, save_model
from okspca.features.ladder import climbed
from okspca_lab.ordeals.killing_features import write_waves

SMALL = ("--random-features", "24", "--pilot-rows", "1100", "--missing", "impute")
OPTIONS = {
    "number": ("--target", "y", "--drop", "kind"),
    "scores": ("--target", "y", "--drop", "kind", "--evaluate"),
    "scores of the paper's target": (
        *("--target", "kind", "--drop", "y", "--evaluate"),
        *("--preset", "paper", "--frequencies", "scaled"),
    ),
}
#: Climbs are due after 512 rows, after 1,024 and after 1,100: rows before the blocks they are in.
ROWS_BEFORE = (256, 768, 1024)


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("rows") / "rows.csv"
    write_waves(path)
    return path


def run(rows: Path, out: Path, *words: str) -> Result:
    return CliRunner().invoke(app, ["fit", str(rows), "--out", str(out), *SMALL, *words])


def signal_in_climb(patch: pytest.MonkeyPatch, number: int) -> list[int]:
    """Let the process get a signal at the third step of a climb; of the climbs of all models."""
    climb: Any = climbed
    begun = [0]

    def stepped(*arguments: Any) -> Any:
        *others, tick, factors = arguments
        begun[0] += 1
        steps = [0]

        def ticked() -> None:
            steps[0] += 1
            if (begun[0], steps[0]) == (number, 3):
                os.kill(os.getpid(), signal.SIGTERM)
            tick()

        return climb(*others, ticked, factors)

    patch.setattr(map_search, "climbed", stepped)
    return begun


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="signals are others there")
@pytest.mark.parametrize("name", OPTIONS)
def test_a_run_stopped_in_a_climb_is_resumed_to_the_same_bytes(
    name: str, rows: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = tmp_path / "whole.okspca"
    with monkeypatch.context() as patch:
        begun = signal_in_climb(patch, 0)
        assert run(rows, whole, *OPTIONS[name]).exit_code == 0
    # The paper's target is scored beside one that learns its features too.
    assert begun[0] == (6 if "paper" in name else 3)
    for number in range(1, begun[0] + 1):
        out = tmp_path / f"{number}.okspca"
        with monkeypatch.context() as patch:
            signal_in_climb(patch, number)
            result = run(rows, out, *OPTIONS[name])
        assert result.exit_code == 128 + signal.SIGTERM, result.output
        model, record = load_model(OKSPCA, out)
        assert record is not None
        assert record.rows_read == model.n_samples_seen_
        assert record.rows_read in ROWS_BEFORE
        assert run(rows, out, *OPTIONS[name], "--resume").exit_code == 0
        assert out.read_bytes() == whole.read_bytes()


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="signals are others there")
def test_a_fresh_pilot_that_is_stopped_in_a_climb_is_resumed_to_the_same_bytes(
    rows: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its climbs are due long after the first rows; files of whole blocks follow each other."""
    lines = rows.read_text().splitlines(keepends=True)
    first, more = tmp_path / "first.csv", tmp_path / "more.csv"
    first.write_text("".join(lines[: 512 + 1]))
    more.write_text("".join([*lines[: 512 + 1], *lines[1:]]))
    options = (*OPTIONS["number"], "--pilot-rows", "520")
    whole, out = tmp_path / "whole.okspca", tmp_path / "stopped.okspca"
    assert run(first, out, *options, "--pilot-rows", "200").exit_code == 0
    model, record = load_model(OKSPCA, out)
    assert record is not None
    save_model(model.set_params(pilot_rows=520), out, record._replace(inputs=(str(more),)))
    whole.write_bytes(out.read_bytes())
    going_on = ("--resume", "--relearn-features")
    assert run(more, whole, *options, *going_on).exit_code == 0
    with monkeypatch.context() as patch:
        signal_in_climb(patch, 1)
        result = run(more, out, *options, *going_on)
    assert result.exit_code == 128 + signal.SIGTERM, result.output
    assert run(more, out, *options, "--resume").exit_code == 0
    assert out.read_bytes() == whole.read_bytes()
