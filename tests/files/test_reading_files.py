"""Places of values, several files, patterns, packed and typed pipes, and what is pointed out."""

import bz2
import gzip
import io
import json
import lzma
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import ipc, parquet
from typer.testing import CliRunner, Result

from okspca import OKSPCA
from okspca.cli import app
from okspca.errors import DataError
from okspca.estimators.saving import load_model
from okspca.files import delimited
from okspca.files.position import Position
from okspca.files.readers import expanded, rows_of
from okspca.files.reading import LABEL, Reading
from okspca.files.suspicions import suspicions

SMALL = ("--target", "y", "--random-features", "8", "--components", "1")


def run(*arguments: object, **options: bytes) -> Result:
    return CliRunner().invoke(app, [*map(str, arguments)], **options)  # type: ignore[arg-type]


def fit(*arguments: object, **options: bytes) -> Result:
    return run("fit", *arguments, *SMALL, **options)


def lines(n: int = 40) -> str:
    return "a,b,y\n" + "".join(f"{i}.5,{i % 7},{(i * i) % 11}.25\n" for i in range(n))


def test_pieces_of_a_wide_file_hold_many_rows(tmp_path: Path) -> None:
    """Every column of a piece has its price, so few rows a piece would make wide files slow."""
    names = ",".join(f"x{i}" for i in range(4000))
    row = ",".join(["1.234567"] * 4000)
    (tmp_path / "wide.csv").write_text("\n".join([names, *[row] * 300]) + "\n")
    found = [batch.num_rows for batch in rows_of([str(tmp_path / "wide.csv")])]
    assert sum(found) == 300
    assert len(found) <= 3


@pytest.mark.parametrize("far", [70_000, pytest.param(200_000, marks=pytest.mark.slow)])
def test_a_value_far_into_a_file_is_named(far: int, tmp_path: Path) -> None:
    text = "".join(f'{i}.5,"two\nlines",{i}\n' for i in range(far))
    path = tmp_path / "rows.csv"
    path.write_text(f'a,note,y\n{text}oops,"x",5\n1,x,2\n')
    with pytest.raises(DataError, match=rf"line {2 * far + 2:,}, column 'a': 'oops' is not a num"):
        list(rows_of([str(path)]))


def test_a_number_may_be_written_in_full_later(tmp_path: Path) -> None:
    """A column that pyarrow read itself meets a sign for thousands far into the file."""
    path, n = tmp_path / "rows.csv", 120_000
    rows = "".join(f'{i % 900},"1,234.5"\n' for i in range(n))
    path.write_text(f'a,b\n{rows}"12,345",−7\n')
    table = pa.Table.from_batches(list(rows_of([str(path)])))
    assert table.column("a").to_pylist() == [*(float(i % 900) for i in range(n)), 12345.0]
    assert table.column("b").to_pylist()[-2:] == [1234.5, -7.0]


