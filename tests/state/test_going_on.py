"""A model that was saved, or mapped from a file, goes on with the same bits."""

import copy
import enum
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
from numpy.random import RandomState

from okspca import OKSPCA
from okspca.numerics.arrays import Floats

X = RandomState(0).normal(size=(300, 5))
Y = np.sin(X[:, 0]) + X[:, 1] ** 2


def rows(n: int = 1500, seed: int = 0) -> tuple[Floats, Floats]:
    X = RandomState(seed).normal(size=(n, 3))
    return X, np.sin(2.0 * X[:, 0]) + 0.5 * X[:, 1]


def test_a_cautious_standardiser_is_kept_in_files() -> None:
    X, y = rows(40)
    for window in (None, 32):
        model = OKSPCA(1, target_features="raw", window=window, random_state=0)
        model.partial_fit(X[:5], 100.0 + y[:5])
        again = OKSPCA.from_bytes(model.to_bytes())
        for one in (model, again):
            one.partial_fit(X[5:], 100.0 + y[5:])
        assert again.to_bytes() == model.to_bytes()


def test_a_file_written_when_the_moment_grows_wide_goes_on_with_the_same_bits() -> None:
    X, y = rows()
    model, again = OKSPCA(2, kernel="laplacian", random_state=0), None
    for x, target in zip(X[:800], y[:800].tolist(), strict=True):
        model.learn_one(x, target)
        if again is not None:
            again.learn_one(x, target)
        elif model.moment_.width > 64:
            again = OKSPCA.from_bytes(model.to_bytes())
    assert again is not None
    assert again.to_bytes() == model.to_bytes()


@pytest.mark.parametrize("solver", ["exact", "adam", "warm-block"])
@pytest.mark.parametrize("settings", [{}, {"compress": False}])
def test_a_memory_mapped_model_goes_on_learning(
    tmp_path: Path, solver: str, settings: dict[str, Any]
) -> None:
    model = OKSPCA(2, solver=solver, random_state=0, **settings).fit(X[:200], Y[:200])
    joblib.dump(model, tmp_path / "model.joblib")
    for by_row in (True, False):
        mapped = joblib.load(tmp_path / "model.joblib", mmap_mode="r")
        twin = copy.deepcopy(model)
        for each in (mapped, twin):
            if by_row:
                for x, y in zip(X[200:210], Y[200:210].tolist(), strict=True):
                    each.learn_one(x, y)
            else:
                each.partial_fit(X[200:], Y[200:])
        np.testing.assert_array_equal(mapped.transform(X), twin.transform(X))


class Colour(enum.StrEnum):
    RED = "red"
    BLUE = "blue"


class Grade(enum.IntEnum):
    LOW = 1
    HIGH = 2


@pytest.mark.parametrize("labels", [Colour, Grade])
def test_enumerations_as_labels_can_be_saved(labels: type[enum.Enum]) -> None:
    X, y = rows(60)
    low, high = labels
    model = OKSPCA(1, n_random_features=16, random_state=0)
    given: Any = [high if value > 0.0 else low for value in y]
    model.partial_fit(X, given)
    model.learn_one(X[0], low)
    again = OKSPCA.from_bytes(model.to_bytes())
    assert set(again.classes_.tolist()) == {low.value, high.value}
    assert again.n_samples_seen_ == 61
