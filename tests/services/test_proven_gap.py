"""The gap that a certificate proves is a gap of the moment itself, in its own units."""

from typing import Any

import numpy as np
import pytest
from numpy.random import RandomState

from okspca import OKSPCA

X = RandomState(0).normal(size=(300, 4))
NUMBER = np.sin(X[:, 0]) + 0.5 * X[:, 1] ** 2
WORDS = np.array(["a", "b", "c", "d"])[np.digitize(NUMBER, [-0.5, 0.4, 1.0])]
EXACT = ("exact", "exact-snapshot", "exact-each", "warm-block")


def proven_and_true(solver: str, y: Any) -> tuple[float | None, float]:
    """The gap after two directions, as proven and as the full decomposition has it."""
    settings: dict[str, Any] = {"n_random_features": 48, "random_state": 0, "solver": solver}
    model = OKSPCA(2, **settings).partial_fit(X, y)
    certificate = model.basis().certificate
    assert certificate is not None
    sigma = np.linalg.svd(model.moment_.matrix(), compute_uv=False)
    return certificate.gap_lower, float(sigma[1] ** 2 - sigma[2] ** 2)


@pytest.mark.parametrize("y", [NUMBER, WORDS], ids=["number", "words"])
@pytest.mark.parametrize("solver", EXACT)
def test_an_exact_service_proves_nearly_all_of_the_gap(solver: str, y: Any) -> None:
    proven, true = proven_and_true(solver, y)
    assert proven is not None
    # The warm block does not inspect all directions, so some of the energy may be anywhere.
    least = 0.2 if solver == "warm-block" else 0.99
    assert least * true <= proven <= true * (1.0 + 1e-12)


@pytest.mark.parametrize(
    ("solver", "y"),
    [("adam", NUMBER), ("adam", WORDS), ("projected-gradient", NUMBER), ("contrast", WORDS)],
    ids=["adam, number", "adam, words", "projected gradient", "contrast"],
)
def test_no_service_claims_a_gap_that_is_not_there(solver: str, y: Any) -> None:
    proven, true = proven_and_true(solver, y)
    assert proven is None or proven <= true * (1.0 + 1e-12)
