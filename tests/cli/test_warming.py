"""Compiling ahead, and saying so when it was not done ahead.

Processes of their own are used throughout: what is compiled in this one depends on the tests that
ran before.
"""

import logging
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from okspca.cli import app, warming
from okspca.numerics import announcing, caching
from okspca.numerics.announcing import Announcer, announce
from okspca.numerics.helpers import HELPERS
from okspca.numerics.routes import Entry, routes
from okspca.services import BY_NAME

#: Every solver and kind of target, in shapes and layouts that warming itself does not use.
USE_EVERYTHING = """
import warnings
import numpy as np
import pandas as pd
from okspca import OKSPCA, RankWarning
from okspca.features import IdentityMap
from okspca.numerics.announcing import ANNOUNCER
from okspca.services import BY_NAME, Exact, WarmBlock

warnings.simplefilter("ignore", RankWarning)
random = np.random.RandomState(1)
X = random.normal(size=(300, 5))
several = np.column_stack([X[:, 0] ** 2, np.sin(X[:, 1])])
targets = {"labels": X[:, 0] > 0, "words": np.array(["a", "b", "c"])[np.digitize(X[:, 1], [-1, 1])],
           "number": several[:, 0], "numbers": several}
solvers = {**{name: name for name in BY_NAME}, "wide": Exact(block=WarmBlock(n_guards=1))}
settings = [{}, {"standardize": "frozen"}, {"standardize": None},
            {"forgetting": 0.9, "align": True}, {"input_map": IdentityMap(5)},
            {"compress": False, "kernel": "matern32"}]
for kind, y in targets.items():
    for name, solver in solvers.items():
        if name == "binary" and kind != "labels" or name == "contrast" and "number" in kind:
            continue
        for extra in settings:
            model = OKSPCA(1 if kind == "labels" else 3, n_random_features=64, solver=solver,
                           random_state=2, **extra)
            model.fit(pd.DataFrame(X[:99]).to_numpy(), y[:99])
            for x, target in zip(X[100:131], y[100:131]):  # past 128 rows, when work is due
                model.learn_one(x, target)
            model.partial_fit(X[131:132], y[131:132])
            model.partial_fit(X[200::2], y[200::2], sample_weight=np.arange(50.0))
            model.basis(), model.basis(kind="maintained"), model.diagnose()
            model.transform(np.asfortranarray(X)), model.transform(pd.DataFrame(X).iloc[::3])
X = random.normal(size=(2000, 2))
OKSPCA(2, n_random_features=128, random_state=0).fit(X, X[:, 0]).transform(X)
for ridge in (1e-10, 1.0):
    model = OKSPCA(2, n_random_features=64, objective="whitened", ridge=ridge, random_state=0)
    model.fit(X, X[:, 0]).basis()
print(ANNOUNCER.compiled)
"""
NOTHING_TO_DO = "Nothing had to be compiled."
USE_ONE_KERNEL = """
from okspca.numerics.cosine import vector_cosine
assert vector_cosine(0.0) == 1.0
"""


def python(code: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=True,
    )


@pytest.fixture(scope="module")
def warmed() -> "subprocess.CompletedProcess[str]":
    """Fill the usual cache, and say what warming it again does: once, where it is full already."""
    warm = "import okspca.cli; okspca.cli.app(['warm', '--keep'])"
    first = python(warm)
    return first if NOTHING_TO_DO in first.stdout else python(warm)


@pytest.mark.usefixtures("warmed")
def test_a_warm_process_compiles_nothing() -> None:
    assert python(USE_EVERYTHING).stdout == "0\n"


def test_warming_again_finds_nothing_to_do_and_says_where_the_cache_is(
    warmed: "subprocess.CompletedProcess[str]",
) -> None:
    assert NOTHING_TO_DO in warmed.stdout
    assert str(caching.FOLDER) in warmed.stdout
    assert warmed.stderr == ""


def test_only_caches_of_other_versions_are_deleted(tmp_path: Path) -> None:
    present = tmp_path / "okspca-kernels-present"
    old = tmp_path / "okspca-kernels-old"
    others = [tmp_path / name for name in ("numba", "my-okspca-kernels-old", "elsewhere")]
    for folder in (present, old, *others):
        folder.mkdir()
        (folder / "kernel.nbc").write_bytes(b"12345")
    file, link = tmp_path / "okspca-kernels-file", tmp_path / "okspca-kernels-link"
    file.touch()
    link.symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    assert list(warming.remove_others(present)) == [old]
    assert sorted(tmp_path.iterdir()) == sorted([present, *others, file, link])
    assert all((folder / "kernel.nbc").exists() for folder in (present, *others))
    assert warming.size_of(present) == 5


def test_old_caches_are_deleted_unless_they_are_to_be_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(warming, "cases", lambda: [("response", "exact", "causal")])
    present, old = tmp_path / "okspca-kernels-present", tmp_path / "okspca-kernels-old"
    present.mkdir()
    old.mkdir()
    monkeypatch.setattr(caching, "FOLDER", present)
    assert warming.warm(keep=True).removed == ()
    assert warming.warm().removed == (old,)


