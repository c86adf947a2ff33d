"""A service that is killed under load comes to the state of one that was not; the quick form.

More: ``python -m okspca_lab.ordeals.serve_kills --kills 200``; results in results/serving.
"""

import sys
from pathlib import Path

import pytest

from okspca_lab.ordeals.serve_kills import ROWS, append, known, run, summary

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")


def test_six_kills(tmp_path: Path) -> None:
    pytest.importorskip("uvicorn", reason="needs okspca[serve]")
    found = run(6, 3, tmp_path)
    assert found["failures"] == []
    tally = summary("serve_kills", [found])
    assert tally["kills"] == sum(tally["died while"].values()) == 6
    assert tally["runs equal to an uninterrupted one, bit for bit"] == 1
    assert min(tally["rows learned"], tally["rows set aside"], tally["entries replayed"]) > 0
    with (tmp_path / ROWS).open("a") as file:
        append(file, found)
    assert known(tmp_path / ROWS) == [found]
