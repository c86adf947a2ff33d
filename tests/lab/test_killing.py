"""A fit that is killed again and again ends in the bytes of one that was not."""

import sys
from pathlib import Path

import pytest

from okspca_lab.ordeals.killing import SETTINGS, run
from okspca_lab.ordeals.killing_features import ClimbingChain

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")


def test_ten_kills(tmp_path: Path) -> None:
    """More: ``python -m okspca_lab.ordeals.killing --kills 200``; results in results/killing."""
    tally = run(10, 0, tmp_path, most_per_run=3)
    assert tally.failures == []
    assert tally.kills == tally.phases.total() == 10
    assert tally.is_clean
    assert tally.runs >= len(SETTINGS)
    assert tally.phases["reading and learning"] < 10


def test_kills_while_features_are_learned(tmp_path: Path) -> None:
    """More: ``python -m okspca_lab.ordeals.killing_features``."""
    tally = run(3, 51, tmp_path, most_per_run=3, kind=ClimbingChain)
    assert tally.failures == []
    assert tally.is_clean
    assert tally.kills == 3
    assert tally.asked
    # Two meet a step for sure; by the clock, a busy machine may have gone on to something else.
    assert tally.phases["learning features"] >= 2
