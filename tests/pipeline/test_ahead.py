"""Answers between two folds: what has followed the waiting rows is what has folded them."""

import copy
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import RandomState

from okspca import OKSPCA, OKSPCAClassifier, OKSPCARegressor
from okspca.estimators.readouts import classifier, regressor
from okspca.features import SingleFourierMap
from okspca.moments import UpdatedMoment, WhitenedMoment
from okspca.numerics.arrays import Floats
from okspca.pipeline import PipelineState
from okspca.pipeline.ahead import answering, followed, may_follow
from okspca.pipeline.answers import embedding_basis, request
from okspca.pipeline.learning import settled
from okspca.pipeline.schedule import REBUILD_ROWS
from okspca.services.answers import certificate_of
from tests.contracts.cases import contract
from tests.diagnostics.whitened_cases import stored_numbers
from tests.reference.exact_whitening import truth_about

N, D = 420, 24
RANDOM = RandomState(0)
X = RANDOM.normal(size=(N, 4))
SIGNAL = X[:, 0] * X[:, 1] + np.sin(2.0 * X[:, 2]) + 0.1 * RANDOM.normal(size=N)
LABELS = np.digitize(SIGNAL, [-0.7, 0.2, 0.9])
#: A class that comes while rows wait.
LATE = np.where((np.arange(N) > 330) & (np.arange(N) % 7 == 0), 9, LABELS)
WEIGHTS = RANDOM.choice([0.5, 1.0, 3.0], size=N)
SINGLE = SingleFourierMap.sample(4, D, bandwidth=2.0, seed=5)
WHITENED: dict[str, Any] = {
    "n_random_features": D,
    "frequencies": "drawn",
    "random_state": 0,
}
KINDS: dict[str, tuple[type[OKSPCA], dict[str, Any], Any]] = {
    "number": (OKSPCA, {}, SIGNAL),
    "compressed": (OKSPCA, {"target_features": "fourier"}, SIGNAL),
    "labels": (OKSPCA, {}, LABELS),
    "balanced": (OKSPCA, {"class_weighting": "balanced"}, LABELS),
    "late": (OKSPCA, {"class_weighting": "proportional"}, LATE),
    "fading": (OKSPCA, {"forgetting": 0.999}, SIGNAL),
    "fading fast": (OKSPCA, {"forgetting": 0.95}, LABELS),
    "window": (OKSPCA, {"window": 200}, SIGNAL),
    "aligned": (OKSPCA, {"align": True}, LABELS),
    "ridge": (OKSPCA, {"ridge": 1e-5}, SIGNAL),
    "single": (OKSPCA, {"input_map": SINGLE}, SIGNAL),
    "single labels": (OKSPCA, {"input_map": SINGLE}, LATE),
    "regressor": (OKSPCARegressor, {}, SIGNAL),
    "classifier": (OKSPCAClassifier, {}, LABELS),
}


def model_of(kind: str, n: int, **more: Any) -> OKSPCA:
    """A model of some kind that has learned n rows: most of them as blocks, then row by row."""
    make, options, y = KINDS[kind]
    if make is OKSPCA:
        options = {"n_components": 2, "objective": "whitened", **options}
    model = make(**{**WHITENED, **options, **more})
    first = max(n - 20, 1)
    for start in range(0, first, 150):
        rows = slice(start, min(start + 150, first))
        model.partial_fit(X[rows], y[rows], sample_weight=WEIGHTS[rows])
    for i in range(first, n):
        model.learn_one(X[i], y[i].item())
    return model


def state_of(model: OKSPCA) -> PipelineState:
    return model.ready().state


def asked(state: PipelineState) -> PipelineState:
    """The state as questions find it, its waiting rows followed and not folded."""
    found = copy.copy(state)
    found.__dict__.update(answering(state, followed(state, None)))
    return found


def apart(one: Floats, other: Floats) -> float:
    """Distance of the spans of orthonormal columns."""
    return float(np.linalg.norm(one - other @ (other.T @ one)))


def prediction(state: PipelineState, kind: str) -> Floats:
    """What a head predicts for the first rows."""
    return (regressor if kind == "regressor" else classifier)(state).of(X[:50])


@pytest.mark.parametrize("n", [64, 65, 127, 191, 300, 420])
@pytest.mark.parametrize("kind", KINDS)
def test_what_follows_rows_answers_as_what_folds_them(kind: str, n: int) -> None:
    state = state_of(model_of(kind, n))
    assert may_follow(state)
    quick, slow = asked(state), settled(state)
    assert isinstance(quick.moment, UpdatedMoment)
    assert isinstance(slow.moment, WhitenedMoment)
    one, other = request(quick), request(slow)
    assert apart(one.vectors, other.vectors) < 1e-9
    np.testing.assert_allclose(one.singular_values, other.singular_values, rtol=1e-9)
    assert abs(one.vectors - other.vectors).max() < 1e-8  # in the same coordinates
    W, V = embedding_basis(quick), embedding_basis(slow)
    np.testing.assert_allclose(W, V, rtol=1e-6, atol=1e-8 * float(abs(V).max()))
    sums = [seen.moment.variances() for seen in (quick, slow)]  # type: ignore[attr-defined]
    np.testing.assert_allclose(np.triu(sums[0]), np.triu(sums[1]), rtol=1e-11, atol=1e-13)
    if kind in ("regressor", "classifier"):
        np.testing.assert_allclose(
            prediction(quick, kind), prediction(slow, kind), rtol=1e-7, atol=1e-9
        )


