"""`okspca transform` and `okspca merge` do to files what the methods do to arrays."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from numpy.random import RandomState
from pyarrow import csv, ipc, parquet
from typer.testing import CliRunner, Result

from okspca import OKSPCA
from okspca.cli import app


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, list(map(str, arguments)))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    X = RandomState(0).normal(size=(90, 2)).round(6)
    rows = pa.table({"a": X[:, 0], "b": X[:, 1], "y": X[:, 0] ** 2})
    csv.write_csv(rows, tmp_path / "all.csv")
    csv.write_csv(rows.slice(0, 40), tmp_path / "one.csv")
    csv.write_csv(rows.slice(40), tmp_path / "two.csv")
    for name in ("all", "one", "two"):
        fit = (
            "fit",
            tmp_path / f"{name}.csv",
            "--target",
            "y",
            "--random-features",
            "8",
            "--frequencies",
            "drawn",
            "--quiet",
        )
        assert run(*fit, "--out", tmp_path / name).exit_code == 0
    return tmp_path


def read(path: Path) -> pa.Table:
    if path.suffix == ".parquet":
        return parquet.read_table(path)
    return csv.read_csv(path) if path.suffix == ".csv" else ipc.open_file(path).read_all()


def test_columns_of_zeros_are_no_warning(folder: Path) -> None:
    """Two classes have one supervised direction; the tests take warnings for errors."""
    rows = csv.read_csv(folder / "all.csv")
    labels = pa.array(["yes" if a > 0.0 else "no" for a in rows["a"].to_pylist()])
    csv.write_csv(rows.set_column(2, "y", labels), folder / "labels.csv")
    fit = ("fit", folder / "labels.csv", "--target", "y", "--random-features", "8", "--quiet")
    assert run(*fit, "--out", folder / "labels").exit_code == 0
    result = run("transform", folder / "labels", folder / "labels.csv", "--keep", "y")
    assert (result.exit_code, result.stderr) == (0, "")


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".arrow"])
def test_rows_are_embedded_in_every_format(ending: str, folder: Path) -> None:
    out = folder / f"z{ending}"
    result = run("transform", folder / "all", folder / "all.csv", "--out", out, "--keep", "y")
    assert result.stdout == f"90 rows were embedded in {out}\n"
    found, rows = read(out), csv.read_csv(folder / "all.csv")
    assert found.column_names == ["y", "okspca0", "okspca1"]
    X = np.column_stack([rows["a"], rows["b"]])
    Z = OKSPCA.load(folder / "all").transform(X)
    np.testing.assert_array_equal(np.column_stack([found["okspca0"], found["okspca1"]]), Z)


def test_rows_with_missing_inputs_stay_empty(folder: Path) -> None:
    (folder / "gaps.csv").write_text("b,a\n1,2\n,3\n0.5,1\n")
    out = folder / "z.parquet"
    assert run("transform", folder / "all", folder / "gaps.csv", "--out", out).exit_code == 0
    assert read(out)["okspca0"].is_valid().to_pylist() == [True, False, True]


def test_models_of_parts_are_pooled(folder: Path) -> None:
    result = run("merge", folder / "one", folder / "two", "--out", folder / "both")
    assert result.stdout == f"2 models of 90 rows are merged in {folder / 'both'}\n"
    direct = OKSPCA.load(folder / "one").merge(OKSPCA.load(folder / "two"))
    pooled = OKSPCA.load(folder / "both")
    np.testing.assert_array_equal(pooled.components_, direct.components_)
    assert "90 rows of merged models" in run("inspect", folder / "both").stdout
    embed = ("transform", folder / "both", folder / "all.csv", "--out", folder / "z.csv")
    assert run(*embed).exit_code == 0
    again = ("fit", folder / "one.csv", "--target", "y", "--random-features", "8", "--resume")
    assert "merged from several models" in run(*again, "--out", folder / "both").stderr


def test_what_cannot_be_done_is_one_sentence(folder: Path) -> None:
    other = ("fit", folder / "one.csv", "--target", "b", "--out", folder / "other", "--quiet")
    assert run(*other, "--random-features", "8").exit_code == 0
    OKSPCA(1).fit([[1.0], [2.0]], [0.5, 1.5]).save(folder / "nameless")
    (folder / "short.csv").write_text("a\n1\n")
    for arguments, problem in (
        (("merge", folder / "one", folder / "other", "--out", folder / "m"), "other columns"),
        (("merge", folder / "one", folder / "one.csv", "--out", folder / "m"), "not a model"),
        (("merge", folder / "one", "--out", folder / "m"), "at least two"),
        (("transform", folder / "one", folder / "short.csv", "--out", folder / "z.csv"), "'b'"),
        (("transform", folder / "one", folder / "one.csv", "--out", folder / "z.xls"), "endings"),
        (
            ("transform", folder / "nameless", folder / "one.csv", "--out", folder / "z.csv"),
            "names",
        ),
    ):
        result = run(*arguments)
        assert result.exit_code in (1, 2)
        assert problem in result.stderr
        assert len(result.stderr.splitlines()) == 1
    assert not list(folder.glob(".*.part"))
