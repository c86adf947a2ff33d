"""The second opinion: its fit against a plain one, what it keeps, and what it is blended with."""

from typing import Any

import numpy as np
import pytest
from numpy.random import RandomState
from scipy.optimize import minimize
from scipy.special import log_softmax
from sklearn.datasets import make_blobs
from sklearn.linear_model import LogisticRegression

from okspca import OKSPCA, OKSPCAClassifier
from okspca.errors import StateError
from okspca.estimators.saving import model_bytes, model_from
from okspca.moments import WhitenedMoment
from okspca.moments.calibration import Calibration
from okspca.moments.class_discriminants import Discriminants, Translation, translation
from okspca.moments.opinions import BLENDS
from okspca.moments.second_opinion import MOST_ROWS, THINNED, SecondOpinion, Seen
from okspca.numerics.arrays import Floats
from okspca.numerics.softmax import Examples, fitted_softmax
from okspca.pipeline.learning import fold, settled

SMALL: dict[str, Any] = {"n_random_features": 64, "frequencies": "drawn", "random_state": 0}


def overlapping(n: int, n_classes: int = 4, seed: int = 0) -> tuple[Floats, Any]:
    """Classes whose posteriors are known to be logistic, and of which the features are not."""
    random = RandomState(seed)
    y = random.choice(
        n_classes, size=n, p=np.arange(n_classes, 0, -1) / (n_classes**2 + n_classes) * 2
    )
    return 0.8 * random.normal(size=(n_classes, 6))[y] + random.normal(size=(n, 6)), y


def seen(n: int, *, p: float = 0.5, n_classes: int = 3, first: int = 0) -> Seen:
    """Rows of the first class, which both opinions gave the same probability."""
    log_p = np.log(np.full((n, n_classes), (1.0 - p) / (n_classes - 1)))
    log_p[:, 0] = np.log(p)
    labels, numbers = np.zeros(n, np.int64), first + np.arange(n)
    return Seen(np.ones((n, n_classes)), labels, np.ones(n), numbers, log_p, log_p)


@pytest.mark.parametrize("n_classes", [2, 3, 6])
@pytest.mark.parametrize("precision", [1.0, 1e-2])
def test_the_fit_is_that_of_a_plain_optimiser(n_classes: int, precision: float) -> None:
    random = RandomState(n_classes)
    F, labels = random.normal(size=(200, 4)), random.randint(n_classes, size=200)
    base, weights = random.normal(size=n_classes), random.uniform(0.2, 2.0, size=200)

    def loss(a: Floats) -> float:
        A = a.reshape(4, n_classes)
        log_p = log_softmax(base + F @ A, axis=1)[np.arange(200), labels]
        return float(-(weights * log_p).sum() + 0.5 * precision * (a**2).sum())

    plain = minimize(loss, np.zeros(4 * n_classes)).fun
    rows = Examples(F, base, labels, weights)
    found = fitted_softmax(rows, np.zeros((4, n_classes)), precision=precision, enough=1e-9)
    assert loss(found.ravel()) == pytest.approx(plain, abs=1e-5)
    warm = fitted_softmax(rows, found, precision=precision)
    assert loss(warm.ravel()) == pytest.approx(plain, abs=1e-5)


def test_sure_rows_are_thinned_and_count_for_those_left_out() -> None:
    unsure = SecondOpinion.none(3).scored(seen(50))
    assert len(unsure.labels) == unsure.weights.sum() == 50
    sure = SecondOpinion.none(3).scored(seen(64, p=0.999))
    assert len(sure.labels) == 64 // THINNED
    assert sure.weights.sum() == 64
    cut = SecondOpinion.none(3).scored(seen(13, p=0.999)).scored(seen(51, p=0.999, first=13))
    assert np.array_equal(cut.weights, sure.weights)
    full = unsure.scored(seen(MOST_ROWS))
    assert len(full.labels) == MOST_ROWS


def test_the_blend_is_led_by_the_opinion_that_was_right() -> None:
    n, right, wrong = 40, np.log([[0.9, 0.1]]), np.log([[0.4, 0.6]])
    rows = seen(n, n_classes=2)
    believed, doubted = (
        SecondOpinion.none(2).scored(
            rows._replace(log_p=np.repeat(p, n, 0), log_q=np.repeat(q, n, 0))
        )
        for p, q in ((right, wrong), (wrong, right))
    )
    assert believed.losses.argmin() == len(BLENDS) - 1
    assert believed.weight(1.0) > 0.95
    assert doubted.weight(1.0) < 0.05
    # Before rows tell, the first counts more.
    assert 0.0 < SecondOpinion.none(2).weight(1.0) < 0.3


def test_other_classes_mean_a_new_beginning() -> None:
    calibration = Calibration(2)
    three, four = (
        Discriminants(np.zeros((2, n)), np.zeros(n), np.full(n, 1.0 / n), np.ones(n))
        for n in (3, 4)
    )
    calibration.begin(three, 64)
    calibration.second = calibration.second.scored(seen(50))
    calibration.begin(three, 96, Translation(2.0 * np.eye(3), np.array([1.0, 0.0, -1.0])))
    assert len(calibration.second.labels) == 50
    assert calibration.second.scores[0].tolist() == [3.0, 2.0, 1.0]
    assert calibration.second.weights.sum() == 25.0
    assert calibration.second.coefficients.any()
    calibration.begin(four, 128)
    assert calibration.second.n_classes == 4
    assert not len(calibration.second.labels)


