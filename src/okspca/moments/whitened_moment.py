r"""The cross-moment in coordinates in which the input features have unit covariance.

Beside C̄ the input covariance S_phi (divisor: weight) is kept, and services are shown::

    (S_phi + l I)^-1/2 C̄ D,        W = (S_phi + l I)^-1/2 U,

whose leading left directions U give the weights W that embeddings use.  As l grows they become the
leading directions of C̄ itself; as l vanishes, those of canonical correlation and reduced-rank
regression.  Answers and certificates live in the whitened coordinates, which are those of the
triangular factor (:mod:`okspca.numerics.whitening`).

The ridge is in units of the mean variance of the features; it is fixed, or chosen along the stream
(:mod:`okspca.moments.ridge_choice`).  What it adds to the sums, ``W l``, stays the same for many
rows, so that a row changes them by rank one: the unit is taken from a grid of four steps a doubling
or, where the past fades, taken at certain row numbers and left to fade with the sums
(:attr:`WhitenedMoment.held`).

D weighs classes.  A column of C̄ is p_c times the distance of a class mean from the mean, so without
weights a class counts p_c^2 (``"squared"``, as in the paper); ``"proportional"`` divides it by
sqrt(p_c), the ordinary scatter between classes, and ``"balanced"`` by p_c: all classes alike.
"""

from importlib import import_module
from typing import ClassVar, Self

import numpy as np

from okspca.errors import MergeError
from okspca.moments.arrays import Change, EncodedRows, GroupArrays
from okspca.moments.block_sums import BlockSums
from okspca.moments.input_covariance import InputCovariance, Past
from okspca.moments.judging_moment import CALIBRATION, JudgingMoment
from okspca.moments.pencil import Pencil
from okspca.moments.recursions import add_block, add_single, add_summary, faded_weights, turned
from okspca.moments.ridge_choice import RidgeChoice
from okspca.moments.scaled_moment import ScaledMoment, groups_in_units
from okspca.moments.target_compression import TargetCompression
from okspca.numerics.arrays import Floats, Integers, copied, unit_scaled
from okspca.numerics.matrix import product
from okspca.numerics.whitening import (
    FactorBounds,
    factor_bounds,
    factored,
    mean_variance,
    reduced_coefficients,
    steady,
    unwhitened,
    whitened_rows,
    with_shift,
)

#: Power of p_c that the column of a class is divided by.
CLASS_WEIGHTING = {"squared": 0.0, "proportional": 0.5, "balanced": 1.0}


