"""How many components a model has where nobody gives a number."""

from typing import Any

import numpy as np
import pytest
from numpy.random import RandomState
from sklearn.base import clone
from sklearn.datasets import make_blobs

from okspca import OKSPCA, OKSPCAClassifier, OKSPCARegressor
from okspca.errors import MergeError
from okspca.estimators.saving import model_bytes, model_from
from okspca.numerics.arrays import Floats

SMALL: dict[str, Any] = {"n_random_features": 24, "frequencies": "drawn", "random_state": 0}


def blobs(n: int = 400, n_classes: int = 5) -> tuple[Floats, Any]:
    """Classes of which the last comes late."""
    X, y = make_blobs(n, 4, centers=n_classes, cluster_std=3.0, random_state=1)
    early = np.arange(n) < 3 * n // 4
    y = np.where(early & (y == n_classes - 1), 0, y)
    return X, y


@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_a_classifier_has_one_component_less_than_classes(n_classes: int) -> None:
    X, y = make_blobs(300, 4, centers=n_classes, random_state=0)
    model = OKSPCAClassifier(**SMALL).fit(X, y)
    assert model.n_components is None
    assert model.n_components_ == model.transform(X).shape[1] == n_classes - 1
    assert len(model.get_feature_names_out()) == n_classes - 1
    assert model.basis().rank == n_classes - 1


def test_a_regressor_has_one_component_for_each_number() -> None:
    X = RandomState(0).normal(size=(300, 4))
    for Y in (X[:, 0], X[:, :3] ** 2):
        model = OKSPCARegressor(**SMALL).fit(X, Y)
        width = 1 if Y.ndim == 1 else 3
        assert model.n_components_ == model.transform(X).shape[1] == width


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_more_components_predict_no_better(n_outputs: int) -> None:
    random = RandomState(0)
    X = random.normal(size=(2000, 4))
    Y = np.stack([np.sin(X[:, 0]) * X[:, 1], X[:, 2] ** 2, X[:, 3]], axis=1)[:, :n_outputs]
    Y = Y + 0.2 * random.normal(size=Y.shape)
    settings = {**SMALL, "n_random_features": 128}
    default, wide = (OKSPCARegressor(k, **settings).fit(X[:1500], Y[:1500]) for k in (None, 12))
    scores = [model.score(X[1500:], Y[1500:]) for model in (default, wide)]
    assert scores[0] > scores[1] - 0.002 > 0.7


@pytest.mark.parametrize("align", [False, True])
@pytest.mark.parametrize("step", [1, 13, 100, 399])
def test_the_number_follows_classes_that_come_late(step: int, align: bool) -> None:
    X, y = blobs()
    whole, cut = (OKSPCAClassifier(align=align, **SMALL) for _ in range(2))
    whole.partial_fit(X, y)
    widths = []
    for start in range(0, len(X), step):
        cut.partial_fit(X[start : start + step], y[start : start + step])
        widths.append((len(cut.classes_), cut.n_components_))
    assert all(width == max(n_classes - 1, 1) for n_classes, width in widths)
    assert cut.n_components_ == 4
    assert np.array_equal(cut.transform(X), whole.transform(X))
    if align:
        anchor = whole.ready().state.anchor
        assert anchor is not None
        assert np.array_equal(anchor, cut.ready().state.anchor)  # type: ignore[arg-type]


def test_declared_classes_have_their_columns_from_the_start() -> None:
    X, y = blobs()
    model = OKSPCAClassifier(**SMALL).partial_fit(X[:200], y[:200], classes=range(5))
    Z = model.transform(X)
    assert Z.shape[1] == 4
    assert Z[:, :3].any(axis=0).all()
    assert not Z[:, 3].any()


def test_columns_that_are_rounding_change_no_probability() -> None:
    X, y = blobs()
    found = [OKSPCAClassifier(k, **SMALL).fit(X, y).predict_proba(X) for k in (4, 16, None)]
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[0], found[2])


@pytest.mark.parametrize("align", [False, True])
def test_the_number_is_saved_and_goes_on_following(align: bool) -> None:
    X, y = blobs()
    plain, saved = (OKSPCAClassifier(align=align, **SMALL) for _ in range(2))
    for rows in (slice(0, 150), slice(150, 280), slice(280, 400)):
        plain.partial_fit(X[rows], y[rows])
        saved = model_from(OKSPCAClassifier, model_bytes(saved.partial_fit(X[rows], y[rows])))[0]
    assert saved.n_components is None
    assert model_bytes(saved) == model_bytes(plain)
    assert saved.n_components_ == 4
    assert clone(saved).n_components is None


def test_models_that_follow_are_merged_over_the_classes_of_both() -> None:
    X, y = blobs()
    settings = {**SMALL, "standardize": None}
    parts = [OKSPCAClassifier(**settings).fit(X[y < 3], y[y < 3])]
    parts.append(OKSPCAClassifier(**settings).fit(X[y > 1], y[y > 1]))
    assert [part.n_components_ for part in parts] == [2, 2]
    merged = parts[0].merge(parts[1], distinct=True)
    assert merged.n_components_ == merged.transform(X).shape[1] == 4
    with pytest.raises(MergeError, match="n_components"):
        merged.merge(OKSPCAClassifier(2, **settings).fit(X, y), distinct=True)


def test_the_paper_s_objective_needs_a_number() -> None:
    X, y = blobs()
    with pytest.raises(ValueError, match="n_components=None"):
        OKSPCA(None).fit(X, y)
    assert OKSPCA(None, preset="predictive", **SMALL).fit(X, y).n_components_ == 4
