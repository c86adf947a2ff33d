r"""A factor of the covariance that follows it row by row, and what is proven about it.

At a *rebuild* the covariance with its ridge is factored, and C̄ is whitened::

    S_a / W_a + l_a I = R^T R,        R^T Q = C_a / W_a.

A row that comes later changes the sums by ``s d d^T`` and ``s d e^T``, with its deviations d and e
from the means before it (:mod:`okspca.moments.arrays`), after they have faded by g.  After m rows R
and Q have followed the rows ``x = sqrt(s / (g^m W_a)) d`` with ``p = sqrt(s / (g^m W_a)) e`` by
rotations (:mod:`okspca.numerics.updating`), and with ``omega = W / (g^m W_a)``::

    S / W + l I = R^T R / omega,        C / W = R^T Q / omega,        l = l_a / omega,
    S / W = (S_a / W_a + sum x x^T) / omega.

What rotations may have done is added up.  With t the squared norm of R and a share u of the norm
that one update may be off by, ``R^T R`` is off by ``2 u t`` more after each row.  Q is off by ``u
(1 + sqrt(t / f)) ||Q||`` more, where f is the smallest eigenvalue that is proven: what a changed R
does to Q passes through its inverse once, and is not amplified by later rows, as they add to
``R^T R``.
"""

import math
from typing import NamedTuple

import numpy as np

from okspca.moments.arrays import MomentArrays, add_row
from okspca.moments.pencil import UNIT
from okspca.numerics.accurate import norm
from okspca.numerics.arrays import Floats
from okspca.numerics.compiled import BoundKernel, compiled
from okspca.numerics.cosine import cosine_row
from okspca.numerics.few import solve_few_columns
from okspca.numerics.matrix import apply_into, mirror, multiply_into, product
from okspca.numerics.products import row_products
from okspca.numerics.sums import inner
from okspca.numerics.updating import append_row, update_error
from okspca.numerics.whitening import (
    MOST_DISTORTION,
    FactorBounds,
    factor_bounds,
    factored,
    solving_slack,
    whitened_rows,
)

#: A factor is made anew before its coordinates may be off by a thousandth of this much.
TRUSTED = 1e-3 * MOST_DISTORTION
#: For second-order terms in the sums of bounds.
_SAFELY = 1.05


class Features(NamedTuple):
    """Frequencies and phases of the input map."""

    weights: Floats
    phases: Floats


class Followed(NamedTuple):
    """One row: inputs, stored target coordinates, what it counts, what they lack.

    The inputs are standardised, or their features where these come from elsewhere.
    """

    z: Floats
    psi: Floats
    weight: float
    dropped: float


class FollowedArrays(NamedTuple):
    """What kernels see of a factor: R, S at the rebuild, and the rows that were followed."""

    R: Floats
    squares: Floats
    rows: Floats


class FollowedNumbers(NamedTuple):
    """W, l and the norm of ``S / W`` at the rebuild, and omega."""

    weight: float
    first_shift: float
    size: float
    omega: float


