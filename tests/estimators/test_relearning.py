"""A fresh pilot: what it finds, that the model goes on meanwhile, that it is exact as the first."""

from typing import Any

import numpy as np
import pytest
from numpy.random import RandomState

from okspca import OKSPCA, MergeError, OKSPCAClassifier, OKSPCARegressor
from okspca.errors import NotReadyError
from okspca.estimators import map_search as module
from okspca.estimators.saving import model_bytes
from okspca.features import FourierMap, ladder
from okspca.numerics.arrays import Floats
from okspca.state.container import pack, unpack
from tests.contracts.fingerprint import fingerprint, state_of

#: The first pilot ends after 512 rows, the drift comes at 700, and the call with it.
DRIFT, END, PILOT = 700, 1400, 512
SMALL: dict[str, Any] = {
    **{"n_random_features": 32, "frequencies": "scaled", "pilot_rows": PILOT},
    **{"objective": "whitened", "random_state": 0},
}
KINDS: dict[str, dict[str, Any]] = {
    "scaled": {},
    "trained": {"frequencies": "trained"},
    "covariance": {"objective": "covariance"},
    "window": {"window": 300},
    "forgetting": {"forgetting": 0.995},
    "stability": {"stability": 4},
    "align": {"align": True},
    "frozen": {"standardize": "frozen"},
    "median": {"bandwidth": "median"},
    "tracker": {"objective": "covariance", "solver": "adam"},
    "impute": {"missing": "impute"},
}


def rows(n: int = END) -> tuple[Floats, Floats]:
    """Two of six inputs matter, and after the drift two others."""
    X = RandomState(3).uniform(-2.0, 2.0, size=(n, 6))
    return X, np.where(np.arange(n) < DRIFT, X[:, 0] * X[:, 1], X[:, 4] * X[:, 5])


def options_of(kind: str) -> dict[str, Any]:
    return {**SMALL, **KINDS[kind]}


def before_the_drift(**options: Any) -> OKSPCA:
    X, y = rows()
    return OKSPCA(2, **options).partial_fit(X[:DRIFT], y[:DRIFT])


def learned(model: OKSPCA, X: Floats, y: Any, step: int) -> OKSPCA:
    for start in range(0, len(X), step):
        model.partial_fit(X[start : start + step], y[start : start + step])
    return model


def search_of(model: OKSPCA) -> Any:
    assert model.learned is not None
    return model.learned.search


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_fresh_pilot_finds_what_matters_now(kind: str) -> None:
    X, y = rows()
    model = before_the_drift(**options_of(kind))
    assert model.relevance_[:2].sum() > 0.8
    model.relearn_features()
    assert model.pilot_rows_left_ == PILOT
    model.partial_fit(X[DRIFT:], y[DRIFT:])
    assert model.relevance_[4:].sum() > 0.8
    assert model.pilot_rows_left_ == 0
    assert model.n_samples_seen_ == END
    assert (search_of(model).held, search_of(model).rows_before) == ((), DRIFT)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("frozen", "impute")])
