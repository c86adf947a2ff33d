"""The runner of studies: what is computed, resumed, told and how it ends; and what a study is."""

import inspect
import json
import os
import signal
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path

import pytest
import typer
from rich.console import Console

from okspca_lab.reproduce import STUDIES
from okspca_lab.studies.rows import Cell, Record, Row, RowFile
from okspca_lab.studies.runner import Part, complete, compute, ending_well

QUIET = Console(quiet=True)
COMMAND = "okspca reproduce squares"


def squared(cell: Cell) -> list[Row]:
    if cell["n"] == 13:
        raise ArithmeticError("thirteen")
    return [{"n": cell["n"], "square": cell["n"] ** 2}]


def squares(out: Path, *numbers: int) -> Part:
    return Part.of_cells(out, {}, [{"n": n} for n in numbers], squared)


def rows(out: Path) -> list[Row]:
    return sorted(RowFile(out / "rows.jsonl", {}).rows, key=lambda row: row["n"])


@pytest.mark.parametrize("jobs", [1, 2])
def test_cells_run_once_whatever_the_number_of_processes(tmp_path: Path, jobs: int) -> None:
    there = {"n": 1, "square": -1}
    RowFile(tmp_path / "rows.jsonl", {}).add({"n": 1}, [there], seconds=0.0)
    compute(squares(tmp_path, *range(4)), QUIET, command=COMMAND, jobs=jobs)
    assert rows(tmp_path) == [squared({"n": 0})[0], there, *squared({"n": 2}), *squared({"n": 3})]
    told = Record(tmp_path / "provenance.json").read()
    assert told is not None
    assert told["resumed"] == "1 of 4 cells were there from an earlier run"
    assert told["processes"].startswith(f"{jobs}, ")


def test_an_error_keeps_what_is_finished_and_tells_nothing(tmp_path: Path) -> None:
    with pytest.raises(ArithmeticError):
        compute(squares(tmp_path, 2, 13), QUIET, command=COMMAND)
    assert rows(tmp_path) == squared({"n": 2})
    assert not (tmp_path / "provenance.json").exists()


def test_a_run_that_computes_nothing_keeps_what_was_told(tmp_path: Path) -> None:
    compute(squares(tmp_path, 2), QUIET, command=COMMAND)
    before = (tmp_path / "provenance.json").read_bytes()
    assert json.loads(before)["command"] == COMMAND
    assert "resumed" not in json.loads(before)
    compute(squares(tmp_path, 2), QUIET, command="another")
    assert (tmp_path / "provenance.json").read_bytes() == before


def test_a_run_that_was_continued_took_what_its_cells_took(tmp_path: Path) -> None:
    RowFile(tmp_path / "rows.jsonl", {}).add({"n": 1}, [], seconds=120.0)
    compute(squares(tmp_path, 1, 2), QUIET, command=COMMAND)
    told = Record(tmp_path / "provenance.json").read()
    assert told is not None
    assert told["took"] == "2.0 minutes"


def test_parts_of_one_file_are_told_apart(tmp_path: Path) -> None:
    records = {n: Record(tmp_path / "provenance.json", str(n)) for n in (2, 3)}
    parts = [
        Part.of_cells(tmp_path, {}, [{"n": n}], squared, record=record, processes=n)
        for n, record in records.items()
    ]
    complete(parts, QUIET, command=COMMAND)
    assert [row["n"] for row in rows(tmp_path)] == [2, 3]
    told = {n: record.read() or {} for n, record in records.items()}
    assert {n: words["processes"][0] for n, words in told.items()} == {2: "2", 3: "3"}


def test_what_may_run_beside_does_so_and_is_waited_for(tmp_path: Path) -> None:
    slow = Part.of_cells(tmp_path / "slow", {}, [{"n": 3}], squared, beside=True)
    complete([squares(tmp_path, 2), slow], QUIET, command=COMMAND)
    assert rows(tmp_path / "slow") == squared({"n": 3})
    assert rows(tmp_path) == squared({"n": 2})


@pytest.mark.parametrize(
    ("failure", "code", "said"),
    [
        (ValueError("no such task"), 1, "no such task\n"),
        (RuntimeError("a process failed"), 1, "a process failed\n"),
        (PermissionError(13, "Permission denied", "out"), 1, "out: Permission denied.\n"),
        (KeyboardInterrupt(), 130, "Interrupted; the same command goes on from here.\n"),
    ],
)
def test_whatever_ends_a_study_is_one_sentence_and_a_code(
    failure: BaseException, code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(typer.Exit) as ended, ending_well():
        raise failure
    assert ended.value.exit_code == code
    assert capsys.readouterr().err == said
    assert signal.getsignal(signal.SIGTERM) is before


SLEEPERS = """
import sys, time
from pathlib import Path
from rich.console import Console
from okspca_lab.studies.runner import Part, compute, ending_well

def sleep(cell):
    Path(sys.argv[1], str(cell["n"])).touch()
    time.sleep(600)
    return []

if __name__ == "__main__":
    out = Path(sys.argv[1])
    with ending_well():
        part = Part.of_cells(out, {}, [{"n": n} for n in range(4)], sleep)
        compute(part, Console(quiet=True), command="sleep", jobs=2)
"""


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="needs groups of processes")
def test_a_request_to_end_waits_for_no_cell(tmp_path: Path) -> None:
    script = tmp_path / "sleepers.py"
    script.write_text(SLEEPERS)
    study = subprocess.Popen(
        [sys.executable, str(script), str(tmp_path)], stderr=subprocess.PIPE, start_new_session=True
    )
    while not ((tmp_path / "0").exists() and (tmp_path / "1").exists()):
        assert study.poll() is None
        time.sleep(0.05)
    study.terminate()
    assert study.communicate(timeout=60)[1].startswith(b"Interrupted")
    for _ in range(200):  # until the system has cleared away the processes that ended
        try:
            os.killpg(study.pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    pytest.fail("a process of the study goes on")


@pytest.mark.parametrize("study", [*STUDIES, "prediction.beyond"])
def test_the_same_names_mean_the_same_thing_in_all_studies(study: str) -> None:
    files = {
        name: import_module(f"okspca_lab.studies.{study}.{name}")
        for name in ("plan", "cells", "results", "tables", "figures", "page")
    }
    assert callable(files["plan"].planned)
    assert next(iter(inspect.signature(files["cells"].work).parameters)) == "cell"
    assert list(inspect.signature(files["cells"].parts).parameters) == ["plan", "out"]
    assert list(inspect.signature(files["page"].write).parameters) == ["plan", "out", "console"]
    assert files["figures"].CAPTIONS
    assert callable(files["figures"].draw)
    folder = Path(str(files["plan"].__file__)).parent
    for old in ("run", "study", "report", "render", "picture", "pictures", "setting"):
        assert not (folder / f"{old}.py").exists()
