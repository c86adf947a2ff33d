r"""The contract of a moment: what pipelines, services and files ask of it.

With weights ``w_i`` (after forgetting) and total ``W``, input features phi (D_x) and target
features psi (D_y)::

    S = sum_i w_i (phi_i - mu_phi)(psi_i - mu_psi)^T,     C̄ = S / W,     C = S / (W - 1)  (Bessel).

S is kept by the centred recursions of :mod:`okspca.moments.recursions`.  It equals ``R - mu mu^T``
of raw running moments algebraically and does not cancel.

Every moment keeps S.  Kinds differ in what they keep beside it and in what they show services:
:class:`okspca.moments.CrossMoment` shows C̄, :class:`okspca.moments.WhitenedMoment` shows it in
coordinates in which the inputs have unit covariance.
"""

from abc import abstractmethod
from typing import ClassVar, Self

import numpy as np

from okspca.errors import MergeError
from okspca.moments.arrays import (
    LEFT_SQUARE,
    RIGHT_SQUARE,
    ROWS,
    Change,
    EncodedRows,
    GroupArrays,
    MomentArrays,
)
from okspca.moments.recursions import pool
from okspca.moments.scaled_moment import ScaledMoment, scaled_of
from okspca.moments.stored_sums import StoredSums
from okspca.moments.target_compression import TargetCompression
from okspca.moments.units import PLAIN, Units
from okspca.numerics.arrays import Floats, Integers


