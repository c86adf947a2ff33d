r"""How the sums of a moment are stored, and in which coordinates of the target.

Layout: ``sums`` holds S *transposed*, one row per target coordinate, so that a class that appears
late or a new direction of the compression is an appended row of zeros, and every kernel runs along
contiguous memory.  The rows are the first of a ``buffer`` that has room for more.

Coordinates are the target features themselves, or those of a compression
(:mod:`okspca.moments.target_compression`) for as long as it is worthwhile.
"""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

import numpy as np

from okspca.moments.arrays import (
    DROPPED_SQUARE,
    RIGHT_SQUARE,
    ROWS,
    WEIGHT,
    EncodedRows,
    MomentArrays,
)
from okspca.moments.target_compression import TargetCompression
from okspca.numerics.arrays import Floats, Integers
from okspca.numerics.matrix import product


class StoredSums(ABC):
    """Centred sums with room to grow, over target features as they are or compressed.

    Parameters
    ----------
    n_left, n_right : int
        Number of input and target features.
    labels : bool
        Target features are class indicators (columns may be added later).
    compression : TargetCompression, optional
        Store the sums in the compressed coordinates of the target.

    Examples
    --------
    >>> from okspca.moments import CrossMoment
    >>> stored = CrossMoment(3, 0, labels=True)
    >>> stored.widen(2)
    >>> stored.arrays.sums.shape, stored.n_right
    ((2, 3), 2)
    """

    copy_parts: ClassVar[tuple[str, ...]] = ("compression",)

    def __init__(
        self,
        n_left: int,
        n_right: int,
        *,
        labels: bool,
        compression: TargetCompression | None,
    ) -> None:
        self.labels = labels
        self.compression = compression
        width = 0 if labels else n_right if compression is None else compression.rank
        self._buffer = np.zeros((max(width, 1), n_left))
        self._width = width
        self._n_right = n_right
        self._left_mean = np.zeros(n_left)
        self._right_mean = np.zeros(width)
        self._totals = np.zeros(5)
        self.renew_views()

    @abstractmethod
    def drop_coordinates(self) -> None:
        """Give up what refers to compressed coordinates, which are about to be replaced."""

    @property
    def weight(self) -> float:
        """Total weight, after forgetting."""
        return float(self._totals[WEIGHT])

    @property
    def rows(self) -> int:
        """Number of rows learned."""
        return int(self._totals[ROWS])

    @property
    def width(self) -> int:
        """Number of target coordinates that are stored."""
        return self._width

    @property
    def n_left(self) -> int:
        """Number of input features."""
        return int(self._left_mean.shape[0])

    @property
    def n_right(self) -> int:
        """Number of target features known so far."""
        return self._n_right

    @property
    def arrays(self) -> MomentArrays:
        """The live arrays, for kernels that change them in place."""
        return self._arrays

    @property
    def buffer(self) -> Floats:
        """The rows of ``sums``, and those that wait for coordinates not met yet."""
        return self._buffer

    def restore(self, buffer: Floats, n_right: int, arrays: MomentArrays) -> None:
        """Go on with arrays that were saved: ``arrays.sums`` are the first rows of ``buffer``."""
        self._buffer, self._width, self._n_right = buffer, arrays.sums.shape[0], n_right
        _, self._left_mean, self._right_mean, self._totals = arrays
        self.renew_views()

    def encode(self, Phi: Floats, Psi: Floats, weights: Floats) -> EncodedRows:
        """Describe target features in stored coordinates.

        Makes room for what is new: late classes, new directions of the compression.
        """
        Phi, Psi = np.ascontiguousarray(Phi), np.ascontiguousarray(Psi)
        dropped = np.zeros(Psi.shape[0])
        self._n_right = max(self._n_right, Psi.shape[1])
        if self.labels:
            # A class that no row has had yet takes no part: the future must not touch the past.
            used = np.flatnonzero(Psi.any(axis=0))
            Psi = Psi[:, : max(self._width, int(used[-1]) + 1)]
        if self.compression is not None:
            coordinates, dropped = self.compression.encode(Psi)
            if self.compression.is_worthwhile:
                Psi = coordinates
            else:
                self._decompress()
                # From here on features are stored as they are, and nothing of these rows is left
                # out.
                dropped = np.zeros(Psi.shape[0])
        self.widen(Psi.shape[1])
        return EncodedRows(Phi, np.ascontiguousarray(Psi), weights, dropped)

    def encode_along(
        self, Phi: Floats, polynomials: tuple[Floats, Floats], weights: Floats
    ) -> EncodedRows | None:
        """Do as :meth:`encode` for target features given as polynomials and coefficients.

        None where these rows must be encoded one by one.
        """
        encoded = None
        if self.compression is not None:
            encoded = self.compression.encode_along(*polynomials)
        if encoded is None:
            return None
        self._n_right = max(self._n_right, polynomials[1].shape[1])
        self.widen(encoded[0].shape[1])
        return EncodedRows(Phi, encoded[0], weights, encoded[1])

    def indicator(self, column: int, n_right: int) -> Floats:
        """Coordinates of a label, of so many that are known; makes room for a late class."""
        self._n_right = max(self._n_right, n_right)
        self.widen(column + 1)
        coordinates = np.zeros(self._width)
        coordinates[column] = 1.0
        return coordinates

    def describe(self, Phi: Floats, Psi: Floats, weights: Floats) -> EncodedRows | None:
        """Do as :meth:`encode` where nothing has to be changed for these rows; else return None."""
        width = self._width
        if self.compression is not None or Psi.shape[1] > self._n_right or Psi[:, width:].any():
            return None
        coordinates = np.ascontiguousarray(Psi[:, :width])
        return EncodedRows(Phi, coordinates, weights, np.zeros(len(Phi)))

    def describe_along(
        self, Phi: Floats, polynomials: tuple[Floats, Floats], weights: Floats
    ) -> EncodedRows | None:
        """Do as :meth:`encode_along` where nothing has to be changed for these rows; else None."""
        encoded = None
        if self.compression is not None and self.compression.rank == self._width:
            encoded = self.compression.describe_along(*polynomials)
        return None if encoded is None else EncodedRows(Phi, encoded[0], weights, encoded[1])

    def add_direction(self, psi: Floats) -> bool:
        """Make room for what target features hold outside the compression; False if it is full."""
        if self.compression is None or not self.compression.has_room:
            return False
        self.compression.add(psi)
        self.widen(self.compression.rank)
        return True

    def widen(self, width: int) -> None:
        """Append zero rows; capacity doubles, so many late classes cost no quadratic copying."""
        if width <= self._width:
            return
        if width > self._buffer.shape[0]:
            grown = np.zeros((max(width, 2 * self._buffer.shape[0]), self._buffer.shape[1]))
            grown[: self._width] = self._buffer[: self._width]
            self._buffer = grown
        self._right_mean = np.concatenate([self._right_mean, np.zeros(width - self._width)])
        self._width = width
        self._n_right = max(self._n_right, width)
        self.renew_views()

    def expanded(self, rows: Floats) -> Floats:
        """Turn rows over stored coordinates into rows over all target features."""
        if self.compression is None:
            found = np.zeros((self._n_right, rows.shape[1]))
            found[: rows.shape[0]] = rows
            return found
        # The basis may already hold directions that no row has used yet.
        return product(self.compression.directions[: rows.shape[0]].T, rows)

    def basis_of(self, other: Self) -> Floats | None:
        """The other's stored coordinates as rows over those of this moment, which includes it.

        None where both store the same coordinates.
        """
        if other.compression is None:
            return None
        if self.compression is None:
            return other.compression.directions
        return self.compression.include(other.compression)

    def fill(self, arrays: MomentArrays) -> None:
        """Hold other arrays, which have at most as many coordinates."""
        self._put(arrays, slice(arrays.sums.shape[0]))

    def fill_columns(self, arrays: MomentArrays, columns: Integers) -> None:
        """Hold other arrays, their coordinate ``j`` as column ``columns[j]``."""
        used = columns[: arrays.sums.shape[0]]
        self.widen(int(used.max(initial=-1)) + 1)
        self._put(arrays, used)

    def __getstate__(self) -> dict[str, Any]:
        """Leave the views out of copies and files: a copied view would no longer be one."""
        return {name: value for name, value in self.__dict__.items() if name != "_arrays"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Make the views anew."""
        self.__dict__.update(state)
        self.renew_views()

    def renew_views(self) -> None:
        """Point the live arrays at what they are views of; whoever replaces those calls this."""
        self._arrays = MomentArrays(
            self._buffer[: self._width], self._left_mean, self._right_mean, self._totals
        )

    def _put(self, arrays: MomentArrays, places: slice | Integers) -> None:
        """Hold other arrays, their coordinates at certain places of these."""
        mine = self._arrays
        mine.sums[places], mine.right_mean[places] = arrays.sums, arrays.right_mean
        mine.left_mean[...], mine.totals[...] = arrays.left_mean, arrays.totals

    def _in_my_coordinates(self, other: Self) -> MomentArrays:
        """The other's arrays, expressed in this moment's target coordinates."""
        theirs = other.arrays
        self._n_right = max(self._n_right, other.n_right)
        if self.compression is not None and other.compression is not None:
            basis = self.compression.include(other.compression)
            if self.compression.is_worthwhile:
                self.widen(self.compression.rank)
                return MomentArrays(
                    product(basis.T, theirs.sums),
                    theirs.left_mean,
                    product(basis.T, theirs.right_mean),
                    _after_translation(theirs.totals, other.compression),
                )
        self._decompress()
        sums = other.expanded(theirs.sums)
        right_mean = other.expanded(theirs.right_mean[:, np.newaxis])[:, 0]
        self.widen(sums.shape[0])
        missing = self._width - sums.shape[0]
        return theirs._replace(
            sums=np.pad(sums, ((0, missing), (0, 0))), right_mean=np.pad(right_mean, (0, missing))
        )

    def _decompress(self) -> None:
        """Store the sums over all target features from now on."""
        if self.compression is None:
            return
        self.drop_coordinates()
        sums = self.expanded(self.arrays.sums)
        self._right_mean = self.expanded(self._right_mean[:, np.newaxis])[:, 0]
        self._buffer, self._width, self.compression = sums, sums.shape[0], None
        self.renew_views()


def _after_translation(totals: Floats, compression: TargetCompression) -> Floats:
    """Totals whose dropped part also covers a change to another compression's coordinates."""
    totals = totals.copy()
    # Every direction may lose ``tolerance``, and (a + b)^2 <= 2 a^2 + 2 b^2.
    lost = compression.rank * compression.tolerance**2 * totals[RIGHT_SQUARE]
    totals[DROPPED_SQUARE] = 2.0 * (totals[DROPPED_SQUARE] + lost)
    return totals
