"""Warnings about targets: when they come, what they name, and which line they point at."""

import inspect
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.random import RandomState
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from okspca import OKSPCA, OKSPCAClassifier
from okspca.errors import FewValuesWarning, ManyClassesWarning, RankWarning
from okspca.numerics.arrays import Floats

X = RandomState(0).normal(size=(300, 3))
SIGN = (X[:, 0] > 0.0).astype(int)
SMALL: dict[str, Any] = {"n_random_features": 8, "random_state": 0}


def model(k: int = 1) -> OKSPCA:
    return OKSPCA(k, **SMALL)


@pytest.mark.parametrize(
    ("kind", "act"),
    [
        (RankWarning, lambda: model(2).fit(X, SIGN).transform(X)),
        (RankWarning, lambda: model(2).fit_transform(X, SIGN)),
        (RankWarning, lambda: make_pipeline(model(2), LogisticRegression()).fit(X, SIGN)),
        (ManyClassesWarning, lambda: model().fit(X, np.arange(300))),
        (ManyClassesWarning, lambda: model().partial_fit(X, np.arange(300))),
        (FewValuesWarning, lambda: model().fit(X, SIGN + 1.0)),
        (FewValuesWarning, lambda: model().partial_fit(X, SIGN + 1.0)),
        (FewValuesWarning, lambda: model().fit_transform(X, SIGN + 1.0)),
        (UserWarning, lambda: OKSPCAClassifier(1, **SMALL).fit(X, SIGN[:, np.newaxis])),
    ],
)
def test_a_warning_points_at_the_line_that_caused_it(
    kind: type[Warning], act: Callable[[], Any]
) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        act()
    found = [one for one in caught if issubclass(one.category, kind)]
    assert len(found) == 1
    assert found[0].filename == __file__
    assert found[0].lineno == inspect.getsourcelines(act)[1]


def test_few_whole_numbers_as_floating_point_are_pointed_out() -> None:
    labels = np.arange(300) % 11 + 1.0
    with pytest.warns(FewValuesWarning, match=r"first 300 rows hold only 11 .*'classification'"):
        learned = model().partial_fit(X, labels)
    assert learned.task_ == "regression"
    learned.partial_fit(X, labels)  # said once, at the first block


@pytest.mark.parametrize(
    "y",
    [
        X[:, 0],
        np.arange(300) % 31 + 0.0,
        np.arange(300) % 3 + 0.5,
        np.ones(300),
        np.column_stack([SIGN, SIGN]).astype(float),
    ],
    ids=["any numbers", "more than 30", "halves", "a constant", "several outputs"],
)
def test_quantities_are_learned_in_silence(y: Floats) -> None:
    model().partial_fit(X, y)


def test_what_was_said_needs_no_warning() -> None:
    for task in ("regression", "classification"):
        OKSPCA(1, task=task, **SMALL).partial_fit(X, SIGN + 1.0)
    OKSPCA(1, **SMALL).partial_fit(X[:20], SIGN[:20] + 1.0)  # too few rows to tell
