"""What became of requests: definitions against plain ones, and counts that add up."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import RandomState

from okspca.basis import Status
from okspca_lab.studies.services.accounting import COUNTS, Ledger, geometry, reference_of
from tests.reference.geometry import principal_angles_degrees


def orthonormal(seed: int, n: int, k: int) -> np.ndarray:
    return np.linalg.qr(RandomState(seed).normal(size=(n, k)))[0]


def test_geometry_follows_the_definitions() -> None:
    C, U = RandomState(0).normal(size=(9, 6)), orthonormal(1, 9, 3)
    left, sigma, _ = np.linalg.svd(C)
    V = left[:, :3]
    rho, angle, distance = geometry(reference_of(C, 3), U)
    assert rho == pytest.approx(np.trace(U.T @ C @ C.T @ U) / np.sum(sigma[:3] ** 2))
    assert angle == pytest.approx(principal_angles_degrees(U, V)[-1])
    assert distance == pytest.approx(np.linalg.norm(U @ U.T - V @ V.T))


def test_the_reference_has_the_papers_rank_gap_and_tie() -> None:
    sigma = np.array([1.0, 0.5, 1.01e-5, 0.99e-5])
    reference = reference_of(np.diag(sigma), 3)
    assert (reference.rank, reference.q, reference.tied) == (3, 3, False)
    assert reference.best == pytest.approx(np.sum(sigma[:3] ** 2))
    assert reference.gap == pytest.approx(sigma[2] ** 2 - sigma[3] ** 2)
    assert reference_of(np.diag([1.0, 1.0, 0.5]), 1).tied
    assert not reference_of(np.diag([1.0, 1.0, 0.5]), 2).tied
    # The flag has an absolute side: everything is tied where the moment is tiny.
    assert reference_of(1e-7 * np.diag([1.0, 0.5]), 1).tied
    assert reference_of(np.zeros((3, 2)), 1).q == 0


def test_only_valid_answers_of_equal_rank_have_geometry() -> None:
    ledger, reference = Ledger(4), reference_of(np.diag([3.0, 2.0, 1.0]), 2)
    ledger.enter(1, reference, None, 0, Status.NOT_INITIALISED)
    ledger.enter(2, reference, orthonormal(0, 3, 1), 2, Status.VALID)
    ledger.enter(3, reference, orthonormal(0, 3, 2), 2, Status.VALID)
    ledger.enter(4, reference_of(np.zeros((3, 3)), 2), orthonormal(0, 3, 2), 2, Status.VALID)
    assert np.isnan(ledger.rho).tolist() == [True, True, False, True]
    row = ledger.summary(np.arange(1, 5))
    assert (row["matched"], row["missing"], row["unequal"], row["excess"]) == (1, 1, 1, 0)
    assert (row["positive"], row["stale"], row["not_initialised"]) == (3, 2, 1)
    assert row["rho"] == ledger.rho[2]
    assert ledger.summary(np.array([1]))["rho"] is None


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3), st.integers(0, 2)), min_size=1))
def test_the_kinds_of_requests_add_up(answers: list[tuple[int, int, int]]) -> None:
    """Every positive reference is matched, missing or unequal; every request has one status."""
    ledger = Ledger(len(answers))
    targets = [reference_of(np.diag(d), 2) for d in ([0.0, 0.0, 0.0], [1.0, 0, 0], [3.0, 2.0, 1])]
    for i, (target, rank, age) in enumerate(answers):
        status = (Status.NO_TARGET, Status.VALID, Status.VALID, Status.NOT_INITIALISED)[rank]
        vectors = orthonormal(i, 3, rank) if status is Status.VALID else None
        ledger.enter(i + 1, targets[target], vectors, max(i + 1 - age, 0), status)
    row = ledger.summary(np.arange(1, len(answers) + 1))
    assert set(COUNTS) <= set(row)
    assert row["requests"] == len(answers)
    assert row["positive"] == row["matched"] + row["missing"] + row["unequal"]
    assert row["requests"] == row["valid"] + row["not_initialised"] + row["no_target"]
    assert row["matched"] + row["unequal"] <= row["valid"]
    assert row["excess"] <= row["unequal"]
    assert row["positive"] == sum(target > 0 for target, _, _ in answers)
