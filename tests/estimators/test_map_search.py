"""The search for the input map: what it finds, when it acts, and that it is all or nothing."""

from typing import Any

import numpy as np
import pytest
from numpy.random import RandomState

from okspca import OKSPCA, MergeError
from okspca.datasets import friedman, xor_gauss
from okspca.estimators import map_search as module
from okspca.estimators.saving import model_bytes, model_from
from okspca.features import FourierMap, IdentityMap, ladder
from okspca.features.trials import Pilot, tried
from okspca.numerics.arrays import Floats
from okspca_lab.studies.prediction.protocol import input_map, streamed
from okspca_lab.studies.prediction.tasks import resolved
from tests.contracts.fingerprint import state_of

SMALL: dict[str, Any] = {"n_random_features": 32, "frequencies": "scaled", "random_state": 0}
KINDS = ("scaled", "mixed", "trained")


def product(n: int) -> tuple[Floats, Floats]:
    """Two of six inputs matter."""
    X = RandomState(3).uniform(-2.0, 2.0, size=(n, 6))
    return X, X[:, 0] * X[:, 1]


def learned(model: OKSPCA, X: Floats, y: Any, step: int) -> OKSPCA:
    for start in range(0, len(X), step):
        model.partial_fit(X[start : start + step], y[start : start + step])
    return model


@pytest.mark.parametrize(("draw", "n_true", "width"), [(xor_gauss, 2, 64), (friedman, 5, 128)])
def test_it_finds_the_inputs_that_matter(draw: Any, n_true: int, width: int) -> None:
    X, y = draw(2048, 0)
    options: dict[str, Any] = {**SMALL, "n_random_features": width, "objective": "whitened"}
    model = OKSPCA(1, bandwidth="median", **options).fit(X, y)
    assert model.relevance_[:n_true].sum() > 0.9
    assert np.isclose(model.relevance_.sum(), 1.0)


