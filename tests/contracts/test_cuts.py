"""Where blocks end changes no bit of what is folded at fixed row numbers, and nothing elsewhere."""

import pytest

from tests.contracts.cuts import difference, trial


@pytest.mark.parametrize("seed", range(60))
def test_a_cut_changes_nothing(seed: int) -> None:
    assert difference(trial(seed)) is None