@pytest.mark.parametrize("n", [70, 190, 333])
@pytest.mark.parametrize("kind", KINDS)
def test_certificates_are_true_of_the_sums_with_all_rows(kind: str, n: int) -> None:
    """The truth is found in 80 digits; the sums themselves are known to 15."""
    state = state_of(model_of(kind, n))
    quick = asked(state)
    basis, moment = request(quick), settled(state).moment
    assert isinstance(moment, WhitenedMoment)
    truth = truth_about(quick.moment.feature_weights(basis.vectors), stored_numbers(moment))
    proven = basis.certificate
    assert proven is not None
    assert 1.0 - proven.rho_lower >= truth.loss - 1e-13
    assert proven.angle_upper is None or proven.angle_upper < 0.1
    assert truth.angle <= (90.0 if proven.angle_upper is None else proven.angle_upper) + 1e-11
    assert (proven.angle_upper is None) <= (truth.relative_gap < 1e-6)


def test_a_worse_answer_is_not_certified() -> None:
    """Turned by a ten-thousandth, or with a factor that has missed a row, it is found out."""
    state = state_of(model_of("labels", 333))
    moment = followed(state, None).moment
    scaled, basis = moment.scaled(), request(asked(state))
    turn = basis.vectors + 1e-4 * RandomState(1).normal(size=basis.vectors.shape) / np.sqrt(D)
    turned = np.ascontiguousarray(np.linalg.qr(turn)[0].T)
    distance = apart(turned.T, basis.vectors)
    sigma = np.linalg.svd(scaled.Ct)[1]
    for rows, least in ((turned, distance), (np.ascontiguousarray(basis.vectors.T), 0.0)):
        found = certificate_of(rows, sigma, scaled).distance_upper
        assert found is not None
        assert found >= least
    missed = copy.deepcopy(moment)
    missed.followed.n_rows -= 1
    rows = np.ascontiguousarray(basis.vectors.T)
    scaled = missed.scaled()
    residual = scaled.pencil.plain_residual(rows.T, np.diag(sigma[:2] ** 2), scaled.scale)  # type: ignore[union-attr]
    assert np.linalg.norm(residual.columns) > 1e3 * residual.error


@pytest.mark.parametrize("kind", KINDS)
def test_who_asked_before_decides_nothing(kind: str) -> None:
    y = KINDS[kind][2]
    curious, silent = model_of(kind, 250), model_of(kind, 250)
    for i in range(250, 400):
        for model in (curious, silent):
            model.learn_one(X[i], y[i].item())
        if i % 3:
            curious.transform(X[:1])
        if i % 50 == 0:
            assert curious.components_.tobytes() == silent.components_.tobytes()
            loaded = type(silent).from_bytes(silent.to_bytes())
            assert loaded.components_.tobytes() == silent.components_.tobytes()
            assert loaded.transform(X[:5]).tobytes() == curious.transform(X[:5]).tobytes()


@given(cut=st.integers(1, 150), data=st.data())
@contract(20)
def test_cuts_of_the_stream_decide_nothing(cut: int, data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from(["number", "late", "fading", "window"]))
    y = KINDS[kind][2]
    one, other = model_of(kind, 200), model_of(kind, 200)
    for i in range(200, 200 + cut):
        one.learn_one(X[i], y[i].item())
    other.partial_fit(X[200 : 200 + cut], y[200 : 200 + cut])
    assert one.components_.tobytes() == other.components_.tobytes()


def test_threads_that_ask_at_the_same_time_get_the_same() -> None:
    model = model_of("labels", 333)
    wanted = copy.deepcopy(model).components_.tobytes()
    with ThreadPoolExecutor(4) as pool:
        for i in range(333, 345):
            model.learn_one(X[i], LABELS[i].item())
            wanted = copy.deepcopy(model).components_.tobytes()
            found = pool.map(lambda _: model.components_.tobytes(), range(8))
            assert set(found) == {wanted}


def test_a_factor_is_made_once_for_many_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    model, made = model_of("number", 322), []
    begin: Callable[..., UpdatedMoment] = UpdatedMoment.at

    def counted(moment: WhitenedMoment, *features: Any) -> UpdatedMoment:
        made.append(moment.rows)
        return begin(moment, *features)

    monkeypatch.setattr(UpdatedMoment, "at", counted)
    for i in range(322, 390):
        model.basis()
        model.learn_one(X[i], SIGNAL[i].item())
    assert made == [256, 256 + REBUILD_ROWS]


def test_the_ridge_holds_until_the_next_step_of_its_grid() -> None:
    """What it adds to the sums changes rarely, and by a fourth root of two."""
    model, added = model_of("number", 70), []
    for i in range(70, 256):
        model.learn_one(X[i], SIGNAL[i].item())
        moment = asked(state_of(model)).moment
        assert isinstance(moment, UpdatedMoment)
        added.append(moment.shift(moment.variances()) * moment.weight / moment.ridge_in_use)
    steps = np.array(added[1:]) / np.array(added[:-1])
    changes = steps[abs(steps - 1.0) > 1e-12]
    assert 4 <= len(changes) <= 12
    for change in changes:
        # The ridge may have been chosen anew as well, by powers of ten; it is divided out.
        assert abs(change - 2.0**0.25) < 1e-9


def test_models_of_earlier_versions_are_solved_as_before() -> None:

    model = model_of("number", 333)
    state = state_of(model)
    assert isinstance(state.moment, WhitenedMoment)
    state.moment.is_steady = False
    assert not may_follow(state)
    loaded = OKSPCA.from_bytes(model.to_bytes())
    assert not state_of(loaded).moment.is_steady  # type: ignore[attr-defined]
    moment = settled(state).moment
    assert isinstance(moment, WhitenedMoment)
    unit = np.trace(moment.variances()) / D
    assert moment.shift(moment.variances()) == pytest.approx(moment.ridge_in_use * unit)
