r"""Lossless compression of target features.

The features psi(y) of a *scalar* response trace a smooth curve.  Although they have D_y
coordinates, the curve lies, to 1e-13, in a few dozen dimensions.  Keep an orthonormal basis Q of
what has been seen and describe a row by its coordinates ``a = Q^T psi``.  Whenever the part of a
row outside Q exceeds the tolerance, that part becomes a new direction; earlier rows had nothing
along it, so their coordinate there is zero.  Left singular vectors and singular values of the
moment are unchanged.

What is dropped is measured: the squared residual of every row is returned, so that a certificate
can add it to its error.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from okspca.numerics.arrays import Floats
from okspca.numerics.compiled import compiled
from okspca.numerics.leading import polished
from okspca.numerics.matrix import apply_into, combine_into, product
from okspca.numerics.orthonormal import orthonormalise_rows
from okspca.numerics.remembered import Remembered
from okspca.numerics.scratch import scratch
from okspca.numerics.sums import column_squares, first_above, inner, row_squares, subtract_from

TOLERANCE = 1e-13


#: What is remembered about sets of rows may take so many bytes.
MOST_BYTES = 2**24


class _Splits(NamedTuple):
    """What certain directions make of sets of rows.

    A set is known by its identity; it is kept with its parts, so that no other can have the same.
    """

    directions: Floats
    parts: Remembered

    @classmethod
    def by(cls, directions: Floats) -> "_Splits":
        """Know nothing yet."""
        return cls(directions, Remembered(MOST_BYTES))


class TargetCompression:
    """A growing orthonormal basis of the target features seen so far.

    Parameters
    ----------
    n_features : int
        Number of target features D_y.
    tolerance : float
        A row whose residual exceeds this multiple of its norm adds a direction.

    Attributes
    ----------
    directions : ndarray of shape (rank, n_features)
        Orthonormal rows.

    Examples
    --------
    >>> import numpy as np
    >>> compression = TargetCompression(3)
    >>> coordinates, dropped = compression.encode(np.array([[3.0, 4.0, 0.0], [6.0, 8.0, 0.0]]))
    >>> coordinates.ravel().tolist(), compression.rank
    ([5.0, 10.0], 1)
    """

    def __init__(self, n_features: int, tolerance: float = TOLERANCE) -> None:
        self.tolerance = tolerance
        self.directions: Floats = np.zeros((0, n_features))
        self._splits = _Splits.by(self.directions)

    @property
    def rank(self) -> int:
        """Number of directions held."""
        return int(self.directions.shape[0])

    @property
    def is_worthwhile(self) -> bool:
        """Compression stops to pay once more than half of the coordinates are needed."""
        return self.rank <= self.directions.shape[1] // 2

    @property
    def has_room(self) -> bool:
        """Whether it is still worthwhile with one direction more."""
        return self.rank < self.directions.shape[1] // 2

    def add(self, psi: Floats) -> None:
        """Add the direction of what one row of features holds outside the present ones."""
        self._append(outside(self.directions, psi))

    def encode(self, Psi: Floats) -> tuple[Floats, Floats]:
        """Return coordinates (n x rank) and squared residuals (n,), adding directions as needed.

        Rows are taken in order, so the directions do not depend on the block size (to rounding).
        It returns early once it is no longer worthwhile; the caller then keeps the features
        themselves.
        """
        coordinates = product(Psi, self.directions.T)
        residual = product(
            coordinates, self.directions, scratch("outside the compression", Psi.shape)
        )
        limit = self.tolerance**2 * subtract_from(Psi, residual)
        start, n = 0, Psi.shape[0]
        while self.is_worthwhile:
            dropped = row_squares(residual)
            start = first_above(dropped, limit, start)
            if start == n:
                return coordinates, dropped
            self._append(residual[start])
            newest = self.directions[-1:]
            # Earlier rows are within the tolerance: what they hold along it stays counted as
            # dropped.
            residual[start:] -= product(residual[start:], newest.T) * newest
            coordinates = np.concatenate([coordinates, product(Psi, newest.T)], axis=1)
        return coordinates, row_squares(residual)

    def encode_along(self, T: Floats, coefficients: Floats) -> tuple[Floats, Floats] | None:
        """Do as :meth:`encode` for the rows of ``T^T coefficients``, without forming them.

        None where nothing has been seen yet, or where it is no longer worthwhile.
        """
        start, n = 0, T.shape[1]
        while self.rank > 0 and self.is_worthwhile:
            coordinates, dropped, start = self._described(T, coefficients, start)
            if start == n:
                return coordinates, dropped
            psi = product(T[:, start], coefficients)
            self._append(psi - product(coordinates[start], self.directions))
        return None

    def describe_along(self, T: Floats, coefficients: Floats) -> tuple[Floats, Floats] | None:
        """Do as :meth:`encode_along` where no direction has to be added; else return None."""
        if self.rank == 0 or not self.is_worthwhile:
            return None
        coordinates, dropped, start = self._described(T, coefficients, 0)
        return (coordinates, dropped) if start == T.shape[1] else None

    def turn(self, rotation: Floats) -> None:
        """Replace the directions by orthonormal combinations of them; the span stays."""
        self.directions = polished(product(rotation, self.directions))

    def include(self, other: "TargetCompression") -> Floats:
        """Extend by the other's directions and return its basis in these coordinates."""
        coordinates, _ = self.encode(other.directions)
        return coordinates

    def __getstate__(self) -> dict[str, Any]:
        """Leave out of copies and files what is only remembered."""
        return {"tolerance": self.tolerance, "directions": self.directions}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Remember nothing yet."""
        self.__dict__.update(state, _splits=_Splits.by(state["directions"]))

    def _described(self, T: Floats, coefficients: Floats, start: int) -> tuple[Floats, Floats, int]:
        """Coordinates, squared residuals, and the first row from ``start`` on that is outside."""
        inside, outside = self._split(coefficients)
        coordinates = product(T.T, inside)
        dropped = column_squares(product(outside, T))
        limit = self.tolerance**2 * (row_squares(coordinates) + dropped)
        return coordinates, dropped, first_above(dropped, limit, start)

    def _split(self, coefficients: Floats) -> tuple[Floats, Floats]:
        """Coordinates of rows, and a triangle with the same inner products as what is left of them.

        Remembered, for the sets that came last, until a direction is added or turned.
        """
        if self._splits.directions is not self.directions:
            self._splits = _Splits.by(self.directions)

        def split() -> tuple[Floats, Floats, Floats]:
            inside = product(coefficients, self.directions.T)
            left = coefficients - product(inside, self.directions)
            return coefficients, inside, _triangle(left)

        _, inside, outside = self._splits.parts.get(id(coefficients), split)
        return inside, outside

    def _append(self, residual: Floats) -> None:
        """Add the direction of one residual."""
        self.directions = extended(self.directions, residual)


def _triangle(rows: Floats) -> Floats:
    """Matrix, no larger than need be, whose columns have the inner products of the rows."""
    if len(rows) > rows.shape[1]:
        return np.ascontiguousarray(rows.T)
    R = np.empty((len(rows), len(rows)))
    orthonormalise_rows(rows, R, np.empty(rows.shape))
    return R


@compiled
def outside(directions: Floats, psi: Floats) -> Floats:
    """What features hold outside orthonormal directions."""
    coordinates, inside = np.empty(directions.shape[0]), np.empty(psi.shape[0])
    apply_into(directions, psi, coordinates)
    combine_into(coordinates, directions, inside)
    return psi - inside


@compiled
def extended(directions: Floats, residual: Floats) -> Floats:
    """Orthonormal rows and, as the last, the direction of a residual, freed of the others twice."""
    rank = directions.shape[0]
    rows = np.empty((rank + 1, directions.shape[1]))
    for i in range(rank):
        for j in range(directions.shape[1]):
            rows[i, j] = directions[i, j]
    direction = rows[rank]
    for j in range(residual.shape[0]):
        direction[j] = residual[j]
    # Once is not enough where the residual was nearly all rounding.
    for _ in range(2):
        _normalise(direction)
        for i in range(rank):
            share = inner(directions[i], direction, 0)
            for j in range(direction.shape[0]):
                direction[j] -= share * directions[i, j]
    _normalise(direction)
    return rows


@compiled
def _normalise(direction: Floats) -> None:
    """Bring a vector to unit length."""
    length = math.sqrt(inner(direction, direction, 0))
    for j in range(direction.shape[0]):
        direction[j] /= length
