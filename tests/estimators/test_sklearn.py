"""scikit-learn's own checks, and those it does not call for transformers."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.random import RandomState
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import (
    check_dataframe_column_names_consistency,
    check_get_feature_names_out_error,
    check_global_output_transform_pandas,
    check_global_set_output_transform_polars,
    check_n_features_in_after_fitting,
    check_set_output_transform,
    check_set_output_transform_pandas,
    check_set_output_transform_polars,
    check_transformer_get_feature_names_out,
    check_transformer_get_feature_names_out_pandas,
    parametrize_with_checks,
)

from okspca import OKSPCA, OKSPCAClassifier, OKSPCARegressor
from okspca.services import Adam, Cached

pytestmark = pytest.mark.filterwarnings("ignore::okspca.RankWarning")

# These shuffle the rows; a causal standardiser depends on their order by design.
ORDER_DEPENDENT = {
    "check_sample_weight_equivalence_on_dense_data": "causal standardisation depends on row order",
    "check_sample_weight_equivalence_on_sparse_data": "causal standardisation depends on row order",
}
CAUSAL: list[Any] = [
    OKSPCA(n_random_features=32, random_state=0),
    OKSPCA(n_random_features=32, solver="adam", random_state=0),
    OKSPCA(n_random_features=32, solver="projected-gradient", random_state=0),
    OKSPCA(n_random_features=32, solver="cached", random_state=0),
    OKSPCA(n_random_features=32, solver="warm-block", align=True, random_state=0),
    OKSPCA(n_random_features=32, objective="whitened", frequencies="scaled", random_state=0),
    OKSPCARegressor(n_random_features=32, random_state=0),
    OKSPCAClassifier(n_random_features=32, random_state=0),
]
# Trackers step once per row whatever its weight: only the others can be weight-equivalent.
ORDER_FREE: list[Any] = [
    OKSPCA(n_random_features=32, standardize="frozen", random_state=0),
    OKSPCA(n_random_features=32, standardize=None, stability=4, random_state=0),
    OKSPCA(n_random_features=32, standardize="frozen", solver="contrast", task="classification"),
]


def expected_failures(estimator: Any) -> dict[str, str]:
    return ORDER_DEPENDENT if estimator.standardize == "causal" else {}


Test = Callable[..., None]
every_check: Callable[[Test], Test] = parametrize_with_checks(
    CAUSAL + ORDER_FREE, expected_failed_checks=expected_failures
)


@pytest.mark.slow
@every_check
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize(
    "check",
    [
        check_set_output_transform,
        check_set_output_transform_pandas,
        check_global_output_transform_pandas,
        check_set_output_transform_polars,
        check_global_set_output_transform_polars,
        check_transformer_get_feature_names_out,
        check_transformer_get_feature_names_out_pandas,
        check_get_feature_names_out_error,
        check_dataframe_column_names_consistency,
        check_n_features_in_after_fitting,
    ],
    ids=lambda check: check.__name__,
)
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.filterwarnings("ignore:X has feature names")
@pytest.mark.parametrize("solver", ["exact", "adam"])
def test_checks_that_are_not_called_by_default(check: Any, solver: str) -> None:
    check("OKSPCA", OKSPCA(n_random_features=32, solver=solver, random_state=0))


def data(n: int = 120) -> tuple[Any, Any]:
    X = RandomState(0).normal(size=(n, 4))
    return X, np.digitize(X[:, 0] * X[:, 1], [-0.3, 0.3])


def test_partial_fit_refuses_another_width() -> None:
    X, y = data()
    model = OKSPCA(random_state=0).partial_fit(X, y)
    with pytest.raises(ValueError, match="X has 3 features, but OKSPCA is expecting 4"):
        model.partial_fit(X[:, :3], y)
    with pytest.raises(ValueError, match="X has 3 features, but OKSPCA is expecting 4"):
        model.transform(X[:, :3])


def test_partial_fit_checks_feature_names() -> None:
    X, y = data()
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = OKSPCA(random_state=0).partial_fit(frame, y)
    assert model.feature_names_in_.tolist() == list("abcd")
    with pytest.raises(ValueError, match="feature names"):
        model.partial_fit(frame[list("dcba")], y)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_in_and_out(library: str) -> None:
    X, y = data()
    make = pd.DataFrame if library == "pandas" else pl.DataFrame
    frame = make({f"x{j}": X[:, j] for j in range(4)})
    model = OKSPCA(2, random_state=0).set_output(transform=library).partial_fit(frame, y)
    embedded = model.transform(frame)
    assert isinstance(embedded, make)
    assert list(embedded.columns) == ["okspca0", "okspca1"]
    plain = OKSPCA(2, random_state=0).partial_fit(X, y).transform(X)
    np.testing.assert_array_equal(np.asarray(embedded), plain)


def test_labels_of_frames() -> None:
    X, y = data()
    names = np.array(["low", "middle", "high"])[y]
    expected = OKSPCA(2, random_state=0).fit(X, names).transform(X)
    for labels in (
        list(names),
        pd.Series(names),
        pd.Series(names, dtype="category"),
        pl.Series(names.tolist()),
        pl.Series(names.tolist(), dtype=pl.Categorical),
    ):
        model = OKSPCA(2, random_state=0).fit(X, labels)
        assert model.classes_.tolist() == ["high", "low", "middle"]
        np.testing.assert_array_equal(model.transform(X), expected)


def test_pipeline_and_grid_search() -> None:
    X, y = data(200)
    steps = make_pipeline(StandardScaler(), OKSPCA(random_state=0), LogisticRegression())
    search = GridSearchCV(
        steps, {"okspca__solver": ["exact", Cached(every=20)], "okspca__n_components": [1, 2]}, cv=3
    )
    search.fit(X, y)
    assert search.best_score_ > 0.5
    assert cross_val_score(steps, X, y, cv=3).mean() > 0.5


def test_clone_keeps_service_objects() -> None:
    model = OKSPCA(solver=Adam(learning_rate=0.1, random_state=3))
    assert clone(model).solver == Adam(learning_rate=0.1, random_state=3)
    X, y = data()
    model.fit(X, y)
    assert model.solver == Adam(learning_rate=0.1, random_state=3)


def test_names_that_scikit_learn_refuses_leave_the_model_unfitted() -> None:
    X, y = data(300)
    model = OKSPCA(random_state=0)
    with pytest.raises(TypeError):
        model.partial_fit(pd.DataFrame(X, columns=["a", "b", "c", 3]), y)
    assert not hasattr(model, "n_features_in_")
    assert model.partial_fit(X[:, :2], y).n_samples_seen_ == 300
