"""The paper-style build against the plain reference, and against the package itself."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from okspca import OKSPCA, DataError, NumericalError, Status
from okspca.numerics.spectrum import boundary_gap
from okspca.numerics.subspace import principal_angles
from okspca.services import (
    Adam,
    Binary,
    Cached,
    Contrast,
    Exact,
    ExactEach,
    ProjectedGradient,
    Service,
)
from okspca_lab.studies.paper_services import (
    AdamTracker,
    PaperPipeline,
    Tracker,
    paper_service,
    service_names,
)
from okspca_lab.studies.workloads import Maps, Regime, draw_maps, stream
from tests.reference import services as plain
from tests.reference.run import Observation, run

Array = NDArray[np.float64]
N_ROWS = 300
STEP = 0.1
EPS = float(np.finfo(np.float64).eps)
SMALL = {
    "binary": Regime("binary", 5, 24, 2, 1, N_ROWS, 2),
    "labels": Regime("labels", 4, 32, 5, 3, N_ROWS, 5),
    "response": Regime("response", 6, 24, 16, 3, N_ROWS, None),
}
CASES = [(kind, name) for kind, regime in SMALL.items() for name in service_names(regime)]


def reference_service(name: str, regime: Regime, maps: Maps) -> Any:
    k = regime.n_components
    makers: dict[str, Callable[[], Any]] = {
        "adam": lambda: plain.Adam(maps.initial_basis),
        "projected-gradient": lambda: plain.ProjectedGradient(maps.initial_basis, STEP),
        "exact-each": lambda: plain.ExactEach(k),
        "exact-on-request": lambda: plain.ExactOnRequest(k),
        "cache-10": lambda: plain.Cached(k, 10),
        "cache-100": lambda: plain.Cached(k, 100),
        "binary": lambda: plain.Binary(k),
        "contrast": lambda: plain.Contrast(k),
    }
    return makers[name]()


def our_service(name: str, maps: Maps) -> Service[Any]:
    seed = maps.initial_seed
    services: dict[str, Service[Any]] = {
        "adam": Adam(random_state=seed),
        "projected-gradient": ProjectedGradient(step=STEP, random_state=seed),
        "exact-each": ExactEach(),
        "exact-on-request": Exact(),
        "cache-10": Cached(every=10),
        "cache-100": Cached(every=100),
        "binary": Binary(),
        "contrast": Contrast(),
    }
    return services[name]


def observations(regime: Regime, maps: Maps, X: Array, y: Any) -> list[Observation]:
    target: dict[str, Any] = {"n_classes": regime.n_classes}
    if maps.target_map is not None:
        target = {
            "target_weights": maps.target_map.weights,
            "target_phases": maps.target_map.phases,
        }
    input_map = maps.input_map
    return list(run(X, y, input_weights=input_map.weights, input_phases=input_map.phases, **target))


def allowance(C: Array, q: int) -> float:
    """1e-10 radians, widened only where rounding of the moment itself moves the span further."""
    sigma = np.asarray(np.linalg.svd(C, compute_uv=False), dtype=np.float64)
    gap = boundary_gap(sigma, q) / (2.0 * float(sigma[q - 1]))
    return 1e-10 + 50.0 * EPS / max(gap, 1e-300)


def is_borderline(C: Array) -> bool:
    """Whether rounding can decide the numerical rank."""
    sigma = np.linalg.svd(C, compute_uv=False)
    ratios = (sigma / max(sigma[0], 1e-300)) ** 2
    return bool(np.any(np.abs(ratios / 1e-10 - 1.0) < 0.1)) or float(sigma[0]) < 1e-15


def tracked(pipeline: PaperPipeline) -> Array | None:
    """Return the maintained basis of a tracker."""
    service = pipeline.service
    return service.U if isinstance(service, Tracker) else None


def inspected(pipeline: PaperPipeline, C: Array) -> Array:
    """Return the matrix whose spectrum decides the rank of the answer."""
    U = tracked(pipeline)
    return C if U is None else U.T @ C


@pytest.mark.parametrize(("kind", "name"), CASES)
def test_agrees_with_the_reference(kind: str, name: str) -> None:
    regime = SMALL[kind]
    maps = draw_maps(regime, 7)
    X, y = stream(regime, 7)
    X = 3.0 * X + 20.0
    X[:, -1] *= 1e-5  # below the variance floor: centred, never scaled
    pipeline = PaperPipeline(regime, maps, paper_service(name, regime, maps))
    twin = reference_service(name, regime, maps)
    matrices: dict[int, Array] = {}
    compared = 0
    for i, expected in enumerate(observations(regime, maps, X, y)):
        pipeline.step(X[i], y[i])
        twin.observe(expected.moment)
        C, t = expected.moment.centred(), i + 1
        np.testing.assert_allclose(pipeline.moment.centred(), C, rtol=0, atol=1e-12)
        np.testing.assert_allclose(
            pipeline.moment.bessel(), expected.moment.bessel(), rtol=0, atol=1e-12
        )
        matrices[t] = inspected(pipeline, C)
        U = tracked(pipeline)
        if U is not None:
            np.testing.assert_allclose(U, twin.U, rtol=0, atol=1e-10)
        basis, rank, built_at = twin.request(expected.moment)
        answer = pipeline.request()
        if built_at is None:
            assert answer.status is Status.NOT_INITIALISED
            assert answer.built_at == 0
            continue
        assert answer.built_at == built_at
        if is_borderline(matrices[built_at]):
            continue
        assert answer.rank == rank
        assert answer.status is (Status.VALID if rank else Status.NO_TARGET)
        if answer.basis is not None:
            angle = np.radians(principal_angles(answer.basis, basis)[0])
            assert angle <= allowance(matrices[built_at], rank)
            compared += 1
    assert compared > 180


@pytest.mark.parametrize(("kind", "name"), CASES)
def test_agrees_with_the_package(kind: str, name: str) -> None:
    regime = SMALL[kind]
    maps = draw_maps(regime, 8)
    X, y = stream(regime, 8)
    pipeline = PaperPipeline(regime, maps, paper_service(name, regime, maps))
    model = OKSPCA(
        regime.n_components,
        solver=our_service(name, maps),
        variance_floor="paper",
        input_map=maps.input_map,
        target_map=maps.target_map,
    )
    checked = 0
    for i in range(N_ROWS):
        pipeline.step(X[i], y[i])
        model.learn_one(X[i], y[i])
        if i % 20 != 13 or i < 40:
            continue
        ours, answer = model.basis(), pipeline.request()
        assert (ours.rank, ours.status) == (answer.rank, answer.status)
        assert ours.age == (i + 1 - answer.built_at)
        if answer.basis is None:
            continue
        tolerance = allowance(inspected(pipeline, pipeline.moment.centred()), answer.rank)
        assert np.radians(principal_angles(ours.vectors, answer.basis)[0]) <= 10.0 * tolerance
        checked += 1
    assert checked >= 10


def test_the_first_observation_has_no_target() -> None:
    regime = SMALL["response"]
    maps = draw_maps(regime, 0)
    X, y = stream(regime, 0, 2)
    pipeline = PaperPipeline(regime, maps, paper_service("exact-on-request", regime, maps))
    assert pipeline.request() == (None, 0, 0, Status.NOT_INITIALISED)
    pipeline.step(X[0], y[0])
    assert pipeline.request() == (None, 0, 1, Status.NO_TARGET)


def test_the_control_never_has_a_basis() -> None:
    regime = SMALL["labels"]
    maps = draw_maps(regime, 0)
    pipeline = PaperPipeline(regime, maps, paper_service("accumulate-only", regime, maps))
    for x, y in zip(*stream(regime, 0, 10), strict=True):
        pipeline.step(x, y)
    assert pipeline.request() == (None, 0, 0, Status.NOT_INITIALISED)


@pytest.mark.parametrize("name", service_names(SMALL["response"]))
def test_a_request_changes_nothing(name: str) -> None:
    regime = SMALL["response"]
    maps = draw_maps(regime, 2)
    asked, quiet = (
        PaperPipeline(regime, maps, paper_service(name, regime, maps)) for _ in range(2)
    )
    for x, y in zip(*stream(regime, 2, 120), strict=True):
        asked.step(x, y)
        quiet.step(x, y)
        basis = asked.request().basis
        if basis is not None:
            basis[...] = np.nan
    answers = asked.request(), quiet.request()
    np.testing.assert_array_equal(answers[0].basis, answers[1].basis)
    assert answers[0][1:] == answers[1][1:]


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_bad_rows_are_refused(bad: float) -> None:
    regime = SMALL["response"]
    maps = draw_maps(regime, 0)
    pipeline = PaperPipeline(regime, maps, paper_service("adam", regime, maps))
    for x, y in ((np.full(6, bad), 0.0), (np.zeros(6), bad), (np.zeros(5), 0.0)):
        with pytest.raises(DataError, match="6 finite numbers"):
            pipeline.step(x, y)
    assert pipeline.moment.t == 0


def test_a_broken_basis_stops_the_run() -> None:
    regime = SMALL["response"]
    maps = draw_maps(regime, 0)
    service = AdamTracker(np.full((24, 3), np.nan))
    with pytest.raises(NumericalError, match="non-finite"):
        PaperPipeline(regime, maps, service).step(np.zeros(6), 0.0)


def test_an_unknown_service_is_named() -> None:
    regime = SMALL["response"]
    with pytest.raises(ValueError, match="name='newton'"):
        paper_service("newton", regime, draw_maps(regime, 0))


def test_the_rank_rule_counts_squares_above_a_share_of_the_largest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    regime = SMALL["response"]
    maps = draw_maps(regime, 0)
    pipeline = PaperPipeline(regime, maps, paper_service("exact-on-request", regime, maps))
    pipeline.step(np.zeros(6), 0.0)
    C = np.zeros((24, 16))
    C[[0, 1, 2], [0, 1, 2]] = (2.0, 2.2e-5, 1.8e-5)
    monkeypatch.setattr(pipeline.moment, "centred", lambda: C)
    assert pipeline.request().rank == 2
