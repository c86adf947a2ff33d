"""The command that times `okspca fit` beside its reader says what it measured."""

import json
from pathlib import Path

from typer import Typer
from typer.testing import CliRunner

from okspca_lab.ordeals import throughput


def test_it_measures_both_and_writes_everything(tmp_path: Path) -> None:
    app = Typer()
    app.command()(throughput.main)
    result = CliRunner().invoke(app, ["--rows", "10000", "--out", str(tmp_path)])
    assert result.exit_code == 0, result.output
    told = json.loads((tmp_path / "throughput.json").read_text())
    assert [each["what"] for each in told["passes"]] == ["parse", "fit", "parse"]
    assert all(each["rows"] == 10_000 for each in told["passes"])
    assert told["fit_divided_by_parse"][0] > 0.0
    assert (tmp_path / "memory.csv").read_text().startswith("rows,resident_bytes,seconds")
    assert (tmp_path / "memory.png").read_bytes().startswith(b"\x89PNG")


def test_a_ratio_compares_a_fit_with_the_readings_around_it() -> None:
    seconds = (1.0, 4.0, 3.0)
    passes = [
        throughput.Pass(what, 100, time, time)
        for what, time in zip(("parse", "fit", "parse"), seconds, strict=True)
    ]
    assert throughput.summary_of(passes)["fit_divided_by_parse"] == [0.5]
