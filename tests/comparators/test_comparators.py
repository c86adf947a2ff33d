"""CIPLS, CCIPCA, the one-vs-rest adapter and the unreduced controls."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import RandomState
from sklearn.base import clone
from sklearn.utils.estimator_checks import (
    check_dataframe_column_names_consistency,
    check_get_feature_names_out_error,
    check_n_features_in_after_fitting,
    check_set_output_transform_pandas,
    check_transformer_get_feature_names_out,
    parametrize_with_checks,
)

from okspca import OKSPCA, DataError
from okspca.comparators import CCIPCA, CIPLS, OneVsRestReducer, Unreduced
from okspca.features import FourierMap
from tests.reference.comparators import (
    ccipca_vectors,
    cipls_directions,
    frozen_cipls_directions,
    one_vs_rest,
)
from tests.reference.features import fourier
from tests.reference.standardizer import ReferenceStandardizer

CLOSE = 1e-9
COMPARATORS: list[Any] = [
    CIPLS(random_state=0),
    CIPLS(n_random_features=16, random_state=0),
    CCIPCA(random_state=0),
    CCIPCA(n_random_features=16, random_state=0),
    OneVsRestReducer(random_state=0),
    Unreduced(),
    Unreduced(n_random_features=16, random_state=0),
]


def expected_failures(estimator: Any) -> dict[str, str]:
    if isinstance(estimator, OneVsRestReducer):
        return {
            "check_estimators_partial_fit_n_features": "classes must be given at the first call",
            "check_n_features_in_after_fitting": "classes must be given at the first call",
        }
    return {}


Test = Callable[..., None]
every_check: Callable[[Test], Test] = parametrize_with_checks(
    COMPARATORS, expected_failed_checks=expected_failures
)


@pytest.mark.slow
@every_check
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize(
    "check",
    [
        check_set_output_transform_pandas,
        check_transformer_get_feature_names_out,
        check_get_feature_names_out_error,
        check_n_features_in_after_fitting,
        check_dataframe_column_names_consistency,
    ],
    ids=lambda check: check.__name__,
)
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.filterwarnings("ignore:X has feature names")
@pytest.mark.parametrize(
    "model", [*COMPARATORS[:4:2], COMPARATORS[6]], ids=lambda model: type(model).__name__
)
def test_checks_that_are_not_called_by_default(check: Any, model: Any) -> None:
    check(type(model).__name__, model)


def rows(n: int = 50, d: int = 5, seed: int = 0) -> tuple[Any, Any]:
    random = RandomState(seed)
    X = random.normal(size=(n, d)) * np.arange(1.0, d + 1.0) + 3.0
    return X, np.sin(X[:, 0]) + 0.5 * X[:, 1] + 0.1 * random.normal(size=n)


def realised(X: Any, y: Any, input_map: FourierMap | None) -> tuple[Any, Any]:
    """Causal features and responses of every row, by the plain reference."""
    scale_x, scale_y = ReferenceStandardizer(), ReferenceStandardizer()
    features, responses = [], []
    for x, value in zip(X, y, strict=True):
        z = scale_x.transform(x)
        features.append(z if input_map is None else fourier(z, input_map.weights, input_map.phases))
        responses.append(scale_y.transform(np.array([value]))[0])
        scale_x.learn(x)
        scale_y.learn(np.array([value]))
    return np.array(features), np.array(responses)


@cache
def expected_cipls(mapped: bool) -> Any:
    X, y = rows()
    return cipls_directions(*realised(X, y, MAP if mapped else None), 5)


@cache
def expected_adapter() -> Any:
    X, y = rows()
    projection = RandomState(7).normal(0.0, np.sqrt(1.0 / 6.0), (6, 2))
    return projection, one_vs_rest(X, np.digitize(y, [1.0, 3.0]).tolist(), 2, projection)


def fed(model: Any, X: Any, y: Any, cuts: list[int], **extra: Any) -> Any:
    for block in np.split(np.arange(len(X)), sorted(set(cuts))):
        if block.size:
            model.partial_fit(X[block], y[block], **extra)
    return model


MAP = FourierMap.sample(5, 12, bandwidth=3.0, seed=4)
cutting = st.lists(st.integers(1, 49), max_size=6)
few = settings(max_examples=12, deadline=None, derandomize=True)


@pytest.mark.parametrize("input_map", [None, MAP], ids=["raw", "rff"])
@given(cuts=cutting)
@few
def test_cipls_is_the_published_recursion_for_any_block_size(
    input_map: FourierMap | None, cuts: list[int]
) -> None:
    X, y = rows()
    expected = expected_cipls(input_map is not None)
    model = fed(CIPLS(5, input_map=input_map, variance_floor="paper"), X, y, cuts)
    np.testing.assert_allclose(model.components_, expected, rtol=0.0, atol=CLOSE)


@pytest.mark.parametrize(("scale", "power"), [(1.0, 2000), (1e-30, 0), (1e30, 2000)])
def test_cipls_keeps_directions_beyond_the_range_of_double_precision(
    scale: float, power: int
) -> None:
    X, y = rows(n=60)
    X = X * scale
    expected = cipls_directions(X, y, 8, tolerance=1e-300)
    model = fed(CIPLS(8, standardize=None, tolerance=1e-300), X, y, [1, 50, 51])
    assert model.learned.state.powers.max() > power
    np.testing.assert_allclose(model.components_, expected, rtol=0.0, atol=CLOSE)
    assert np.isfinite(model.transform(X)).all()


def test_cipls_with_own_scores_in_its_loadings() -> None:
    X, y = rows()
    expected = cipls_directions(X, y, 5, own=True)
    model = fed(CIPLS(5, standardize=None, loadings="own"), X, y, [7, 30])
    np.testing.assert_allclose(model.components_, expected, rtol=0.0, atol=CLOSE)
    other = CIPLS(5, standardize=None).fit(X, y).components_
    np.testing.assert_allclose(other[:2], expected[:2], rtol=0.0, atol=CLOSE)
    assert np.abs(other[2] - expected[2]).max() > 1e-3
    frozen = CIPLS(8, standardize=None, loadings="own", overflow="freeze").fit(X, y)
    expected = frozen_cipls_directions(X, y, 8, own=True)
    np.testing.assert_allclose(frozen.components_, expected, rtol=0.0, atol=CLOSE)


@given(cuts=cutting)
@few
def test_frozen_cipls_keeps_the_last_weights_that_fit_double_precision(cuts: list[int]) -> None:
    X, y = rows()
    expected = frozen_cipls_directions(X, y, 8)
    model = fed(CIPLS(8, standardize=None, overflow="freeze"), X, y, cuts)
    np.testing.assert_allclose(model.components_, expected, rtol=0.0, atol=CLOSE)
    going_on = CIPLS(8, standardize=None).fit(X, y).components_
    np.testing.assert_allclose(going_on[:4], expected[:4], rtol=0.0, atol=CLOSE)
    assert np.abs(going_on[7] - expected[7]).max() > 1e-3


@pytest.mark.parametrize("input_map", [None, MAP], ids=["raw", "rff"])
@given(cuts=cutting)
@few
def test_ccipca_is_the_published_recursion_for_any_block_size(
    input_map: FourierMap | None, cuts: list[int]
) -> None:
    X, y = rows()
    features, _ = realised(X, y, input_map)
    expected = ccipca_vectors(features, 3)
    model = fed(CCIPCA(3, input_map=input_map, variance_floor="paper"), X, y, cuts)
    lengths = np.linalg.norm(expected, axis=1)
    np.testing.assert_allclose(model.explained_variance_, lengths, rtol=CLOSE)
    np.testing.assert_allclose(
        model.components_, expected / lengths[:, np.newaxis], rtol=0.0, atol=CLOSE
    )


@given(cuts=cutting)
@few
def test_the_adapter_is_one_reducer_per_class_and_a_projection(cuts: list[int]) -> None:
    X, y = rows()
    labels = np.digitize(y, [1.0, 3.0])
    model = OneVsRestReducer(CIPLS(2, standardize=None), random_state=7)
    fed(model, X, labels, cuts, classes=[0, 1, 2])
    projection, expected = expected_adapter()
    np.testing.assert_allclose(model.projection_, projection, rtol=1e-14)
    np.testing.assert_allclose(model.transform(X), expected, rtol=0.0, atol=CLOSE)


def test_the_adapter_is_its_reducers_fitted_one_by_one_to_the_same_features() -> None:
    X, y = rows()
    labels = np.digitize(y, [1.0, 3.0])
    reducer = CIPLS(2, n_random_features=16, random_state=3, standardize_target=False)
    model = fed(OneVsRestReducer(reducer, random_state=0), X, labels, [20], classes=[0, 1, 2])
    alone = [clone(reducer).fit(X, np.where(labels == c, 1.0, -1.0)) for c in range(3)]
    joint = np.concatenate([one.transform(X) for one in alone], axis=1)
    np.testing.assert_allclose(model.transform(X), joint @ model.projection_, atol=1e-12)
    for one, copy in zip(alone, model.reducers_, strict=True):
        np.testing.assert_allclose(copy.transform(X), one.transform(X), atol=1e-12)
        assert copy.n_samples_seen_ == len(X)
        assert copy.n_features_in_ == X.shape[1]
    # Without a seed, too, all classes see one map.
    reducer = CIPLS(2, n_random_features=16)
    drawn = OneVsRestReducer(reducer).fit(X, labels).reducers_
    np.testing.assert_array_equal(drawn[0].input_map_.weights, drawn[2].input_map_.weights)  # type: ignore[attr-defined]


def test_the_adapter_needs_its_classes_and_keeps_them() -> None:
    X, y = rows()
    labels = np.digitize(y, [1.0, 3.0])
    with pytest.raises(DataError, match="classes is needed at the first call"):
        OneVsRestReducer().partial_fit(X, labels)
    model = OneVsRestReducer(random_state=0).partial_fit(X, labels, classes=[0, 1, 2, 3])
    assert model.projection_.shape == (8, 2)
    before = model.transform(X)
    with pytest.raises(DataError, match="y contains 9 at row 1, which is not in classes"):
        model.partial_fit(X[:2], [0, 9])
    with pytest.raises(DataError, match="differs from the first call's"):
        model.partial_fit(X, labels, classes=[0, 1])
    np.testing.assert_array_equal(model.transform(X), before)


@pytest.mark.parametrize("model", [CIPLS(2), CCIPCA(2), Unreduced(n_random_features=4)])
def test_a_rejected_block_changes_nothing(model: Any) -> None:
    X, y = rows()
    model.fit(X, y)
    before = model.transform(X)
    bad = X.copy()
    bad[7, 2] = np.nan
    with pytest.raises(DataError, match="NaN at row 7, column 2"):
        model.partial_fit(bad, y)
    np.testing.assert_array_equal(model.transform(X), before)
    assert model.n_samples_seen_ == 50


def test_rff_forms_share_the_map_of_okspca() -> None:
    X, y = rows()
    one = OKSPCA(2, n_random_features=8, bandwidth=2.0, random_state=3).fit(X, y)
    two = CIPLS(2, n_random_features=8, bandwidth=2.0, random_state=3).fit(X, y)
    assert one.input_map_.equals(two.input_map_)


def test_unreduced_is_the_standardised_row() -> None:
    X, y = rows()
    reference = ReferenceStandardizer()
    for x in X:
        reference.learn(x)
    model = Unreduced(variance_floor="paper").fit(X)
    np.testing.assert_allclose(model.transform(X[:1])[0], reference.transform(X[0]), atol=1e-12)
    wide = Unreduced(variance_floor="paper", input_map=MAP).fit(X)
    expected = fourier(reference.transform(X[0]), MAP.weights, MAP.phases)
    np.testing.assert_allclose(wide.transform(X[:1])[0], expected, atol=1e-12)
    assert y.size


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (CIPLS(0), "n_components=0"),
        (CIPLS(tolerance=-1.0), "tolerance=-1.0"),
        (CIPLS(overflow="wrap"), "overflow='wrap'"),
        (CIPLS(loadings="both"), "loadings='both'"),
        (CIPLS(bandwidth="median"), "bandwidth='median'"),
        (CIPLS(standardize="frozen"), "standardize='frozen'"),
        (CIPLS(n_random_features=1.5), "n_random_features=1.5"),  # type: ignore[arg-type]
        (CCIPCA(amnesic=-1.0), "amnesic=-1.0"),
        (Unreduced(variance_floor="none"), "variance_floor='none'"),
        (Unreduced(input_map=3), "input_map=3"),  # type: ignore[arg-type]
        (Unreduced(input_map=FourierMap.sample(2, 3, bandwidth=1.0)), "input_map takes 2"),
    ],
)
def test_wrong_parameters_are_named(model: Any, message: str) -> None:
    X, y = rows()
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)


def test_several_responses_are_refused() -> None:
    X, y = rows()
    with pytest.raises(DataError, match="y has 2 columns; CIPLS takes one response"):
        CIPLS().fit(X, np.column_stack([y, y]))
