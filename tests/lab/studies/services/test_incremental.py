"""The incremental decomposition against a dense one."""

from typing import Any

import numpy as np
import pytest
from numpy.random import RandomState

from okspca import OKSPCA
from okspca.numerics.subspace import principal_angles
from okspca_lab.studies.services.incremental import Incremental, LowRank, fold, reorthogonalise
from okspca_lab.studies.services.solvers import SOLVERS, OnRequest


def empty(capacity: int, n: int, m: int) -> LowRank:
    size = np.zeros(1, dtype=np.int64)
    shapes = np.zeros((capacity, n)), np.zeros((capacity, m)), np.zeros(capacity), size
    return LowRank(*shapes, np.zeros(n), np.zeros(m))


def test_folding_rank_one_terms_gives_their_dense_decomposition() -> None:
    random, low, dense = RandomState(0), empty(6, 12, 6), np.zeros((12, 6))
    for t in range(40):
        a, b = random.normal(size=12), random.normal(size=6)
        fold(low, a, b, 0.5 + t)
        dense += (0.5 + t) * np.outer(a, b)
        r = int(low.size[0])
        assert r == min(t + 1, 6)
        kept = low.U[:r].T * low.s[:r] @ low.V[:r]
        assert np.allclose(kept, dense, rtol=0, atol=1e-10)
        assert np.allclose(low.s[:r], np.linalg.svd(dense)[1][:r])


def test_a_fold_cuts_back_to_the_best_of_its_rank() -> None:
    random, low = RandomState(1), empty(3, 8, 7)
    for _ in range(3):
        fold(low, random.normal(size=8), random.normal(size=7), 1.0)
    before = low.U.T * low.s @ low.V
    a, b = random.normal(size=8), random.normal(size=7)
    fold(low, a, b, 2.0)
    left, sigma, right = np.linalg.svd(before + 2.0 * np.outer(a, b))
    best = left[:, :3] * sigma[:3] @ right[:3]
    assert np.allclose(low.U.T * low.s @ low.V, best)


def test_terms_that_bring_no_new_direction_keep_the_rank() -> None:
    low = empty(5, 8, 7)
    a, b = RandomState(2).normal(size=(2, 8)), RandomState(3).normal(size=(2, 7))
    for i in range(12):
        fold(low, a[i % 2], b[i % 2], 1.0)
    assert int(low.size[0]) == 2
    assert np.allclose(low.U[:2] @ low.U[:2].T, np.eye(2), atol=1e-13)


def test_the_repair_restores_orthogonality_and_keeps_the_product() -> None:
    random, low = RandomState(4), empty(4, 9, 8)
    for _ in range(6):
        fold(low, random.normal(size=9), random.normal(size=8), 1.0)
    low.U[...] += 1e-6 * random.normal(size=low.U.shape)
    before = low.U.T * low.s @ low.V
    reorthogonalise(low)
    assert np.allclose(low.U @ low.U.T, np.eye(4), atol=1e-14)
    assert np.allclose(low.V @ low.V.T, np.eye(4), atol=1e-14)
    assert np.allclose(low.U.T * low.s @ low.V, before, atol=1e-12)


@pytest.mark.parametrize("labels", [False, True])
def test_the_service_follows_the_exact_span_row_by_row_and_in_blocks(labels: bool) -> None:
    random = RandomState(5)
    X = random.normal(size=(150, 4))
    y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 1) if labels else np.sin(X[:, 0]) + X[:, 1] ** 2
    exact = OKSPCA(2, n_random_features=32, random_state=0).fit(X, y).basis()
    rows = OKSPCA(2, n_random_features=32, random_state=0, solver=Incremental(n_guards=20))
    blocks = OKSPCA(2, n_random_features=32, random_state=0, solver=Incremental(n_guards=20))
    for x, target in zip(X, y.tolist(), strict=True):
        rows.learn_one(x, target)
    blocks.partial_fit(X[:77], y[:77]).partial_fit(X[77:], y[77:])
    for model in (rows, blocks):
        basis = model.basis()
        assert principal_angles(basis.vectors, exact.vectors)[0] < 1e-7
        assert np.allclose(basis.singular_values, exact.singular_values)


@pytest.mark.parametrize("name", sorted(SOLVERS))
def test_solvers_from_elsewhere_give_the_exact_span(name: str) -> None:
    random = RandomState(6)
    X = random.normal(size=(120, 3))
    y = np.column_stack([np.sin(X[:, 0]), X[:, 1] ** 2])
    settings: dict[str, Any] = {"n_random_features": 24, "random_state": 0, "compress": False}
    exact = OKSPCA(3, **settings).fit(X, y).basis()
    basis = OKSPCA(3, solver=OnRequest(name), **settings).fit(X, y).basis()
    assert principal_angles(basis.vectors, exact.vectors)[0] < 1e-9
    assert np.allclose(basis.singular_values, exact.singular_values)
    assert basis.certificate is None
    first = OKSPCA(3, solver=OnRequest(name), **settings).partial_fit(X[:1], y[:1])
    assert first.basis().rank == 0