def test_scores_by_other_discriminants_follow_from_the_covariance() -> None:
    random = RandomState(0)
    Phi = random.normal(size=(500, 5)) @ random.normal(size=(5, 5)) + 3.0
    mean, S = Phi.mean(axis=0), np.cov(Phi.T, bias=True)
    one, other = (
        Discriminants(B, random.normal(size=3), np.full(3, 1.0 / 3.0), np.array([1.0, 2.0, 3.0]))
        for B in random.normal(size=(2, 5, 3))
    )
    s, t = (found.claims_and_scores(found.of(Phi))[1] for found in (one, other))
    told = translation(one, other, (mean, mean), S @ one.weights)
    # The best linear prediction, by least squares: two of three scores are independent.
    best = np.linalg.lstsq(np.c_[s, np.ones(500)], t, rcond=None)[0]
    np.testing.assert_allclose(told.of(s), np.c_[s, np.ones(500)] @ best, atol=1e-9)
    same = translation(one, one, (mean, mean), S @ one.weights)
    np.testing.assert_allclose(same.of(s), s, atol=1e-9)


def test_another_ridge_leaves_the_second_opinion_what_it_was() -> None:
    X, y = make_blobs(1500, 4, centers=3, cluster_std=2.0, random_state=3)
    model = OKSPCAClassifier(ridge=1e-3, **{**SMALL, "n_random_features": 96}).fit(X, y)
    state = model.ready().state
    fold(state)
    moment = state.moment
    assert isinstance(moment, WhitenedMoment)
    assert moment.calibration is not None
    # Rows have told that only the second opinion counts.
    alone = moment.calibration.second._replace(losses=-1e6 * BLENDS)
    moment.calibration.second = alone
    before = model.predict_proba(X)
    moment.ridge = 10.0
    after = model.predict_proba(X)
    # Without translation the difference is 0.021.
    assert np.abs(after - before).mean() < 0.014


def test_rows_bound_what_is_claimed() -> None:
    sure = SecondOpinion.none(2)._replace(coefficients=np.array([[50.0, 0], [0, 50.0], [0, 0]]))
    p = np.exp(sure.log_p(np.array([[1.0, -1.0]]), np.array([0.5, 0.5]), 18.0))[0]
    assert p.sum() == pytest.approx(1.0)
    # Nine rows of a class cannot tell that others are unlike them by more than a factor ten.
    assert 0.85 < p[0] < 0.92


def test_opinions_on_the_same_classes_are_merged() -> None:
    one, other = SecondOpinion.none(3).scored(seen(30)), SecondOpinion.none(3).scored(seen(20))
    both = one.merged(other)
    assert len(both.labels) == 50
    np.testing.assert_allclose(both.losses, one.losses + other.losses)
    assert SecondOpinion.none(0).merged(one) is one
    assert one.merged(SecondOpinion.none(0)) is one
    assert one.merged(SecondOpinion.none(4).scored(seen(9, n_classes=4))).n_classes == 0


@pytest.mark.parametrize("seed", range(3))
def test_probabilities_are_nearly_those_of_logistic_regression(seed: int) -> None:
    X, y = overlapping(9000, seed=seed)
    model = OKSPCAClassifier(**SMALL).fit(X[:6000], y[:6000])
    Z, Zt = (OKSPCA.transform(model, rows) for rows in (X[:6000], X[6000:]))
    batch = LogisticRegression(max_iter=1000).fit(Z / Z.std(axis=0), y[:6000])
    rows = np.arange(3000), y[6000:]
    losses = [
        -np.log(p[rows]).mean()
        for p in (model.predict_proba(X[6000:]), batch.predict_proba(Zt / Z.std(axis=0)))
    ]
    assert losses[0] < 1.03 * losses[1]


@pytest.mark.parametrize("step", [7, 250, 1999])
def test_cuts_and_files_change_no_bit(step: int) -> None:
    X, y = overlapping(2000)
    whole, cut = (OKSPCAClassifier(**{**SMALL, "n_random_features": 16}) for _ in range(2))
    whole.partial_fit(X, y, classes=range(4))
    for start in range(0, 2000, step):
        cut.partial_fit(X[start : start + step], y[start : start + step], classes=range(4))
        if start > 900:
            cut = model_from(OKSPCAClassifier, model_bytes(cut))[0]
    assert np.array_equal(whole.predict_proba(X), cut.predict_proba(X))
    states = [settled(model.ready().state).moment for model in (whole, cut)]
    for parts in zip(*(state.calibration.second for state in states), strict=True):  # type: ignore[attr-defined]
        assert np.array_equal(*parts)
    assert len(states[0].calibration.second.labels) > 500  # type: ignore[attr-defined]


@pytest.mark.parametrize("part", ["labels", "weights", "coefficients"])
def test_files_that_cannot_be_are_refused(part: str) -> None:
    X, y = overlapping(300)
    model = OKSPCAClassifier(**{**SMALL, "n_random_features": 16}).fit(X, y)
    calibration = model.ready().state.moment.calibration  # type: ignore[attr-defined]
    second = calibration.second
    wrong = {
        "labels": second.labels + 0.5,
        "weights": -second.weights,
        "coefficients": second.coefficients[1:],
    }
    calibration.second = second._replace(**{part: wrong[part]})
    with pytest.raises(StateError):
        model_from(OKSPCAClassifier, model_bytes(model))
