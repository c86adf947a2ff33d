r"""The eigenproblem of a factor that has followed rows, in terms of the numbers that are stored.

As in :mod:`okspca.moments.pencil`, but the sums of squares are those of the last rebuild and of the
rows since, taken as exact, and all is in the units of the factor
(:mod:`okspca.moments.followed_factor`)::

    N = S_a / W_a + sum x x^T + l_a I = omega (S / W + l I),      T = C f^-1 a / W,

and with ``W = R^-1 V`` the residual is ``R^-T (omega T T^T W - N W theta)``.

Most answers are settled by a residual computed in working precision, the rounding of which is
bounded; where its terms cancel too far, it is computed to twice that precision.
"""

import math
from dataclasses import dataclass

import numpy as np

from okspca.moments.followed_factor import FollowedArrays, FollowedFactor, FollowedNumbers
from okspca.moments.pencil import FINE, UNIT, Residual, Way
from okspca.numerics import accurate
from okspca.numerics.accurate import Pair
from okspca.numerics.arrays import Floats, unit_scaled
from okspca.numerics.compiled import compiled
from okspca.numerics.few import solve_few_columns, solve_few_rows
from okspca.numerics.matrix import multiplied
from okspca.numerics.products import row_products
from okspca.numerics.sums import square
from okspca.numerics.triangular import solve_columns, solve_rows
from okspca.numerics.whitening import FactorBounds

#: A proven distance of projectors that is close enough while rows wait, where a residual in higher
#: precision would cost more than all the rest: below a hundredth of a degree.
CLOSE = 1e-4
#: For second-order terms in bounds on rounding.
_SAFELY = 1.1


@dataclass(frozen=True)
class FollowedPencil:
    """A factor, and the targets that are shown in its coordinates.

    Attributes
    ----------
    followed : FollowedFactor
        The factor with its rows.
    targets : ndarray of shape (width, D)
        ``f^-1 a C`` transposed, each row rounded three times at most.
    weight : float
        W.
    bounds : FactorBounds or None
        What is proven about the factor.
    """

    followed: FollowedFactor
    targets: Floats
    weight: float
    bounds: FactorBounds | None

    @property
    def ways(self) -> tuple[Way, ...]:
        """Ways to compute a residual, the cheap one first."""
        return (self.plain_residual, CLOSE), (self.residual, FINE)

    def plain_residual(self, V: Floats, theta: Floats, scale: float) -> Residual:
        """Residual of columns V in working precision; see :meth:`Pencil.residual`."""
        T = self.targets / (self.weight * scale)
        columns, lost = plain_residual(
            np.ascontiguousarray(V.T), theta, T, self.followed.arrays, self.followed.numbers
        )
        return Residual(np.ascontiguousarray(columns.T), lost / self._root, self._relative)

    def residual(self, V: Floats, theta: Floats, scale: float) -> Residual:
        """Residual of columns V to twice the working precision."""
        followed, D = self.followed, len(V)
        # Powers of two are divided out: of the sums of squares, and of the targets.
        size = math.frexp(float(np.max(followed.squares.diagonal())))[1]
        squares = np.ldexp(followed.squares, -size)
        T, extent = unit_scaled(self.targets)
        W = solve_columns(followed.R, V)
        weight, rows = math.ldexp(followed.weight, -size), followed.rows
        images = accurate.product(squares, Pair.of(W))
        images = images.plus(Pair.of(W).times(np.full((D, 1), followed.first_shift * weight)))
        if len(rows):
            along = accurate.product(rows, Pair.of(W))
            images = images.plus(accurate.product(rows.T, along).times(np.full((D, 1), weight)))
        # All of it times W_a, and over 2^size: so the targets are multiplied by what is left.
        share = (extent / scale) ** 2 / followed.fade / self.weight * 2.0**-size
        projected = accurate.product(T, Pair.of(W)).times(np.full((len(T), 1), share))
        rest = accurate.product(T.T, projected).minus(images.matmul(theta))
        columns = solve_rows(followed.R, ((rest.high + rest.low) / weight).T).T
        error = 2.0 * rest.error / weight / self._root
        return Residual(np.ascontiguousarray(columns), error, self._relative)

    @property
    def _root(self) -> float:
        """Bound from below on the smallest singular value of R."""
        assert self.bounds is not None
        return math.sqrt(self.bounds.smallest * self.followed.omega)

    @property
    def _relative(self) -> float:
        """As in :class:`Residual`."""
        assert self.bounds is not None
        return self.followed.relative_error(self.bounds)


@compiled
def plain_residual(
    V: Floats, theta: Floats, T: Floats, arrays: FollowedArrays, numbers: FollowedNumbers
) -> tuple[Floats, float]:
    """Residual of the rows of V, and what it may be off by before it is solved with R.

    ``T``: targets over their weight (width x D).
    """
    (q, w), D, omega = (theta.shape[0], T.shape[0]), T.shape[1], numbers.omega
    W = V.copy()
    solve_few_columns(arrays.R, W)
    images = row_products(W, arrays.squares)
    among = multiplied(row_products(W, arrays.rows), arrays.rows)
    for i in range(q):
        for j in range(D):
            images[i, j] = (
                images[i, j] / numbers.weight + among[i, j] + numbers.first_shift * W[i, j]
            )
    along = row_products(W, T)
    found, others = multiplied(along, T), multiplied(theta.T, images)
    for i in range(q):
        for j in range(D):
            found[i, j] = omega * found[i, j] - others[i, j]
    solve_few_rows(arrays.R, found)
    # Sums of n terms are within n u of the sum of magnitudes, in whatever order.
    sizes = math.sqrt(square(W)), math.sqrt(square(T)), math.sqrt(square(theta))
    of_images = (D + 8.0) * numbers.size + 8.0 * numbers.first_shift
    of_images += (D + arrays.rows.shape[0] + 8.0) * square(arrays.rows)
    lost = sizes[0] * of_images * sizes[2]
    lost += (q + 8.0) * math.sqrt(square(images)) * sizes[2]
    lost += omega * sizes[1] * (w + 8.0) * math.sqrt(square(along))
    lost += omega * sizes[1] * (D + 8.0) * sizes[1] * sizes[0]
    return found, _SAFELY * UNIT * lost
