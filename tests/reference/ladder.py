"""Maps on trial and maps in training, from the equations: loops, dense matrices, no shortcuts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]
Objective: TypeAlias = Callable[[Array], tuple[float, Array]]


def features(Z: Array, W: Array, b: Array) -> Array:
    """Cosine features sqrt(2 / D) cos(w z + b), entry by entry."""
    found = np.zeros((len(Z), len(b)))
    for i, z in enumerate(Z):
        for j in range(len(b)):
            found[i, j] = np.sqrt(2.0 / len(b)) * np.cos(float(np.dot(W[j], z)) + b[j])
    return found


def centred(rows: Array, share: Array) -> Array:
    """Rows less their weighted mean."""
    mean = np.zeros(rows.shape[1])
    for part, row in zip(share, rows, strict=True):
        mean += part * row
    return rows - mean


def ridge_solution(Phi: Array, T: Array, share: Array, ridge: float) -> Array:
    """The B that minimises the weighted mean of ||t - B^T phi||^2 plus ridge ||B||^2."""
    S, C = np.zeros((Phi.shape[1], Phi.shape[1])), np.zeros((Phi.shape[1], T.shape[1]))
    for part, phi, t in zip(share, Phi, T, strict=True):
        S += part * np.outer(phi, phi)
        C += part * np.outer(phi, t)
    return np.asarray(np.linalg.solve(S + ridge * np.eye(len(S)), C))


class PlainTrial(NamedTuple):
    """The best ridge of a grid, its coefficients, squared errors ahead, and the odds."""

    ridge: float
    B: Array
    errors: Array
    odds: float


def trial(
    W: Array, b: Array, rows: tuple[Array, Array, Array], ridges: Sequence[float]
) -> PlainTrial:
    """Fit three quarters of the rows (inputs, targets, weights), predict the last quarter.

    Ridges are in units of the mean variance of the features that were fitted to.
    """
    Z, T, weights = rows
    n = (3 * len(Z)) // 4
    share = weights[:n] / weights[:n].sum()
    Phi = features(Z, W, b)
    phi_mean, t_mean = share @ Phi[:n], share @ T[:n]
    past, answers = Phi[:n] - phi_mean, T[:n] - t_mean
    variance = float(np.mean(share @ past**2))
    total = sum(
        w * float(((t - t_mean) ** 2).sum()) for w, t in zip(weights[n:], T[n:], strict=True)
    )
    found = []
    for ridge in ridges:
        B = ridge_solution(past, answers, share, ridge * variance)
        errors = [
            w * float(((t - t_mean - B.T @ (phi - phi_mean)) ** 2).sum())
            for w, phi, t in zip(weights[n:], Phi[n:], T[n:], strict=True)
        ]
        found.append((sum(errors), ridge, B, np.array(errors)))
    error, ridge, B, each = min(found, key=lambda one: one[0])
    return PlainTrial(ridge, B, each, max(total - error, 1e-3 * total) / max(error, 1e-12 * total))


def projected_loss(
    W: Array, b: Array, rows: tuple[Array, Array, Array], ridge: float
) -> tuple[float, Array, Array]:
    """Variable projection: min over B of 1/2 mean ||T - Phi B||^2 + ridge / 2 ||B||^2.

    Returns it with its gradients by W and b, at that B held fixed: where B is the best one, its own
    change adds nothing.
    """
    Z, T, weights = rows
    share = weights / weights.sum()
    Phi, T = centred(features(Z, W, b), share), centred(T, share)
    B = ridge_solution(Phi, T, share, ridge)
    loss = 0.5 * ridge * float((B**2).sum())
    by_W, by_b = np.zeros_like(W), np.zeros_like(b)
    for part, z, phi, t in zip(share, Z, Phi, T, strict=True):
        error = t - B.T @ phi
        loss += 0.5 * part * float((error**2).sum())
        for j in range(len(b)):
            # d phi_j / d (w_j z + b_j), times what the loss changes by with phi_j.
            slope = -np.sqrt(2.0 / len(b)) * np.sin(float(np.dot(W[j], z)) + b[j])
            change = part * slope * -float(np.dot(error, B[j]))
            by_W[j] += change * z
            by_b[j] += change
    return loss, by_W, by_b


def inverse_hessian(pairs: Sequence[tuple[Array, Array]], n: int) -> Array:
    """BFGS updates of a multiple of the identity, oldest pair (s, y) first, as dense matrices."""
    s, y = pairs[-1]
    H = np.eye(n) * (s @ y) / (y @ y)
    for s, y in pairs:
        rho = 1.0 / (s @ y)
        left = np.eye(n) - rho * np.outer(s, y)
        H = left @ H @ left.T + rho * np.outer(s, s)
    return np.asarray(H)


@dataclass
class PlainDescent:
    """L-BFGS with dense matrices: steps of length one, cut until the value falls enough."""

    objective: Objective
    x: Array
    memory: int
    first_length: float
    sufficient: float
    pairs: list[tuple[Array, Array]] = field(default_factory=list)

    def direction(self) -> Array:
        """Downhill by the inverse Hessian; before anything is known, a short step."""
        g = self.objective(self.x)[1]
        if not self.pairs:
            return -self.first_length * g / np.linalg.norm(g)
        return -inverse_hessian(self.pairs[-self.memory :], len(g)) @ g

    def step(self) -> None:
        """Go one step, cutting it to where a parabola is lowest, to a tenth at the most."""
        p, (value, g) = self.direction(), self.objective(self.x)
        length = 1.0
        while self.objective(self.x + length * p)[0] > value + self.sufficient * length * (g @ p):
            rise = self.objective(self.x + length * p)[0] - value
            lowest = -(g @ p) * length**2 / (2.0 * (rise - length * (g @ p)))
            length = float(np.clip(lowest, 0.1 * length, 0.5 * length))
        s = length * p
        y = self.objective(self.x + s)[1] - g
        self.x = self.x + s
        if s @ y > 0.0:
            self.pairs.append((s, y))
