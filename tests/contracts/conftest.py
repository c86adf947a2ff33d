"""Climbs so early and so cheap that small random streams pass through several of them."""

from collections.abc import Iterator

import numpy as np
import pytest

from okspca.estimators import map_search
from okspca.features import ladder, training

#: The first climb after eight rows; every rung is taken as soon as it can be told from none.
EARLY = (
    (map_search, {"FIRST_CLIMB": 8, "ROWS_PER_INPUT": 1}),
    (ladder, {"SURE": -np.inf, "GAIN": 0.0, "ENOUGH": np.inf, "ROUNDS": 1, "MOST_ROUNDS": 2}),
    (training, {"RACE_STEPS": 5, "PATIENCE": 5, "MOST_STEPS": 10, "LAST_STEPS": 3}),
)


@pytest.fixture(scope="module")
def early_climbs() -> Iterator[None]:
    """Climb after 8 rows and after ``PILOT_ROWS``, and always take the highest rung."""
    with pytest.MonkeyPatch.context() as patch:
        for module, constants in EARLY:
            for name, value in constants.items():
                patch.setattr(module, name, value)
        yield
