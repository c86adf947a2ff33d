"""The face: attributes, odd inputs, and what users meet first."""

import copy
import pickle
import warnings
from typing import Any

import numpy as np
import pytest
from numpy.random import RandomState
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError

from okspca import OKSPCA, DataError, NotReadyError, RankWarning, Status
from okspca.errors import ManyClassesWarning
from okspca.features import FourierMap, IdentityMap
from okspca.numerics.subspace import projector_distance
from okspca.standardize import CausalStandardizer, FrozenStandardizer

Array = NDArray[np.float64]


def data(n: int = 200, d: int = 4) -> tuple[Array, Array]:
    X = RandomState(0).normal(size=(n, d))
    return X, np.sin(X[:, 0]) + X[:, 1 % d] ** 2


def test_defaults_are_the_documented_ones() -> None:
    settings = OKSPCA().get_params()
    expected = {
        "n_components": 2,
        "n_random_features": 256,
        "n_target_features": None,
        "task": "auto",
        "bandwidth": "sqrt-dim",
        "target_bandwidth": 1.0,
        "kernel": "gaussian",
        "solver": "exact",
        "preset": "paper",
        "objective": "auto",
        "frequencies": "auto",
        "pilot_rows": 8192,
        "standardize": "causal",
        "forgetting": 1.0,
        "align": False,
        "random_state": None,
    }
    assert {name: settings[name] for name in expected} == expected


def test_fitted_attributes() -> None:
    X, y = data()
    model = OKSPCA(3, n_random_features=40, n_target_features=30, random_state=0).fit(X, y)
    assert model.components_.shape == (3, 40)
    np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(3), atol=1e-13)
    C = model.moment_.matrix()
    assert C.shape == (40, 30)
    np.testing.assert_allclose(
        model.singular_values_, np.linalg.svd(C, compute_uv=False)[:3], rtol=1e-10
    )
    assert model.n_samples_seen_ == 200
    assert isinstance(model.input_map_, FourierMap)
    assert isinstance(model.target_map_, FourierMap)
    assert model.input_map_.weights.shape == (40, 4)
    assert model.target_map_.phases.shape == (30,)
    scaler = model.input_standardizer_
    assert isinstance(scaler, CausalStandardizer)
    np.testing.assert_allclose(scaler.mean, X.mean(axis=0), atol=1e-13)
    np.testing.assert_allclose(scaler.variance, X.var(axis=0), rtol=1e-12)
    assert scaler.count == 200.0
    assert not hasattr(model, "classes_")
    assert not hasattr(OKSPCA(), "components_")


def test_same_seed_same_bits() -> None:
    X, y = data()
    one, two = (OKSPCA(random_state=5).fit(X, y).transform(X) for _ in range(2))
    np.testing.assert_array_equal(one, two)
    assert not np.array_equal(one, OKSPCA(random_state=6).fit(X, y).transform(X))


def test_default_seed_is_fresh_entropy_not_the_global_generator() -> None:
    X, y = data(50)
    np.random.seed(0)  # noqa: NPY002
    before = np.random.get_state()[1].copy()  # type: ignore[index] # noqa: NPY002
    one, two = OKSPCA().fit(X, y), OKSPCA().fit(X, y)
    np.testing.assert_array_equal(before, np.random.get_state()[1])  # type: ignore[index] # noqa: NPY002
    assert not one.input_map_.equals(two.input_map_)


def test_transform_is_the_uncentred_projection() -> None:
    X, y = data()
    model = OKSPCA(2, random_state=0).fit(X, y)
    features = model.input_map_.transform(model.input_standardizer_.transform(X))
    np.testing.assert_allclose(model.transform(X), features @ model.components_.T, atol=1e-14)


def test_transform_of_many_rows_equals_row_by_row() -> None:
    X, y = data(3000)
    model = OKSPCA(2, random_state=0).fit(X[:500], y[:500])
    whole = model.transform(X)
    np.testing.assert_allclose(
        whole[[0, 1023, 1024, 2999]], model.transform(X[[0, 1023, 1024, 2999]])
    )


