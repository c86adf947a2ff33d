"""`okspca fit`: the same from every format, resumed to the last bit, wrong input in a sentence."""

import gzip
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.random import RandomState
from pyarrow import csv, ipc, parquet
from typer.testing import CliRunner, Result

from okspca import OKSPCA
from okspca.cli import app
from okspca.commands.display import Progress
from okspca.commands.interruption import Interruption
from okspca.estimators.saving import load_model
from okspca.fitting import BLOCK, block_end, blocks
from okspca.fitting import SMALL as SMALL_BLOCK

N = 2 * BLOCK + 300
SMALL = ("--random-features", "16", "--components", "1")


def table(n: int = N) -> pa.Table:
    X = RandomState(0).normal(size=(n, 3)).round(6)
    labels = np.array(["no", "yes", "maybe"])[np.digitize(X[:, 0], [-0.5, 0.5])]
    columns = {"a": X[:, 0], "b": X[:, 1], "c": np.arange(n) % 7}
    return pa.table({**columns, "y": (X[:, 0] ** 2).round(6), "label": labels})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same rows in every format."""
    place, rows = tmp_path_factory.mktemp("rows"), table()
    csv.write_csv(rows, place / "rows.csv")
    csv.write_csv(rows, place / "rows.tsv", csv.WriteOptions(delimiter="\t"))
    (place / "rows.csv.gz").write_bytes(gzip.compress((place / "rows.csv").read_bytes()))
    lines = "".join(json.dumps(row) + "\n" for row in rows.to_pylist())
    (place / "rows.ndjson").write_text(lines)
    (place / "parts").mkdir()
    parquet.write_table(rows.slice(0, 700), place / "parts" / "1.parquet")
    parquet.write_table(rows.slice(700), place / "parts" / "2.parquet", row_group_size=97)
    with ipc.new_file(place / "rows.arrow", rows.schema) as writer:
        writer.write_table(rows, max_chunksize=333)
    return place


def run(*arguments: object, **options: Any) -> Result:
    return CliRunner().invoke(app, ["fit", *map(str, arguments), *SMALL], **options)


def fitted(out: Path, *arguments: object, **options: Any) -> OKSPCA:
    result = run(*arguments, "--out", out, "--quiet", **options)
    assert result.exit_code == 0, result.output
    assert result.output == ""
    return OKSPCA.load(out)


def expected(target: str, *names: str) -> OKSPCA:
    rows, model = table(), OKSPCA(1, n_random_features=16, random_state=0)
    X = np.column_stack([rows[name].to_numpy().astype(float) for name in names])
    start = 0
    while start < N:
        some = slice(start, block_end(start))
        model.partial_fit(X[some], np.array(rows[target].to_pylist())[some])
        start = block_end(start)
    return model


@pytest.mark.parametrize(
    "name", ["rows.csv", "rows.tsv", "rows.csv.gz", "rows.ndjson", "parts", "rows.arrow"]
)
def test_every_format_gives_the_same_model(name: str, folder: Path, tmp_path: Path) -> None:
    model = fitted(tmp_path / "m", folder / name, "--target", "y", "--drop", "label")
    direct = expected("y", "a", "b", "c")
    assert model.n_samples_seen_ == N
    np.testing.assert_array_equal(model.components_, direct.components_)


def test_standard_input_and_labels(folder: Path, tmp_path: Path) -> None:
    data = (folder / "rows.csv").read_bytes()
    model = fitted(
        tmp_path / "m", "-", "--target", "label", "--columns", "b", "--columns", "a", input=data
    )
    np.testing.assert_array_equal(model.components_, expected("label", "b", "a").components_)
    whole = fitted(tmp_path / "w", folder / "rows.csv", "--target", "c", "--columns", "a")
    assert sorted(whole.classes_) == list(range(7))


def test_blocks_follow_the_row_number_whatever_the_batches() -> None:
    rows = table()
    for size in (1, 97, 5000):
        cut = list(blocks(rows.to_batches(size), 0))
        assert [block.num_rows for block in cut] == [*([SMALL_BLOCK] * 16), BLOCK, 300]
        rest = list(blocks(rows.to_batches(size), BLOCK))
        assert pa.concat_tables(rest).equals(rows.slice(BLOCK))


def test_an_interrupted_run_resumes_to_the_last_bit(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = (folder / "rows.csv", "--target", "y", "--drop", "label", "--out")
    assert run(*rows, tmp_path / "whole").exit_code == 0
    monkeypatch.setattr(Progress, "show", lambda *_: setattr(Interruption, "wanted", True))
    monkeypatch.setattr(Interruption, "wanted", False, raising=False)
    monkeypatch.setattr(Interruption, "__init__", lambda self: None)
    monkeypatch.setattr(Interruption, "restore", lambda self: None)
    stopped = run(*rows, tmp_path / "part")
    assert stopped.exit_code == 130
    assert stopped.stderr == f"Interrupted after {SMALL_BLOCK} rows; go on with --resume.\n"
    assert load_model(OKSPCA, tmp_path / "part")[1].rows_read == SMALL_BLOCK  # type: ignore[union-attr]
    monkeypatch.undo()
    assert run(*rows, tmp_path / "part", "--resume").exit_code == 0
    assert (tmp_path / "part").read_bytes() == (tmp_path / "whole").read_bytes()


def test_a_killed_run_resumes_to_the_last_bit(folder: Path, tmp_path: Path) -> None:
    """The process gets SIGKILL in the middle of reading, after the first checkpoint."""
    rows = ["--target", "y", "--drop", "label", "--out"]
    data = (folder / "rows.csv").read_bytes()
    fitted_whole = run("-", *rows, tmp_path / "whole", input=data)
    assert fitted_whole.exit_code == 0
    words = [sys.executable, "-m", "okspca", "fit", "-", *rows, str(tmp_path / "part")]
    script = (
        "import os, signal, okspca.estimators.saving as saving\n"
        "save = saving.save_model\n"
        "def save_and_die(*arguments):\n"
        "    save(*arguments)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        "saving.save_model = save_and_die\n"
        "from okspca.cli import app\n"
        "app()\n"
    )
    words[1:3] = ["-c", script]
    every = ["--checkpoint-every", str(BLOCK)]
    killed = subprocess.run([*words, *SMALL, *every], input=data, check=False, env=os.environ)
    assert killed.returncode == -signal.SIGKILL
    again = run("-", *rows, tmp_path / "part", "--resume", input=data)
    assert again.exit_code == 0, again.output
    assert (tmp_path / "part").read_bytes() == (tmp_path / "whole").read_bytes()


def test_resuming_with_other_options_or_columns_is_refused(folder: Path, tmp_path: Path) -> None:
    rows = (folder / "rows.csv", "--out", tmp_path / "m", "--target")
    assert run(*rows, "y", "--drop", "label").exit_code == 0
    other = run(*rows, "y", "--drop", "label", "--seed", "1", "--resume")
    assert "was fitted with other options" in other.stderr
    other = run(*rows, "c", "--drop", "label", "--resume")
    assert "was fitted to other inputs, columns or options" in other.stderr


def test_missing_values_are_refused_skipped_or_filled_in(tmp_path: Path) -> None:
    path = tmp_path / "gaps.csv"
    path.write_text("a,b,y\n1,2,0.5\n3,,1.5\n2,7,\n5,1,2.5\n0,3,0.25\n")
    refused = run(path, "--target", "y", "--out", tmp_path / "m")
    assert refused.stderr.startswith("Row 2 of the input has no value in column 'b'")
    for how, skipped, filled, learned in (("skip", 2, 0, 3), ("impute", 1, 1, 4)):
        result = run(path, "--target", "y", "--out", tmp_path / how, "--missing", how, "--json")
        told = json.loads(result.stdout.splitlines()[-1])
        assert (told["rows_skipped"], told["values_imputed"]) == (skipped, filled)
        assert OKSPCA.load(tmp_path / how).n_samples_seen_ == learned
    # The mean of what column b holds in the first block, 13 / 4, is what was filled in.
    mean = OKSPCA.load(tmp_path / "impute").input_standardizer_.mean[1]  # type: ignore[attr-defined]
    np.testing.assert_allclose(mean, np.mean([2.0, 3.25, 1.0, 3.0]))


@pytest.mark.parametrize(
    ("content", "options", "problem"),
    [
        ("a,y\n1,2\n", ["--target", "z"], "There is no column 'z'; the columns are a, y."),
        ("a;y\n1;2\n", ["--target", "y"], "There is no column 'y'; the columns are a;y."),
        ("a,y\nred,2\nblue,3\n", ["--target", "y"], "Column 'a' holds string, not numbers"),
        ("a,y\n2020-01-01,2\n", ["--target", "y"], "Column 'a' holds date32"),
        ("", ["--target", "y"], "is empty."),
        ("a,y\n", ["--target", "y"], "holds no rows"),
        ("y\n1\n", ["--target", "y"], "No input columns are left"),
        ("a,y\n1,2\n3\n", ["--target", "y"], "Expected 2 columns, got 1"),
        ("a,y\n,2\n,3\n", ["--target", "y", "--missing", "skip"], "No row could be learned"),
        ("a,y\n,2\n,3\n", ["--target", "y", "--missing", "impute"], "has no value in the first 2"),
        ("a,y\n1,2\n", ["--target", "y", "--solver", "magic"], "solver='magic' cannot be used"),
        ("a,y\n1,2\n", ["--target", "y", "--missing", "guess"], "--missing guess is not known"),
        ("a,y\n1,inf\n2,3\n", ["--target", "y", "--task", "regression"], "inf"),
        ("a,y\n1,red\n2,3\n", ["--target", "y", "--task", "regression"], "invalid value 'red'"),
    ],
)
def test_wrong_input_is_one_sentence(
    content: str, options: list[str], problem: str, tmp_path: Path
) -> None:
    (tmp_path / "rows.csv").write_text(content)
    result = run(tmp_path / "rows.csv", *options, "--out", tmp_path / "m")
    assert result.exit_code == 1, result.output
    assert problem in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert not (tmp_path / "m").exists()


def test_wrong_places_are_one_sentence(folder: Path, tmp_path: Path) -> None:
    rows = folder / "rows.csv"
    for source, out, problem in (
        (tmp_path / "absent.csv", tmp_path / "m", "No such file or directory"),
        (tmp_path, tmp_path / "m", "holds no .parquet files"),
        (rows, tmp_path / "no" / "m", "is not a folder"),
        (rows, tmp_path, "cannot be written"),
        (tmp_path / "rows.xyz", tmp_path / "m", "has none of the endings"),
    ):
        result = run(source, "--target", "y", "--out", out)
        assert result.exit_code == 1
        assert problem in result.stderr
        assert len(result.stderr.splitlines()) == 1
    assert run(rows, "--target", "y", "--out", "m", "--checkpoint-every", "x").exit_code == 2


def test_one_row_is_learned(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("a,y\n1,2.5\n")
    result = run(tmp_path / "rows.csv", "--target", "y", "--out", tmp_path / "m")
    assert "1 rows" in result.stdout
    assert "nothing to certify" in result.stdout
