"""Readouts from second moments are those of scikit-learn on the rows themselves."""

from typing import Any

import numpy as np
import pytest
from numpy.random import RandomState
from sklearn.cross_decomposition import PLSRegression
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LinearRegression, RidgeCV

from okspca.files.losses import losses_of
from okspca.files.readouts import (
    Totals,
    lda,
    pca,
    pls,
    readout,
    reduced_readout,
    regression_of,
)
from okspca.files.ridges import RIDGES, Regression
from okspca.numerics.arrays import Floats
from okspca.state.evaluations import Side

N = 4000


def sums(X: Floats, T: Floats, *, classes: bool) -> tuple[Side, Totals]:
    X0, T0 = X - X.mean(axis=0), T - T.mean(axis=0)
    totals = Totals(len(X), T.mean(axis=0), (T0**2).sum(axis=0), classes)
    return Side(X.mean(axis=0), X0.T @ X0, X0.T @ T0), totals


def rows(seed: int = 0) -> tuple[Floats, Floats, Floats]:
    random = RandomState(seed)
    X = random.normal(size=(N, 6)) @ random.normal(size=(6, 6)) + 5.0
    y = X @ random.normal(size=6) + 3.0 * random.normal(size=N) - 2.0
    return X[: N // 2], y[: N // 2], X[N // 2 :]


def without_ridge(side: Side) -> Regression:
    B = np.asarray(np.linalg.solve(side.gram, side.cross), dtype=np.float64)
    return Regression(1e-12 * float(side.gram.trace()), B)


@pytest.mark.parametrize("k", [1, 2, 4])
def test_numbers_are_read_as_by_scikit_learn(k: int) -> None:
    X, y, new = rows()
    side, totals = sums(X, y[:, np.newaxis], classes=False)
    whole = without_ridge(side)
    reduced = PCA(k).fit(X)
    expected = {
        "all": LinearRegression().fit(X, y).predict(new),
        "pca": LinearRegression().fit(reduced.transform(X), y).predict(reduced.transform(new)),
        "pls": PLSRegression(k, scale=False).fit(X, y).predict(new).ravel(),
    }
    columns = {"all": whole.coefficients, "pca": pca(side, k), "pls": pls(side, k)}
    for name, W in columns.items():
        found = readout(side, W, whole.ridge, totals).of(new - side.mean)[:, 0]
        np.testing.assert_allclose(found, expected[name], atol=1e-6, err_msg=name)


@pytest.mark.parametrize("k", [1, 2])
def test_classes_are_read_as_by_scikit_learn(k: int) -> None:
    X, y, new = rows(1)
    labels = np.digitize(y, np.quantile(y, [0.2, 0.5, 0.9]))
    side, totals = sums(X, np.eye(4)[labels], classes=True)
    whole = without_ridge(side)
    plain: Any = LinearDiscriminantAnalysis(solver="eigen")
    reducer: Any = LinearDiscriminantAnalysis(solver="eigen", n_components=k).fit(X, labels)
    axes = PCA(k).fit(X)
    expected = {
        "all": plain.fit(X, labels).predict_proba(new),
        "lda": plain.fit(reducer.transform(X), labels).predict_proba(reducer.transform(new)),
        "pca": plain.fit(axes.transform(X), labels).predict_proba(axes.transform(new)),
    }
    columns = {
        "all": whole.coefficients,
        "lda": lda(side, whole, totals, k),
        "pca": pca(side, k),
    }
    for name, W in columns.items():
        logs = readout(side, W, whole.ridge, totals).of(new - side.mean)
        shares = np.exp(logs - logs.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(shares, expected[name], atol=1e-4, err_msg=name)


def test_the_ridge_is_that_of_generalised_cross_validation() -> None:
    """Few rows of many columns, so that the ridge matters; scikit-learn leaves rows out itself."""
    random = RandomState(3)
    X = random.normal(size=(90, 60))
    y = X[:, 0] + 2.0 * random.normal(size=90)
    side, totals = sums(X, y[:, np.newaxis], classes=False)
    whole = regression_of(side, totals)
    unit = float(side.gram.trace()) / 60
    left_out = RidgeCV(alphas=[unit * each for each in RIDGES]).fit(X, y)
    assert whole.ridge == pytest.approx(left_out.alpha_)
    assert whole.ridge > 0.05 * unit
    found = readout(side, whole.coefficients, whole.ridge, totals).of(X - side.mean)[:, 0]
    np.testing.assert_allclose(found, left_out.predict(X), atol=1e-8)


def test_components_that_vary_little_are_read_with_a_ridge_of_their_own() -> None:
    """The ridge of all columns suits the many that only disturb, and would shrink these away."""
    random = RandomState(4)
    X = random.normal(size=(300, 80))
    X[:, 0] *= 0.05
    y = 20.0 * X[:, 0] + 2.0 * random.normal(size=300)
    side, totals = sums(X, y[:, np.newaxis], classes=False)
    W = np.eye(80)[:, :1]
    expected = LinearRegression().fit(X[:, :1], y).predict(X[:, :1])
    found = reduced_readout(side, 7.0 * W, totals).of(X - side.mean)[:, 0]
    np.testing.assert_allclose(found, expected, atol=0.1)
    shrunk = readout(side, W, regression_of(side, totals).ridge, totals).of(X - side.mean)[:, 0]
    assert shrunk.std() < 0.5 * expected.std()


def test_columns_that_do_not_vary_are_read_as_nothing() -> None:
    side, totals = sums(np.ones((50, 3)), RandomState(0).normal(size=(50, 1)), classes=False)
    whole = regression_of(side, totals)
    for W in (whole.coefficients, pca(side, 2), pls(side, 2), np.zeros((3, 2))):
        found = readout(side, W, whole.ridge, totals).of(np.zeros((4, 3)))
        np.testing.assert_array_equal(found[:, 0], np.full(4, totals.mean[0]))
        again = reduced_readout(side, W, totals).of(np.zeros((4, 3)))
        np.testing.assert_array_equal(again, found)


def test_a_class_that_was_never_met_is_always_wrong() -> None:
    sure = np.log([[0.98, 0.02]])
    wrong, squares = losses_of(sure, np.array([-1]), np.array([0, 3]), classes=True)
    assert wrong[0] == 1.0
    assert squares[0] == pytest.approx(0.98**2 + 0.02**2 + 1.0)
    assert losses_of(sure, np.array([0]), np.array([0, 3]), classes=True)[0, 0] == 0.0
    assert losses_of(sure, np.array([3]), np.array([0, 3]), classes=True)[0, 0] == 1.0
    other = np.log([[0.02, 0.98]])
    assert losses_of(other, np.array([3]), np.array([0, 3]), classes=True)[0, 0] == 0.0