def test_fit_forgets_and_partial_fit_does_not() -> None:
    X, y = data()
    model = OKSPCA(random_state=0).fit(X, y)
    once = model.moment_.matrix()
    np.testing.assert_array_equal(model.fit(X, y).moment_.matrix(), once)
    assert model.partial_fit(X, y).n_samples_seen_ == 400


def test_failed_fit_keeps_the_old_model() -> None:
    X, y = data()
    model = OKSPCA(random_state=0).fit(X, y)
    before = model.transform(X)
    bad = X.copy()
    bad[3, 1] = np.nan
    with pytest.raises(DataError, match="row 3, column 1"):
        model.fit(bad, y)
    np.testing.assert_array_equal(model.transform(X), before)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_components": 0}, "n_components=0"),
        ({"n_components": 2.0}, "n_components=2.0"),
        ({"n_components": 300}, "n_components=300 is more than the 256"),
        ({"n_random_features": -1}, "n_random_features=-1"),
        ({"n_target_features": 0}, "n_target_features=0"),
        ({"task": "ranking"}, "task='ranking'"),
        ({"bandwidth": "silverman"}, "bandwidth='silverman'"),
        ({"bandwidth": 0.0}, "bandwidth=0.0"),
        ({"target_bandwidth": np.nan}, "target_bandwidth=nan"),
        ({"kernel": "linear"}, "kernel='linear'"),
        ({"sampling": "sobol"}, "sampling='sobol'"),
        ({"solver": "svd"}, "solver='svd'"),
        ({"solver": 3}, "solver=3"),
        ({"objective": "correlation"}, "objective='correlation'"),
        ({"standardize": True}, "standardize=True"),
        ({"variance_floor": -1.0}, "variance_floor=-1.0"),
        ({"forgetting": 0.0}, "forgetting=0.0"),
        ({"forgetting": 1.1}, "forgetting=1.1"),
        ({"input_map": "rff"}, "input_map='rff'"),
        ({"input_map": IdentityMap(1)}, "more than the 1 input features"),
    ],
)
def test_bad_parameters_are_named_with_a_remedy(settings: dict[str, Any], message: str) -> None:
    X, y = data(20)
    with pytest.raises(ValueError, match=message):
        OKSPCA(**settings).fit(X, y)


def test_transform_before_any_data() -> None:
    with pytest.raises(NotFittedError):
        OKSPCA().transform(np.zeros((2, 2)))
    with pytest.raises(NotFittedError):
        OKSPCA().basis()


def test_constant_columns_are_harmless() -> None:
    X, y = data()
    X[:, 2] = 7.0
    model = OKSPCA(2, random_state=0).fit(X, y)
    assert model.basis().status is Status.VALID
    assert np.isfinite(model.transform(X)).all()
    everything = OKSPCA(2, random_state=0).fit(np.ones((30, 2)), y[:30])
    assert np.isfinite(everything.transform(X[:, :2])).all()


def test_fewer_rows_than_components() -> None:
    X, y = data(3)
    model = OKSPCA(5, random_state=0).fit(X, y)
    assert model.basis().rank == 2
    Z = model.transform(X)
    assert Z.shape == (3, 5)
    assert (Z[:, 2:] == 0.0).all()
    np.testing.assert_array_equal(model.singular_values_[2:], 0.0)


def test_one_row() -> None:
    X, y = data(1)
    model = OKSPCA(2, random_state=0).partial_fit(X, y)
    basis = model.basis()
    assert basis.status is Status.NO_TARGET
    assert basis.rank == 0
    assert basis.vectors.shape == (256, 0)
    assert (model.transform(X) == 0.0).all()
    assert model.diagnose().comparison_rank == 0


def test_more_components_than_contrasts_is_explained() -> None:
    X, y = data()
    model = OKSPCA(4, random_state=0).fit(X, y > 0.5)
    with pytest.warns(RankWarning, match="2 classes have at most 1 supervised directions"):
        Z = model.transform(X)
    assert (Z[:, 1:] == 0.0).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        OKSPCA(4, solver="adam", random_state=0).fit(X, y > 0.5).transform(X)


def test_warning_is_shown_once_per_model() -> None:
    X, y = data()
    model = OKSPCA(4, random_state=0).fit(X, y > 0.5)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(3):
            model.transform(X)
    assert len(caught) == 1


