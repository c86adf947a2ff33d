"""`okspca fit`: the same from every format, resumed to the last bit, wrong input in a sentence."""

import gzip
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
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
from okspca.cli.display import Progress
from okspca.cli.interruption import Interruption
from okspca.errors import DataError
from okspca.estimators.saving import load_model, save_model
from okspca.files.fitting import BLOCK, block_end, blocks
from okspca.files.fitting import SMALL as SMALL_BLOCK
from okspca.files.ridges import RIDGES

N = 2 * BLOCK + 300
SMALL = ("--random-features", "16", "--components", "1", "--preset", "paper")


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


@pytest.mark.parametrize(
    "options", [(), ("--evaluate",), ("--stability", "4"), ("--bandwidth", "median", "--evaluate")]
)
def test_an_interrupted_run_resumes_to_the_last_bit(
    options: tuple[str, ...], folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = (folder / "rows.csv", "--target", "y", "--drop", "label", *options, "--out")
    assert run(*rows, tmp_path / "whole").exit_code == 0
    monkeypatch.setattr(Progress, "show", lambda *_: setattr(Interruption, "wanted", True))
    monkeypatch.setattr(Interruption, "wanted", False, raising=False)
    monkeypatch.setattr(Interruption, "code", 130, raising=False)
    monkeypatch.setattr(Interruption, "__init__", lambda self: None)
    monkeypatch.setattr(Interruption, "restore", lambda self: None)
    stopped = run(*rows, tmp_path / "part")
    assert stopped.exit_code == 130
    assert stopped.stderr == f"Interrupted after {SMALL_BLOCK} rows; go on with --resume.\n"
    assert load_model(OKSPCA, tmp_path / "part")[1].rows_read == SMALL_BLOCK  # type: ignore[union-attr]
    monkeypatch.undo()
    assert run(*rows, tmp_path / "part", "--resume").exit_code == 0
    assert (tmp_path / "part").read_bytes() == (tmp_path / "whole").read_bytes()


@pytest.mark.slow
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
        "def save_and_die(*arguments, **options):\n"
        "    save(*arguments, **options)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        "saving.save_model = save_and_die\n"
        "from okspca.cli import app\n"
        "app()\n"
    )
    words[1:3] = ["-c", script]
    every = ["--checkpoint-every", str(BLOCK)]
    with (folder / "rows.csv").open("rb") as rows_again:
        command = [*words, *SMALL, *every]
        killed = subprocess.run(command, stdin=rows_again, check=False, env=os.environ)
    assert killed.returncode == -signal.SIGKILL
    again = run("-", *rows, tmp_path / "part", "--resume", input=data)
    assert again.exit_code == 0, again.output
    assert (tmp_path / "part").read_bytes() == (tmp_path / "whole").read_bytes()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals differ")
def test_ctrl_c_ends_a_run_whose_pipe_is_silent(folder: Path, tmp_path: Path) -> None:
    """What came before the silence is saved; nobody waits for the rest."""
    words = [sys.executable, "-c", "from okspca.cli import app; app()", "fit", "-", "--json"]
    words += ["--target", "y", "--drop", "label", "--out", str(tmp_path / "m"), *SMALL]
    words += ["--checkpoint-every", "1"]
    header, *lines = (folder / "rows.csv").read_text().splitlines(keepends=True)
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        # More than a block of text, so that rows are learned, and then no end of the file.
        process.stdin.write(header + "".join(lines) * 20)
        process.stdin.flush()
        while not (tmp_path / "m").exists() and process.poll() is None:
            os.sched_yield()
        process.send_signal(signal.SIGINT)
        said = process.stderr.read()
    assert process.returncode == 130
    assert re.fullmatch(r"Interrupted after \d+ rows; go on with --resume --new-rows.\n", said)
    assert OKSPCA.load(tmp_path / "m").n_samples_seen_ >= SMALL_BLOCK


def test_resuming_with_other_options_or_columns_is_refused(folder: Path, tmp_path: Path) -> None:
    rows = (folder / "rows.csv", "--out", tmp_path / "m", "--target")
    assert run(*rows, "y", "--drop", "label").exit_code == 0
    other = run(*rows, "y", "--drop", "label", "--seed", "1", "--resume")
    assert "--seed 1 was given, but" in other.stderr
    other = run(*rows, "c", "--drop", "label", "--resume")
    assert "was fitted with --target y" in other.stderr


