"""The watch for drift: when it raises its alarm, and that this is as exact as all else."""

from typing import Any

import numpy as np
import pytest
from numpy.random import RandomState

from okspca import OKSPCA, OKSPCAClassifier, OKSPCARegressor
from okspca.distributed import Survey, identity
from okspca.estimators import map_search, relearning
from okspca.estimators.relearning import watch_of
from okspca.estimators.watching import USUAL, Watch, waiting_errors
from okspca.numerics.arrays import Floats
from tests.contracts.fingerprint import fingerprint, state_of

SMALL: dict[str, Any] = {
    **{"n_random_features": 32, "frequencies": "scaled", "pilot_rows": 512},
    **{"relearn": "on-drift", "random_state": 0},
}
DRIFT, END = 3500, 5200


def rows(n: int = END) -> tuple[Floats, Floats]:
    """Two of five inputs matter, and after the drift two others."""
    random = RandomState(3)
    X = random.uniform(-2.0, 2.0, size=(n, 5))
    y = np.where(np.arange(n) < DRIFT, X[:, 0] * X[:, 1], X[:, 3] * X[:, 4])
    return X, y + 0.2 * random.normal(size=n)


def learned(model: OKSPCA, X: Floats, y: Any, step: int) -> OKSPCA:
    for start in range(0, len(X), step):
        model.partial_fit(X[start : start + step], y[start : start + step])
    return model


def search_of(model: OKSPCA) -> Any:
    assert model.learned is not None
    return model.learned.search


def labels_of(y: Floats) -> Any:
    labels = np.where(y > 0.0, "up", "down").astype(object)
    labels[1200:][np.abs(y[1200:]) < 0.2] = "late"
    return labels


def test_a_jump_raises_the_alarm_and_one_share_does_not() -> None:
    usual = RandomState(0).normal(0.3, 0.02, size=40)
    watch = Watch()
    for share in usual:
        watch = watch.judged(share)
    assert watch.level < 3.0
    once = watch.judged(5.0)
    assert not once.is_raised
    for share in usual:
        once = once.judged(share)
    assert once.level == 0.0
    for _ in range(3):
        assert not watch.is_raised
        watch = watch.judged(0.6)
    assert watch.is_raised
    assert watch.restarted().n_alarms == 1


def test_after_a_pilot_the_shares_before_it_count_as_eight() -> None:
    watch = Watch()
    for share in [0.1, 0.3] * 20:
        watch = watch.judged(share)
    again = watch.restarted()
    assert again == again.restarted()
    assert (again.n_shares, again.mean) == (USUAL, watch.mean)
    assert again.deviations / (USUAL - 1) == pytest.approx(watch.deviations / 39)
    few = Watch().judged(0.1)
    assert few.restarted() == few


def test_a_jump_does_not_look_usual_at_once() -> None:
    watch = Watch()
    for share in RandomState(0).normal(0.3, 0.02, size=USUAL):
        watch = watch.judged(share)
    for _ in range(3):
        watch = watch.judged(0.9)
    assert watch.is_raised


def test_what_is_usual_is_learned_first_and_better_is_never_alarming() -> None:
    watch = Watch()
    for number in range(USUAL):
        watch = watch.judged(float(number % 2))
    assert watch.level == 0.0
    for _ in range(50):
        watch = watch.judged(0.0)
    assert watch.level == 0.0
    small = Watch()
    for share in [0.1] * 20 + [0.109] * 50:
        small = small.judged(share)
    assert small.level == 0.0


def test_the_share_is_that_of_the_predictions_of_the_model() -> None:
    """Rows that wait are predicted by the moment before them; the head says the same."""
    X, y = rows(1500)
    model = OKSPCARegressor(standardize=None, **SMALL).partial_fit(X[:1280], y[:1280])
    guess = model.predict(X[1280:1400])
    mean = float(model.moment_.means()[1][0])
    model.partial_fit(X[1280:1400], y[1280:1400])
    n, errors, squares = waiting_errors(model.ready().state)
    actual = y[1280:1400]
    # Polynomials of the response count a hundredth each.
    assert n == 120
    assert errors == pytest.approx(((actual - guess) ** 2).sum(), rel=0.02)
    assert squares == pytest.approx(((actual - mean) ** 2).sum(), rel=0.02)