def test_many_integer_values_look_like_a_quantity() -> None:
    X, _ = data(300)
    with pytest.warns(ManyClassesWarning, match="task='regression'"):
        OKSPCA(random_state=0).partial_fit(X, np.arange(300))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = OKSPCA(task="regression", random_state=0).partial_fit(X, np.arange(300))
        OKSPCA(task="classification", random_state=0).partial_fit(X, np.arange(300))
    assert not hasattr(model, "classes_")


@pytest.mark.parametrize(
    ("y", "classification"),
    [
        (np.array([0.5, 1.0, 2.0]), False),
        ([0.5, 1.0, 2.0], False),
        (np.array([0, 1, 2], dtype=np.float32), False),
        (np.array([0, 1, 2]), True),
        (np.array([0, 1, 2], dtype=np.uint8), True),
        ([True, False, True], True),
        (["a", "b", "c"], True),
        (np.array(["a", "b", "c"], dtype=object), True),
    ],
)
def test_task_is_told_by_the_dtype(y: Any, classification: bool) -> None:
    model = OKSPCA(random_state=0).partial_fit(np.eye(3), y)
    assert hasattr(model, "classes_") == classification


def test_integers_may_follow_floats_but_not_the_reverse() -> None:
    X, y = data(40)
    model = OKSPCA(random_state=0).partial_fit(X[:20], y[:20])
    model.partial_fit(X[20:], np.arange(20))
    assert model.n_samples_seen_ == 40
    labels = OKSPCA(random_state=0).partial_fit(X[:20], np.arange(20) % 3)
    with pytest.raises(DataError, match="earlier blocks held class labels"):
        labels.partial_fit(X[20:], y[20:])
    with pytest.raises(DataError, match="y holds text, but earlier blocks held numbers"):
        labels.partial_fit(X[20:], ["a"] * 20)


def test_multi_output_width_is_fixed() -> None:
    X, y = data(40)
    model = OKSPCA(random_state=0).partial_fit(X, np.column_stack([y, y**2]))
    with pytest.raises(DataError, match="y has 1 columns, but earlier blocks had 2"):
        model.partial_fit(X, y)


def test_median_bandwidth_waits_for_512_rows() -> None:
    X, y = data(600)
    model = OKSPCA(bandwidth="median", target_bandwidth="median", random_state=0)
    model.partial_fit(X[:300], y[:300])
    assert model.basis().status is Status.NOT_INITIALISED
    assert model.n_samples_seen_ == 300
    with pytest.raises(NotReadyError, match="300 of the 512 rows"):
        model.transform(X)
    model.partial_fit(X[300:], y[300:])
    assert model.basis().status is Status.VALID
    whole = OKSPCA(bandwidth="median", target_bandwidth="median", random_state=0).fit(X, y)
    np.testing.assert_allclose(model.moment_.matrix(), whole.moment_.matrix(), atol=1e-14)
    short = OKSPCA(bandwidth="median", random_state=0).fit(X[:30], y[:30])
    assert short.basis().status is Status.VALID


def test_median_bandwidth_is_the_rule_on_causally_standardised_rows() -> None:
    X, y = data(100)
    drawn = OKSPCA(bandwidth="median", random_state=0).fit(X, y)
    Z = CausalStandardizer(4).scan(X, np.ones(100))
    pairs = [np.linalg.norm(Z[i] - Z[j]) for i in range(100) for j in range(i)]
    fixed = OKSPCA(bandwidth=float(np.median(pairs) / np.sqrt(2)), random_state=0).fit(X, y)
    assert isinstance(drawn.input_map_, FourierMap)
    assert isinstance(fixed.input_map_, FourierMap)
    np.testing.assert_allclose(drawn.input_map_.weights, fixed.input_map_.weights, rtol=1e-12)


