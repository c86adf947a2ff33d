"""Every parameter of a model has its option, and the table of options is what `fit` takes."""

import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.random import RandomState
from typer.main import get_command
from typer.testing import CliRunner, Result

from okspca import OKSPCA
from okspca.cli import app
from okspca.estimators.parameters import READY_MADE
from okspca.files.fit_options import DEFAULTS, OPTIONS, SWITCH, off, value_of, words_of

#: Parameters that are objects; a command line cannot make them.
OBJECTS = set(READY_MADE)
#: Parameters of data frames: in files, text columns are encoded by --one-hot before the model.
OF_FRAMES = {"categories", "max_categories"}


def parameters() -> dict[str, Any]:
    found = inspect.signature(OKSPCA).parameters
    return {name: each.default for name, each in found.items() if name not in OBJECTS | OF_FRAMES}


def flags() -> dict[str, Any]:
    """What `okspca fit` can be given, by how it is typed."""
    command: Any = get_command(app).commands["fit"]  # type: ignore[attr-defined]
    return {flag: each for each in command.params for flag in [*each.opts, *each.secondary_opts]}


def test_every_parameter_that_can_be_typed_has_its_option() -> None:
    typed = flags()
    for name in parameters():
        flag = OPTIONS[name].flag if name in OPTIONS else "--" + name.replace("_", "-")
        assert flag in typed, f"OKSPCA takes {name}: enter it in okspca/files/fit_options.py"
    assert set(OPTIONS) <= set(parameters())


@pytest.mark.parametrize("name", OPTIONS)
def test_defaults_are_those_of_the_class_but_for_the_preset_and_the_seed(name: str) -> None:
    option = OPTIONS[name]
    if name not in DEFAULTS:
        assert option.default == parameters()[name]
        assert type(option.default) is type(parameters()[name])
    assert (option.kind == SWITCH) == isinstance(parameters()[name], bool)
    found = flags()[option.flag]
    assert found.default is None, "what is not typed must be told from what is"
    assert option.kind != SWITCH or off(option.flag) in found.secondary_opts


def test_the_good_setting_is_the_default() -> None:
    assert DEFAULTS == {"preset": "predictive", "random_state": 0}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("bandwidth", 2.5),
        ("bandwidth", "median"),
        ("ridge", 1e-3),
        ("frequencies", "drawn"),
        ("standardize", None),
        ("standardize", "frozen"),
        ("kernel", "matern32"),
    ],
)
def test_what_is_typed_for_a_value_gives_the_value(name: str, value: Any) -> None:
    assert value_of(name, words_of(name, value)[1]) == value


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("rows") / "rows.csv"
    X = RandomState(0).normal(size=(600, 3)).round(4)
    table = np.column_stack([X, X[:, 0] * X[:, 1]])
    np.savetxt(path, table, delimiter=",", header="a,b,c,y", comments="", fmt="%.6f")
    return path


def run(*words: object) -> Result:
    return CliRunner().invoke(app, ["fit", *map(str, words)])


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], {"preset": "predictive", "objective": "auto", "frequencies": "auto"}),
        (["--preset", "paper", "--kernel", "matern32"], {"preset": "paper", "kernel": "matern32"}),
        (["--objective", "covariance", "--frequencies", "mixed"], {"frequencies": "mixed"}),
        (["--frequencies", "drawn", "--ridge", "0.01"], {"frequencies": "drawn", "ridge": 0.01}),
        (["--window", "64", "--align"], {"window": 64, "align": True}),
        (["--sampling", "orthogonal", "--no-compress"], {"compress": False}),
        (["--target-features", "chebyshev"], {"target_features": "chebyshev"}),
        (["--target-bandwidth", "0.5", "--n-target-features", "7"], {"n_target_features": 7}),
        (["--standardize", "none", "--variance-floor", "paper"], {"standardize": None}),
        (["--threads", "3"], {"n_threads": 3}),
        (["--forget", "0.99", "--no-forget-standardizers"], {"forget_standardizers": False}),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_options_reach_the_model(
    words: list[str], expected: dict[str, Any], rows: Path, tmp_path: Path
) -> None:
    out = tmp_path / "m"
    size = ("--random-features", "16", "--components", "1")
    result = run(rows, "--target", "y", "--out", out, *size, *words)
    assert result.exit_code == 0, result.output
    found = OKSPCA.load(out).get_params()
    assert {name: found[name] for name in expected} == expected


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "Objective: predictive (whitened, trained frequencies)."),
        (("--preset", "paper"), "Objective: covariance, as in the paper."),
        (("--frequencies", "drawn"), "Objective: whitened, drawn frequencies."),
    ],
)
def test_the_last_lines_and_inspect_say_which_target_was_used(
    words: tuple[str, ...], told: str, rows: Path, tmp_path: Path
) -> None:
    result = run(rows, "--target", "y", "--out", tmp_path / "m", "--random-features", "8", *words)
    assert told in " ".join(result.stdout.split()), result.output
    inspected = CliRunner().invoke(app, ["inspect", str(tmp_path / "m")])
    assert told.removeprefix("Objective: ").rstrip(".") in inspected.stdout


def test_a_solver_that_cannot_whiten_is_told_what_to_add(rows: Path, tmp_path: Path) -> None:
    result = run(rows, "--target", "y", "--out", tmp_path / "m", "--solver", "adam")
    assert result.exit_code == 2
    assert "give 'exact', or preset='paper'" in result.stderr
    words = ("--solver", "adam", "--preset", "paper", "--random-features", "8")
    assert run(rows, "--target", "y", "--out", tmp_path / "m", *words).exit_code == 0