def test_testing_rows_leaves_the_state_as_it_is() -> None:
    """Features of new responses would widen a compressed moment."""
    X, y = rows(700)
    model = OKSPCA(1, preset="predictive", n_target_features=200, **SMALL)
    state = model.partial_fit(X[:600], y[:600]).partial_fit(X[600:], 9.0 * y[600:]).ready().state
    before = fingerprint(state)
    waiting_errors(state)
    assert fingerprint(state) == before


@pytest.mark.parametrize("options", [{}, {"window": 700}, {"forgetting": 0.998}], ids=str)
def test_a_drift_begins_a_fresh_pilot(options: dict[str, Any]) -> None:
    X, y = rows()
    model = OKSPCARegressor(**SMALL, **options).partial_fit(X[:DRIFT], y[:DRIFT])
    assert (model.n_drift_alarms_, model.pilot_rows_left_) == (0, 0)
    model.partial_fit(X[DRIFT:], y[DRIFT:])
    assert model.n_drift_alarms_ == 1
    assert DRIFT < search_of(model).began_at <= DRIFT + 1024
    assert model.relevance_[3:].sum() > 0.8
    assert model.n_samples_seen_ == END


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"window": 700}, {"align": True}], ids=str)
@pytest.mark.parametrize("head", [OKSPCARegressor, OKSPCAClassifier])
def test_blocks_of_any_size_and_single_rows_give_the_same(
    head: type[OKSPCA], options: dict[str, Any]
) -> None:
    X, y = rows()
    target = labels_of(y) if head is OKSPCAClassifier else y
    whole = head(**SMALL, **options).partial_fit(X, target)
    assert whole.n_drift_alarms_ == 1
    for step in (97, 1300):
        cut = learned(head(**SMALL, **options), X, target, step)
        assert cut.to_bytes() == whole.to_bytes()
    single = head(**SMALL, **options).partial_fit(X[:DRIFT], target[:DRIFT])
    for x, one in zip(X[DRIFT:], target[DRIFT:], strict=True):
        single.learn_one(x, one)
    assert single.to_bytes() == whole.to_bytes()


@pytest.mark.parametrize("place", [300, 700, 3000, DRIFT + 300, DRIFT + 1100])
def test_saved_at_any_row_it_goes_on_to_the_same_bytes(place: int) -> None:
    X, y = rows()
    model = OKSPCARegressor(**SMALL).partial_fit(X[:place], y[:place])
    twin = OKSPCARegressor.from_bytes(model.to_bytes())
    assert twin.to_bytes() == model.to_bytes()
    for one in (model, twin):
        one.partial_fit(X[place:], y[place:])
    assert twin.to_bytes() == model.to_bytes()
    assert twin.n_drift_alarms_ == 1


def test_watching_changes_nothing_but_by_an_alarm() -> None:
    X, y = rows()
    watched = OKSPCARegressor(**SMALL).partial_fit(X[:DRIFT], y[:DRIFT])
    plain = OKSPCARegressor(**{**SMALL, "relearn": "never"}).partial_fit(X[:DRIFT], y[:DRIFT])
    assert watched.predict(X).tobytes() == plain.predict(X).tobytes()
    assert watch_of(watched.ready().state).n_shares >= USUAL
    assert watch_of(plain.ready().state) == Watch()
    assert plain.n_drift_alarms_ == 0


def test_a_call_lets_go_of_what_was_about_to_be_said() -> None:
    X, y = rows()
    model = OKSPCARegressor(**SMALL).partial_fit(X[: DRIFT + 500], y[: DRIFT + 500])
    assert watch_of(model.ready().state).level > 0.0
    model.relearn_features()
    watch = watch_of(model.ready().state)
    assert (watch.level, watch.rows, watch.n_shares) == (0.0, 0, USUAL)
    model.partial_fit(X[DRIFT + 500 :], y[DRIFT + 500 :])
    assert model.n_drift_alarms_ == 0


