"""CIPLS, CCIPCA and the one-vs-rest adapter, written from their published equations.

CIPLS is computed with forty digits and unlimited exponents (mpmath), since its accumulated loadings
leave the range of double precision after a few components.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import mpmath
import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]

DIGITS = 40


def cipls_directions(
    X: Array, y: Array, k: int, tolerance: float = 1e-12, *, own: bool = False
) -> Array:
    """Normalised CIPLS weights (k x d) after all rows; a zero row where there is no direction."""
    with mpmath.workdps(DIGITS):
        return _cipls(X, y, k, tolerance, own)


def _cipls(X: Array, y: Array, k: int, tolerance: float, own: bool) -> Array:
    rows = np.vectorize(mpmath.mpf, otypes=[object])(X)
    responses = [mpmath.mpf(float(value)) for value in y]
    d = X.shape[1]
    zero = mpmath.mpf(0)
    weights: Any = np.full((k, d), zero, dtype=object)
    x_loadings: Any = np.full((k, d), zero, dtype=object)
    y_loadings = [zero] * k
    for n in range(2, len(X) + 1):
        mean = rows[:n].sum(axis=0) / n
        u, response, before = rows[n - 1] - mean, responses[n - 1], zero
        # The first weight vector is the covariance sum about the present mean.
        weights[0] = sum((rows[i] - mean) * responses[i] for i in range(n))
        for c in range(k):
            if c > 0:
                weights[c] = weights[c] + u * response
            norm = mpmath.sqrt(sum(weights[c] ** 2))
            if norm <= tolerance:
                break
            t = sum(u * weights[c]) / norm
            # From the second component on, the score of the component before, unless own.
            score = t if own or c == 0 else before
            x_loadings[c] = x_loadings[c] + u * score
            y_loadings[c] = y_loadings[c] + response * score
            before = t
            u = u - t * x_loadings[c]
            response = response - t * y_loadings[c]
    out = np.zeros((k, d))
    for c in range(k):
        norm = mpmath.sqrt(sum(weights[c] ** 2))
        if norm > tolerance:
            out[c] = [float(value / norm) for value in weights[c]]
    return out


def frozen_cipls_directions(
    X: Array, y: Array, k: int, tolerance: float = 1e-12, *, own: bool = False
) -> Array:
    """The same in double precision: new weights without a finite norm are not taken over."""
    d = X.shape[1]
    weights, x_loadings, y_loadings = np.zeros((k, d)), np.zeros((k, d)), np.zeros(k)
    with np.errstate(all="ignore"):
        for n in range(2, len(X) + 1):
            mean = X[:n].mean(axis=0)
            u, response, before = X[n - 1] - mean, float(y[n - 1]), 0.0
            weights[0] = (X[: n - 1] - mean).T @ y[: n - 1]
            for c in range(k):
                moved = weights[c] + u * response
                norm = np.sqrt(np.sum(moved**2))
                t = float(np.sum(u * moved) / norm)
                if not np.isfinite(norm) or (not np.isfinite(t) and norm > tolerance):
                    break
                weights[c] = moved
                if norm <= tolerance:
                    break
                score = t if own or c == 0 else before
                x_loadings[c] += u * score
                y_loadings[c] += response * score
                u, response, before = u - t * x_loadings[c], response - t * y_loadings[c], t
    norms = np.linalg.norm(weights, axis=1)
    return np.asarray(weights / np.where(norms > tolerance, norms, np.inf)[:, np.newaxis])


def ccipca_vectors(X: Array, k: int, amnesic: float = 2.0, tolerance: float = 1e-12) -> Array:
    """Unnormalised CCIPCA eigenvectors (k x d) after all rows."""
    vectors: list[Array] = []
    for n in range(1, len(X) + 1):
        u = X[n - 1] - X[:n].mean(axis=0)
        extra = amnesic if n > amnesic + 1 else 0.0
        for i in range(k):
            if i == len(vectors):
                if np.linalg.norm(u) > tolerance:
                    vectors.append(u.copy())
                break
            unit = vectors[i] / np.linalg.norm(vectors[i])
            vectors[i] = (n - 1 - extra) / n * vectors[i] + (1 + extra) / n * (u @ unit) * u
            unit = vectors[i] / np.linalg.norm(vectors[i])
            u = u - (u @ unit) * unit
    return np.array(vectors + [np.zeros(X.shape[1])] * (k - len(vectors)))


def one_vs_rest(X: Array, labels: list[int], k: int, projection: Array) -> Array:
    """Adapter output for the rows it learned."""
    classes = sorted(set(labels))
    centred = X - X.mean(axis=0)
    parts = []
    for label in classes:
        signs = np.array([1.0 if value == label else -1.0 for value in labels])
        parts.append(centred @ cipls_directions(X, signs, k).T)
    return np.asarray(np.concatenate(parts, axis=1) @ projection)
