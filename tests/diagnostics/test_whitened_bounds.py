"""Bounds on the distance of whitened columns, beside the truth of problems with known errors."""

import numpy as np
import pytest
from scipy.linalg import sqrtm

from okspca.diagnostics.whitened_bounds import Errors, distance_in_steps, inspected

D, W, Q = 9, 5, 3


def of_norm(random: np.random.RandomState, shape: tuple[int, int], norm: float) -> np.ndarray:
    """A matrix of a Frobenius norm, as often as not of rank one."""
    A = random.normal(size=shape)
    if random.randint(2):
        A = np.outer(random.normal(size=shape[0]), random.normal(size=shape[1]))
    return norm * A / np.linalg.norm(A)


def leading(A: np.ndarray, q: int) -> np.ndarray:
    """Projector on the leading left singular vectors."""
    U = np.linalg.svd(A)[0][:, :q]
    return U @ U.T


def problem(
    seed: int, distortion: float, error: float, decay: float, off: float = 1e-12
) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Rows of V, C̄ transposed as it is stored, singular values squared, and the true distance."""
    random = np.random.RandomState(seed)
    R = np.triu(random.normal(size=(D, D))) + 4.0 * np.eye(D)
    F = of_norm(random, (D, D), 1.0)
    F = F + F.T
    F *= distortion / np.linalg.norm(F, 2)
    left, right = (np.linalg.qr(random.normal(size=(n, n)))[0] for n in (D, W))
    stored = (left[:, :W] * decay ** np.arange(W)) @ right
    exact = stored + of_norm(random, (D, W), error * float(np.linalg.norm(stored)))
    U, sigma, _ = np.linalg.svd(stored)
    V = np.linalg.qr(U[:, :Q] + of_norm(random, (D, Q), off * decay ** (2 * W)))[0]
    root = np.real(sqrtm(R.T @ (np.eye(D) + F) @ R))
    Y = np.linalg.qr(root @ np.linalg.solve(R, V))[0]
    truth = np.linalg.norm(Y @ Y.T - leading(np.linalg.solve(root, R.T @ exact), Q))
    return np.ascontiguousarray(V.T), np.ascontiguousarray(stored.T), sigma**2, float(truth)


@pytest.mark.parametrize("decay", [0.7, 0.3, 0.05])
@pytest.mark.parametrize(
    ("distortion", "error"), [(1e-3, 0.0), (0.1, 0.0), (0.0, 1e-5), (1e-5, 1e-6), (1e-2, 1e-4)]
)
def test_steps_bound_the_distance(distortion: float, error: float, decay: float) -> None:
    close = []
    for seed in range(40):
        rows, Ct, ritz, truth = problem(seed, distortion, error, decay)
        errors = Errors(distortion, error, 0.0, 0.0)
        allowances = inspected(rows, Ct, ritz, errors)[3]
        # What turning columns into weights may do is no part of this problem.
        bound = allowances[3] - allowances[2]
        assert truth <= bound
        close.append(truth / bound)
    # Some problem comes near, so that a factor that is missing in a step would be seen.
    assert max(close) > (0.02 if error * decay**-2 < 0.1 else 0.0)


@pytest.mark.parametrize(("distortion", "decay", "off"), [(1e-3, 0.97, 1e-12), (0.0, 0.3, 1e-2)])
def test_each_step_alone_is_bounded_closely(distortion: float, decay: float, off: float) -> None:
    close = []
    for seed in range(40):
        rows, Ct, ritz, truth = problem(seed, distortion, 0.0, decay, off)
        allowances = inspected(rows, Ct, ritz, Errors(distortion, 0.0, 0.0, 0.0))[3]
        bound = allowances[3] - allowances[2]
        assert truth <= bound
        close.append(truth / bound)
    assert max(close) > 0.1


def test_a_column_turned_towards_the_next_is_seen_in_full() -> None:
    Ct, angle = np.diag([4.0, 2.0, 1.0]), 1e-3
    rows = np.eye(3)[:2]
    rows[1] = [0.0, np.cos(angle), np.sin(angle)]
    allowances = inspected(rows, Ct, np.array([16.0, 4.0, 1.0]), Errors(0.0, 0.0, 0.0, 0.0))[3]
    assert allowances[3] == pytest.approx(np.sqrt(2.0) * np.sin(angle), rel=1e-4)


def test_errors_are_counted_one_by_one() -> None:
    rows, Ct, ritz, _ = problem(0, 0.0, 0.0, 0.5)
    slack, drift, dropped = (
        inspected(rows, Ct, ritz, errors)[3][3] - inspected(rows, Ct, ritz, errors)[3][2]
        for errors in (
            Errors(0.0, 1e-6, 0.0, 0.0),
            Errors(0.0, 0.0, 1e-6, 0.0),
            Errors(0.0, 0.0, 0.0, 1e-6 * float(np.linalg.norm(Ct))),
        )
    )
    assert slack == pytest.approx(drift, rel=1e-6)
    assert slack == pytest.approx(dropped, rel=1e-6)


def test_a_gap_within_the_errors_proves_nothing() -> None:
    rows, Ct, ritz, _ = problem(0, 0.0, 0.0, 0.5)
    small = np.diag(ritz[:Q])
    sizes = D + W, float(ritz.sum())
    gap = np.sqrt(ritz[Q - 1]) - np.sqrt(ritz[Q])
    for dropped, is_proven in ((0.49 * gap, True), (0.51 * gap, False)):
        errors = Errors(0.0, 0.0, 0.0, float(dropped))
        found = distance_in_steps(small.copy(), 0.0, ritz, sizes, errors)
        assert np.isfinite(found) == is_proven
    for distortion, is_proven in ((0.5, False), (0.1, True)):
        errors = Errors(distortion, 0.0, 0.0, 0.0)
        ties = ritz.copy()
        ties[Q] = 0.5 * ties[Q - 1]
        sizes = D + W, float(ties.sum())
        found = distance_in_steps(small.copy(), 0.0, ties, sizes, errors)
        assert np.isfinite(found) == is_proven
    assert rows.shape == (Q, D)
    assert Ct.shape == (W, D)