def test_with_a_new_map_the_model_is_one_that_began_with_the_fresh_rows(kind: str) -> None:
    X, y = rows()
    model = before_the_drift(**options_of(kind)).relearn_features()
    model.partial_fit(X[DRIFT:], y[DRIFT:])
    options = {**options_of(kind), "frequencies": "drawn"}
    plain = OKSPCA(2, input_map=model.input_map_, **options)
    plain.partial_fit(X[DRIFT : DRIFT + PILOT], y[DRIFT : DRIFT + PILOT])
    plain.partial_fit(X[DRIFT + PILOT :], y[DRIFT + PILOT :])
    assert model.moment_.arrays.sums.tobytes() == plain.moment_.arrays.sums.tobytes()
    assert model.transform(X).tobytes() == plain.transform(X).tobytes()
    assert model.moment_.weight == plain.moment_.weight
    if kind == "stability":
        distances = [one.estimate_stability().distance for one in (model, plain)]
        assert distances[0] == distances[1]


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_meanwhile_the_model_answers_as_if_nothing_had_been_said(kind: str) -> None:
    X, y = rows()
    model, other = (before_the_drift(**options_of(kind)) for _ in range(2))
    model.relearn_features()
    for stop in (DRIFT, DRIFT + 1, DRIFT + PILOT - 1):
        for one in (model, other):
            one.partial_fit(X[one.n_samples_seen_ : stop + 1], y[one.n_samples_seen_ : stop + 1])
        model, other = (
            OKSPCA.from_bytes(one.to_bytes()) if stop == DRIFT else one for one in (model, other)
        )
        if stop < DRIFT + PILOT - 1:
            embedded = [one.transform(X[:50]) for one in (model, other)]
            np.testing.assert_allclose(embedded[0], embedded[1], rtol=1e-12, atol=1e-12)
            # Single rows of a covariance take another way to the same sums.
            if options_of(kind)["objective"] == "whitened":
                assert embedded[0].tobytes() == embedded[1].tobytes()
    assert model.transform(X[:50]).tobytes() != other.transform(X[:50]).tobytes()


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("labels", [False, True])
def test_blocks_of_any_size_and_single_rows_give_the_same(kind: str, labels: bool) -> None:
    X, y = rows()
    target = np.where(y > 0.0, "up", "down") if labels else y
    made = []
    for step in (END, 97, 1):
        model = OKSPCA(2, **options_of(kind)).partial_fit(X[:DRIFT], target[:DRIFT])
        model.relearn_features()
        if step == 1:
            for x, one in zip(X[DRIFT:], target[DRIFT:], strict=True):
                model.learn_one(x, one)
        else:
            learned(model, X[DRIFT:], target[DRIFT:], step)
        made.append(model)
    for other in made[1:]:
        assert made[0].input_map_.equals(other.input_map_)
        if options_of(kind)["objective"] == "whitened":
            assert made[0].to_bytes() == other.to_bytes()
        np.testing.assert_allclose(
            made[0].moment_.matrix(), other.moment_.matrix(), rtol=1e-9, atol=1e-12
        )


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("place", [DRIFT, 900, DRIFT + 515])
def test_saved_in_the_middle_it_goes_on_to_the_same_bytes(kind: str, place: int) -> None:
    X, y = rows()
    model = before_the_drift(**options_of(kind)).relearn_features(600)
    model.partial_fit(X[DRIFT:place], y[DRIFT:place]) if place > DRIFT else None
    twin = OKSPCA.from_bytes(model.to_bytes())
    assert twin.to_bytes() == model.to_bytes()
    assert twin.pilot_rows_left_ == model.pilot_rows_left_ == 600 - (place - DRIFT)
    for one in (model, twin):
        one.partial_fit(X[place:], y[place:])
    assert twin.to_bytes() == model.to_bytes()
    assert twin.n_samples_seen_ == END
    again = OKSPCA.from_bytes(twin.to_bytes()).relearn_features()
    assert np.array_equal(search_of(again).base.weights, search_of(model).base.weights)


def test_weights_of_fresh_rows_count() -> None:
    """Rows of weight zero count nowhere; the others weigh in the trials and in the new moment."""
    X, y = rows()
    weights = np.where(np.arange(END) % 3 == 0, 0.0, 2.0)[DRIFT:]
    models = []
    for cut in (DRIFT, 150):
        model = before_the_drift(**SMALL).relearn_features(300)
        for start in range(DRIFT, END, cut):
            block = slice(start, min(start + cut, END))
            inside = slice(block.start - DRIFT, block.stop - DRIFT)
            model.partial_fit(X[block], y[block], sample_weight=weights[inside])
        models.append(model)
    assert models[0].to_bytes() == models[1].to_bytes()
    assert models[0].moment_.weight == pytest.approx(weights.sum())


def test_where_no_other_map_pays_nothing_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = rows()
    monkeypatch.setattr(ladder, "GAIN", 1e9)
    model, other = (before_the_drift(**SMALL) for _ in range(2))
    model.relearn_features()
    for one in (model, other):
        one.partial_fit(X[DRIFT:], y[DRIFT:])
    assert model.input_map_.equals(other.input_map_)
    assert model.moment_.arrays.sums.tobytes() == other.moment_.arrays.sums.tobytes()
    assert (search_of(model).rows_before, model.n_samples_seen_) == (0, END)