class WhitenedMoment(JudgingMoment):
    """A cross-moment with the covariance of its inputs.

    Parameters
    ----------
    n_left, n_right : int
        Number of input and target features.
    ridge : float or None
        Ridge in units of the mean variance; None chooses it along the stream.
    class_weighting : {"squared", "proportional", "balanced"}
        What a class counts.
    n_directions : int
        Number of leading directions that the choice of a ridge and the calibration are about, at
        most; of classes, one less than have come.
    calibrated : bool
        For labels: keep what tells how sure posteriors may be.
    forgetting, labels, compression
        As for :class:`CrossMoment`.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.RandomState(0).normal(size=(200, 2)) * [1.0, 9.0]
    >>> moment = WhitenedMoment(2, 1, ridge=1e-8)
    >>> moment.update(X, X @ [[1.0], [1.0]], np.ones(200))
    >>> scaled = moment.scaled()
    >>> W = moment.feature_weights(scaled.Ct.T / np.linalg.norm(scaled.Ct))
    >>> round(float(W[0, 0] / W[1, 0]), 6)
    1.0
    """

    copy_parts: ClassVar[tuple[str, ...]] = (
        *("compression", "covariance", "choice", "calibration"),
    )
    folds: ClassVar[bool] = True

    def __init__(
        self,
        n_left: int,
        n_right: int,
        *,
        ridge: float | None = None,
        class_weighting: str = "squared",
        n_directions: int = 1,
        calibrated: bool = False,
        forgetting: float = 1.0,
        labels: bool = False,
        compression: TargetCompression | None = None,
    ) -> None:
        super().__init__(
            n_left, n_right, forgetting=forgetting, labels=labels, compression=compression
        )
        self.ridge = ridge
        #: Whether the unit of the ridge is on a grid; with files of earlier versions it is not.
        self.is_steady = True
        #: Set in copies for answers: what the ridge adds to the sums, where the past fades.
        self.held: float | None = None
        #: Set in copies for answers: rows after a rebuild decide nothing; what was known there.
        self.is_ahead = False
        self.held_inflation: float | None = None
        self.class_weighting = class_weighting
        self.n_directions = n_directions
        self.covariance = InputCovariance(n_left)
        self.choice = RidgeChoice(n_left) if ridge is None else None
        self.calibration = import_module(CALIBRATION).Calibration(n_left) if calibrated else None

    @property
    def is_shown_as_stored(self) -> bool:
        """Never: services see it in whitened coordinates."""
        return False

    @property
    def ridge_in_use(self) -> float:
        """The ridge, in units of the mean variance of the features."""
        return self.choice.value if self.choice is not None else self.ridge or 0.0

    def shift(self, upper: Floats) -> float:
        """What the ridge adds to the diagonal of the covariance, which is ``upper``."""
        if self.held is not None:
            return self.held / self.weight
        unit = mean_variance(upper)
        # Of the sums, which do not change their scale with every row as their mean does.
        return self.ridge_in_use * (self._of_sums(unit) if self.is_steady else unit)

    def go_ahead(self, n_rows: int) -> None:
        """From here, the last rebuild, learn so many rows for answers only: they decide nothing."""
        self.is_ahead = True
        if self.calibration is not None:
            self.held_inflation = self.inflation()
        if self.forgetting < 1.0:
            added = self.shift(self.variances()) * self.weight
            self.held = added * self.forgetting**n_rows

    def add(self, rows: EncodedRows, sums: BlockSums | None = None) -> None:
        """Learn a block of rows, cut where a round begins or ends; its sums may be known."""
        start, n = 0, rows.Phi.shape[0]
        if self.is_ahead:
            self._add_piece(rows)
            return
        while start < n:
            stop = n
            if self.choice is not None:
                stop = min(stop, start + self.choice.next_stop(self.rows) - self.rows)
            if self.calibration is not None:
                stop = min(stop, start + self.calibration.next_stop(self.rows) - self.rows)
            # A piece ends where predictors change: its rows are scored by one set of them.
            piece = EncodedRows(*(part[start:stop] for part in rows))
            self._add_piece(piece, sums if stop - start == n else None)
            start = stop

    def add_one(self, rows: EncodedRows) -> Change:
        """Learn one row; return how ``sums`` changed."""
        self._score(rows)
        change = add_single(self.arrays, rows, self.forgetting)
        self.covariance.add_one(change.left, change.scale, self.forgetting)
        self._begin_round()
        return change

    def merge(self, other: Self) -> None:
        """Merge another moment of the same kind into this one."""
        same = isinstance(other, WhitenedMoment) and (self.ridge, self.class_weighting) == (
            other.ridge,
            other.class_weighting,
        )
        if not same:
            message = "The models differ in their objective, ridge or class weighting."
            raise MergeError(message)
        # Before the sums change: pooling covariances needs the old mean.
        past = self._past(0)
        self._merge_sums(other)
        self.covariance.merge(other.covariance, past, other.arrays.left_mean, other.weight)
        if self.choice is not None and other.choice is not None:
            self.choice.errors = self.choice.errors + other.choice.errors
        if self.calibration is not None and other.calibration is not None:
            self.calibration.merge(other.calibration)

    def with_columns(self, columns: Integers, n_right: int) -> Self:
        """Return a copy whose target coordinate ``j`` is column ``columns[j]`` of ``n_right``."""
        moved = type(self)(
            self.n_left,
            n_right,
            ridge=self.ridge,
            class_weighting=self.class_weighting,
            n_directions=self.n_directions,
            forgetting=self.forgetting,
            labels=self.labels,
        )
        moved.is_steady = self.is_steady
        moved.fill_columns(self.arrays, columns)
        moved.covariance = copied(self.covariance)
        if self.choice is not None:
            moved.choice = copied(self.choice)
            # Its regressions predict coordinates that have other places now.
            moved.choice.drop_round()
        if self.calibration is not None:
            moved.calibration = self.calibration.with_columns(columns)
        return moved

    def transformed(self, basis: Floats) -> Self:
        """Return a copy whose target coordinates are ``basis`` times the stored ones."""
        made = self._block(basis.shape[0])
        made.fill(turned(self.arrays, basis))
        made.covariance = copied(self.covariance)
        return made

    def concentrate(self) -> Floats | None:
        """Leave the coordinates: the choice of a ridge refers to them, and requests cost more."""
        return None

    def block_like(self) -> Self:
        """Make an empty moment for some of the rows of this one, in its stored coordinates."""
        return self._block(self.width)

    def adopt(self, other: Self) -> None:
        """Take over what another moment in these stored coordinates holds; the clock goes on."""
        self._adopt_sums(other.arrays)
        self.covariance = copied(other.covariance)

    def drop_coordinates(self) -> None:
        """End the round of the choice of a ridge, which is about these coordinates."""
        if self.choice is not None:
            self.choice.drop_round()

    def scaled(self) -> ScaledMoment:
        """Snapshot of the whitened moment for services."""
        plain, weights = self._plain_scaled(), self.column_weights()
        shifted = self._shifted()
        factor = factored(shifted)
        pencil = self._pencil(factor, factor_bounds(shifted, factor))
        rows = whitened_rows(factor, plain.Ct * weights[:, np.newaxis])
        Ct, scale = unit_scaled(rows)
        scale *= plain.scale
        dropped = self._dropped(plain, pencil.bounds) / scale
        # Columns that are weighted no longer sum to zero.
        labels = plain.labels and self.class_weighting == "squared"
        return ScaledMoment(Ct, scale, dropped, plain.is_zero, labels, pencil)

    def feature_weights(self, vectors: Floats) -> Floats:
        """Turn directions of whitened coordinates into weights of the features."""
        return unwhitened(self.factor(), vectors)

    def in_target_coordinates(self, groups: GroupArrays) -> GroupArrays:
        """Show sub-moments in the coordinates in which this moment is shown."""
        factor, weights = self.factor(), self.column_weights()
        groups = groups_in_units(groups, self.units)
        n, width, D = groups.sums.shape
        sums = groups.sums * weights[:width, np.newaxis]
        return groups._replace(
            sums=whitened_rows(factor, sums.reshape(-1, D)).reshape(n, width, D),
            left_means=whitened_rows(factor, groups.left_means),
            right_means=groups.right_means * weights[:width],
        )

    def unpredicted(self, rows: EncodedRows) -> tuple[float, float]:
        """Sums of squares over rows that are not learned yet: what is not predicted, and all.

        Targets are predicted by regression on the leading directions.  A class that no row has had
        is not predicted at all.
        """
        known = self.arrays.right_mean.size
        actual = rows.coordinates.copy()
        actual[:, :known] -= self.arrays.right_mean
        actual = self.units.of_right(np.ascontiguousarray(actual.T))
        squares = float((rows.weights * (actual**2).sum(axis=0)).sum())
        plain = self._plain_scaled()
        if not plain.is_zero:
            Ct = self.units.of_left(self.units.of_right(self.arrays.sums / self.weight))
            ahead = self.units.of_left(rows.Phi - self.arrays.left_mean)
            B = reduced_coefficients(self.variances(), Ct, self.ridge_in_use, self.n_directions)
            actual[:known] -= product(B, ahead.T)
        return float((rows.weights * (actual**2).sum(axis=0)).sum()), squares

    def input_covariance(self) -> Floats:
        """Covariance of the input features (divisor: weight), symmetric."""
        upper = np.triu(self.variances())
        return upper + np.triu(upper, 1).T

    def images(self, W: Floats) -> Floats:
        """Covariance of the input features times columns."""
        return product(self.input_covariance(), W)

    def _add_piece(self, rows: EncodedRows, sums: BlockSums | None = None) -> None:
        """Learn rows among which no round begins or ends."""
        if len(rows.Phi) == 1:
            self.add_one(rows)
            return
        self._score(rows)
        past = self._past(len(rows.Phi))
        if sums is None:
            add_block(self.arrays, rows, self.forgetting)
            self.covariance.add(rows.Phi, faded_weights(rows, self.forgetting), past)
        else:
            add_summary(self.arrays, sums.moment, self.forgetting)
            self.covariance.add_squares(sums.squares, past)
        self._begin_round()

    def _past(self, n: int) -> Past:
        """What is known before a change that fades it by ``n`` rows."""
        fade = self.forgetting**n
        return Past(self.arrays.left_mean.copy(), fade * self.weight, fade)

    def _score(self, rows: EncodedRows) -> None:
        """Let what is on trial predict rows that are not learned yet."""
        if self.is_ahead:
            return
        if self.choice is not None and self.choice.is_scoring(self.rows):
            self.choice.score(rows)
        if self.calibration is not None:
            self.calibration.score(rows, self.forgetting, self.rows)

    def _begin_round(self) -> None:
        """Begin a round of the choice of a ridge, or of scores, if one is due."""
        if self.is_ahead:
            return
        if self.choice is not None and self.choice.begins(self.rows):
            self.choice.begin(self.arrays, self.covariance.sums, self.units, self.n_used)
        if self.calibration is not None and self.calibration.begins(self.rows):
            self.freeze_discriminants(self.calibration)

    def _dropped(self, plain: ScaledMoment, bounds: FactorBounds | None) -> float:
        """Bound on the norm of what compression left out, in whitened coordinates.

        Whitening stretches it by one over the root of the smallest eigenvalue at most.
        """
        if plain.dropped == 0.0:
            return 0.0
        smallest = 0.0 if bounds is None else bounds.smallest
        weights = self.column_weights().max(initial=1.0)
        stretch = weights / np.sqrt(smallest) if smallest else np.inf
        return float(plain.scale * plain.dropped * stretch)

    def factor(self) -> Floats:
        """Triangular factor of the covariance with its ridge."""
        return factored(self._shifted())

    def _shifted(self) -> Floats:
        """The covariance with its ridge."""
        upper = self.variances()
        return with_shift(upper, self.shift(upper))

    def _of_sums(self, unit: float) -> float:
        """A unit on the grid of what it is in sums."""
        sums = unit * self.weight
        return steady(sums) / self.weight if 0.0 < sums < np.inf else unit

    def variances(self) -> Floats:
        """Covariance of the input features, of which only the upper triangle counts."""
        return self.units.of_square(self.covariance.mean_square(self.weight))

    def _pencil(self, factor: Floats, bounds: FactorBounds | None) -> Pencil:
        """The eigenproblem of the stored numbers, as they are now."""
        return Pencil(
            self.covariance.sums.copy(),
            self.arrays.sums.copy(),
            self.weight,
            self.shift(self.variances()),
            self.units,
            self.column_weights(),
            factor,
            bounds,
        )

    def column_weights(self) -> Floats:
        """What the stored target coordinates are multiplied by."""
        power = CLASS_WEIGHTING[self.class_weighting] if self.labels else 0.0
        shares = self.arrays.right_mean
        if power == 0.0:
            return np.ones(self.width)
        # A class that no row has had has a column of zeros, whatever it counts.
        return np.where(shares > 0.0, np.maximum(shares, 1e-300) ** -power, 0.0)

    def _block(self, width: int) -> Self:
        """Make an empty moment that is only ever merged, so it needs no choice of a ridge."""
        return type(self)(self.n_left, width, ridge=1.0)