class FollowedFactor:
    """R and Q after the rows since a rebuild.

    Parameters
    ----------
    squares : ndarray of shape (D, D)
        S at the rebuild, of which the upper triangle counts.
    sums : ndarray of shape (width, D)
        C at the rebuild, transposed.
    weight, shift : float
        W and l at the rebuild.

    Attributes
    ----------
    R, Q : ndarray of shape (D, D) and (D, width)
        See above.
    squares : ndarray of shape (D, D)
        S at the rebuild, both triangles.
    weight, first_shift, size : float
        W, l and the norm of ``S / W`` at the rebuild.
    rows : ndarray of shape (m, D)
        The rows that were followed.
    fade : float
        g^m.

    Examples
    --------
    >>> factor = FollowedFactor(np.eye(2), np.ones((1, 2)), weight=1.0, shift=0.0)
    >>> factor.R.tolist(), factor.Q.tolist(), factor.n_rows
    ([[1.0, 0.0], [0.0, 1.0]], [[1.0], [1.0]], 0)
    """

    def __init__(self, squares: Floats, sums: Floats, weight: float, shift: float) -> None:
        self.squares, self.weight = squares.copy(), weight
        mirror(self.squares)
        self.first_shift, self.fade, self._total = shift, 1.0, weight
        shifted = self.squares / weight
        trace, self.size = float(np.trace(shifted)), norm(shifted)
        shifted.flat[:: len(shifted) + 1] += shift
        self.R = factored(shifted)
        self._bounds = factor_bounds(shifted, self.R)
        self.Q = np.ascontiguousarray(whitened_rows(self.R, sums / weight).T)
        # Squared norms of R and Q, and the trace of S; what R and Q may be off by.
        self._norms = np.array([np.trace(shifted), (self.Q**2).sum(), trace])
        self._error = self._drift = 0.0
        self._room, self.n_rows = np.empty((8, squares.shape[0])), 0

    @property
    def omega(self) -> float:
        """By how much R^T R is larger than the covariance with its ridge."""
        return self._total / (self.fade * self.weight)

    @property
    def shift(self) -> float:
        """What the ridge adds to the covariance."""
        return self.first_shift / self.omega

    @property
    def rows(self) -> Floats:
        """The rows that were followed."""
        return self._room[: self.n_rows]

    @property
    def trace(self) -> float:
        """Trace of the sums of squares S."""
        return float(self._norms[2]) * self.fade * self.weight

    @property
    def arrays(self) -> FollowedArrays:
        """The arrays, for kernels that only read them."""
        return FollowedArrays(self.R, self.squares, self.rows)

    @property
    def numbers(self) -> FollowedNumbers:
        """The numbers that go with the arrays."""
        return FollowedNumbers(self.weight, self.first_shift, self.size, self.omega)

    def follow(
        self, arrays: MomentArrays, features: Features | None, row: Followed, forgetting: float
    ) -> None:
        """Let the moment's arrays learn one row, and R and Q follow.

        Without ``features``, the row comes with its own.
        """
        if arrays.right_mean.size > self.Q.shape[1]:
            more = arrays.right_mean.size - self.Q.shape[1]
            self.Q = np.pad(self.Q, ((0, 0), (0, more)))
        if self.n_rows == len(self._room):
            self._room = np.concatenate([self._room, np.empty_like(self._room)])
        self.fade *= forgetting
        unit = self.fade * self.weight
        kept = self._room[self.n_rows]
        numbers, changed = (forgetting, unit), (self.R, self.Q, kept, self._norms)
        if features is None:
            _bound_follow_features.code(arrays, row.z, row, numbers, changed)
        else:
            _bound_follow.code(arrays, features, row, numbers, changed)
        self.n_rows += 1
        self._total = float(arrays.totals[0])
        self._allow_for_rotations()

    def widen(self, basis: Floats) -> None:
        """Turn to other target coordinates: rows over the old ones times ``basis``."""
        self.Q = np.ascontiguousarray(product(basis, self.Q.T).T)

    def bounds(self) -> FactorBounds | None:
        """What is proven about R, as a factor of the covariance with its ridge, but for omega."""
        first = self._bounds
        if first is None:
            return None
        floor = first.smallest - self._error
        error = first.distortion * first.smallest + self._error
        if not (floor > 0.0 and error <= MOST_DISTORTION * floor):
            return None
        slack = solving_slack(len(self.R), float(self._norms[0]) / floor)
        size = math.sqrt(float((self.Q**2).sum()))
        drift = self._drift / size if size > 0.0 else 0.0
        return FactorBounds(floor / self.omega, error / floor, slack, drift)

    def relative_error(self, bounds: FactorBounds) -> float:
        """Relative error of numbers taken as exact: of what the ridge adds, and of factors."""
        return 16.0 * UNIT * (1.0 + self.shift / bounds.smallest)

    @property
    def is_trusted(self) -> bool:
        """Whether rotations have done no more than a fresh factor is worth."""
        return self._bounds is None or self._error <= TRUSTED * self._bounds.smallest

    def whitened(self) -> Floats:
        """C̄ transposed in whitened coordinates (width x D)."""
        return np.ascontiguousarray(self.Q.T) / math.sqrt(self.omega)

    def weights(self, V: Floats) -> Floats:
        """Directions of whitened coordinates as weights of the features."""
        W = np.array(V.T, order="C")
        _bound_solve.code(self.R, W)
        return np.ascontiguousarray(W.T) * math.sqrt(self.omega)

    def images(self, W: Floats) -> Floats:
        """The covariance times columns."""
        found = _bound_products.code(np.ascontiguousarray(W.T), self.squares) / self.weight
        if self.n_rows:
            rows = self.rows
            found += product(_bound_products.code(np.ascontiguousarray(W.T), rows), rows)
        return np.ascontiguousarray(found.T) / self.omega

    def sums_of_squares(self) -> Floats:
        """S, of which the upper triangle counts."""
        found, rows = self.squares / self.weight, self.rows
        multiply_into(rows.T, rows, found, 1.0, 1.0, True)
        return found * (self.fade * self.weight)

    def _allow_for_rotations(self) -> None:
        """Add what the rotations of one row may have done to the bounds."""
        if self._bounds is None:
            return
        share, (trace, square, _) = _SAFELY * update_error(len(self.R)), self._norms.tolist()
        self._error += 2.0 * share * trace
        passed = 1.0 + math.sqrt(trace / self._bounds.smallest)
        self._drift += share * passed * math.sqrt(square)


@compiled
def _follow(
    arrays: MomentArrays,
    features: Features,
    row: Followed,
    numbers: tuple[float, float],
    changed: tuple[Floats, Floats, Floats, Floats],
) -> None:
    """Learn a row; let R and Q follow it as it counts, leave it in ``kept``, add up squares.

    ``numbers``: the forgetting factor, and ``g^m W_a``; ``changed``: R, Q, ``kept``, the squares.
    """
    phi = np.empty(changed[0].shape[0])
    apply_into(features.weights, row.z, phi)
    cosine_row(phi, features.phases, np.sqrt(2.0 / phi.shape[0]))
    _follow_features(arrays, phi, row, numbers, changed)


@compiled
def _follow_features(
    arrays: MomentArrays,
    phi: Floats,
    row: Followed,
    numbers: tuple[float, float],
    changed: tuple[Floats, Floats, Floats, Floats],
) -> None:
    """Do the same with the features of the row."""
    (forgetting, unit), (R, Q, kept, norms) = numbers, changed
    left, right = np.empty(R.shape[0]), np.empty(Q.shape[1])
    weights = row.weight, forgetting, row.dropped
    scale = add_row(arrays, phi, row.psi, weights, left, right)
    factor = math.sqrt(scale / unit)
    for j in range(left.size):
        left[j] *= factor
        kept[j] = left[j]
    for j in range(right.size):
        right[j] *= factor
    change = inner(left, left, 0)
    norms[0] += change
    norms[1] += inner(right, right, 0)
    norms[2] += change
    append_row(R, Q, left, right)


_bound_follow, _bound_products = BoundKernel(_follow), BoundKernel(row_products)
_bound_follow_features = BoundKernel(_follow_features)
_bound_solve = BoundKernel(solve_few_columns)