class Moment(StoredSums):
    """A statistic of pairs of features: it learns rows, is merged, and is shown to services.

    Services use :meth:`scaled`, :attr:`is_ordinary`, :attr:`is_shown_as_stored`, ``arrays``,
    ``width`` and ``forgetting``; the rest is for those who accumulate.

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
    >>> from okspca.moments import CrossMoment, WhitenedMoment
    >>> issubclass(CrossMoment, Moment), issubclass(WhitenedMoment, Moment)
    (True, True)
    """

    #: Something is decided from the sums, so rows must be added in the same company whatever the
    #: cuts of the stream are.
    folds: ClassVar[bool]

    def __init__(
        self,
        n_left: int,
        n_right: int,
        *,
        forgetting: float = 1.0,
        labels: bool = False,
        compression: TargetCompression | None = None,
    ) -> None:
        super().__init__(n_left, n_right, labels=labels, compression=compression)
        self.forgetting = forgetting
        #: Set by whoever sees the raw rows: all inputs or all responses so far were alike.
        self.is_constant = False
        #: Set by whoever standardises: units of features that are summed in those of the data.
        self.units: Units = PLAIN

    @property
    @abstractmethod
    def is_shown_as_stored(self) -> bool:
        """Whether the target is the stored sums, over their weight."""

    @abstractmethod
    def scaled(self) -> ScaledMoment:
        """Snapshot for services."""

    @abstractmethod
    def feature_weights(self, vectors: Floats) -> Floats:
        """Turn directions that services found into weights of the features."""

    @abstractmethod
    def in_target_coordinates(self, groups: GroupArrays) -> GroupArrays:
        """Show sub-moments in the coordinates and units in which services see this moment."""

    @abstractmethod
    def add(self, rows: EncodedRows) -> None:
        """Learn a block of rows that :meth:`encode` has described."""

    @abstractmethod
    def add_one(self, rows: EncodedRows) -> Change:
        """Learn the one row that :meth:`encode` has described; return how ``sums`` changed."""

    @abstractmethod
    def merge(self, other: Self) -> None:
        """Merge another moment over the same feature maps into this one."""

    @abstractmethod
    def with_columns(self, columns: Integers, n_right: int) -> Self:
        """Return a copy whose target coordinate ``j`` is column ``columns[j]`` of ``n_right``."""

    @abstractmethod
    def transformed(self, basis: Floats) -> Self:
        """Return a copy whose target coordinates are ``basis`` times the stored ones."""

    @abstractmethod
    def concentrate(self) -> Floats | None:
        """Turn compressed target coordinates to the directions of the moment, strongest first.

        C̄ stays the same, but a few coordinates then carry all of it above rounding, which makes
        requests cheap.  Returns the rotation; None where nothing is turned.
        """

    @abstractmethod
    def block_like(self) -> Self:
        """Make an empty moment for some of the rows of this one, in its stored coordinates."""

    @abstractmethod
    def adopt(self, other: Self) -> None:
        """Take over what another moment in these stored coordinates holds; the clock goes on."""

    @property
    def is_ordinary(self) -> bool:
        """Whether services may solve the arrays as they are, for a target that is not constant."""
        return not self.is_constant and self.is_shown_as_stored

    def matrix(self) -> Floats:
        """C̄ as a dense D_x x D_y matrix (divisor: total weight)."""
        sums = self.units.of_left(self.units.of_right(self.expanded(self.arrays.sums)))
        return np.ascontiguousarray(sums.T) / max(self.weight, np.finfo(np.float64).tiny)

    def stored_rows(self) -> Floats:
        """C̄ transposed over the target coordinates that are stored, in its units."""
        sums = self.units.of_left(self.units.of_right(self.arrays.sums))
        return sums / max(self.weight, np.finfo(np.float64).tiny)

    def bessel(self) -> Floats:
        """C with divisor ``weight - 1``; zero while the weight is at most one."""
        if self.weight <= 1.0:
            return np.zeros_like(self.matrix())
        return self.matrix() * (self.weight / (self.weight - 1.0))

    def means(self) -> tuple[Floats, Floats]:
        """Running means of the input and of the (uncompressed) target features."""
        right = self.arrays.right_mean[:, np.newaxis]
        return self.left_mean(), self.units.of_right(self.expanded(right)[:, 0])

    def left_mean(self) -> Floats:
        """Running mean of the input features."""
        return self.units.of_left(self.arrays.left_mean.copy())

    def update(self, Phi: Floats, Psi: Floats, weights: Floats) -> None:
        """Learn a block of rows by matrix products."""
        self.add(self.encode(Phi, Psi, weights))

    def shift_means(self, left: Floats, right: Floats) -> None:
        """Measure linear features from another origin; deviations from the means stay."""
        totals = self.arrays.totals
        for place, mean, shift in (
            (LEFT_SQUARE, self.arrays.left_mean, left),
            (RIGHT_SQUARE, self.arrays.right_mean, right[: self.width]),
        ):
            # E |f + s|^2 = E |f|^2 + (2 E f + s) s: mean squares are of the features themselves.
            totals[place] += float(((2.0 * mean + shift) * shift).sum())
            mean += shift

    def _plain_scaled(self) -> ScaledMoment:
        """C̄ as it is kept, in its units."""
        return scaled_of(self.arrays, self.units, labels=self.labels, is_constant=self.is_constant)

    def _merge_sums(self, other: Self) -> None:
        """Merge what every moment keeps."""
        if self.forgetting != other.forgetting or self.labels != other.labels:
            message = "The moments differ in their forgetting factor or kind of target."
            raise MergeError(message)
        if self.forgetting < 1.0 and self.rows != other.rows and self.rows and other.rows:
            message = (
                "Moments that forget can be merged only at equal clocks: "
                f"{self.rows} and {other.rows} rows were learned."
            )
            raise MergeError(message)
        # They may widen this moment, and so replace its arrays: first theirs, then ours.
        theirs = self._in_my_coordinates(other)
        # At equal clocks neither side has faded more than the other, and the clock stays.
        pool(self.arrays, theirs)
        if self.forgetting == 1.0 or self.rows == 0:
            self.arrays.totals[ROWS] += other.rows

    def _adopt_sums(self, theirs: MomentArrays) -> None:
        """Take over the sums of another moment, as many coordinates as it has."""
        rows = self.rows
        self.arrays.sums[...], self.arrays.right_mean[...] = 0.0, 0.0
        self.fill(theirs)
        # Row numbers decide what is due, so they go on counting.
        self.arrays.totals[ROWS] = rows