def test_missing_values_are_refused_skipped_or_filled_in(tmp_path: Path) -> None:
    path = tmp_path / "gaps.csv"
    path.write_text("a,b,y\n1,2,0.5\n3,,1.5\n2,7,\n5,1,2.5\n0,3,0.25\n")
    refused = run(path, "--target", "y", "--out", tmp_path / "m")
    assert refused.stderr.startswith(f"{path}, line 3, column 'b' has no value; use --missing")
    for how, skipped, filled, learned in (("skip", 2, 0, 3), ("impute", 1, 1, 4)):
        result = run(path, "--target", "y", "--out", tmp_path / how, "--missing", how, "--json")
        told = json.loads(result.stdout.splitlines()[-1])
        assert (told["rows_skipped"], told["values_imputed"]) == (skipped, filled)
        assert OKSPCA.load(tmp_path / how).n_samples_seen_ == learned
    # The mean of what column b held before row 2 is what was filled in there.
    mean = OKSPCA.load(tmp_path / "impute").input_standardizer_.mean[1]  # type: ignore[attr-defined]
    np.testing.assert_allclose(mean, np.mean([2.0, 2.0, 1.0, 3.0]))


@pytest.mark.parametrize("how", ["skip", "impute"])
def test_the_model_deals_with_missing_values_as_in_python(tmp_path: Path, how: str) -> None:
    random = np.random.RandomState(0)
    X = np.where(random.rand(700, 3) < 0.2, np.nan, random.normal(size=(700, 3)))
    y = random.normal(size=700)
    y[3] = np.nan
    columns = dict(zip("abcy", [*X.T, y], strict=True))
    gappy = {name: pa.array(column, from_pandas=True) for name, column in columns.items()}
    csv.write_csv(pa.table(gappy), tmp_path / "rows.csv")
    options = ("--target", "y", "--out", tmp_path / "m", "--missing", how, "--evaluate")
    assert run(tmp_path / "rows.csv", *options).exit_code == 0
    found = OKSPCA.load(tmp_path / "m")
    expected = OKSPCA(**found.get_params())
    for rows in (slice(256), slice(256, 512), slice(512, 700)):
        expected.partial_fit(X[rows], y[rows])
    assert found.missing == how
    assert found.to_bytes() == expected.to_bytes()
    assert run(tmp_path / "rows.csv", *options, "--resume").exit_code == 0


@pytest.mark.parametrize("how", ["raise", "skip", "impute"])
def test_infinity_is_named_by_row_of_the_file_and_column(tmp_path: Path, how: str) -> None:
    lines = [f"{i % 7},{'' if i == 5 and how != 'raise' else i % 5},{i % 3}.5" for i in range(400)]
    lines[300] = "1,inf,0.5"
    (tmp_path / "rows.csv").write_text("\n".join(["a,b,y", *lines]) + "\n")
    result = run(tmp_path / "rows.csv", "--target", "y", "--out", tmp_path / "m", "--missing", how)
    where = f"{tmp_path / 'rows.csv'}, line 302, column 'b'"
    assert result.stderr.startswith(f"{where}: inf is not finite; if it stands for a missing")


def test_a_checkpoint_whose_model_knew_nothing_of_missing_values_goes_on(tmp_path: Path) -> None:
    random = np.random.RandomState(0)
    rows = ["a,b,y", *(f"{a:.3f},{b:.3f},{a * b:.3f}" for a, b in random.normal(size=(600, 2)))]
    rows[550] = "1,,0.5"
    path, out = tmp_path / "rows.csv", tmp_path / "m"
    path.write_text("\n".join(rows[:513]) + "\n")
    options = (path, "--target", "y", "--out", out, "--missing", "impute")
    assert run(*options).exit_code == 0
    model, record = load_model(OKSPCA, out)
    earlier = OKSPCA(**{**model.get_params(), "missing": "raise"}).fit(*_columns_of(path))
    save_model(earlier, out, record)
    path.write_text("\n".join(rows) + "\n")
    assert run(*options, "--resume").exit_code == 0
    resumed = OKSPCA.load(out)
    assert (resumed.n_samples_seen_, resumed.n_values_imputed_) == (600, 1)


def _columns_of(path: Path) -> tuple[Any, Any]:
    rows = csv.read_csv(path)
    return np.column_stack([rows["a"], rows["b"]]), rows["y"].to_numpy()


