"""Probabilities: as sure as rows not learned yet allow, and never much worse than the shares."""

from typing import Any

import numpy as np
import pytest
from numpy.random import RandomState
from sklearn.datasets import make_blobs, make_classification
from sklearn.linear_model import LogisticRegression

from okspca import OKSPCA, OKSPCAClassifier
from okspca.estimators.saving import model_bytes, model_from
from okspca.moments import WhitenedMoment
from okspca.moments.calibration import Calibration
from okspca.numerics.arrays import Floats
from okspca.pipeline.learning import fold, settled

SMALL: dict[str, Any] = {"n_random_features": 96, "frequencies": "drawn", "random_state": 0}
LEARNED, HELD_OUT = 6000, 6000


def drawn(kind: str, rate: float, n: int, seed: int = 1) -> tuple[Floats, Any]:
    """Rows of which about ``rate`` are positive, in a region that is not linear."""
    random = RandomState(seed)
    if kind == "clusters":
        shape: dict[str, Any] = {"n_features": 8, "n_informative": 5, "n_clusters_per_class": 3}
        X, y = make_classification(n, weights=[1 - rate], flip_y=0.0, random_state=seed, **shape)
        order = random.permutation(n)
        return X[order], y[order]
    X = random.normal(size=(n, 5))
    score = (X[:, :3] ** 2).sum(axis=1) if kind == "sphere" else X[:, 0] * X[:, 1]
    score = score + 0.3 * random.normal(size=n)
    return X, (score > np.quantile(score, 1.0 - rate)).astype(int)


def log_loss(p: Floats, y: Any) -> float:
    """Mean negative logarithm of the probability of what came."""
    p = np.broadcast_to(p, (len(y), p.shape[-1]))
    return float(-np.mean(np.log(np.clip(p[np.arange(len(y)), y], 1e-15, 1.0))))


def calibration_of(model: OKSPCAClassifier) -> Calibration:
    moment = settled(model.ready().state).moment
    assert isinstance(moment, WhitenedMoment)
    assert moment.calibration is not None
    return moment.calibration


def as_before(model: OKSPCAClassifier) -> OKSPCAClassifier:
    """The model as an earlier version would have saved it: discriminants, and nothing else."""
    old: OKSPCAClassifier = model_from(OKSPCAClassifier, model_bytes(model))[0]
    state = old.ready().state
    fold(state)
    state.moment.calibration = None  # type: ignore[attr-defined]
    return OKSPCAClassifier.from_bytes(old.to_bytes())


@pytest.mark.parametrize("rate", [0.001, 0.004, 0.01, 0.04])
@pytest.mark.parametrize("kind", ["clusters", "sphere", "xor"])
def test_rare_classes_have_probabilities_that_can_be_used(kind: str, rate: float) -> None:
    X, y = drawn(kind, rate, LEARNED + HELD_OUT)
    model = OKSPCAClassifier(1, **SMALL).fit(X[:LEARNED], y[:LEARNED])
    Xt, yt = X[LEARNED:], y[LEARNED:]
    shares = np.bincount(y[:LEARNED]) / LEARNED
    found = log_loss(model.predict_proba(Xt), yt)
    assert found < log_loss(shares, yt)
    Z, Zt = (OKSPCA.transform(model, rows) for rows in (X[:LEARNED], Xt))
    scale = Z.std()
    batch = LogisticRegression(max_iter=1000).fit(Z / scale, y[:LEARNED])
    if rate > 0.001:  # which is six rows, of which half are scored
        assert found < 1.5 * log_loss(batch.predict_proba(Zt / scale), yt)
    right = np.mean(model.predict(Xt) == yt)
    assert right >= max(shares.max() - 0.002, np.mean(as_before(model).predict(Xt) == yt) - 0.002)


