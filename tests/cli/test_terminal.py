"""Names from data and files are shown, never obeyed by the terminal."""

import json
from pathlib import Path

import pytest
from numpy.random import RandomState
from typer.testing import CliRunner, Result

from okspca.cli import app

#: Clears the screen; sets the title of the window; moves up; a control sequence of one sign;
#: turns the direction of writing; and a formula that is none.
NASTY = "\x1b[2J\x1b]0;title\x07\x1b[1A\x9b5m\u202e$\\x$"
SMALL = ("--random-features", "8", "--components", "1", "--frequencies", "drawn")


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, list(map(str, arguments)), color=True)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp(f"names{NASTY.replace('/', '')}")
    X = RandomState(0).normal(size=(60, 2)).round(6)
    header = f"a{NASTY},b{NASTY}c,y{NASTY}\n"
    rows = "".join(f"{a},{b},{'yes' if a > b else 'no'}{NASTY}\n" for a, b in X)
    (folder / f"rows{NASTY}.csv").write_text(header + rows)
    out = folder / f"model{NASTY}"
    words = ("fit", folder / f"rows{NASTY}.csv", "--target", f"y{NASTY}", *SMALL, "--out", out)
    is_harmless(run(*words))
    return out


def is_harmless(result: Result, code: int = 0) -> None:
    assert result.exit_code == code, result.output
    assert all(line.isprintable() for line in result.output.splitlines()), result.output
    assert result.output


def test_describing_a_model(model: Path) -> None:
    result = run("inspect", model)
    is_harmless(result)
    shown = "".join(line.strip() for line in result.stdout.splitlines())
    assert r"\x1b[2J\x1b]0;title\x07\x1b[1A\x9b5m\u202e$\x$" in shown
    is_harmless(run("inspect", model, "--json"))
    assert f"a{NASTY}" in json.loads(run("inspect", model, "--json").stdout)["columns"]


def test_embedding_pooling_drawing_and_reporting(model: Path) -> None:
    folder, rows = model.parent, model.with_name(f"rows{NASTY}.csv")
    is_harmless(run("transform", model, rows, "--out", folder / f"z{NASTY}.csv"))
    is_harmless(run("merge", model, model, "--distinct", "--out", folder / f"both{NASTY}"))
    is_harmless(run("plot", model, rows, "--out", folder, "--only", "spectrum"))
    is_harmless(run("report", model, rows, "--out", folder / f"page{NASTY}.html"))
    is_harmless(run("report", model, rows, "--out", "-"))


def test_errors_that_quote_names(model: Path) -> None:
    folder, rows = model.parent, model.with_name(f"rows{NASTY}.csv")
    out = ("--out", folder / f"other{NASTY}")
    fit = ("fit", rows, *SMALL, *out)
    for words in (
        (*fit, "--target", "absent"),
        (*fit, "--target", f"y{NASTY}", "--missing", NASTY),
        (*fit, "--target", f"y{NASTY}", "--format", NASTY),
        ("fit", f"{NASTY}.csv", "--target", "y", *out),
        ("fit", rows, "--target", f"b{NASTY}c", *SMALL, *out),
        ("transform", rows, model, "--out", folder / "z.csv"),
        ("inspect", f"absent{NASTY}"),
        ("report", f"absent{NASTY}"),
        ("merge", model, f"absent{NASTY}", *out),
        ("advise", rows, "--target", "absent"),
        ("reproduce", "drift", "--out", rows),
        ("reproduce", "services", "--out", rows),
        ("bench", "--out", rows),
    ):
        result = run(*words)
        assert result.exit_code in (1, 2)
        is_harmless(result, result.exit_code)


@pytest.mark.slow
def test_the_demo_names_its_picture(tmp_path: Path) -> None:
    is_harmless(run("demo", "--rows", "100", "--out", tmp_path / f"picture{NASTY}.png"))
