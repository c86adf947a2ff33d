"""Where blocks end changes no bit of what is folded at fixed row numbers, and nothing elsewhere."""

import pytest

from tests.contracts.cuts import difference, trial


#: The last one has a class that comes after a test of the map, in the same call.
@pytest.mark.parametrize("seed", [*range(60), 3577])
def test_a_cut_changes_nothing(seed: int) -> None:
    assert difference(trial(seed)) is None