@pytest.mark.parametrize("labels", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_blocks_of_any_size_give_the_same_map(labels: bool, kind: str) -> None:
    X, y = product(1100)
    target = (y > 0.0).astype(int) if labels else y
    options = {**SMALL, "frequencies": kind}
    made = [learned(OKSPCA(1, **options), X, target, step) for step in (1100, 97)]
    maps = [model.input_map_ for model in made]
    assert isinstance(maps[0], FourierMap)
    assert maps[0].equals(maps[1])
    np.testing.assert_allclose(made[0].moment_.matrix(), made[1].moment_.matrix(), atol=1e-12)


def test_rows_one_at_a_time_give_the_same_map() -> None:
    X, y = product(520)
    whole = OKSPCA(1, **SMALL).partial_fit(X, y)
    single = OKSPCA(1, **SMALL)
    for x, one in zip(X, y, strict=True):
        single.learn_one(x, one)
    assert single.input_map_.equals(whole.input_map_)
    assert single.n_samples_seen_ == whole.n_samples_seen_ == 520
    drawn = OKSPCA(1, **SMALL).fit(X[:5], y[:5]).input_map_
    assert not single.input_map_.equals(drawn)


@pytest.mark.parametrize("kind", KINDS)
def test_once_final_the_model_is_one_that_had_the_map_from_the_start(
    kind: str,
) -> None:
    X, y = product(1500)
    model = learned(OKSPCA(1, **{**SMALL, "frequencies": kind, "pilot_rows": 1024}), X, y, 300)
    options = {**SMALL, "frequencies": "drawn"}
    plain = learned(OKSPCA(1, input_map=model.input_map_, **options), X, y, 300)
    np.testing.assert_allclose(
        model.moment_.means()[0], plain.moment_.means()[0], rtol=1e-9, atol=1e-12
    )
    assert model.ready().state.companions["search"].is_final
    assert model.ready().state.companions["search"].n_held == 0


@pytest.mark.parametrize("kind", KINDS)
def test_a_map_that_gains_too_little_is_not_taken(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = product(600)
    options = {**SMALL, "frequencies": kind}
    plain = OKSPCA(1, **{**SMALL, "frequencies": "drawn"}).partial_fit(X, y)
    assert not OKSPCA(1, **options).partial_fit(X, y).input_map_.equals(plain.input_map_)
    monkeypatch.setattr(ladder, "GAIN", 1e9)
    assert OKSPCA(1, **options).partial_fit(X, y).input_map_.equals(plain.input_map_)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("target", "n_alike"),
    [("number", 600), ("number", 384), ("class", 600), ("inputs", 600)],
)
def test_rows_that_tell_nothing_choose_no_map(kind: str, target: str, n_alike: int) -> None:
    """All alike up to rounding, or as far as the fit reaches: no input matters, no map is drawn."""
    X, y = product(600)
    y[:n_alike] = 0.1
    if target == "inputs":
        X[:] = 0.1
    labels = np.zeros(600, dtype=int)
    model = OKSPCA(1, **{**SMALL, "frequencies": kind})
    model.fit(X, labels if target == "class" else y)
    assert model.relevance_.tolist() == [0.0] * 6
    plain = OKSPCA(1, **{**SMALL, "frequencies": "drawn"}).fit(
        X, labels if target == "class" else y
    )
    assert np.array_equal(model.input_map_.weights, plain.input_map_.weights)  # type: ignore[attr-defined]


def test_an_idle_start_only_delays_the_search() -> None:
    X, y = product(1100)
    y[:600] = 3.0
    model = OKSPCA(1, **SMALL).partial_fit(X[:600], y[:600])
    assert not model.relevance_.any()
    model.partial_fit(X[600:], y[600:])
    assert model.relevance_[:2].sum() > 0.5
    assert np.isclose(model.relevance_.sum(), 1.0)


def test_many_inputs_are_tested_later() -> None:
    """Eight rows per input, except for the last test; and no more rows than fit."""
    assert module.times(64, 4096) == (512, 1024, 2048, 4096)
    assert module.times(65, 3000) == (1024, 2048, 3000)
    assert module.times(1000, 4096) == (4096,)
    assert module.times(10_000, 4096) == (838,)
    assert module.times(5, 100) == (100,)
    X = RandomState(0).normal(size=(1100, 100))
    model = OKSPCA(1, pilot_rows=1024, **SMALL).partial_fit(X[:1023], X[:1023, 0])
    assert not hasattr(model, "relevance_")
    model.partial_fit(X[1023:], X[1023:, 0])
    assert model.relevance_.argmax() == 0
    assert model.ready().state.companions["search"].is_final


def test_the_search_goes_on_while_it_gains(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three rounds are not enough for this stream, whose relevance only begins to show in them."""
    task = resolved("XOR-Gauss")
    rows = streamed(task.development(28), 28).first(512)
    shares = []
    for most in (ladder.ROUNDS, ladder.MOST_ROUNDS):
        monkeypatch.setattr(ladder, "MOST_ROUNDS", most)
        phi = input_map(task, 28, 20)
        model = OKSPCA(1, frequencies="scaled", input_map=phi).fit(rows.X, rows.y)
        shares.append(model.relevance_[:2].sum())
    assert shares[0] < 0.85
    assert shares[1] > 0.95


def test_a_weight_counts_as_repetition_in_a_trial() -> None:
    """Six of eight rows are fitted to, or eight of eleven where they are repeated instead."""
    random, counts = RandomState(0), np.array([2, 1, 1, 1, 1, 2, 2, 1])
    phi = FourierMap.sample(3, 4, bandwidth=1.0, seed=0)
    Z, T = random.normal(size=(8, 3)), random.normal(size=(8, 2))
    repeated = Pilot(np.repeat(Z, counts, axis=0), np.repeat(T, counts, axis=0), np.ones(11))
    weighted = Pilot(Z, T, counts.astype(np.float64))
    assert (weighted.learn, repeated.learn) == (6, 8)
    found = [tried(phi, data, (0.1,)) for data in (weighted, repeated)]
    np.testing.assert_allclose(found[0].errors.sum(), found[1].errors.sum(), rtol=1e-10)
    np.testing.assert_allclose(found[0].B, found[1].B, rtol=1e-8)


@pytest.mark.parametrize("place", [100, 600, 1100])
@pytest.mark.parametrize("kind", KINDS)
def test_a_saved_search_goes_on(place: int, kind: str) -> None:
    X, y = product(1200)
    options = {**SMALL, "objective": "whitened", "frequencies": kind, "pilot_rows": 1024}
    model = OKSPCA(1, **options).partial_fit(X[:place], y[:place])
    twin, _ = model_from(OKSPCA, model_bytes(model))
    assert model_bytes(twin) == model_bytes(model)
    for one in (model, twin):
        one.partial_fit(X[place:], y[place:])
    assert model_bytes(twin) == model_bytes(model)
    assert twin.transform(X).tobytes() == model.transform(X).tobytes()
    assert np.array_equal(twin.relevance_, model.relevance_)


@pytest.mark.parametrize("labels", [True, False])
@pytest.mark.parametrize(("stop", "step"), [(512, 100), (700, 700), (1100, 1100), (1024, 512)])
def test_a_climb_that_is_put_off_is_made_up_for(stop: int, step: int, labels: bool) -> None:
    """Rows are learned all the same; and later nothing tells that the process had to end."""
    X, y = product(1300)
    target = np.array(["a", "b", "c"])[np.digitize(y, [-0.5, 0.5])] if labels else y
    options = {**SMALL, "objective": "whitened", "frequencies": "mixed", "pilot_rows": 1024}
    whole = learned(OKSPCA(1, **options), X, target, 100)
    model = learned(OKSPCA(1, **options), X[: stop - 50], target[: stop - 50], step)
    token = module.ENDING.set(lambda: True)
    try:
        model.partial_fit(X[stop - 50 : stop], target[stop - 50 : stop])
    finally:
        module.ENDING.reset(token)
    search = model.ready().state.companions["search"]
    assert model.n_samples_seen_ == stop
    again = OKSPCA.from_bytes(model.to_bytes())
    assert again.to_bytes() == model.to_bytes()
    assert search.owed or stop != 512
    for one in (model, again):
        one.partial_fit(X[stop:], target[stop:])
        assert one.transform(X).tobytes() == whole.transform(X).tobytes()
        assert one.to_bytes() == whole.to_bytes()


def test_several_climbs_that_are_put_off_are_made_in_order() -> None:
    X, y = product(1300)
    options = {**SMALL, "objective": "whitened", "pilot_rows": 1024}
    model = OKSPCA(1, **options)
    token = module.ENDING.set(lambda: True)
    try:
        model.partial_fit(X[:1200], y[:1200])
    finally:
        module.ENDING.reset(token)
    search = model.ready().state.companions["search"]
    assert (search.owed, search.n_held, model.n_samples_seen_) == ((512, 1024), 1200, 1200)
    assert not hasattr(model, "relevance_")
    model = OKSPCA.from_bytes(model.to_bytes()).partial_fit(X[1200:], y[1200:])
    whole = OKSPCA(1, **options).partial_fit(X, y)
    assert model.to_bytes() == whole.to_bytes()
    assert model.ready().state.companions["search"].is_final


def test_a_search_that_fails_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = product(600)
    model = OKSPCA(1, **SMALL).partial_fit(X[:500], y[:500])
    before = state_of(model)

    def broken(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "climbed", broken)
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(X[500:], y[500:])
    assert state_of(model) == before


@pytest.mark.parametrize("kind", KINDS)
def test_models_that_still_search_are_not_pooled(kind: str) -> None:
    X, y = product(100)
    options = {**SMALL, "frequencies": kind}
    one, other = (OKSPCA(1, **options).partial_fit(X, y) for _ in range(2))
    with pytest.raises(MergeError, match="which inputs matter"):
        one.merge(other)


def test_wrong_uses_are_named() -> None:
    X, y = product(50)
    with pytest.raises(ValueError, match="frequencies"):
        OKSPCA(1, frequencies="guessed").fit(X, y)
    with pytest.raises(ValueError, match="pilot_rows"):
        OKSPCA(1, pilot_rows=0).fit(X, y)
    with pytest.raises(ValueError, match="input_map"):
        OKSPCA(1, frequencies="scaled", input_map=IdentityMap(6)).fit(X, y)
    with pytest.raises(AttributeError, match="relevance_"):
        _ = OKSPCA(1, **SMALL).fit(X, y).relevance_