def test_a_pilot_that_came_too_early_is_followed_by_another() -> None:
    """The first alarm falls into a change that goes on for longer than a pilot."""
    random, n = RandomState(4), 9000
    X = random.uniform(-2.0, 2.0, size=(n, 5))
    late = random.uniform(size=n) < np.clip((np.arange(n) - DRIFT) / 3000.0, 0.0, 1.0)
    y = np.where(late, X[:, 3] * X[:, 4], X[:, 0] * X[:, 1]) + 0.2 * random.normal(size=n)
    model = OKSPCARegressor(window=1000, **SMALL).partial_fit(X, y)
    assert model.n_drift_alarms_ > 1
    assert search_of(model).began_at > DRIFT + 2000
    assert model.relevance_[3:].sum() > 0.9


def test_what_stays_worse_becomes_usual() -> None:
    """Noise that has grown for good cannot be learned away, and does not alarm for ever."""
    random, n = RandomState(4), 40_000
    X = random.uniform(-2.0, 2.0, size=(n, 3))
    noise = np.where(np.arange(n) < 5000, 0.2, 1.5)
    y = X[:, 0] * X[:, 1] + noise * random.normal(size=n)
    model = OKSPCARegressor(**SMALL).partial_fit(X[:25_000], y[:25_000])
    found = model.n_drift_alarms_
    assert 1 <= found <= 8
    assert model.partial_fit(X[25_000:], y[25_000:]).n_drift_alarms_ == found


@pytest.mark.parametrize("place", [DRIFT + 100, DRIFT + 1000])
def test_what_fails_changes_nothing(place: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether it fails in a climb, or where the alarm begins a pilot."""
    X, y = rows()
    model = OKSPCARegressor(**SMALL).partial_fit(X[:place], y[:place])
    before = state_of(model)

    def broken(*arguments: object, **more: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(map_search, "climbed", broken)
        with pytest.raises(KeyboardInterrupt):
            model.partial_fit(X[place:], y[place:])
    assert state_of(model) == before


def test_an_alarm_that_begins_no_pilot_leaves_its_row(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = rows()
    whole = OKSPCARegressor(**SMALL).partial_fit(X, y)
    last = search_of(whole).began_at - 1
    model = OKSPCARegressor(**SMALL).partial_fit(X[:last], y[:last])
    before = state_of(model)

    def broken(*arguments: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(relearning, "fresh_search", broken)
        with pytest.raises(KeyboardInterrupt):
            model.learn_one(X[last], y[last])
    assert state_of(model) == before
    assert model.learn_one(X[last], y[last]).n_drift_alarms_ == 1


def test_a_climb_is_not_put_off() -> None:
    X, y = rows()
    whole = OKSPCARegressor(**SMALL).partial_fit(X[:1200], y[:1200])
    token = map_search.ENDING.set(lambda: True)
    try:
        model = OKSPCARegressor(**SMALL).partial_fit(X[:1200], y[:1200])
    finally:
        map_search.ENDING.reset(token)
    assert model.to_bytes() == whole.to_bytes()


def test_wrong_uses_are_named() -> None:
    X, y = rows(50)
    for preset, frequencies in (("predictive", "drawn"), ("paper", "trained")):
        model = OKSPCA(2, relearn="on-drift", preset=preset, frequencies=frequencies)
        with pytest.raises(ValueError, match="relearn='on-drift'"):
            model.fit(X, y)
    with pytest.raises(ValueError, match="relearn='now'"):
        OKSPCARegressor(relearn="now").fit(X, y)
    with pytest.raises(ValueError, match="relearn"):
        identity(OKSPCARegressor(relearn="on-drift"), Survey(OKSPCARegressor()).add(X, y), (X, y))
