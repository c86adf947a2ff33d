"""Signed QR in both forms."""

import numpy as np
import pytest
from numpy.random import RandomState

from okspca.numerics.orthonormal import orthonormalise_graded, orthonormalise_rows, signed_qr
from okspca.numerics.subspace import projector_distance
from tests.reference.geometry import signed_qr as reference_qr


@pytest.mark.parametrize(("D", "k"), [(1, 1), (5, 1), (5, 5), (64, 8), (40, 17)])
def test_both_forms_equal_the_reference(D: int, k: int) -> None:
    for seed in range(20):
        A = RandomState(seed).normal(size=(D, k))
        Q, R = reference_qr(A)
        ours = signed_qr(A)
        np.testing.assert_allclose(ours[0], Q, atol=1e-13)
        np.testing.assert_allclose(ours[1], R, atol=1e-12)
        rows, triangular = A.T.copy(), np.empty((k, k))
        orthonormalise_rows(rows, triangular, np.empty((k, D)))
        np.testing.assert_allclose(rows.T, Q, atol=1e-13)
        np.testing.assert_allclose(triangular, R, atol=1e-12)


@pytest.mark.parametrize("deficient", [np.zeros((4, 2)), np.ones((4, 3)), np.eye(4)[:, [0, 0]]])
def test_rank_deficient_input_still_gives_an_orthonormal_basis(
    deficient: np.ndarray[tuple[int, int], np.dtype[np.float64]],
) -> None:
    D, k = deficient.shape
    rows, triangular = deficient.T.copy(), np.empty((k, k))
    orthonormalise_rows(rows, triangular, np.empty((k, D)))
    for Q, R in (signed_qr(deficient), (rows.T, triangular)):
        np.testing.assert_allclose(Q.T @ Q, np.eye(k), atol=1e-14)
        np.testing.assert_allclose(Q @ R, deficient, atol=1e-14)
        assert (np.diagonal(R) >= 0.0).all()


def test_zero_diagonal_is_not_flipped() -> None:
    rows, triangular = np.zeros((1, 3)), np.empty((1, 1))
    orthonormalise_rows(rows, triangular, np.empty((1, 3)))
    assert rows.tolist() == [[1.0, 0.0, 0.0]]


def test_nearly_parallel_rows_stay_orthonormal() -> None:
    A = np.ones((50, 3)) + 1e-12 * RandomState(0).normal(size=(50, 3))
    rows, triangular = A.T.copy(), np.empty((3, 3))
    orthonormalise_rows(rows, triangular, np.empty((3, 50)))
    np.testing.assert_allclose(rows @ rows.T, np.eye(3), atol=1e-14)


def test_non_finite_input_never_looks_orthonormal() -> None:
    for bad in (np.nan, np.inf):
        for place in ((0, 0), (1, 0), (1, 4)):
            A = RandomState(0).normal(size=(2, 5))
            A[place] = bad
            orthonormalise_rows(A, np.empty((2, 2)), np.empty((2, 5)))
            assert not np.isfinite(A).all()


def test_graded_rows_become_the_signed_qr_basis() -> None:
    for seed in range(100):
        random = RandomState(seed)
        p = int(random.randint(1, 17))
        D = int(random.randint(p, 60))
        near = signed_qr(random.normal(size=(D, p)))[0].T
        unit = near + random.choice([0.0, 0.01, 0.1, 1.0]) * random.normal(size=(p, D))
        rows = unit * 10.0 ** -random.uniform(0, 14, (p, 1))
        orthonormalise_graded(rows)
        np.testing.assert_allclose(rows @ rows.T, np.eye(p), rtol=0, atol=5e-15)
        np.testing.assert_allclose(rows, signed_qr(unit.T)[0].T, rtol=0, atol=1e-11)


@pytest.mark.parametrize("smallest", [1e-2, 1e-6, 1e-10, 1e-14])
def test_graded_rows_that_nearly_depend_on_each_other_stay_orthonormal(smallest: float) -> None:
    for seed in range(15):
        random = RandomState(seed)
        exact = signed_qr(random.normal(size=(25, 8)))[0].T
        mixed = signed_qr(random.normal(size=(8, 8)))[0] * np.geomspace(1.0, smallest, 8)
        rows = np.ascontiguousarray(mixed @ exact)
        orthonormalise_graded(rows)
        np.testing.assert_allclose(rows @ rows.T, np.eye(8), rtol=0, atol=5e-15)
        assert projector_distance(rows.T, exact.T) < 1e-14 / smallest


@pytest.mark.parametrize("first", [1.0, 0.0, 1e-200])
def test_dependent_rows_are_completed(first: float) -> None:
    rows = np.ones((3, 5))
    rows[0] *= first
    orthonormalise_graded(rows)
    np.testing.assert_allclose(rows @ rows.T, np.eye(3), rtol=0, atol=5e-15)
