r"""The eigenproblem that a whitened target stands for, in terms of the numbers that are stored.

With the stored sums S (squares of the input features) and C (their products with the targets), the
weight W, the divisors d and f of input and target features (units), and the factors a of target
columns (class weights), all taken as exact numbers::

    N = d^-1 S d^-1 / W + l I,      M = T T^T,      T = d^-1 C f^-1 a / W,

and the directions that are wanted solve ``M w = theta N w``.  Whitened coordinates are those in
which N is the identity.  What a service finds in them rests on a rounded factor R of N and a
rounded solution ``R^-T T``; whether it solves *this* problem is told by the residual ``M w - theta
N w``.  Its terms nearly cancel, so they are computed to twice the working precision
(:mod:`okspca.numerics.accurate`), for the few columns that were delivered.

Powers of two are divided out first, which is exact: those of d and f, of W, and of the largest
entries of S and C.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from okspca.moments.units import Units
from okspca.numerics.accurate import Pair, product
from okspca.numerics.arrays import Floats, unit_scaled
from okspca.numerics.matrix import mirror
from okspca.numerics.scratch import scratch
from okspca.numerics.triangular import solve_rows
from okspca.numerics.whitening import FactorBounds, unwhitened

#: A proven distance of projectors that is close enough: below a millionth of a degree.
FINE = 2e-8
#: Half a unit in the last place.
UNIT = 0.5 * float(np.finfo(np.float64).eps)


class Pencil(NamedTuple):
    """Stored numbers of a whitened moment, and the factor that its coordinates are those of.

    Attributes
    ----------
    squares : ndarray of shape (D, D)
        S, of which the upper triangle counts.
    sums : ndarray of shape (width, D)
        C transposed.
    weight, shift : float
        W and l.
    units : Units
        d and f.
    column_weights : ndarray of shape (width,)
        a, each within two units in the last place.
    factor : ndarray of shape (D, D)
        R, upper triangular.
    bounds : FactorBounds or None
        What is proven about R.

    Examples
    --------
    >>> from okspca.moments import WhitenedMoment
    >>> moment = WhitenedMoment(2, 1, ridge=1.0)
    >>> moment.update(np.eye(2), np.eye(2)[:, :1], np.ones(2))
    >>> scaled = moment.scaled()
    >>> V = scaled.Ct.T / np.linalg.norm(scaled.Ct)
    >>> found = scaled.pencil.residual(V, scaled.Ct @ scaled.Ct.T, scaled.scale)
    >>> bool(np.abs(found.columns).max() < 1e-15)
    True
    """

    squares: Floats
    sums: Floats
    weight: float
    shift: float
    units: Units
    column_weights: Floats
    factor: Floats
    bounds: FactorBounds | None

    @property
    def ways(self) -> tuple["Way", ...]:
        """Ways to compute a residual; there is only one."""
        return ((self.residual, FINE),)

    def residual(self, V: Floats, theta: Floats, scale: float) -> "Residual":
        """Residual of the weights that columns V stand for, in whitened coordinates.

        ``theta`` (q x q) takes the place of the eigenvalues; it and the residual are in units of
        ``scale`` squared.  Only where something is proven about the factor.
        """
        assert self.bounds is not None
        (squares, size), (sums, extent), (d, a) = self._without_powers()
        weight, power = math.frexp(self.weight)
        step = extent - power - _exponent(scale)
        scaled = np.ldexp(unwhitened(self.factor, V) / d, step)
        ridge = math.ldexp(self.shift * weight, power - size)
        images = product(squares, Pair.of(scaled)).plus(Pair.of(scaled).times(ridge * d**2))
        small = theta * weight * 2.0 ** (size - power - 2 * step)
        projected = product(sums, Pair.of(scaled)).times(a * a)
        rest = product(sums.T, projected).minus(images.matmul(small))
        unit = 1.0 / (weight * weight)
        columns = solve_rows(self.factor, (unit * (rest.high + rest.low) / d).T).T
        root = math.sqrt(self.bounds.smallest)
        inexact = 1.0 + self.shift / self.bounds.smallest
        error = math.ldexp(2.0 * unit * rest.error / root, step)
        return Residual(np.ldexp(columns, step), error, 16.0 * UNIT * inexact)

    def _without_powers(
        self,
    ) -> tuple[tuple[Floats, int], tuple[Floats, int], tuple[Floats, Floats]]:
        """S and C without powers of two, with the exponents of these; what is left of d and a/f."""
        D, units = self.squares.shape[0], self.units
        left = np.ones(D) if units.left is None else units.left.divisor
        right = self.column_weights if units.right is None else units.of_right(self.column_weights)
        (d, out), (a, up) = np.frexp(left), np.frexp(right)
        powers = np.ldexp(1.0, -out)
        sums, extent = unit_scaled(self.sums * powers * np.ldexp(1.0, up)[:, np.newaxis])
        # No entry is larger than the largest variance.
        size = math.frexp(float(np.max(self.squares.diagonal() * powers * powers)))[1]
        squares = np.multiply(self.squares, powers[:, np.newaxis], out=scratch("squares", (D, D)))
        squares *= np.ldexp(powers, -size)
        mirror(squares)
        remains = d[:, np.newaxis], a[:, np.newaxis]
        return (squares, size), (sums, _exponent(extent)), remains


class Residual(NamedTuple):
    """What columns leave of the eigenproblem.

    Attributes
    ----------
    columns : ndarray of shape (D, q)
        ``R^-T (M W - N W theta)``, with the rounding of that one solution.
    error : float
        Bound on the norm of all other rounding in ``columns``.
    relative : float
        Bound on the relative error of numbers taken as exact: powers of class shares, squares of
        units, what the ridge adds in units of the smallest eigenvalue.
    """

    columns: Floats
    error: float
    relative: float


#: A way to compute a residual, and the proven distance of projectors that is then close enough.
Way = tuple[Callable[[Floats, Floats, float], Residual], float]


def _exponent(power: float) -> int:
    """Exponent of a power of two."""
    return math.frexp(power)[1] - 1
