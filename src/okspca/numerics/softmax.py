r"""Logistic regression of several classes with a Gaussian prior.

For rows f of K features with class y, weight w and log odds o that are given::

    minimise  - sum w log softmax(o + A^T f)_y + 1/2 t |A|^2.

Descents (:mod:`okspca.numerics.lbfgs`) go by coordinates ``R_c A_c`` for each class c, in which the
curvature ``R_c^T R_c = sum w p_c (1 - p_c) f f^T + t I`` at the start is one.
"""

from typing import NamedTuple

import numpy as np

from okspca.numerics.arrays import Floats, Integers
from okspca.numerics.lbfgs import LBFGS
from okspca.numerics.matrix import gram, product
from okspca.numerics.triangular import solve_columns, solve_rows
from okspca.numerics.whitening import factored

#: A log likelihood that grows by less in a step is as good.
ENOUGH, MOST_STEPS = 1e-3, 60


class Examples(NamedTuple):
    """What is fitted to: features (n x K), log odds (C or n x C), classes and weights."""

    F: Floats
    base: Floats
    labels: Integers
    weights: Floats

    def probabilities(self, A: Floats) -> tuple[Floats, Floats]:
        """Probabilities of all classes, and the logarithm of that of each row's own class."""
        values = self.base + product(self.F, A)
        values -= values.max(axis=1, keepdims=True)
        found = np.exp(values)
        totals = found.sum(axis=1)
        own = values[np.arange(len(values)), self.labels] - np.log(totals)
        found /= totals[:, np.newaxis]
        return found, own

    def value_at(self, A: Floats, precision: float) -> tuple[float, Floats]:
        """What is minimised, and its gradient."""
        gap, log_own = self.probabilities(A)
        loss = -float((self.weights * log_own).sum())
        gap *= self.weights[:, np.newaxis]
        gap[np.arange(len(gap)), self.labels] -= self.weights
        gradient = product(self.F.T, gap) + precision * A
        return loss + 0.5 * precision * float((A**2).sum()), gradient

    def factors_at(self, A: Floats, precision: float) -> list[Floats]:
        """Factor of the curvature of each class."""
        p, found = self.probabilities(A)[0], []
        for c in range(A.shape[1]):
            root = np.sqrt(self.weights * p[:, c] * (1.0 - p[:, c]))
            curvature = gram(root[:, np.newaxis] * self.F)
            curvature.flat[:: len(A) + 1] += precision
            found.append(factored(curvature))
        return found


def softmax(values: Floats) -> Floats:
    """Numbers that sum to one along the last axis, from their logarithms up to a constant.

    Examples
    --------
    >>> softmax(np.log(np.array([[1.0, 3.0]]))).round(12).tolist()
    [[0.25, 0.75]]
    """
    found = np.exp(values - values.max(axis=-1, keepdims=True))
    return np.asarray(found / found.sum(axis=-1, keepdims=True))


def fitted_softmax(
    examples: Examples, start: Floats, *, precision: float = 1.0, enough: float = ENOUGH
) -> Floats:
    """Return the coefficients A (K x C), beginning at ``start``.

    Examples
    --------
    >>> F = np.ones((4, 1))  # three of four rows are of the first class
    >>> rows = Examples(F, np.zeros(2), np.array([0, 0, 0, 1]), np.ones(4))
    >>> A = fitted_softmax(rows, np.zeros((1, 2)), precision=1e-6, enough=1e-12)
    >>> round(float(np.exp(A[0, 0] - A[0, 1])), 3)
    3.0
    """
    factors = examples.factors_at(start, precision)

    def moved(point: Floats) -> Floats:
        steps = zip(factors, point.reshape(start.shape[::-1]), strict=True)
        return start + np.stack([solve_columns(R, u[:, np.newaxis])[:, 0] for R, u in steps], 1)

    def objective(point: Floats) -> tuple[float, Floats]:
        value, gradient = examples.value_at(moved(point), precision)
        rows = zip(factors, np.ascontiguousarray(gradient.T), strict=True)
        return value, np.concatenate([solve_rows(R, g[np.newaxis])[0] for R, g in rows])

    descent = LBFGS(objective, np.zeros(start.size))
    while descent.steps < MOST_STEPS and not descent.is_stuck:
        before = descent.value
        descent.step()
        if before - descent.value <= enough and descent.steps > 1:
            break
    return moved(descent.x)
