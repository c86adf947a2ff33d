"""The command that times fits of wide files beside the parser says what it measured."""

import json
from pathlib import Path

from typer import Typer
from typer.testing import CliRunner

from okspca_lab.ordeals import wide_csv
from okspca_lab.ordeals.throughput import Pass


def test_it_measures_all_and_writes_them(tmp_path: Path) -> None:
    app = Typer()
    app.command()(wide_csv.main)
    sizes = ["--rows", "60", "--columns", "40", "--turns", "1"]
    result = CliRunner().invoke(app, [*sizes, "--out", str(tmp_path)])
    assert result.exit_code == 0, result.output
    told = json.loads((tmp_path / "wide.json").read_text())
    assert [each["what"] for each in told["passes"]] == list(wide_csv.PASSES)
    assert all(each["rows"] == 60 for each in told["passes"])


def test_ratios_are_to_the_parser_of_the_same_turn() -> None:
    seconds = {wide_csv.PARSER: (1.0, 2.0, 4.0), wide_csv.DENSE: (2.0, 2.0, 12.0)}
    passes = [
        Pass(what, 60, seconds.get(what, (1.0, 2.0, 4.0))[turn], 0.0)
        for turn in range(3)
        for what in wide_csv.PASSES
    ]
    found = wide_csv.summary_of(passes)
    assert found["fit / parser"] == [2.0, 1.0, 3.0]
    assert found["reader / parser"] == [1.0, 1.0, 1.0]
