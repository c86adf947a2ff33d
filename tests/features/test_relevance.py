"""Which inputs, or mixtures of them, matter; and the maps made for these."""

from typing import Any

import numpy as np
import pytest
from numpy.random import RandomState

from okspca import OKSPCA, OKSPCAClassifier, OKSPCARegressor
from okspca.features import FourierMap
from okspca.features.relevance import (
    FEATURES,
    gradient_outer_product,
    input_root,
    input_scales,
    relevance,
)
from okspca.numerics.arrays import Floats
from okspca.numerics.scratch import lent, reused

DIRECTION = np.r_[np.ones(2), np.zeros(8)] / np.sqrt(2.0)


def plain_outer_product(phi: FourierMap, B: Floats, Z: Floats) -> Floats:
    """Mean over rows of the sum over targets of gradients times themselves, by differences."""
    d, h = Z.shape[1], 1e-6
    total = np.zeros((d, d))
    for z in Z:
        for column in B.T:
            slope = np.zeros(d)
            for j in range(d):
                step = np.eye(d)[j] * h
                ahead, behind = phi.transform(np.stack([z + step, z - step])) @ column
                slope[j] = (ahead - behind) / (2.0 * h)
            total += np.outer(slope, slope)
    return total / len(Z)


def plain_square(M: Floats) -> Floats:
    """What the inputs' matrix must square to, from the definition."""
    d = len(M)
    values, vectors = np.linalg.eigh(M)
    kept = np.zeros((d, d))
    for j in range(d - 1, -1, -1):
        kept += values[j] * np.outer(vectors[:, j], vectors[:, j])
        if np.trace(kept) >= 0.99 * np.trace(M):
            break
    return np.asarray(0.99 * d * kept / np.trace(kept) + 0.01 * np.eye(d))


def oblique(n: int, seed: int) -> tuple[Floats, Floats]:
    """A wave along the sum of two of ten inputs, with noise."""
    random = RandomState(seed)
    X = random.normal(size=(n, 10))
    return X, np.sin(2.0 * X @ DIRECTION) + 0.1 * random.normal(size=n)


def test_the_gradient_is_that_of_the_predictor() -> None:
    """Against differences of the predictor itself."""
    random = RandomState(0)
    phi = FourierMap.sample(3, 10, bandwidth=1.0, seed=0)
    B, Z, h = random.normal(size=(10, 2)), random.normal(size=(7, 3)), 1e-6
    wanted = []
    for j in range(3):
        step = np.eye(3)[j] * h
        slope = (phi.transform(Z + step) - phi.transform(Z - step)) @ B / (2.0 * h)
        wanted.append((slope**2).sum(axis=1).mean())
    np.testing.assert_allclose(relevance(phi, B, Z), wanted, rtol=1e-6)


def test_memory_that_is_used_again_changes_nothing() -> None:
    random = RandomState(0)
    phi = FourierMap.sample(3, 10, bandwidth=1.0, seed=0)
    B, Z = random.normal(size=(10, 3)), random.normal(size=(7, 3))
    wanted = [relevance(phi, B, Z[:n]).tolist() for n in (4, 7, 5)]
    with reused():
        found = [relevance(phi, B, Z[:n]).tolist() for n in (4, 7, 5)]
        held = lent(FEATURES, (7, 10))
    assert found == wanted
    assert not np.shares_memory(held, lent(FEATURES, (7, 10)))


def test_scales_keep_the_sum_of_squares() -> None:
    scales = input_scales(np.array([4.0, 1.0, 0.0]))
    assert np.isclose((scales**2).sum(), 3.0)
    assert np.isclose(scales[0] / scales[1], 2.0)
    assert input_scales(np.zeros(3)).tolist() == [1.0, 1.0, 1.0]


def test_the_outer_product_is_that_of_the_predictor() -> None:
    random = RandomState(0)
    phi = FourierMap.sample(3, 10, bandwidth=1.0, seed=0)
    B, Z = random.normal(size=(10, 2)), random.normal(size=(7, 3))
    found = gradient_outer_product(phi, B, Z)
    np.testing.assert_allclose(found, plain_outer_product(phi, B, Z), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(np.diag(found), relevance(phi, B, Z), rtol=1e-12)


@pytest.mark.parametrize("values", [[5.0, 3.0, 0.05, 0.02], [1.0, 1.0, 1.0, 1.0], [2.0, 0, 0, 0]])
@pytest.mark.parametrize("unit", [1.0, 1e-200, 1e200])
def test_the_root_squares_to_the_leading_part_and_a_little_of_all(
    values: list[float], unit: float
) -> None:
    Q = np.linalg.qr(RandomState(1).normal(size=(4, 4)))[0]
    M = (Q * values) @ Q.T
    R = input_root(unit * M)
    np.testing.assert_allclose(R, R.T, atol=1e-12)
    np.testing.assert_allclose(R @ R, plain_square(M), atol=1e-12)
    assert np.linalg.eigvalsh(R).min() > 0.09


def test_the_root_is_the_identity_where_nothing_is_known() -> None:
    for nothing in (np.zeros((3, 3)), np.full((3, 3), np.nan), np.full((3, 3), np.inf)):
        assert np.array_equal(input_root(nothing), np.eye(3))


def test_a_map_takes_inputs_times_the_root() -> None:
    phi = FourierMap.sample(3, 10, bandwidth=1.0, seed=0)
    Z, R = RandomState(0).normal(size=(7, 3)), input_root(np.diag([3.0, 2.0, 1.0]) + 0.5)
    np.testing.assert_allclose(phi.rescaled(R).transform(Z), phi.transform(Z @ R), atol=1e-12)


@pytest.mark.parametrize(("kind", "labels"), [(OKSPCARegressor, False), (OKSPCAClassifier, True)])
def test_it_finds_an_oblique_direction_and_predicts_better(kind: Any, labels: bool) -> None:
    (X, y), (X_new, y_new) = oblique(1100, 3), oblique(2000, 103)
    if labels:
        y, y_new = (y > 0.0).astype(int), (y_new > 0.0).astype(int)
    options: dict[str, Any] = {"n_random_features": 64, "random_state": 3}
    diagonal, mixed = (
        kind(2 - labels, frequencies=frequencies, **options).fit(X, y)
        for frequencies in ("scaled", "mixed")
    )
    leading = np.linalg.eigh(mixed.ready().state.companions["search"].place.mixture)[1][:, -1]
    assert np.degrees(np.arccos(abs(leading @ DIRECTION))) < 10.0
    gain = 0.005 if labels else 0.01
    assert mixed.score(X_new, y_new) > diagonal.score(X_new, y_new) + gain
    assert np.isclose(mixed.relevance_.sum(), 1.0)
    assert mixed.relevance_[:2].sum() > 0.95


def test_no_direction_is_lost_in_any_trial(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither by the map that a search starts from, nor by those it tries."""
    mixtures, plain = [], FourierMap.rescaled

    def noted(base: FourierMap, scales: Floats) -> FourierMap:
        mixtures.extend([scales] if scales.ndim == 2 else [])
        return plain(base, scales)

    monkeypatch.setattr(FourierMap, "rescaled", noted)
    OKSPCA(1, n_random_features=16, frequencies="mixed", random_state=0).fit(*oblique(520, 0))
    assert min(np.linalg.eigvalsh(R).min() for R in mixtures) > 0.0
    assert len(mixtures) > 3
