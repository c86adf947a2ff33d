"""Rows that a model keeps for later are its own: callers may fill their arrays with the next."""

from typing import Any

import numpy as np
import pytest
from numpy.random import RandomState
from scipy.sparse import csr_array

from okspca import OKSPCA

N, STEP = 640, 64
X = RandomState(3).uniform(-2.0, 2.0, size=(N, 3))
NUMBERS = X[:, 0] * X[:, 1]
TARGETS: dict[str, Any] = {
    "number": NUMBERS,
    "numbers": np.column_stack([NUMBERS, X[:, 2]]),
    "classes": np.digitize(NUMBERS, [-0.5, 0.5]),
}
#: What makes a model keep rows: to draw or learn a map, to freeze a scale, to add rows together.
KEEPING: dict[str, dict[str, Any]] = {
    "map": {"frequencies": "scaled", "pilot_rows": 600},
    "bandwidth": {"bandwidth": "median"},
    "scale": {"standardize": "frozen"},
    "sums": {"objective": "whitened"},
    "sums of rows as they are": {"objective": "whitened", "standardize": None},
    "gaps": {"missing": "impute", "frequencies": "scaled", "pilot_rows": 600},
}


def made(settings: dict[str, Any]) -> OKSPCA:
    return OKSPCA(1, n_random_features=8, random_state=0, **settings)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("keeping", KEEPING)
def test_arrays_of_the_caller_may_be_used_again(keeping: str, target: str) -> None:
    y, weights = TARGETS[target], RandomState(4).choice([0.5, 1.0, 2.0], size=N)
    whole, model = made(KEEPING[keeping]), made(KEEPING[keeping])
    rows, targets, counts = X[:STEP].copy(), y[:STEP].copy(), weights[:STEP].copy()
    for start in range(0, N, STEP):
        now = slice(start, start + STEP)
        whole.partial_fit(X[now].copy(), y[now].copy(), sample_weight=weights[now].copy())
        rows[:], targets[:], counts[:] = X[now], y[now], weights[now]
        model.partial_fit(rows, targets, sample_weight=counts)
        rows[:], targets[:], counts[:] = 7.0, y[0], 9.0
    assert model.to_bytes() == whole.to_bytes()


@pytest.mark.parametrize("keeping", KEEPING)
def test_a_row_of_the_caller_may_be_used_again(keeping: str) -> None:
    whole, model, row = made(KEEPING[keeping]), made(KEEPING[keeping]), np.empty(3)
    for x, y in zip(X, NUMBERS.tolist(), strict=True):
        whole.learn_one(x.copy(), y)
        row[:] = x
        model.learn_one(row, y)
        row[:] = 7.0
    assert model.to_bytes() == whole.to_bytes()


def test_sparse_rows_of_the_caller_may_be_used_again() -> None:
    settings = {"bandwidth": "median", "objective": "whitened"}
    whole, model = made(settings), made(settings)
    for start in range(0, N, STEP):
        rows, y = csr_array(X[start : start + STEP]), NUMBERS[start : start + STEP]
        whole.partial_fit(rows.copy(), y.copy())
        model.partial_fit(rows, y)
        rows.data[:] = 7.0
    assert model.to_bytes() == whole.to_bytes()