def test_frozen_by_fit_uses_all_rows_and_by_stream_the_first_512() -> None:
    X, y = data(700)
    fitted = OKSPCA(standardize="frozen", random_state=0).fit(X, y)
    assert isinstance(fitted.input_standardizer_, FrozenStandardizer)
    np.testing.assert_allclose(fitted.input_standardizer_.mean, X.mean(axis=0), atol=1e-13)
    streamed = OKSPCA(standardize="frozen", random_state=0)
    for block in np.array_split(np.arange(700), 9):
        streamed.partial_fit(X[block], y[block])
    assert isinstance(streamed.input_standardizer_, FrozenStandardizer)
    np.testing.assert_allclose(streamed.input_standardizer_.mean, X[:512].mean(axis=0), atol=1e-13)
    assert streamed.n_samples_seen_ == 700


def test_pickle_and_copy_continue_alike() -> None:
    X, y = data()
    for solver in ("exact", "adam", "cached", "warm-block"):
        model = OKSPCA(2, solver=solver, random_state=0, align=True).partial_fit(X[:120], y[:120])
        for twin in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
            twin.partial_fit(X[120:], y[120:])
            expected = copy.deepcopy(model).partial_fit(X[120:], y[120:])
            np.testing.assert_array_equal(twin.transform(X), expected.transform(X))


def test_diagnose_of_exact_and_tracker() -> None:
    X, y = data(400)
    exact = OKSPCA(3, random_state=0).fit(X, y).diagnose()
    assert exact.comparison_rank == 3
    assert exact.full is not None
    assert exact.full.rho == pytest.approx(1.0, abs=1e-12)
    assert exact.full.max_angle is not None
    assert exact.full.max_angle < 1e-9
    assert exact.service_tie is False
    tracked = OKSPCA(3, solver="adam", random_state=0).fit(X, y)
    report = tracked.diagnose()
    assert report.full is not None
    assert report.extracted is not None
    assert report.full.rho is not None
    assert report.extracted.objective == pytest.approx(report.full.objective)
    assert report.full.distance is not None
    assert report.full.distance_bound is not None
    assert report.full.distance <= report.full.distance_bound
    labels = OKSPCA(3, solver="adam", random_state=0).fit(X, y > 0).diagnose()
    assert labels.comparison_rank == 1
    assert labels.full is None
    assert labels.extracted is not None


def test_learn_one_checks_shape_and_values() -> None:
    X, y = data(20)
    model = OKSPCA(random_state=0)
    for x, target in zip(X, y, strict=True):
        model.learn_one(x, target)
    with pytest.raises(DataError, match="one-dimensional"):
        model.learn_one(X, y)
    with pytest.raises(DataError, match="x has 3 values, but the model learned 4"):
        model.learn_one(X[0, :3], 1.0)
    with pytest.raises(DataError, match="NaN"):
        model.learn_one([1.0, np.nan, 0.0, 0.0], 1.0)
    with pytest.raises(DataError, match="y contains inf"):
        model.learn_one(X[0], np.inf)
    assert model.n_samples_seen_ == 20
    words = OKSPCA(random_state=0).learn_one(X[0], "a").learn_one(X[1], "b")
    assert words.classes_.tolist() == ["a", "b"]
    vectors = OKSPCA(random_state=0).learn_one(X[0], [1.0, 2.0]).learn_one(X[1], [0.0, 1.0])
    assert vectors.target_map_.n_inputs == 2


def test_basis_alignment_is_pure() -> None:
    X, y = data(300)
    model = OKSPCA(3, random_state=0).partial_fit(X[:150], y[:150])
    earlier = model.basis()
    model.partial_fit(X[150:], y[150:])
    now, turned = model.basis(), model.basis(align_to=earlier)
    assert projector_distance(now.vectors, turned.vectors) < 1e-13
    overlap = np.sum(turned.vectors * earlier.vectors)
    assert overlap >= np.sum(now.vectors * earlier.vectors) - 1e-12
    np.testing.assert_array_equal(model.basis().vectors, now.vectors)
    drift = now.drift_from(earlier)
    assert drift.distance == pytest.approx(turned.drift_from(earlier).distance, abs=1e-12)
    with pytest.raises(ValueError, match="kind='best'"):
        model.basis(kind="best")


def test_signs_follow_the_largest_entry() -> None:
    X, y = data(300)
    vectors = OKSPCA(4, random_state=0).fit(X, y).basis().vectors
    assert vectors.shape[1] == 4
    for column in vectors.T:
        assert column[np.argmax(np.abs(column))] > 0.0