@pytest.mark.parametrize("n_classes", [2, 3, 6])
@pytest.mark.parametrize("n", [300, 2000])
def test_predictions_stay_as_good_where_classes_are_equal(n_classes: int, n: int) -> None:
    X, y = make_blobs(n + 2000, 5, centers=n_classes, cluster_std=4.0, random_state=n_classes)
    model = OKSPCAClassifier(**SMALL).fit(X[:n], y[:n])
    before = as_before(model)
    assert np.mean(model.predict(X[n:]) == y[n:]) > np.mean(before.predict(X[n:]) == y[n:]) - 0.01
    losses = [log_loss(one.predict_proba(X[n:]), y[n:]) for one in (model, before)]
    assert losses[0] < 1.1 * losses[1]


@pytest.mark.parametrize("n", [10, 20, 40, 70])
@pytest.mark.parametrize("seed", range(3))
def test_few_rows_of_noise_are_not_believed(n: int, seed: int) -> None:
    random = RandomState(seed)
    X, y = random.normal(size=(n + 1000, 4)), random.randint(2, size=n + 1000)
    model = OKSPCAClassifier(**SMALL).fit(X[:n], y[:n])
    before, found = (log_loss(one.predict_proba(X[n:]), y[n:]) for one in (as_before(model), model))
    assert found < 0.8
    assert found < before


def test_answers_agree_with_each_other() -> None:
    X, y = make_blobs(500, 3, centers=4, cluster_std=3.0, random_state=0)
    for classes in (2, 4):
        kept = y < classes
        model = OKSPCAClassifier(**SMALL).fit(X[kept], y[kept])
        p, values = model.predict_proba(X), model.decision_function(X)
        np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-12)
        assert np.array_equal(model.predict(X), model.classes_[p.argmax(axis=1)])
        if classes == 2:
            np.testing.assert_allclose(p[:, 1], 1.0 / (1.0 + np.exp(-values)), rtol=1e-9)


@pytest.mark.parametrize("forgetting", [1.0, 0.99])
@pytest.mark.parametrize("step", [1, 7, 64, 300])
def test_cuts_change_no_bit_of_a_probability(step: int, forgetting: float) -> None:
    X, y = drawn("sphere", 0.1, 330)
    options = {**SMALL, "n_random_features": 16, "forgetting": forgetting}
    whole, cut = OKSPCAClassifier(**options), OKSPCAClassifier(**options)
    whole.partial_fit(X, y, classes=[0, 1])
    for start in range(0, len(X), step):
        block = slice(start, start + step)
        cut.partial_fit(X[block], y[block], classes=[0, 1])
    assert np.array_equal(cut.predict_proba(X), whole.predict_proba(X))
    assert calibration_of(cut).totals[0] > 0.0


def test_reading_and_saving_in_between_change_nothing() -> None:
    X, y = drawn("sphere", 0.2, 400)
    plain, read = (OKSPCAClassifier(**SMALL) for _ in range(2))
    for start in range(0, 400, 50):
        block = slice(start, start + 50)
        plain.partial_fit(X[block], y[block])
        read = model_from(OKSPCAClassifier, model_bytes(read.partial_fit(X[block], y[block])))[0]
        read.predict_proba(X[:5])
    assert model_bytes(read) == model_bytes(plain)
    assert np.array_equal(read.predict_proba(X), plain.predict_proba(X))


def test_an_older_state_gives_what_it_gave_and_goes_on() -> None:
    X, y = drawn("sphere", 0.2, 600)
    old = as_before(OKSPCAClassifier(**SMALL).fit(X[:400], y[:400]))
    before = old.predict_proba(X)
    assert np.array_equal(as_before(old).predict_proba(X), before)
    old.partial_fit(X[400:], y[400:])
    assert old.ready().state.moment.calibration is None  # type: ignore[attr-defined]
    assert not np.array_equal(old.predict_proba(X), before)


def test_the_unit_of_weights_does_not_matter() -> None:
    X, y = drawn("sphere", 0.1, 700)
    weights = RandomState(0).uniform(0.5, 2.0, size=700)
    p = [
        OKSPCAClassifier(**SMALL).fit(X, y, sample_weight=unit * weights).predict_proba(X)
        for unit in (1.0, 1024.0)
    ]
    np.testing.assert_allclose(p[0], p[1], rtol=1e-7)


