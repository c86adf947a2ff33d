"""The package against the plain reference, observation by observation.

Twenty-eight random configurations: two classes, several classes, scalar and vector responses;
random dimensions, widths, ranks and units; every service that applies.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.random import RandomState
from numpy.typing import NDArray

from okspca import OKSPCA
from okspca.features import FourierMap
from okspca.numerics.orthonormal import signed_qr
from okspca.services import (
    Adam,
    Binary,
    Cached,
    Contrast,
    Exact,
    ExactEach,
    ProjectedGradient,
    Service,
    Tracker,
    WarmBlock,
)
from tests.reference import services as plain
from tests.reference.geometry import principal_angles_degrees
from tests.reference.run import Observation, run

Array = NDArray[np.float64]
TOLERANCE = 1e-10
EPS = float(np.finfo(np.float64).eps)


@dataclass
class Case:
    """One random configuration: a stream, maps, and a number of components."""

    kind: str
    X: Array
    y: Any
    n_classes: int | None
    input_map: FourierMap
    target_map: FourierMap | None
    k: int
    seed: int

    def model(self, service: Service[Any]) -> OKSPCA:
        task = "regression" if self.n_classes is None else "classification"
        return OKSPCA(
            self.k,
            task=task,
            solver=service,
            variance_floor="paper",
            input_map=self.input_map,
            target_map=self.target_map,
        )

    def reference(self) -> list[Observation]:
        maps: dict[str, Any] = {}
        if self.target_map is not None:
            maps = {
                "target_weights": self.target_map.weights,
                "target_phases": self.target_map.phases,
            }
        return list(
            run(
                self.X,
                self.y,
                input_weights=self.input_map.weights,
                input_phases=self.input_map.phases,
                n_classes=self.n_classes,
                **maps,
            )
        )


def make_case(number: int) -> Case:
    random = RandomState(1000 + number)
    kind = ("binary", "labels", "scalar", "vector")[number % 4]
    n, d = int(random.randint(40, 90)), int(random.randint(2, 8))
    X = random.normal(size=(n, d)) * 10.0 ** random.uniform(-2, 3, d) + random.normal(size=d) * 5
    X[:, 0] += 100.0 * np.std(X[:, 0])
    X[:, -1] = np.round(X[:, -1])
    D = int(random.choice([6, 16, 40]))
    k = int(random.randint(1, min(5, D) + 1))
    signal = np.sin(X[:, 0]) + 0.1 * X[:, 1] + random.normal(size=n)
    n_classes, target_map, y = None, None, signal[:, np.newaxis]
    if kind in ("binary", "labels"):
        n_classes = 2 if kind == "binary" else int(random.randint(3, 7))
        y = random.permutation(np.arange(n) % n_classes)
        X[:, 1] += np.std(X[:, 1]) * y
    else:
        outputs = 1 if kind == "scalar" else 2
        y = np.column_stack([signal * 3 + 7, X[:, 1] ** 2])[:, :outputs]
        target_map = FourierMap.sample(
            outputs, int(random.choice([8, 24, 64])), bandwidth=1.0, seed=number + 1
        )
    input_map = FourierMap.sample(d, D, bandwidth=float(np.sqrt(d)), seed=number)
    return Case(kind, X, y, n_classes, input_map, target_map, k, number)


def pairs(case: Case) -> list[tuple[Service[Any], Any]]:
    """Every service of the package that applies, beside its plain twin."""
    gaussian = RandomState(case.seed).standard_normal((case.input_map.n_features, case.k))
    U0 = signed_qr(gaussian)[0]
    k = case.k
    found: list[tuple[Service[Any], Any]] = [
        (Exact(), plain.ExactOnRequest(k)),
        (ExactEach(), plain.ExactEach(k)),
        (Cached(every=10), plain.Cached(k, 10)),
        (Cached(every=7), plain.Cached(k, 7)),
        (WarmBlock(refresh_every=8), plain.ExactOnRequest(k)),
        (Adam(random_state=case.seed), plain.Adam(U0)),
        (
            Adam(learning_rate=0.1, clip=1e-3, beta1=0.8, random_state=case.seed),
            plain.Adam(U0, rate=0.1, clip=1e-3, beta1=0.8),
        ),
        (ProjectedGradient(step=0.7, random_state=case.seed), plain.ProjectedGradient(U0, 0.7)),
    ]
    if case.kind == "binary":
        found.append((Binary(), plain.Binary(k)))
    if case.n_classes is not None:
        found.append((Contrast(), plain.Contrast(k)))
    return found


def allowance(sigma: Array, q: int) -> float:
    """Span tolerance: 1e-10, widened only where rounding of C̄ itself moves the span further.

    A change of size e moves the span by about e / (sigma_q - sigma_{q+1}); e is a few units in the
    last place of unit-size features, plus what compression may drop.
    """
    outside = sigma[q] if q < sigma.size else 0.0
    gap = float(sigma[q - 1] - outside)
    return TOLERANCE + 20.0 * EPS / max(gap, 1e-300)


def is_borderline(sigma: Array) -> bool:
    """Whether rounding can decide the numerical rank."""
    ratios = (sigma / sigma[0]) ** 2 if sigma.size and sigma[0] > 0 else sigma
    return bool(np.any(np.abs(ratios / 1e-10 - 1.0) < 1e-3))


@pytest.mark.parametrize("number", range(28))
def test_every_observation(number: int) -> None:
    case = make_case(number)
    observations = case.reference()
    compared = 0
    for service, twin in pairs(case):
        model = case.model(service)
        spectra: dict[int, Array] = {}
        for i, observation in enumerate(observations):
            model.learn_one(case.X[i], case.y[i])
            twin.observe(observation.moment)
            compared += check_observation(model, service, twin, observation, spectra)
    assert compared > 100


def check_observation(
    model: OKSPCA,
    service: Service[Any],
    twin: Any,
    observation: Observation,
    spectra: dict[int, Array],
) -> int:
    """Compare moment, maintained basis, rank, age and span; return the number of spans compared."""
    centred = observation.moment.centred()
    t = observation.moment.t
    ours = model.moment_.matrix()
    padded = np.zeros_like(centred)
    if ours.shape == centred.shape and model.moment_.labels is False:
        padded = ours
    else:
        for j, label in enumerate(model.classes_):
            padded[:, label] = ours[:, j]
    np.testing.assert_allclose(padded, centred, rtol=0, atol=TOLERANCE)
    np.testing.assert_allclose(
        model.moment_.bessel().sum(), observation.moment.bessel().sum(), rtol=0, atol=TOLERANCE
    )
    if isinstance(service, Tracker):
        np.testing.assert_allclose(
            model.basis(kind="maintained").vectors, twin.U, rtol=0, atol=TOLERANCE
        )
        spectra[t] = np.asarray(
            np.linalg.svd(twin.U.T @ centred, compute_uv=False), dtype=np.float64
        )
    else:
        spectra[t] = np.asarray(np.linalg.svd(centred, compute_uv=False), dtype=np.float64)
    basis = model.basis()
    expected, rank, built_at = twin.request(observation.moment)
    if built_at is None:
        assert basis.status.name == "NOT_INITIALISED"
        return 0
    assert basis.built_at == built_at
    assert basis.age == t - built_at
    sigma = spectra[built_at]
    if is_borderline(sigma):
        return 0
    assert basis.rank == rank
    if expected is None:
        return 0
    distance = np.radians(principal_angles_degrees(basis.vectors, expected).max())
    assert distance <= allowance(sigma, rank)
    return 1