def test_fresh_rows_that_tell_nothing_change_nothing() -> None:
    X, _ = rows()
    model = before_the_drift(**SMALL)
    found, shares = model.input_map_, model.relevance_
    model.relearn_features().partial_fit(X[DRIFT:], np.ones(END - DRIFT))
    assert model.input_map_.equals(found)
    assert np.array_equal(model.relevance_, shares)


def test_a_climb_that_fails_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = rows()
    model = before_the_drift(**SMALL).relearn_features()
    model.partial_fit(X[DRIFT:900], y[DRIFT:900])
    before = state_of(model)

    def broken(*arguments: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(module, "climbed", broken)
        with pytest.raises(KeyboardInterrupt):
            model.partial_fit(X[900:], y[900:])
    assert state_of(model) == before
    model.partial_fit(X[900:], y[900:])
    whole = before_the_drift(**SMALL).relearn_features().partial_fit(X[DRIFT:], y[DRIFT:])
    assert model.to_bytes() == whole.to_bytes()


@pytest.mark.parametrize("stop", [DRIFT + 520, DRIFT + 650])
def test_a_climb_that_is_put_off_is_made_up_for(stop: int) -> None:
    X, y = rows()
    whole = before_the_drift(**SMALL).relearn_features(600).partial_fit(X[DRIFT:], y[DRIFT:])
    model = before_the_drift(**SMALL).relearn_features(600)
    token = module.ENDING.set(lambda: True)
    try:
        model.partial_fit(X[DRIFT:stop], y[DRIFT:stop])
    finally:
        module.ENDING.reset(token)
    assert search_of(model).owed
    assert model.n_samples_seen_ == stop
    model = OKSPCA.from_bytes(model.to_bytes()).partial_fit(X[stop:], y[stop:])
    assert model.to_bytes() == whole.to_bytes()


def test_a_second_call_begins_again_and_rows_may_be_few() -> None:
    X, y = rows()
    model = before_the_drift(**SMALL).relearn_features(100)
    model.partial_fit(X[DRIFT:750], y[DRIFT:750])
    assert model.pilot_rows_left_ == 50
    model.relearn_features(300)
    assert (model.pilot_rows_left_, search_of(model).began_at) == (300, 750)
    model.partial_fit(X[750:], y[750:])
    assert (search_of(model).rows_before, model.n_samples_seen_) == (750, END)


def test_the_first_pilot_can_be_begun_again() -> None:
    """Rows from before a drift are let go; the map as drawn is the one that it was."""
    X, y = rows()
    model = OKSPCA(2, **{**SMALL, "pilot_rows": 1000}).partial_fit(X[:DRIFT], y[:DRIFT])
    model.relearn_features(400).partial_fit(X[DRIFT:], y[DRIFT:])
    assert model.relevance_[4:].sum() > 0.8
    drawn = OKSPCA(2, **{**SMALL, "frequencies": "drawn"}).partial_fit(X[:5], y[:5]).input_map_
    assert search_of(model).base.equals(drawn)


def test_classes_from_before_and_late_ones_are_known() -> None:
    """A class that no fresh row has keeps its column; one that comes in the pilot gets one."""
    X, y = rows()
    labels = np.where(y > 0.0, "up", "down").astype(object)
    labels[:DRIFT][y[:DRIFT] > 2.0] = "gone"
    labels[900:][np.abs(y[900:]) < 0.3] = "late"
    options = {name: value for name, value in SMALL.items() if name != "objective"}
    made = []
    for step in (END, 61):
        model = OKSPCAClassifier(**options).partial_fit(X[:DRIFT], labels[:DRIFT].tolist())
        made.append(model.relearn_features())
        learned(model, X[DRIFT:], labels[DRIFT:], step)
    assert made[0].to_bytes() == made[1].to_bytes()
    assert set(made[0].classes_) == {"up", "down", "gone", "late"}
    shares = made[0].predict_proba(X[-200:])
    assert shares[:, made[0].classes_.tolist().index("gone")].max() < 1e-6
    assert (made[0].predict(X[-200:]) == labels[-200:]).mean() > 0.8


def test_predictions_recover() -> None:
    X, y = rows(1800)
    options = {name: value for name, value in SMALL.items() if name != "objective"}
    models = [OKSPCARegressor(window=400, **options) for _ in range(2)]
    for one in models:
        one.partial_fit(X[:DRIFT], y[:DRIFT])
    models[0].relearn_features()
    scores = [one.partial_fit(X[DRIFT:END], y[DRIFT:END]).score(X[END:], y[END:]) for one in models]
    assert scores[0] > 0.95
    assert scores[1] < 0.3


def test_a_model_is_not_merged_while_its_map_may_change() -> None:
    X, y = rows()
    one, other = (before_the_drift(standardize="frozen", **SMALL) for _ in range(2))
    one.relearn_features()
    for pair in ((one, other), (other, one)):
        before = [state_of(model) for model in pair]
        with pytest.raises(MergeError, match="fresh pilot"):
            pair[0].merge(pair[1])
        assert [state_of(model) for model in pair] == before
    one.partial_fit(X[DRIFT:], y[DRIFT:])
    again = OKSPCA.from_bytes(one.to_bytes()).partial_fit(X[:100], y[:100])
    assert one.merge(again).n_samples_seen_ == 2 * END + 100
    with pytest.raises(MergeError, match="map"):
        other.merge(one)


def test_the_target_map_stays_and_no_generator_moves() -> None:
    X, y = rows()
    random = RandomState(7)
    options = {**SMALL, "objective": "covariance", "random_state": random}
    model = before_the_drift(**options)
    target_map, before = model.target_map_, fingerprint(random)
    model.relearn_features().partial_fit(X[DRIFT:], y[DRIFT:])
    assert search_of(model).rows_before == DRIFT
    assert model.target_map_.equals(target_map)
    assert fingerprint(random) == before


def test_frozen_standardisers_stay_as_they_are() -> None:
    X, y = rows()
    model = before_the_drift(standardize="frozen", **SMALL)
    fixed = model.input_standardizer_, model.target_standardizer_
    model.relearn_features().partial_fit(X[DRIFT:] + 1.0, y[DRIFT:])
    assert search_of(model).rows_before == DRIFT
    assert np.array_equal(model.input_standardizer_.mean, fixed[0].mean)  # type: ignore[attr-defined]
    assert np.array_equal(model.target_standardizer_.mean, fixed[1].mean)  # type: ignore[attr-defined]


@pytest.mark.parametrize("given", [False, True])
def test_files_that_do_not_tell_the_map_as_drawn_are_relearned_all_the_same(given: bool) -> None:
    X, y = rows()
    given_map = FourierMap.sample(6, 32, bandwidth=2.0, seed=9) if given else None
    model = before_the_drift(input_map=given_map, **SMALL)
    content = unpack(model_bytes(model))
    del content.header["fitted"]["search"]["drawn"]
    for name in [name for name in content.tensors if "drawn" in name]:
        del content.tensors[name]
    told = OKSPCA.from_bytes(pack(content))
    assert search_of(told).base is None
    for one in (model, told):
        one.relearn_features().partial_fit(X[DRIFT:], y[DRIFT:])
    assert told.to_bytes() == model.to_bytes()


def test_memory_is_bounded() -> None:
    model = before_the_drift(**SMALL).relearn_features(10**12)
    assert model.pilot_rows_left_ * 6 * 8 <= module.MOST_BYTES


def test_wrong_uses_are_named() -> None:
    X, y = rows()
    with pytest.raises(ValueError, match="frequencies='drawn'"):
        OKSPCA(2, frequencies="drawn").partial_fit(X, y).relearn_features()
    with pytest.raises(ValueError, match="rows=0"):
        before_the_drift(**SMALL).relearn_features(0)
    with pytest.raises(ValueError, match="not fitted"):
        OKSPCA(2, **SMALL).relearn_features()
    with pytest.raises(NotReadyError):
        OKSPCA(2, bandwidth="median", **SMALL).partial_fit(X[:9], y[:9]).relearn_features()
