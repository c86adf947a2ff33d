"""A fit that is killed again and again ends in the bytes of one that was not."""

import sys
from pathlib import Path

import pytest

from okspca_lab.ordeals.killing import SETTINGS, run


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_ten_kills(tmp_path: Path) -> None:
    """More: ``python -m okspca_lab.ordeals.killing --kills 200``; results in results/killing."""
    tally = run(10, 0, tmp_path, most_per_run=3)
    assert tally.failures == []
    assert tally.kills == tally.phases.total() == 10
    assert tally.is_clean
    assert tally.runs >= len(SETTINGS)
    assert tally.phases["reading and learning"] < 10