@pytest.mark.parametrize(
    ("content", "options", "problem"),
    [
        ("a,y\n1,2\n", ["--target", "z"], "There is no column 'z'; the columns are a, y."),
        ("a;y\n1;2\n", ["--target", "y", "--delimiter", ","], "the columns are a;y. The values"),
        ("a;y\n1;2\n", ["--target", "y", "--delimiter", ","], "try --delimiter."),
        ("a,y\nred,2\nblue,3\n", ["--target", "y"], "Column 'a' holds text; make indicator"),
        ("a,y\n2020-01-01,2\n", ["--target", "y"], "Column 'a' holds dates or times; use --dates"),
        ("a,a,y\n1,2,3\n", ["--target", "y"], "There are several columns 'a'"),
        ("a,y\n1,2\n", ["--target", "y"], "Only one row could be learned"),
        ("a,y\n1,2\n", ["--target", "y", "--format", "xls"], "--format xls is not known"),
        ("a,y\n1,2\n", ["--target", "y", "--delimiter", "::"], "is not a single sign"),
        ("a,b,y\n1,,2\n2,,3\n", ["--target", "y"], "line 2, column 'b' has no value"),
        ("", ["--target", "y"], "is empty."),
        ("a,y\n", ["--target", "y"], "holds no rows"),
        ("y\n1\n", ["--target", "y"], "No input columns are left"),
        ("a,y\n1,2\n3\n", ["--target", "y"], "line 3 has 1 value, but there are 2 columns."),
        ("a,y\n,2\n,3\n", ["--target", "y", "--missing", "skip"], "No row could be learned"),
        ("a,y\n,2\n,3\n", ["--target", "y", "--missing", "impute"], "has no value in the first 2"),
        ("a,y\n1,inf\n2,3\n", ["--target", "y", "--task", "regression"], "line 2, column 'y': inf"),
        (
            "a,y\n1,red\n2,3\n",
            ["--target", "y", "--task", "regression"],
            "line 2, column 'y': 'red'",
        ),
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


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--solver", "magic"], "solver='magic' cannot be used"),
        (
            ["--missing", "guess"],
            "missing='guess' cannot be used; give one of 'raise', 'skip', 'impute'",
        ),
        (["--random-features", "1000000000000"], "n_random_features=1000000000000 needs at least"),
    ],
)
def test_wrong_option_values_are_told_before_any_work(
    options: list[str], problem: str, tmp_path: Path
) -> None:
    words = ["fit", str(tmp_path / "absent.csv"), "--target", "y", "--out", str(tmp_path / "m")]
    result = CliRunner().invoke(app, [*words, *options])
    assert result.exit_code == 2, result.output
    assert problem in result.stderr
    assert len(result.stderr.splitlines()) == 1


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


def test_a_target_of_two_types_is_named(tmp_path: Path) -> None:
    """In a later part of a CSV, and in JSON."""
    numbers = "".join(f"{i},{i % 7}.5\n" for i in range(150_000))
    (tmp_path / "rows.csv").write_text(f"a,y\n{numbers}5,red\n")
    (tmp_path / "rows.ndjson").write_text('{"a": 1, "y": 2}\n{"a": 2, "y": "red"}\n')
    for name, problem in (
        ("rows.csv", "rows.csv, line 150,002, column 'y': 'red' is not a number"),
        ("rows.ndjson", "rows.ndjson, line 2, column 'y': \"red\" is not a number."),
    ):
        result = run(tmp_path / name, "--target", "y", "--out", tmp_path / "m")
        assert result.exit_code == 1
        assert problem in result.stderr
        assert len(result.stderr.splitlines()) == 1


