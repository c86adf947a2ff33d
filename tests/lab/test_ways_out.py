"""Errors and signals end `okspca fit` as they should; a few of each kind."""

import math
import sys
from pathlib import Path

import pytest

from okspca_lab.ordeals.bad_inputs import BAD, Bad, bad_run
from okspca_lab.ordeals.signalled import SIGNALLED
from okspca_lab.ordeals.ways_out import Ending, append, known, plan, run, table

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals differ")


def test_every_kind_once() -> None:
    """More: ``python -m okspca_lab.ordeals.ways_out --jobs 2``; results in results/ways_out."""
    endings = run(plan(1, 0, len(SIGNALLED)), 2, limit=math.inf)
    assert {ending.kind for ending in endings} == {*BAD, *SIGNALLED}
    assert [ending for ending in endings if ending.fault] == []
    assert all(ending.rows > 1 for ending in endings if ending.kind in SIGNALLED)


def test_a_run_goes_on_where_the_last_one_stopped(tmp_path: Path) -> None:
    log, endings = tmp_path / "runs.csv", [Ending("a", n, 1, 0.5, 0, 'no, "never"') for n in (0, 1)]
    assert known(log) == []
    for ending in endings:
        append(log, ending)
    assert known(log) == endings


def test_what_does_not_fail_is_a_fault(tmp_path: Path) -> None:
    """The ordeal itself can fail."""
    (tmp_path / "rows.csv").write_text("a,y\n" + "".join(f"{i},{i % 7}.5\n" for i in range(50)))
    bad = Bad("rows.csv", ("--target", "y", "--random-features", "8", "--quiet"))
    assert bad_run(bad, tmp_path, tmp_path)[2] == "its code was 0, not 1"
    bad = Bad("rows.csv", ("--target", "y", "--debug", "--delimiter", ";"))
    assert "instead of one sentence" in bad_run(bad, tmp_path, tmp_path)[2]


def test_numbers_of_the_plan() -> None:
    found = plan(100, 1000, 200)
    alive = {kind for kind, bad in BAD.items() if bad.reader_lives}
    assert len(BAD) == 10
    assert sum(kind in alive for kind, _ in found) == 1000
    assert sum(kind in SIGNALLED for kind, _ in found) == 200
    assert len(set(found)) == len(found)
    assert len(list(table([]))) == 2 + len(BAD) + len(SIGNALLED)
