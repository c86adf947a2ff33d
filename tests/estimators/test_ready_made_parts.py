"""Maps and standardisers that the caller made: they are checked, copied and used."""

from typing import Any

import numpy as np
import pytest
from numpy.random import RandomState

from okspca import OKSPCA, DataError, Status
from okspca.features import IdentityMap
from okspca.standardize import CausalStandardizer, FrozenStandardizer

X = RandomState(0).normal(size=(300, 5))
Y = np.sin(X[:, 0]) + X[:, 1] ** 2


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"input_standardizer": CausalStandardizer(3)}, "X has 5 columns, but input_standardizer"),
        (
            {"target_standardizer": CausalStandardizer(2)},
            "y has 1 columns, but target_standardizer",
        ),
        ({"target_map": IdentityMap(2)}, "y has 1 columns, but target_map takes 2"),
        ({"input_map": IdentityMap(4)}, "X has 5 columns, but input_map takes 4"),
    ],
)
def test_ready_made_parts_of_another_width(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        OKSPCA(random_state=0, **settings).partial_fit(X, Y)


def test_ready_made_standardisers_are_used_and_copied() -> None:
    inputs = FrozenStandardizer(np.full(5, 0.5), np.full(5, 2.0))
    targets = FrozenStandardizer(np.zeros(1), np.ones(1))
    model = OKSPCA(
        standardize="frozen", input_standardizer=inputs, target_standardizer=targets, random_state=0
    )
    model.partial_fit(X[:1], Y[:1])
    np.testing.assert_allclose(
        model.moment_.means()[0], model.input_map_.transform((X[:1] - 0.5) / 2.0)[0], atol=1e-15
    )
    assert model.input_standardizer_ is not inputs


def test_frozen_with_one_ready_side_still_waits_for_the_other() -> None:
    inputs = FrozenStandardizer(X.mean(axis=0), X.std(axis=0))
    model = OKSPCA(standardize="frozen", input_standardizer=inputs, random_state=0)
    model.partial_fit(X, 200.0 * Y)
    assert model.basis().status is Status.NOT_INITIALISED
    labels = OKSPCA(standardize="frozen", input_standardizer=inputs, random_state=0)
    assert labels.partial_fit(X, Y > 0).basis().status is Status.VALID