def test_places_without_permission_are_one_sentence(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The superuser may read and write everywhere, so the answer of the system is replaced.
    monkeypatch.setattr(os, "access", lambda place, _: Path(place) != tmp_path)
    for source, out in ((tmp_path, folder / "m"), (folder / "rows.csv", tmp_path / "m")):
        result = run(source, "--target", "y", "--out", out)
        assert result.exit_code == 1
        assert re.search("Permission denied|cannot be written", result.stderr)
        assert len(result.stderr.splitlines()) == 1


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system with room for one model and no second one."""
    place = tmp_path / "small"
    place.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", "size=32k", "none", str(place)]
    if (
        sys.platform != "linux"
        or subprocess.run(words, capture_output=True, check=False).returncode
    ):
        pytest.skip("a small file system can be made only by the superuser of Linux")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_a_full_disk_is_one_sentence_and_the_last_checkpoint_stays(
    folder: Path, small_disk: Path
) -> None:
    rows = (folder / "rows.csv", "--target", "y", "--drop", "label", "--out", small_disk / "m")
    (small_disk / "ballast").write_bytes(bytes(8192))
    result = run(*rows, "--checkpoint-every", "1")
    assert result.exit_code == 1
    assert "cannot be written: No space left on device." in result.stderr
    assert len(result.stderr.splitlines()) == 1
    left = sorted(path.name for path in small_disk.iterdir())
    assert left in (["ballast"], ["ballast", "m"], ["ballast", "m", "m.previous"])
    if "m" in left:
        assert OKSPCA.load(small_disk / "m").n_samples_seen_ >= SMALL_BLOCK


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="pipes differ")
def test_a_closed_pipe_ends_quietly(folder: Path, tmp_path: Path) -> None:
    words = [sys.executable, "-c", "from okspca.cli import app; app()", "fit"]
    words += [str(folder / "rows.csv"), "--target", "y", "--drop", "label"]
    with subprocess.Popen(
        [*words, "--out", str(tmp_path / "m"), *SMALL],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        said = process.stderr.read()
    assert process.returncode == 141
    assert said == ""
    assert OKSPCA.load(tmp_path / "m").n_samples_seen_ == N


def test_only_debug_shows_a_traceback(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("a,y\n1,2\n")
    arguments = (tmp_path / "rows.csv", "--target", "z", "--out", tmp_path / "m")
    assert isinstance(run(*arguments, "--debug").exception, DataError)
    assert isinstance(run(*arguments).exception, SystemExit)


def test_text_and_dates_become_numbers_and_transform_does_the_same(tmp_path: Path) -> None:
    random = RandomState(3)
    colour = np.array(["red", "blue", "green", None], dtype=object)[random.randint(0, 4, 300)]
    colour[:3] = ["blue", "red", "green"]
    days = np.datetime64("2020-01-01") + random.randint(0, 400, 300)
    y = (colour == "red") + 0.001 * np.arange(300)
    rows = pa.table({"colour": pa.array(colour), "day": days, "n": np.arange(300.0), "y": y})
    csv.write_csv(rows, tmp_path / "rows.csv")
    parquet.write_table(rows, tmp_path / "rows.parquet")
    options = ("--target", "y", "--missing", "skip", "--one-hot", "2", "--dates")
    model = fitted(tmp_path / "m", tmp_path / "rows.csv", *options)
    counts = {name: int((colour == name).sum()) for name in ("red", "blue", "green")}
    kept = sorted(counts, key=lambda name: (-counts[name], name))[:2]
    known = np.array([value is not None for value in colour])
    since = (days - np.datetime64("1970-01-01")).astype(float)
    X = np.column_stack([*(colour == name for name in kept), since, np.arange(300.0)]).astype(float)
    direct = OKSPCA(1, n_random_features=16, random_state=0)
    direct.partial_fit(X[:256][known[:256]], y[:256][known[:256]])
    direct.partial_fit(X[256:][known[256:]], y[256:][known[256:]])
    np.testing.assert_array_equal(model.components_, direct.components_)
    for name in ("rows.csv", "rows.parquet"):
        words = ("transform", tmp_path / "m", tmp_path / name, "--out", tmp_path / "z.parquet")
        result = CliRunner().invoke(app, list(map(str, words)))
        assert result.exit_code == 0, result.output
        Z = parquet.read_table(tmp_path / "z.parquet")["okspca0"]
        assert Z.is_valid().to_pylist() == known.tolist()
        np.testing.assert_array_equal(Z.drop_null().to_numpy(), direct.transform(X[known])[:, 0])


def test_the_running_score_is_that_of_a_plain_ridge_regression(
    folder: Path, tmp_path: Path
) -> None:
    """Written again with scikit-learn, from the features that each block had before learning."""
    rows = (folder / "rows.csv", "--target", "y", "--drop", "label", "--evaluate", "--json")
    result = run(*rows, "--out", tmp_path / "m")
    told = json.loads(result.stdout.splitlines()[-1])["scores"]
    data = table()
    X = np.column_stack([data[name].to_numpy().astype(float) for name in ("a", "b", "c")])
    y, model = data["y"].to_numpy(), OKSPCA(1, n_random_features=16, random_state=0)
    model.partial_fit(X[:256], y[:256])
    seen: list[tuple[Any, Any, Any]] = []
    losses, start = np.zeros(3), 256
    while start < N:
        some = slice(start, block_end(start))
        Phi = model.input_map_.transform(model.input_standardizer_.transform(X[some]))
        if seen:
            past = [np.concatenate(part) for part in zip(*seen, strict=True)]
            U = model.components_.T
            guesses = [
                ridge(past[0], U, past[2], Phi),
                ridge(
                    past[1] / past[1].std(axis=0), np.eye(3), past[2], X[some] / past[1].std(axis=0)
                ),
                np.full(len(Phi), past[2].mean()),
            ]
            losses += [((guess - y[some]) ** 2).sum() for guess in guesses]
        seen.append((Phi, X[some], y[some]))
        model.partial_fit(X[some], y[some])
        start = block_end(start)
    assert told["measure"] == "R²"
    assert told["rows"] == N - 2 * 256
    np.testing.assert_allclose(told["embedding"], 1.0 - losses[0] / losses[2], rtol=1e-9)
    np.testing.assert_allclose(told["inputs"], 1.0 - losses[1] / losses[2], rtol=1e-9)


def ridge(F: Any, W: Any, t: Any, F_new: Any) -> Any:
    """Ridge regression within the span of W, its penalty by cross-validation there."""
    Q = np.linalg.qr(W)[0]
    centred, response = (F - F.mean(axis=0)) @ Q, t - t.mean()
    gram, n = centred.T @ centred, len(t)
    errors = []
    for penalty in (each * np.trace(gram) / len(gram) for each in RIDGES):
        inverse = np.linalg.inv(gram + penalty * np.eye(len(gram)))
        left = response - centred @ (inverse @ (centred.T @ response))
        errors.append((left @ left / (1.0 - (1.0 + np.trace(inverse @ gram)) / n) ** 2, penalty))
    penalty = min(errors)[1]
    slopes = np.linalg.solve(gram + penalty * np.eye(len(gram)), centred.T @ response)
    return t.mean() + (F_new - F.mean(axis=0)) @ Q @ slopes


def test_classes_are_scored_by_the_share_that_is_right(folder: Path, tmp_path: Path) -> None:
    rows = (folder / "rows.csv", "--target", "label", "--columns", "a", "--columns", "b")
    result = run(*rows, "--evaluate", "--json", "--out", tmp_path / "m")
    told = json.loads(result.stdout.splitlines()[-1])["scores"]
    assert told["measure"] == "accuracy"
    assert {"pca", "linear", "other", "features"} <= set(told["entries"])
    assert 0.3 < told["neither"] < told["inputs"] <= 1.0
    inspected = CliRunner().invoke(app, ["inspect", str(tmp_path / "m"), "--json"])
    assert json.loads(inspected.stdout)["scores"] == told


def test_the_first_line_of_an_evaluated_fit_is_the_verdict(folder: Path, tmp_path: Path) -> None:
    rows = (folder / "rows.csv", "--target", "label", "--columns", "a", "--columns", "b")
    result = run(*rows, "--evaluate", "--out", tmp_path / "m")
    first, second = " ".join(result.stdout.split()).split(" Objective:")
    assert re.match(r"The reduction .*: 1 component predicts 'label' right in \d", first)
    for words in (
        "LDA with 1 component",
        "PCA with 1 component",
        "always guessing",
        "all 2 inputs",
    ):
        assert words in first
    assert re.match(r" covariance, as in the paper\. .* would do (better|worse|the same)", second)
    inspected = CliRunner().invoke(app, ["inspect", str(tmp_path / "m"), "--json"])
    assert json.loads(inspected.stdout)["verdict"] == first


def test_the_verdict_on_two_classes_names_one_component(tmp_path: Path) -> None:
    """As many components as there are, though two were asked for."""
    data, rows = tmp_path / "rows.csv", RandomState(0).normal(size=(900, 3))
    lines = [f"{a:.4f},{b:.4f},{c:.4f},{'yes' if a > 0 else 'no'}" for a, b, c in rows]
    data.write_text("\n".join(["a,b,c,label", *lines]) + "\n")
    fit = ("fit", data, "--target", "label", "--random-features", "16", "--evaluate")
    result = CliRunner().invoke(app, [*map(str, fit), "--out", str(tmp_path / "m")])
    told = " ".join(result.stdout.split())
    assert "1 component predicts 'label' right" in told
    assert "LDA with 1 component" in told
    assert "PCA with 2 components" in told


def test_a_fit_without_an_evaluation_claims_nothing(folder: Path, tmp_path: Path) -> None:
    rows = (folder / "rows.csv", "--target", "y", "--drop", "label")
    result = run(*rows, "--out", tmp_path / "m")
    assert "reduction" not in result.stdout
    assert "Objective: covariance, as in the paper.\n" in result.stdout
    inspected = CliRunner().invoke(app, ["inspect", str(tmp_path / "m")])
    assert "not evaluated" in inspected.stdout