def test_helpers_begin_at_the_other_end(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[object] = []
    monkeypatch.setattr(warming, "compile_ahead", done.append)
    monkeypatch.setattr(warming, "exercise", lambda *case: done.append(case))
    warming.assist()
    assert done == [*routes(), *reversed(warming.cases())]


@pytest.mark.parametrize("is_empty", [True, False])
def test_helpers_are_asked_where_there_is_something_to_do(
    is_empty: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(warming, "cases", list)
    monkeypatch.setattr(caching, "FOLDER", tmp_path)
    monkeypatch.setattr(HELPERS, "work", lambda _, task: asked.append(task))
    held: list[Entry] = (
        [] if is_empty else [each for all_of in routes().values() for each in all_of]
    )
    for entry in held:
        (tmp_path / f"{entry.stem}-1.nbi").touch()
    warming.warm(keep=True)
    assert asked == ["okspca.cli.warming:assist"] * is_empty


def test_without_a_place_for_a_cache_the_command_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(warming, "cases", lambda: [("response", "exact", "causal")])
    monkeypatch.setattr(caching, "FOLDER", None)
    result = CliRunner().invoke(app, ["warm"])
    assert result.exit_code == 1
    assert "NUMBA_CACHE_DIR" in result.stderr


def test_every_solver_and_every_front_end_is_warmed() -> None:
    assert {solver for _, solver, _ in warming.cases()} == set(BY_NAME)
    assert {front_end for _, _, front_end in warming.cases()} == set(warming.FRONT_ENDS)


def test_layouts_hold_the_same_numbers_in_six_ways() -> None:
    array = np.arange(12.0).reshape(4, 3)
    kinds = warming.layouts(array)
    assert all(np.array_equal(kind, array) for kind in kinds)
    flags = {(k.flags.c_contiguous, k.flags.f_contiguous, k.flags.writeable) for k in kinds}
    assert len(flags) == len(kinds) == 6


def test_the_first_compilation_is_announced_once(caplog: pytest.LogCaptureFixture) -> None:
    announcer = Announcer()
    with caplog.at_level(logging.INFO, logger="okspca"):
        announcer.count("somewhere")
        announcer.count("somewhere")
    assert announcer.compiled == 2
    assert [(record.name, record.levelname) for record in caplog.records] == [("okspca", "INFO")]
    assert "okspca warm" in caplog.text


def test_a_long_compilation_tells_how_far_it_is(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds = iter([100.0, 101.9, 102.1, 104.0, 109.0])
    monkeypatch.setattr("okspca.numerics.announcing.time.monotonic", lambda: next(seconds))
    announcer = Announcer()
    with caplog.at_level(logging.INFO, logger="okspca"):
        for _ in range(5):
            announcer.count("somewhere")
    assert [record.message for record in caplog.records[1:]] == [
        "okspca has compiled 2 kernels and goes on.",
        "okspca has compiled 4 kernels and goes on.",
    ]


def test_waiting_for_another_process_is_told_like_compiling(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds = iter([100.0, 101.0, 103.0])
    monkeypatch.setattr("okspca.numerics.announcing.time.monotonic", lambda: next(seconds))
    announcer = Announcer()
    with caplog.at_level(logging.INFO, logger="okspca"):
        for _ in range(3):
            announcer.wait("somewhere")
    assert announcer.compiled == 0
    assert len(caplog.records) == 2
    assert "waits" in caplog.records[1].message


def test_without_a_cache_the_message_says_that_it_will_happen_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.INFO, logger="okspca"):
        announce(None)
    assert "in every process" in caplog.text
    assert "NUMBA_CACHE_DIR" in caplog.text


class TestWithoutLogging:
    """Where no handler is set up, standard error is told, whatever it is."""

    @pytest.fixture(autouse=True)
    def _no_handlers(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(announcing.LOGGER, "hasHandlers", lambda: False)
        # Another test may have run the code of a page that silences it.
        monkeypatch.setattr(announcing.LOGGER, "level", logging.NOTSET)

    def said(self, capsys: pytest.CaptureFixture[str]) -> str:
        announce("somewhere")
        return capsys.readouterr().err

    def test_a_pipe_gets_one_line(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert self.said(capsys).count("\n") == 1

    def test_no_standard_error_is_no_error(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys, "stderr", None)
        announce("somewhere")

    def test_a_level_above_info_silences_it(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(announcing.LOGGER, "level", logging.WARNING)
        assert self.said(capsys) == ""

    def test_commands_with_words_of_their_own_silence_it(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        with announcing.unannounced():
            assert self.said(capsys) == ""
        assert self.said(capsys) != ""


def test_a_real_compilation_is_logged_and_loading_from_the_cache_is_not(tmp_path: Path) -> None:
    code = "import logging; logging.basicConfig(level=logging.INFO, format='%(message)s')"
    place = {"NUMBA_CACHE_DIR": str(tmp_path)}
    first, second = (python(code + USE_ONE_KERNEL, **place) for _ in range(2))
    assert first.stderr.count("okspca is compiling its kernels") == 1
    assert second.stderr == ""


def test_compiling_in_a_pipe_without_logging_is_one_line(tmp_path: Path) -> None:
    said = python(USE_ONE_KERNEL, NUMBA_CACHE_DIR=str(tmp_path)).stderr
    assert said.startswith("okspca is compiling its kernels; ")
    assert said.count("\n") == 1


def test_logging_that_does_not_show_it_leaves_the_line_to_standard_error(tmp_path: Path) -> None:
    code = "import logging; logging.basicConfig(level=logging.WARNING)"
    said = python(code + USE_ONE_KERNEL, NUMBA_CACHE_DIR=str(tmp_path)).stderr
    assert said.startswith("okspca is compiling its kernels; ")


def test_importing_the_package_imports_no_compiler() -> None:
    code = "import sys, okspca; print('numba' in sys.modules, 'numpy' in sys.modules)"
    assert python(code).stdout == "False False\n"
