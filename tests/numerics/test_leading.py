"""Every exact route against the singular value decomposition of the whole moment."""

from typing import Any

import numpy as np
import pytest
from numpy.random import RandomState

from okspca.errors import NumericalError
from okspca.numerics.leading import (
    by_contrast,
    by_difference,
    by_gram,
    by_svd,
    jacobi_leading,
    leading_exactly,
    polished,
    span_leading,
    within_span,
)
from okspca.numerics.orthonormal import signed_qr
from okspca.numerics.spectrum import numerical_rank
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


@pytest.mark.parametrize("w", [5, 40])
def test_rotations_are_as_accurate_as_the_decomposition(w: int) -> None:
    answered = 0
    for seed in range(200):
        random = RandomState(seed)
        left = signed_qr(random.normal(size=(60, 5)))[0]
        right = signed_qr(random.normal(size=(w, 5)))[0]
        sigma = np.sort(10.0 ** -random.uniform(0, 5, 5))[::-1]
        Ct = np.ascontiguousarray((right * sigma) @ left.T)
        k = int(random.randint(1, 5))
        found, theta, rows = jacobi_leading(Ct, k)
        expected = by_svd(Ct)
        q = min(k, numerical_rank(expected.sigma))
        if not found:
            continue
        answered += 1
        assert rows.shape[0] == q
        allowed = 1e-14 * sigma[0] / (sigma[q - 1] - sigma[q])
        assert projector_distance(rows.T, left[:, :q]) < 20.0 * allowed
        np.testing.assert_allclose(rows @ rows.T, np.eye(q), rtol=0.0, atol=1e-14)
        np.testing.assert_allclose(np.sqrt(theta[:q]), sigma[:q], rtol=1e-14 * sigma[0] / sigma[q])
        # What is left out counts as energy outside, so the sum may not exceed all there is.
        assert theta.sum() <= (1.0 + 1e-12) * np.sum(Ct**2)
        assert (np.diff(theta) <= 0.0).all()
    assert answered > 190


def test_rotations_decline_what_they_cannot_settle() -> None:
    assert not jacobi_leading(np.zeros((2, 3)), 1)[0]
    assert not jacobi_leading(np.full((2, 3), np.nan), 1)[0]


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


def with_spectrum(sigma: list[float], w: int, D: int, seed: int) -> tuple[Any, Any]:
    """A transposed moment with these singular values, and its left singular vectors."""
    random = RandomState(seed)
    left, right = (signed_qr(random.normal(size=(n, len(sigma))))[0] for n in (D, w))
    return (right * np.array(sigma)) @ left.T, left


def test_the_compiled_span_declines_a_short_rank() -> None:
    Ct, left = with_spectrum([1.0, 0.5, 0.0], 5, 12, seed=0)
    rows = np.ascontiguousarray(left.T)
    assert not span_leading(rows, Ct)[0]
    assert span_leading(np.ascontiguousarray(rows[:2]), Ct)[0]


def test_the_compiled_span_never_answers_out_of_order() -> None:
    """To the Gram matrix the two small directions are equal; to the rotations they are not."""
    found = 0
    for seed in range(40):
        Ct, left = with_spectrum([1.0, 0.9, 2.00000001e-5, 2e-5], 9, 20, seed)
        turn = signed_qr(RandomState(seed).normal(size=(4, 4)))[0]
        answered, theta, _ = span_leading(np.ascontiguousarray(turn @ left.T), Ct)
        found += answered
        assert not answered or (np.diff(theta) <= 0.0).all()
    assert 0 < found < 40


@pytest.mark.parametrize(("w", "D"), [(7, 20), (20, 20), (30, 20)])
@pytest.mark.parametrize("gap", [0.5, 1e-3, 1e-6, 1e-9])
def test_the_cheapest_exact_route_keeps_full_accuracy(w: int, D: int, gap: float) -> None:
    sigma = [1.0, 0.5, 0.25, 0.25 * (1.0 - gap), 0.01]
    for seed in range(10):
        Ct, left = with_spectrum(sigma, w, D, seed)
        leading = leading_exactly(Ct, 3)
        assert leading.rows.shape[0] >= 3
        np.testing.assert_allclose(leading.sigma[:4], sigma[:4], rtol=1e-13)
        assert projector_distance(leading.rows[:3].T, left[:, :3]) < 1e-13 / gap


def test_polishing_makes_nearly_orthonormal_rows_orthonormal() -> None:
    random = RandomState(0)
    exact = signed_qr(random.normal(size=(30, 6)))[0].T
    rows = exact + 1e-8 * random.normal(size=(6, 6)) @ exact
    assert np.abs(rows @ rows.T - np.eye(6)).max() > 1e-8
    better = polished(np.ascontiguousarray(rows))
    np.testing.assert_allclose(better @ better.T, np.eye(6), rtol=0, atol=2e-15)
    assert projector_distance(better.T, exact.T) < 1e-14


def test_non_finite_moment_is_a_typed_error() -> None:
    with pytest.raises(NumericalError, match=r"non-finite|failed"):
        by_svd(np.array([[np.nan, 1.0]]))
    assert by_gram(np.array([[np.inf, 1.0], [1.0, 2.0]]), 1) is None
    assert by_gram(np.full((30, 40), np.nan), 2) is None
