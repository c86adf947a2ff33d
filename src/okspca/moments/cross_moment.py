r"""The centred cross-moment between input features phi (D_x) and target features psi (D_y).

With weights ``w_i`` (after forgetting) and total ``W``::

    S = sum_i w_i (phi_i - mu_phi)(psi_i - mu_psi)^T,     C̄ = S / W,     C = S / (W - 1)  (Bessel).

S is kept by the centred recursions of :mod:`okspca.numerics.running`: a rank-one change per row, a
product per block, Chan's formula for a merge.  It equals ``R - mu mu^T`` of raw running moments
algebraically and does not cancel.

Layout: ``sums`` holds S *transposed*, one row per target coordinate, so that a class that appears
late or a new direction of the compression is an appended row of zeros, and every kernel runs along
contiguous memory.

A moment at rounding level *is* zero: ``||C̄||_F <= 64 eps (s_phi d_psi + d_phi s_psi)``, with ``s``
the running root mean square of the feature norms and ``d`` that of the deviations from their means.
(A deviation carries a rounding error of ``eps s``, so this is what rounding alone can make of a
product.)
"""

from typing import Any, ClassVar, Self

import numpy as np

from okspca.errors import MergeError
from okspca.moments.arrays import (
    DROPPED_SQUARE,
    LEFT_SQUARE,
    RIGHT_SQUARE,
    ROWS,
    WEIGHT,
    Change,
    EncodedRows,
    GroupArrays,
    MomentArrays,
    Target,
    add_encoded,
    dropped_norm,
    feature_sizes,
    level_of,
    summary,
)
from okspca.moments.target_compression import TargetCompression
from okspca.moments.units import PLAIN, Units
from okspca.numerics.arrays import Floats, Integers, unit_scaled
from okspca.numerics.leading import target_directions
from okspca.numerics.running import pooled_mean
from okspca.numerics.scratch import scratch