def test_infinite_values_are_refused_unless_they_are_said_to_be_missing(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(lines() + "inf,1,2.5\n" + "1,2,-inf\n")
    for how in ("raise", "skip", "impute"):
        refused = fit(path, "--out", tmp_path / "m", "--missing", how)
        assert refused.stderr.startswith(f"{path}, line 42, column 'a': inf is not finite; if it")
    for how, learned in (("skip", 40), ("impute", 41)):
        result = fit(path, "--out", tmp_path / how, "--missing", how, "--na", "inf,-inf")
        assert result.exit_code == 0, result.output
        assert OKSPCA.load(tmp_path / how).n_samples_seen_ == learned
    embedded = run("transform", tmp_path / "skip", path, "--out", tmp_path / "z.csv")
    assert embedded.exit_code == 0, embedded.output
    assert (tmp_path / "z.csv").read_text().splitlines()[41] == ""


def test_infinity_in_json_lines_is_named(tmp_path: Path) -> None:
    path = tmp_path / "rows.ndjson"
    good = "".join(json.dumps({"a": i, "y": i / 2}) + "\n" for i in range(9))
    path.write_text(good + '\n{"a": Infinity, "y": 1}\n')
    refused = fit(path, "--out", tmp_path / "m")
    assert refused.stderr.startswith(f"{path}, line 11, column 'a': inf is not finite")


def test_files_agree_in_columns_whatever_their_order(tmp_path: Path) -> None:
    (tmp_path / "1.csv").write_text("a,b,y\n1,2,3\n")
    (tmp_path / "2.csv").write_text("y;b;a\n6;5;4,5\n")
    table = pa.Table.from_batches(list(rows_of(expanded([str(tmp_path / "*.csv")]))))
    assert table.to_pydict() == {"a": [1.0, 4.5], "b": [2.0, 5.0], "y": [3.0, 6.0]}
    (tmp_path / "3.csv").write_text("a,y\n1,2\n")
    with pytest.raises(DataError, match=r"3\.csv has no column 'b', which .*1\.csv has\."):
        list(rows_of(expanded([str(tmp_path / "*.csv")])))
    (tmp_path / "3.csv").write_text("a,b,c,y\n1,2,3,4\n")
    with pytest.raises(DataError, match=r"3\.csv has a column 'c', which .*1\.csv has not"):
        list(rows_of(expanded([str(tmp_path / "*.csv")])))
    (tmp_path / "3.csv").write_text("a,b,y\nred,2,3\nblue,2,3\n")
    with pytest.raises(DataError, match=r"3\.csv, line 2, column 'a': 'red' is not a number"):
        list(rows_of(expanded([str(tmp_path / "*.csv")])))
    with pytest.raises(DataError, match="No file fits the pattern"):
        expanded([str(tmp_path / "*.tsv")])


def zstd(data: bytes) -> bytes:
    out = pa.BufferOutputStream()
    with pa.CompressedOutputStream(out, "zstd") as packed:
        packed.write(data)
    return bytes(out.getvalue())


@pytest.mark.parametrize(
    ("pack", "ending"),
    [(gzip.compress, ".gz"), (bz2.compress, ".bz2"), (lzma.compress, ".xz"), (zstd, ".zst")],
)
def test_packed_files_and_pipes_are_unpacked(
    pack: Callable[[bytes], bytes], ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = lines(3000).encode()
    path = tmp_path / f"rows.csv{ending}"
    path.write_bytes(pack(plain))
    (tmp_path / "rows.csv").write_bytes(plain)
    wanted = pa.Table.from_batches(list(rows_of([str(tmp_path / "rows.csv")])))
    assert pa.Table.from_batches(list(rows_of([str(path)]))).equals(wanted)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(pack(plain))))
    assert pa.Table.from_batches(list(rows_of(["-"]))).equals(wanted)
    path.write_bytes(pack(plain)[:-20])
    with pytest.raises(DataError, match="is packed, but cannot be unpacked"):
        list(rows_of([str(path)]))


