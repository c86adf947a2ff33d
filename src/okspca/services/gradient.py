r"""What the gradient trackers share: their state, the tangent gradient, the answer to a request.

A basis U (D x k) is stored as rows, ``U^T``.  With the Bessel moment C, the gradient of ``||C^T
U||_F^2`` and its projection on the tangent space of orthonormal bases are::

    G = 2 C (C^T U),      G_T = G - U sym(U^T G).
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Annotated, NamedTuple, TypeVar

import numpy as np
from numpy.random import RandomState

from okspca.basis import Basis
from okspca.moments import Moment, MomentArrays, ScaledMoment
from okspca.moments.arrays import ROWS, WEIGHT, EncodedRows
from okspca.numerics.arrays import Floats
from okspca.numerics.compiled import BoundKernel, compiled
from okspca.numerics.leading import polished, span_leading, within_span
from okspca.numerics.orthonormal import signed_qr
from okspca.numerics.products import combine_rows, row_products
from okspca.numerics.sums import inner
from okspca.services.answers import (
    Solution,
    answer,
    fresh_basis,
    no_solution,
    no_target,
    ordinary_part,
    solution_from,
)
from okspca.services.base import ServiceState
from okspca.services.stored import Stored
from okspca.services.tracker import Tracker


class TrackerArrays(NamedTuple):
    """Arrays of a tracker, changed in place by kernels.

    Attributes
    ----------
    rows : ndarray of shape (k, D)
        The maintained basis.
    triangular : ndarray of shape (k, k)
        Triangular factor of the last signed QR.
    gradient, reflectors : ndarray of shape (k, D)
        Tangent gradient of the last step; scratch.
    small : ndarray of shape (k, k)
        Scratch.
    """

    rows: Annotated[Floats, Stored(("k", "D"), "unit")]
    triangular: Annotated[Floats, Stored(("k", "k"), "scratch")]
    gradient: Annotated[Floats, Stored(("k", "D"), "scratch")]
    reflectors: Annotated[Floats, Stored(("k", "D"), "scratch")]
    small: Annotated[Floats, Stored(("k", "k"), "scratch")]


@dataclass
class TrackerState(ServiceState):
    """A maintained basis and what is known about its maintenance."""

    arrays: TrackerArrays
    reinitialised: int = 0


def tracker_arrays(n_features: int, n_components: int, seed: int) -> TrackerArrays:
    """Start from the signed QR of a seeded Gaussian matrix."""
    k, D = n_components, n_features
    return TrackerArrays(
        gaussian_rows(D, k, seed), np.eye(k), np.zeros((k, D)), np.zeros((k, D)), np.zeros((k, k))
    )


def gaussian_rows(n_features: int, n_components: int, seed: int) -> Floats:
    """Signed-QR basis of a Gaussian matrix, as rows."""
    gaussian = RandomState(seed).standard_normal((n_features, n_components))
    return np.ascontiguousarray(signed_qr(gaussian)[0].T)


TrackerStateT = TypeVar("TrackerStateT", bound=TrackerState)


class GradientTracker(Tracker[TrackerStateT]):
    """A tracker that takes one gradient step with the moment after every observation."""

    @abstractmethod
    def learn_and_step(
        self, state: TrackerStateT, moment: Moment, rows: EncodedRows, start: int
    ) -> int:
        """Learn rows from ``start`` on, with one step after each.

        Returns how many rows are done, as a negative number where the basis became non-finite.
        """

    @abstractmethod
    def advance(self, state: TrackerStateT, moment: Moment) -> bool:
        """Take one step with the current moment; False where the basis became non-finite."""

    def scan(self, state: TrackerStateT, moment: Moment, rows: EncodedRows, t: int) -> None:
        """Learn and follow rows; a non-finite basis is replaced, counted, and the loop goes on."""
        n, done = rows.Phi.shape[0], 0
        # The compiled loop comes back where a basis broke: a new one is drawn out here.
        while done < n:
            done = self.learn_and_step(state, moment, rows, done)
            if done < 0:
                done = -done
                _reinitialise(state, t + done)

    def follow_row(self, state: TrackerStateT, moment: Moment, t: int) -> None:
        """Follow one row."""
        if not self.advance(state, moment):
            _reinitialise(state, t)

    def serve(self, state: TrackerStateT, moment: Moment, t: int) -> Basis:
        """Answer by one compiled call where the projected moment is of full rank."""
        if moment.is_ordinary:
            found, solution = _bound_extract.code(moment.arrays, state.arrays.rows)
            if found:
                return fresh_basis(solution, t)
        return super().serve(state, moment, t)

    def request(self, state: TrackerStateT, scaled: ScaledMoment, t: int) -> Basis:
        """Supply the best block inside the maintained span; its rank is that of the projection."""
        if scaled.is_zero:
            return no_target(scaled, t)
        return answer(within_span(state.arrays.rows, scaled.Ct), scaled, state.n_components, t)

    def maintained(self, state: TrackerStateT) -> Floats | None:
        """The maintained basis, as rows."""
        return state.arrays.rows

    def health(self, state: TrackerStateT) -> dict[str, float]:
        """Re-initialisations, last tangent gradient norm, condition of the last QR."""
        triangular = state.arrays.triangular
        is_usable = bool(np.isfinite(triangular).all())
        return {
            "reinitialised": state.reinitialised,
            "gradient_norm": float(np.linalg.norm(state.arrays.gradient)),
            "condition": float(np.linalg.cond(triangular)) if is_usable else float("inf"),
        }


def _reinitialise(state: TrackerState, t: int) -> None:
    """Replace a non-finite basis by a Gaussian one seeded with the sample counter, and count it."""
    # The counter as seed: the same stream breaks and recovers in the same way, wherever it is cut.
    state.arrays.rows[...] = gaussian_rows(state.n_features, state.n_components, t)
    state.reinitialised += 1


@compiled
def _extract(moment: MomentArrays, rows: Floats) -> tuple[bool, Solution]:
    """The singular directions of an ordinary moment within the span, if it has full rank there."""
    part = ordinary_part(moment)
    if part[0] == 0.0:
        return no_solution()
    found, theta, turned = span_leading(rows, part[1])
    return solution_from(moment, part, polished(turned), theta) if found else no_solution()


_bound_extract = BoundKernel(_extract)


@compiled
def tangent_gradient(moment: MomentArrays, tracker: TrackerArrays) -> float:
    """Leave G_T in ``tracker.gradient`` and return its Frobenius norm."""
    weight, rows = moment.totals[WEIGHT], moment.totals[ROWS]
    gradient, small = tracker.gradient, tracker.small
    k, D = gradient.shape
    # Sums become the Bessel moment by t / ((t - 1) W), whatever the unit of the weights.
    factor = rows / ((rows - 1.0) * weight) if rows > 1.0 else 0.0
    projected = row_products(tracker.rows, moment.sums)
    scale_entries(projected, 2.0 * factor * factor)
    # From right to left: the D x D matrix C C^T is never formed.
    combine_rows(projected, moment.sums, gradient)
    for i in range(k):
        for j in range(k):
            small[i, j] = inner(tracker.rows[i], gradient[j], 0)
    # Only the symmetric part is at right angles to the tangent space.
    for i in range(k):
        for j in range(i):
            mean = 0.5 * (small[i, j] + small[j, i])
            small[i, j] = mean
            small[j, i] = mean
    normal = np.empty((k, D))
    combine_rows(small, tracker.rows, normal)
    square = 0.0
    for i in range(k):
        for j in range(D):
            gradient[i, j] -= normal[i, j]
            square += gradient[i, j] * gradient[i, j]
    return np.sqrt(square)


@compiled
def scale_entries(matrix: Floats, factor: float) -> None:
    """Multiply every entry by ``factor``, in place."""
    for i in range(matrix.shape[0]):
        for j in range(matrix.shape[1]):
            matrix[i, j] *= factor


@compiled
def copy_entries(matrix: Floats, other: Floats) -> None:
    """Copy every entry of ``other`` to ``matrix``."""
    for i in range(matrix.shape[0]):
        for j in range(matrix.shape[1]):
            matrix[i, j] = other[i, j]


@compiled
def add_scaled(matrix: Floats, factor: float, other: Floats) -> None:
    """Add ``factor * other`` to ``matrix``, in place."""
    for i in range(matrix.shape[0]):
        for j in range(matrix.shape[1]):
            matrix[i, j] += factor * other[i, j]
