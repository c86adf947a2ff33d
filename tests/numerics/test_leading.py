"""Every exact route against the singular value decomposition of the whole moment."""

import numpy as np
import pytest
from numpy.random import RandomState

from okspca.errors import NumericalError
from okspca.numerics.leading import (
    by_contrast,
    by_difference,
    by_gram,
    by_svd,
    span_leading,
    within_span,
)
from okspca.numerics.orthonormal import signed_qr
from okspca.numerics.subspace import projector_distance


def test_gram_route_is_accurate_where_it_answers_and_declines_elsewhere() -> None:
    answered = declined = 0
    for seed in range(300):
        random = RandomState(seed)
        left = signed_qr(random.normal(size=(20, 5)))[0]
        right = signed_qr(random.normal(size=(7, 5)))[0]
        sigma = np.sort(10.0 ** -random.uniform(0, 5, 5))[::-1]
        Ct = (right * sigma) @ left.T
        k = int(random.randint(1, 5))
        leading = by_gram(Ct, k)
        if leading is None:
            declined += 1
            continue
        answered += 1
        q = leading.rows.shape[0]
        assert projector_distance(signed_qr(leading.rows.T)[0], left[:, :q]) < 1e-10
        np.testing.assert_allclose(leading.sigma[:q], sigma[:q], rtol=1e-10)
    assert answered > 50
    assert declined > 50


@pytest.mark.parametrize("slip", [0.0, 1e-16, 1e-12, 1e-10, 0.1])
def test_two_rows_that_are_nearly_opposite_give_their_singular_direction(slip: float) -> None:
    for seed in range(20):
        random = RandomState(seed)
        c, other = random.normal(size=(2, 30))
        Ct = np.stack([c, -c + slip * other])
        leading, expected = by_gram(Ct, 2), by_svd(Ct)
        assert leading is not None
        q = leading.rows.shape[0]
        assert projector_distance(leading.rows.T, expected.rows[:q].T) < 1e-13
        np.testing.assert_allclose(leading.sigma[:q], expected.sigma[:q], rtol=1e-12)
        assert (expected.sigma[q:] < 1e-5 * expected.sigma[0]).all()


def test_gram_route_declines_a_tie() -> None:
    assert by_gram(np.eye(3), 1) is None
    assert by_gram(np.zeros((2, 3)), 1) is None


@pytest.mark.parametrize("n_classes", [2, 3, 8])
@pytest.mark.parametrize("D", [2, 5, 30])
def test_contrast_route_equals_the_full_decomposition(n_classes: int, D: int) -> None:
    random = RandomState(n_classes)
    C = random.normal(size=(D, n_classes)) * 2.0 ** -np.arange(n_classes)
    Ct = (C - C.mean(axis=1, keepdims=True)).T
    exact, contrast = by_svd(Ct), by_contrast(Ct)
    q = min(D, n_classes - 1)
    np.testing.assert_allclose(contrast.sigma[:q], exact.sigma[:q], rtol=1e-12)
    for j in range(1, q + 1):
        assert projector_distance(contrast.rows[:j].T, exact.rows[:j].T) < 1e-11


def test_difference_route_equals_the_full_decomposition() -> None:
    c = RandomState(0).normal(size=6)
    Ct = np.stack([c, -c])
    exact, direct = by_svd(Ct), by_difference(Ct)
    assert direct.sigma[0] == pytest.approx(exact.sigma[0])
    assert projector_distance(direct.rows.T, exact.rows[:1].T) < 1e-14


def test_within_span_captures_what_the_span_can() -> None:
    random = RandomState(0)
    Ct, rows = random.normal(size=(6, 12)), signed_qr(random.normal(size=(12, 4)))[0].T
    leading = within_span(rows, Ct)
    for q in range(1, 5):
        best = np.sum(np.linalg.svd(rows @ Ct.T, compute_uv=False)[:q] ** 2)
        assert np.sum((leading.rows[:q] @ Ct.T) ** 2) == pytest.approx(best)


def test_the_compiled_span_agrees_however_small_a_direction_is() -> None:
    declined = 0
    for seed in range(60):
        random = RandomState(seed)
        k, w = int(random.randint(1, 9)), int(random.randint(8, 30))
        Ct = random.normal(size=(w, 40)) * 10.0 ** -random.uniform(0, 4, 40)
        rows = np.ascontiguousarray(signed_qr(random.normal(size=(40, k)))[0].T)
        rows = np.ascontiguousarray(signed_qr((rows * 10.0 ** -random.uniform(0, 3, 40)).T)[0].T)
        expected = within_span(rows, Ct)
        found, theta, turned = span_leading(rows, Ct)
        declined += not found
        if found:
            np.testing.assert_allclose(np.sqrt(theta), expected.sigma, rtol=1e-12)
            np.testing.assert_allclose(turned @ turned.T, np.eye(k), rtol=0, atol=1e-14)
            assert projector_distance(turned.T, rows.T) < 1e-13
            gram = (turned @ Ct.T) @ (turned @ Ct.T).T
            relative = gram / np.sqrt(np.outer(theta, theta))
            np.testing.assert_allclose(relative, np.eye(k), rtol=0, atol=1e-12)
    assert declined < 10


def test_non_finite_moment_is_a_typed_error() -> None:
    with pytest.raises(NumericalError, match=r"non-finite|failed"):
        by_svd(np.array([[np.nan, 1.0]]))
    assert by_gram(np.array([[np.inf, 1.0], [1.0, 2.0]]), 1) is None
    assert by_gram(np.full((30, 40), np.nan), 2) is None