def test_a_pipe_shows_its_format(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = pa.table({"a": [1.5, 2.5], "y": [0.5, 1.0]})
    as_parquet, as_file, as_stream = (pa.BufferOutputStream() for _ in range(3))
    parquet.write_table(rows, as_parquet)
    for opened, out in ((ipc.new_file, as_file), (ipc.new_stream, as_stream)):
        with opened(out, rows.schema) as writer:
            writer.write_table(rows)
    for data in (
        b'{"a": 1.5, "y": 0.5}\n{"a": 2.5, "y": 1}\n',
        b"a;y\n1,5;0,5\n2,5;1\n",
        *(bytes(out.getvalue()) for out in (as_parquet, as_file, as_stream)),
    ):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        assert pa.Table.from_batches(list(rows_of(["-"]))).equals(rows), data


def test_only_the_first_lines_of_a_pipe_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    """However much has come already, a pipe is understood by the same lines."""
    monkeypatch.setattr(delimited, "PIPE_LINES", 3)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a,y\n1,2\n3,4\nred,5\n")))
    with pytest.raises(DataError, match="Standard input, line 4, column 'a': 'red' is not a num"):
        list(rows_of(["-"]))


def test_labels_stay_what_they_are_far_into_a_file(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("a,y\n" + "1,7\n" * 300_000 + "1,007\n")
    with pytest.raises(DataError, match="line 300,002, column 'y': '007' is not a whole number"):
        list(rows_of([str(path)], Reading(kinds={"y": LABEL})))


def test_lists_of_columns(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(lines())
    for words in (["--columns", "b,a"], ["--columns", "b", "--columns", "a"], ["--drop", "y"]):
        result = fit(path, *words, "--out", tmp_path / "m")
        assert result.exit_code == 0, result.output
    refused = fit(path, "--columns", "a,z", "--out", tmp_path / "m")
    assert "There is no column 'z'" in refused.stderr


def test_how_a_file_is_read_is_shown_in_one_line(tmp_path: Path) -> None:
    for number in (1, 2):
        (tmp_path / f"{number}.csv").write_text("a;y\n1,5;0\n2,5;1\n?;0\n")
    out = tmp_path / "m"
    result = fit(tmp_path / "*.csv", "--out", out, "--missing", "skip")
    shown = f"{tmp_path / '1.csv'}: semicolon, decimal comma, UTF-8, header, missing: '?'"
    assert result.stdout.splitlines()[0] == shown
    assert result.stdout.count("semicolon") == 1
    said = run("transform", out, tmp_path / "1.csv", "--out", "-")
    assert said.stderr == shown + "\n"
    assert len(said.stdout.splitlines()) == 4
    assert "semicolon" not in fit(tmp_path / "1.csv", "--out", out, "--quiet").output


def test_every_reading_command_takes_the_flags(tmp_path: Path) -> None:
    path, out = tmp_path / "rows.csv", tmp_path / "m"
    path.write_text(lines(120).replace(",", "~").replace("a~b~y\n", ""))
    flags = ["--delimiter", "~", "--no-header"]
    names = ["--target", "c3", "--random-features", "8"]
    assert run("fit", path, "--out", out, *names, *flags).exit_code == 0
    for words in (
        ["transform", out, path, "--out", tmp_path / "z.csv"],
        ["plot", out, path, "--out", tmp_path / "pictures", "--only", "embedding"],
        ["report", out, path, "--out", tmp_path / "report.html"],
        ["advise", path, *names, "--seconds", "0.1"],
    ):
        result = run(*words, *flags)
        assert result.exit_code == 0, (words, result.output)


def test_what_first_rows_give_away_is_said() -> None:
    random = np.random.RandomState(0)
    y = random.normal(size=30)
    label = np.array(["p", "q", "r"])[random.randint(3, size=30)]
    free = random.randint(3, size=30)
    code = np.select([label == "p", label == "q"], [5, 9], 2)
    rows = pa.table(
        {"c1": range(30), "x": 3 - y * 2, "code": code, "free": free, "y": y, "label": label}
    )
    told = list(suspicions(rows, ["c1", "x", "code", "free"], "y", "auto"))
    assert told == [
        "Column 'c1' counts the rows; leave it out with --drop c1.",
        "Column 'x' is the target 'y' times -2 plus 3; leave it out with --drop x.",
    ]
    told = list(suspicions(rows, ["x", "code", "free"], "label", "auto"))
    assert told == [
        "Column 'code' is the target 'label' in other words; leave it out with --drop code."
    ]
    whole = pa.table({"x": y, "n": random.permutation(30) * 1.0})
    assert not list(suspicions(whole, ["x"], "n", "regression"))


def test_values_without_a_category_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    colours = ["red"] * 20 + ["blue"] * 15 + ["green"] * 5
    path.write_text("c,y\n" + "".join(f"{c},{i % 7}.5\n" for i, c in enumerate(colours)))
    result = fit(path, "--out", tmp_path / "m", "--one-hot", "2")
    told = "Column 'c': 5 of 40 values are none of its 2 categories and count as zeros."
    assert told in result.stdout
    record = load_model(OKSPCA, tmp_path / "m")[1]
    assert record is not None
    assert record.others == (5,)


def test_a_missing_text_is_one_value(tmp_path: Path) -> None:
    """Though it is missing in every column that was made of it."""
    path = tmp_path / "rows.csv"
    colours = ["red", "blue", "green", ""] * 10
    rows = [f"{c},{'' if i % 8 == 0 else i},{i % 7}.5\n" for i, c in enumerate(colours)]
    path.write_text("c,x,y\n" + "".join(rows))
    fit(path, "--out", tmp_path / "m", "--one-hot", "3", "--missing", "impute")
    record = load_model(OKSPCA, tmp_path / "m")[1]
    assert record is not None
    assert record.values_imputed == 10 + 5


def test_places_of_rows() -> None:
    position = Position()
    position.note("a.csv", 3, 2)
    position.note("a.csv", 2, 5)
    position.note("b.csv", 2, 2, np.array([2, 7]))
    position.note("c.parquet", 4)
    places = [position.place(row) for row in (0, 4, 5, 6, 7, 9)]
    assert places == [
        *("a.csv, line 2", "a.csv, line 6", "b.csv, line 2", "b.csv, line 7"),
        *("c.parquet, row 1", "c.parquet, row 3"),
    ]
