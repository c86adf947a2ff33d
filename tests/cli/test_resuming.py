"""A resumed run takes its settings from the file; what contradicts it is named."""

from pathlib import Path

import numpy as np
import pytest
from numpy.random import RandomState
from typer.testing import CliRunner, Result

from okspca import OKSPCA
from okspca.cli import app
from okspca.estimators.saving import load_model, save_model
from okspca.state.streams import StreamRecord

N, HALF = 900, 512


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("rows") / "rows.csv"
    random = RandomState(0)
    town = np.array(["Aldham", "Bures", "Coln"])[random.randint(0, 3, N)]
    X = random.normal(size=(N, 2)).round(4)
    lines = [f"{a},{b},{t},{a * b:.6f},{int(a > 0)}" for (a, b), t in zip(X, town, strict=True)]
    path.write_text("\n".join(["a,b,town,y,sign", *lines]) + "\n")
    return path


def run(rows: Path, out: Path, *words: str) -> Result:
    return CliRunner().invoke(app, ["fit", str(rows), "--out", str(out), *words])


def half_way(rows: Path, out: Path, *words: str) -> None:
    """Fit to the first rows only, and let the file say that there are more."""
    part = out.with_suffix(".csv")
    part.write_text("".join(rows.read_text().splitlines(keepends=True)[: HALF + 1]))
    result = run(part, out, *words)
    assert result.exit_code == 0, result.output
    model, record = load_model(OKSPCA, out)
    assert record is not None
    save_model(model, out, record._replace(inputs=(str(rows),)))


OPTIONS = [
    ("--target", "y", "--drop", "town"),
    ("--target", "y", "--drop", "town", "--preset", "paper", "--seed", "3"),
    ("--target", "y", "--one-hot", "2", "--evaluate", "--missing", "skip"),
    ("--target", "sign", "--columns", "b", "--columns", "a", "--window", "64", "--align"),
    ("--target", "y", "--drop", "town", "--frequencies", "drawn", "--kernel", "matern32"),
]


@pytest.mark.parametrize("words", OPTIONS, ids=" ".join)
def test_no_option_has_to_be_given_again(
    words: tuple[str, ...], rows: Path, tmp_path: Path
) -> None:
    """The result is that of the same options given again, whatever those were."""
    small = ("--random-features", "8", "--components", "1")
    results = []
    for name, again in (("with", (*words, *small)), ("without", ())):
        out = tmp_path / name
        half_way(rows, out, *words, *small)
        result = run(rows, out, "--resume", *again)
        assert result.exit_code == 0, result.output
        results.append(out.read_bytes())
    assert OKSPCA.load(tmp_path / "with").n_samples_seen_ == N
    assert results[0] == results[1]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--seed", "1"), "--seed 1 was given, but {out} was fitted with --seed 0;"),
        (("--preset", "paper"), "--preset paper was given, but {out} was fitted with --preset pre"),
        (("--objective", "covariance"), "fitted with --objective whitened;"),
        (
            ("--frequencies", "drawn"),
            "--frequencies drawn was given, but {out} was fitted with --frequencies tr",
        ),
        (("--window", "64"), "--window 64 was given, but {out} was fitted with no --window;"),
        (("--align",), "--align was given, but {out} was fitted with --no-align;"),
        (
            ("--bandwidth", "2"),
            "--bandwidth 2.0 was given, but {out} was fitted with --bandwidth s",
        ),
        (("--task", "classification"), "fitted with --task regression;"),
        (("--missing", "skip"), "--missing skip was given, but {out} was fitted with --missing ra"),
        (("--target", "sign"), "--target sign was given, but {out} was fitted with --target y;"),
        (("--columns", "a"), "--columns a was given, but {out} was fitted with --columns a, b, to"),
        (("--drop", "a"), "--columns b, town was given, but {out} was fitted with --columns a, b"),
        (("--one-hot", "1"), "--one-hot 1 was given, but {out} was fitted with --one-hot 2;"),
        (("--evaluate",), "--evaluate was given, but {out} was fitted with no --evaluate;"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_an_option_that_contradicts_the_file_is_named(
    words: tuple[str, ...], told: str, rows: Path, tmp_path: Path
) -> None:
    out = tmp_path / "m"
    given = ("--target", "y", "--drop", "sign", "--one-hot", "2", "--random-features", "8")
    half_way(rows, out, *given)
    before = out.read_bytes()
    result = run(rows, out, "--resume", *words)
    assert result.exit_code == 1
    assert told.format(out=out) in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert out.read_bytes() == before
    assert run(rows, out, "--resume", "--objective", "auto", "--task", "auto").exit_code == 0


def test_a_resumed_run_may_use_other_threads(rows: Path, tmp_path: Path) -> None:
    half_way(rows, tmp_path / "m", "--target", "y", "--drop", "town", "--random-features", "8")
    assert run(rows, tmp_path / "m", "--resume", "--threads", "2").exit_code == 0
    assert OKSPCA.load(tmp_path / "m").n_threads == 2


def test_other_inputs_are_named(rows: Path, tmp_path: Path) -> None:
    half_way(rows, tmp_path / "m", "--target", "y", "--drop", "town", "--random-features", "8")
    other = tmp_path / "m.csv"
    result = run(other, tmp_path / "m", "--resume")
    assert f"{other} was given, but {tmp_path / 'm'} was fitted with {rows};" in result.stderr


@pytest.mark.parametrize("words", [(), ("--preset", "paper"), ("--objective", "covariance")])
def test_a_file_of_an_earlier_version_goes_on_with_the_papers_target(
    words: tuple[str, ...], rows: Path, tmp_path: Path
) -> None:
    """Such files say the objective, and neither a preset nor a relevance."""
    table = np.loadtxt(rows, delimiter=",", skiprows=1, usecols=(0, 1, 3))[:HALF]
    X, y = table[:, :2], table[:, 2]
    model = OKSPCA(
        1, n_random_features=8, objective="covariance", frequencies="drawn", random_state=0
    )
    record = StreamRecord((str(rows),), "y", ("a", "b"), "raise", HALF)
    save_model(model.partial_fit(X, y), tmp_path / "m", record)
    result = run(rows, tmp_path / "m", "--resume", *words)
    assert result.exit_code == 0, result.output
    assert "Objective: covariance, as in the paper." in result.stdout
    assert OKSPCA.load(tmp_path / "m").n_samples_seen_ == N


def test_without_a_file_to_go_on_from_the_target_is_asked_for(rows: Path, tmp_path: Path) -> None:
    for words in ((), ("--resume",)):
        result = run(rows, tmp_path / "m", *words)
        assert result.exit_code == 1
        assert result.stderr == "Name the target column with --target.\n"
