"""Angles and distances, from 1e-13 degrees to a right angle."""

import mpmath
import numpy as np
import pytest
from numpy.random import RandomState

from okspca.numerics.orthonormal import signed_qr
from okspca.numerics.subspace import aligned, principal_angles, projector_distance
from tests.reference import geometry


@pytest.mark.parametrize(
    "degrees", [1e-12, 1e-9, 1e-6, 1e-3, 1.0, 44.9, 45.0, 45.1, 89.999999, 90.0]
)
def test_a_known_rotation_is_measured(degrees: float) -> None:
    """Rotate e1 towards e3 by a known angle; e2 is shared."""
    with mpmath.workdps(40):
        radians = mpmath.mpf(degrees) * mpmath.pi / 180
        cosine, sine = float(mpmath.cos(radians)), float(mpmath.sin(radians))
    U = np.eye(4)[:, :2]
    V = np.column_stack([[cosine, 0, sine, 0], [0, 1, 0, 0]])
    angles = principal_angles(U, V)
    # 1e-12 degrees is 80 units in the last place of one: no relative bound can hold alone.
    assert angles[0] == pytest.approx(degrees, rel=1e-6, abs=2e-14)
    assert angles[1] == pytest.approx(0.0, abs=1e-13)
    expected = np.sqrt(2.0) * sine
    assert projector_distance(U, V) == pytest.approx(expected, rel=1e-6, abs=1e-15)


def test_random_subspaces_equal_the_reference() -> None:
    for seed in range(50):
        random = RandomState(seed)
        D, q = int(random.randint(3, 15)), int(random.randint(1, 4))
        U = signed_qr(random.normal(size=(D, q)))[0]
        V = signed_qr(random.normal(size=(D, q)))[0]
        expected = np.sort(geometry.principal_angles_degrees(U, V))[::-1]
        np.testing.assert_allclose(principal_angles(U, V), expected, atol=1e-10)
        assert projector_distance(U, V) == pytest.approx(geometry.projector_distance(U, V))


def test_distance_of_different_ranks_is_that_of_the_projectors() -> None:
    random = RandomState(0)
    U = signed_qr(random.normal(size=(8, 2)))[0]
    V = signed_qr(random.normal(size=(8, 5)))[0]
    assert projector_distance(U, V) == pytest.approx(np.linalg.norm(U @ U.T - V @ V.T))
    empty = np.zeros((8, 0))
    assert projector_distance(U, empty) == pytest.approx(np.sqrt(2.0))


def test_alignment_undoes_a_rotation_and_keeps_the_span() -> None:
    random = RandomState(1)
    U = signed_qr(random.normal(size=(9, 3)))[0]
    rotation = signed_qr(random.normal(size=(3, 3)))[0]
    np.testing.assert_allclose(aligned(U @ rotation, U), U, atol=1e-14)
    narrower = aligned(U @ rotation, U[:, :2])
    np.testing.assert_allclose(narrower[:, :2], U[:, :2], atol=1e-14)
    assert projector_distance(narrower, U) < 1e-14
    wider = aligned((U @ rotation)[:, :2], U)
    np.testing.assert_allclose(wider.T @ wider, np.eye(2), atol=1e-14)
