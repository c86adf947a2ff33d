"""`okspca inspect` tells what is in a file, and says in one sentence when it cannot."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from okspca import OKSPCA
from okspca.cli import app
from okspca.estimators.saving import save_model
from okspca.state.streams import StreamRecord

GOLDEN = Path(__file__).parents[1] / "state" / "golden"
FILES = sorted(GOLDEN.glob("*.okspca"))


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["inspect", *arguments], env={"COLUMNS": "100"})


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_every_kind_of_model_is_described(path: Path) -> None:
    told = json.loads(run(str(path), "--json").stdout)
    assert told["rows"] == 80
    assert told["parameters"]["random_state"] == 0
    people = run(str(path))
    assert "Traceback" not in people.output
    assert people.exit_code == 0
    assert max(map(len, people.stdout.splitlines()[1:])) <= 100
    if told["held_back"]:
        assert told["basis"]["status"] == "not_initialised"
        assert "held back" in people.stdout
    else:
        model = OKSPCA.load(path)
        assert told["basis"]["rank"] == model.basis().rank
        assert told["errors"] == model.error_lines().splitlines()
        assert " ".join(told["errors"][0].split()) in " ".join(people.stdout.split())


def test_a_model_without_rows_is_described(tmp_path: Path) -> None:
    OKSPCA(3).save(tmp_path / "empty.okspca")
    assert "none yet" in run(str(tmp_path / "empty.okspca")).stdout


def test_the_stream_and_its_columns_are_named(tmp_path: Path) -> None:
    record = StreamRecord(("rows.csv",), "price", ("a", "b"), "skip", 1234, 5)
    model = OKSPCA(1, n_random_features=4).partial_fit([[1.0, 2.0], [3.0, 5.0]], [0.5, 1.5])
    save_model(model, tmp_path / "m.okspca", record)
    output = run(str(tmp_path / "m.okspca")).stdout
    assert "1,234 rows of rows.csv, 5 skipped; target column price" in output
    assert "2 columns, 4 features: a, b" in output


def test_other_files_are_refused_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text("a,b\n1,2\n")
    for path in (tmp_path / "table.csv", tmp_path / "absent", tmp_path):
        result = run(str(path))
        assert result.exit_code == 1
        assert result.stdout == ""
        assert len(result.stderr.splitlines()) == 1