class CrossMoment:
    """Weighted centred cross-moment: update by row or block, merge, forget.

    Parameters
    ----------
    n_left, n_right : int
        Number of input and target features.
    forgetting : float
        Factor applied to everything seen, once per row; 1 forgets nothing.
    labels : bool
        Target features are class indicators (columns may be added later).
    compression : TargetCompression, optional
        Store the moment in the compressed coordinates of the target.

    Examples
    --------
    >>> import numpy as np
    >>> moment = CrossMoment(1, 1)
    >>> x = np.array([[0.0], [1.0], [2.0]])
    >>> moment.update(x, 3.0 * x, np.ones(3))
    >>> moment.matrix().tolist(), moment.bessel().tolist()
    ([[2.0]], [[3.0]])
    """

    copy_parts: ClassVar[tuple[str, ...]] = ("compression",)
    #: Something is decided from the sums, so rows must be added in the same company whatever the
    #: cuts of the stream are.
    folds: ClassVar[bool] = False

    def __init__(
        self,
        n_left: int,
        n_right: int,
        *,
        forgetting: float = 1.0,
        labels: bool = False,
        compression: TargetCompression | None = None,
    ) -> None:
        self.forgetting = forgetting
        self.labels = labels
        self.compression = compression
        #: Set by whoever sees the raw rows: all inputs or all responses so far were alike.
        self.is_constant = False
        #: Set by whoever standardises: units of features that are summed in those of the data.
        self.units: Units = PLAIN
        width = 0 if labels else n_right if compression is None else compression.rank
        self._buffer = np.zeros((max(width, 1), n_left))
        self._width = width
        self._n_right = n_right
        self._left_mean = np.zeros(n_left)
        self._right_mean = np.zeros(width)
        self._totals = np.zeros(5)
        self.renew_views()

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
    def arrays(self) -> MomentArrays:
        """The live arrays, for kernels that change them in place."""
        return self._arrays

    @property
    def is_ordinary(self) -> bool:
        """Whether services may solve the arrays as they are, for a target that is not constant."""
        return not self.is_constant and self.is_shown_as_stored

    @property
    def is_shown_as_stored(self) -> bool:
        """Whether the target is the stored sums, over their weight."""
        return self.units.are_plain

    def matrix(self) -> Floats:
        """C̄ as a dense D_x x D_y matrix (divisor: total weight)."""
        sums = self.units.of_left(self.units.of_right(self._expanded(self.arrays.sums)))
        return np.ascontiguousarray(sums.T) / max(self.weight, np.finfo(np.float64).tiny)

    def bessel(self) -> Floats:
        """C with divisor ``weight - 1``; zero while the weight is at most one."""
        if self.weight <= 1.0:
            return np.zeros_like(self.matrix())
        return self.matrix() * (self.weight / (self.weight - 1.0))

    def means(self) -> tuple[Floats, Floats]:
        """Running means of the input and of the (uncompressed) target features."""
        right = self._expanded(self._right_mean[:, np.newaxis])[:, 0]
        return self.units.of_left(self._left_mean.copy()), self.units.of_right(right)

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
                dropped = np.zeros(Psi.shape[0])
        self.widen(Psi.shape[1])
        return EncodedRows(Phi, np.ascontiguousarray(Psi), weights, dropped)

    def add_direction(self, psi: Floats) -> bool:
        """Make room for what target features hold outside the compression; False if it is full."""
        if self.compression is None or not self.compression.has_room:
            return False
        self.compression.add(psi)
        self.widen(self.compression.rank)
        return True

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

    def update(self, Phi: Floats, Psi: Floats, weights: Floats) -> None:
        """Learn a block of rows by matrix products."""
        self.add(self.encode(Phi, Psi, weights))

    def add(self, rows: EncodedRows) -> None:
        """Learn a block of rows that :meth:`encode` has described."""
        n = rows.Phi.shape[0]
        if n == 1:
            self.add_one(rows)
            return
        faded = rows.weights * self.forgetting ** np.arange(n - 1.0, -1.0, -1.0)
        block_weight = float(faded.sum())
        work = scratch("left deviations", rows.Phi.shape), np.empty(rows.coordinates.shape)
        self._pool(summary(rows, faded / block_weight, block_weight, work), block_weight, n)

    def add_one(self, rows: EncodedRows) -> Change:
        """Learn the one row that :meth:`encode` has described; return how ``sums`` changed."""
        left, right = np.empty(rows.Phi.shape[1]), np.empty(self.width)
        scale = add_encoded(self.arrays, rows, 0, self.forgetting, left, right)
        return Change(left, right, scale)

    def merge(self, other: "CrossMoment") -> None:
        """Pool another moment over the same feature maps into this one."""
        if self.forgetting != other.forgetting or self.labels != other.labels:
            message = "The moments differ in their forgetting factor or kind of target."
            raise MergeError(message)
        if self.forgetting < 1.0 and self.rows != other.rows and self.rows and other.rows:
            message = (
                "Moments that forget can be pooled only at equal clocks: "
                f"{self.rows} and {other.rows} rows were learned."
            )
            raise MergeError(message)
        self._n_right = max(self._n_right, other._n_right)
        # At equal clocks neither side has faded more than the other, and the clock stays.
        self._pool(self._in_my_coordinates(other), other.weight, 0)
        if self.forgetting == 1.0 or self.rows == 0:
            self._totals[ROWS] += other.rows

    def with_columns(self, columns: Integers, n_right: int) -> "CrossMoment":
        """Return a copy whose target coordinate ``j`` is column ``columns[j]`` of ``n_right``."""
        mine = self.arrays
        moved = self._empty(n_right)
        used = columns[: self._width]
        moved.widen(int(used.max(initial=-1)) + 1)
        moved.arrays.sums[used] = mine.sums
        moved.arrays.right_mean[used] = mine.right_mean
        moved.arrays.left_mean[...] = mine.left_mean
        moved.arrays.totals[...] = mine.totals
        return moved

    def basis_of(self, other: Self) -> Floats | None:
        """The other's stored coordinates as rows over those of this moment, which includes it.

        None where both store the same coordinates.
        """
        if other.compression is None:
            return None
        if self.compression is None:
            return other.compression.directions
        return self.compression.include(other.compression)

    def transformed(self, basis: Floats) -> "CrossMoment":
        """Return a plain copy whose target coordinates are ``basis`` times the stored ones."""
        mine = self.arrays
        turned = CrossMoment(mine.sums.shape[1], basis.shape[0], forgetting=self.forgetting)
        turned.arrays.sums[...] = basis @ mine.sums
        turned.arrays.right_mean[...] = basis @ mine.right_mean
        turned.arrays.left_mean[...] = mine.left_mean
        turned.arrays.totals[...] = mine.totals
        return turned

    def concentrate(self) -> Floats | None:
        """Turn compressed target coordinates to the directions of the moment, strongest first.

        C̄ stays the same, but a few coordinates then carry all of it above rounding, which makes
        requests cheap.  Returns the rotation; None where nothing is compressed.
        """
        compression = self.compression
        if compression is None or not 0 < self._width == compression.rank:
            return None
        rotation = target_directions(unit_scaled(self.arrays.sums)[0])
        self.arrays.sums[...] = rotation @ self.arrays.sums
        self.arrays.right_mean[...] = rotation @ self.arrays.right_mean
        compression.turn(rotation)
        return rotation

    def target(self) -> Target:
        """Snapshot of C̄ for services."""
        arrays = self.arrays
        weight = max(self.weight, np.finfo(np.float64).tiny)
        # Scale before dividing by the weight: sums near the largest number must not overflow.
        scaled, factor = unit_scaled(self.units.of_left(self.units.of_right(arrays.sums)))
        Ct, rest = unit_scaled(scaled / weight)
        scale = factor * rest
        is_zero = self.is_constant or bool(np.linalg.norm(Ct) <= self._rounding_level() / scale)
        return Target(Ct, scale, self._dropped_norm() / scale, is_zero, self.labels)

    def feature_weights(self, vectors: Floats) -> Floats:
        """Turn directions that services found into weights of the features: here, the same."""
        return vectors

    def in_target_coordinates(self, groups: GroupArrays) -> GroupArrays:
        """Show sub-moments in the coordinates and units in which services see this moment."""
        if self.units.are_plain:
            return groups
        sums = self.units.of_left(groups.sums)
        return groups._replace(
            sums=np.moveaxis(self.units.of_right(np.moveaxis(sums, 1, 0)), 0, 1),
            left_means=self.units.of_left(groups.left_means),
            right_means=self.units.of_right(groups.right_means.T).T,
        )

    def block_like(self) -> "CrossMoment":
        """Make an empty moment for some of the rows of this one, in its stored coordinates."""
        return CrossMoment(self._left_mean.shape[0], self._width)

    def adopt(self, other: "CrossMoment") -> None:
        """Take over what another moment in these stored coordinates holds; the clock goes on."""
        theirs, mine, rows = other.arrays, self.arrays, self._totals[ROWS]
        width = other.width
        mine.sums[...], mine.right_mean[...] = 0.0, 0.0
        mine.sums[:width], mine.right_mean[:width] = theirs.sums, theirs.right_mean
        mine.left_mean[...], mine.totals[...] = theirs.left_mean, theirs.totals
        mine.totals[ROWS] = rows

    def shift_means(self, left: Floats, right: Floats) -> None:
        """Measure linear features from another origin; deviations from the means stay."""
        self.arrays.left_mean[...] += left
        self.arrays.right_mean[...] += right[: self._width]

    def _dropped_norm(self) -> float:
        """Bound on the norm of what compression left out, in the units in which C̄ is shown."""
        smallest = 1.0 if self.units.left is None else float(self.units.left.divisor.min())
        return float(dropped_norm(self.arrays)) / smallest

    def _rounding_level(self) -> float:
        """Largest norm of C̄ that rounding alone explains, in the units in which it is shown."""
        sizes, units = feature_sizes(self.arrays), self.units
        left = sizes[:2] if units.left is None else (units.left.square, units.left.spread)
        right = sizes[2:] if units.right is None else (units.right.square, units.right.spread)
        return level_of((*left, *right))

    def _empty(self, n_right: int) -> Self:
        """Make an empty moment of the same kind."""
        n_left = self._left_mean.shape[0]
        return type(self)(n_left, n_right, forgetting=self.forgetting, labels=self.labels)

    def _pool(self, theirs: MomentArrays, their_weight: float, decay_rows: int) -> None:
        """Chan's formula, after this moment has faded by ``decay_rows`` rows."""
        mine = self.arrays
        fade = self.forgetting**decay_rows
        my_weight = fade * self.weight
        total = my_weight + their_weight
        if total <= 0.0:
            return
        share = their_weight / total
        left = theirs.left_mean - mine.left_mean
        right = theirs.right_mean - mine.right_mean
        mine.sums[...] = fade * mine.sums + theirs.sums + np.outer(my_weight * share * right, left)
        mine.left_mean[...] = pooled_mean(mine.left_mean, theirs.left_mean, share)
        mine.right_mean[...] = pooled_mean(mine.right_mean, theirs.right_mean, share)
        squares = slice(LEFT_SQUARE, None)
        mine.totals[squares] = pooled_mean(mine.totals[squares], theirs.totals[squares], share)
        mine.totals[WEIGHT] = total
        mine.totals[ROWS] += decay_rows

    def _in_my_coordinates(self, other: "CrossMoment") -> MomentArrays:
        """The other's arrays, expressed in this moment's target coordinates."""
        theirs = other.arrays
        if self.compression is not None and other.compression is not None:
            basis = self.compression.include(other.compression)
            if self.compression.is_worthwhile:
                self.widen(self.compression.rank)
                return MomentArrays(
                    basis.T @ theirs.sums,
                    theirs.left_mean,
                    basis.T @ theirs.right_mean,
                    other._totals_after_translation(),
                )
        self._decompress()
        sums = other._expanded(theirs.sums)
        right_mean = other._expanded(theirs.right_mean[:, np.newaxis])[:, 0]
        self.widen(sums.shape[0])
        missing = self._width - sums.shape[0]
        return theirs._replace(
            sums=np.pad(sums, ((0, missing), (0, 0))), right_mean=np.pad(right_mean, (0, missing))
        )

    def _totals_after_translation(self) -> Floats:
        """Totals whose dropped part also covers a change to another compression's coordinates."""
        totals = self._totals.copy()
        if self.compression is not None:
            # Every direction may lose ``tolerance``, and (a + b)^2 <= 2 a^2 + 2 b^2.
            lost = self.compression.rank * self.compression.tolerance**2 * totals[RIGHT_SQUARE]
            totals[DROPPED_SQUARE] = 2.0 * (totals[DROPPED_SQUARE] + lost)
        return totals

    def _expanded(self, rows: Floats) -> Floats:
        """Turn rows over stored coordinates into rows over all target features."""
        if self.compression is None:
            return np.pad(rows, ((0, self._n_right - rows.shape[0]), (0, 0)))
        # The basis may already hold directions that no row has used yet.
        return self.compression.directions[: rows.shape[0]].T @ rows

    def _decompress(self) -> None:
        """Store the moment over all target features from now on."""
        if self.compression is None:
            return
        sums = self._expanded(self.arrays.sums)
        self._right_mean = self._expanded(self._right_mean[:, np.newaxis])[:, 0]
        self._buffer, self._width, self.compression = sums, sums.shape[0], None
        self.renew_views()

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