def test_forgetting_lets_the_belief_follow_a_change() -> None:
    """Labels become noise: what forgets soon no longer believes its discriminants."""
    X, y = drawn("sphere", 0.5, 4000)
    y = y.copy()
    y[2000:] = RandomState(1).randint(2, size=2000)
    losses = []
    for forgetting in (1.0, 0.995):
        model = OKSPCAClassifier(**SMALL, forgetting=forgetting).fit(X, y)
        noise = RandomState(2).randint(2, size=4000)
        losses.append(log_loss(model.predict_proba(X), noise))
    assert losses[1] < min(losses[0], 0.8)


@pytest.mark.parametrize("late", ["z", "a"])
def test_a_class_that_comes_late_is_believed_as_soon_as_rows_tell(late: str) -> None:
    X, y = make_blobs(1500, 4, centers=3, cluster_std=2.0, random_state=3)
    labels = np.array(["m", "n", late])[y]
    first = np.flatnonzero(y < 2)[:400]
    rest = np.setdiff1d(np.arange(1500), first)
    model = OKSPCAClassifier(**SMALL).partial_fit(X[first], labels[first])
    few = rest[:30]
    model.partial_fit(X[few], labels[few])
    p = model.predict_proba(X[rest[1000:]])
    assert np.isfinite(p).all()
    model.partial_fit(X[rest[30:1000]], labels[rest[30:1000]])
    assert model.score(X[rest[1000:]], labels[rest[1000:]]) > 0.9


def test_scores_of_pooled_models_add_up_by_class() -> None:
    """The second model met the classes in another order, and one that the first lacks."""
    X, y = make_blobs(1200, 4, centers=3, cluster_std=2.0, random_state=5)
    names = np.array(["a", "b", "c"])
    # As many rows as leave none unscored, as rows after the last multiple of 128 are.
    parts = [np.flatnonzero(y < 2)[:384], np.flatnonzero(y > 0)[400:784]]
    shared: dict[str, Any] = {**SMALL, "standardize": None}
    first = OKSPCAClassifier(**shared).partial_fit(X[parts[0]], names[y[parts[0]]])
    second = OKSPCAClassifier(**shared).partial_fit(X[parts[1]], names[y[parts[1]]])
    mine, theirs = calibration_of(first).scores.copy(), calibration_of(second).scores.copy()
    columns = {name: list(second.classes_).index(name) for name in ("b", "c")}
    before = list(first.classes_)
    first.merge(second)
    found = calibration_of(first).scores
    at = list(first.classes_).index
    np.testing.assert_allclose(
        found[at("b")], mine[before.index("b")] + theirs[columns["b"]], rtol=1e-12
    )
    np.testing.assert_allclose(found[at("c")], theirs[columns["c"]], rtol=1e-12)
    assert np.isfinite(first.predict_proba(X)).all()
    assert first.score(X, names[y]) > 0.7
    first.partial_fit(X, names[y])
    assert calibration_of(first).totals[0] > 0.0


def test_memory_does_not_grow_with_the_stream() -> None:
    X, y = drawn("xor", 0.3, 3000)
    model, sizes = OKSPCAClassifier(**{**SMALL, "n_random_features": 16}), []
    for _ in range(3):
        calibration = calibration_of(model.partial_fit(X, y))
        sizes.append((calibration.scores.nbytes, calibration.frozen.weights.nbytes))
    assert sizes == [sizes[0]] * 3


@pytest.mark.parametrize("distance", [0.0, 1e-9, 1.0, 1e6])
def test_classes_that_do_not_vary_yet_have_probabilities(distance: float) -> None:
    """One row of each class: nothing varies within them."""
    X = np.array([[0.0, 1.0], [distance, 1.0]])
    model = OKSPCAClassifier(n_random_features=16, frequencies="drawn", random_state=0)
    p = model.fit(X, ["a", "b"]).predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert p[0, 0] >= p[1, 0] - 1e-12
