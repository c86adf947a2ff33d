r"""The cross-moment in coordinates in which the input features have unit covariance.

Beside C̄ the input covariance S_phi (divisor: weight) is kept, and services are shown::

    (S_phi + l I)^-1/2 C̄ D,        W = (S_phi + l I)^-1/2 U,

whose leading left directions U give the weights W that embeddings use.  As l grows they become the
leading directions of C̄ itself; as l vanishes, those of canonical correlation and reduced-rank
regression.  The ridge l is in units of the mean variance of the features; it is fixed, or chosen
along the stream (:mod:`okspca.moments.ridge_choice`).  Answers and certificates live in the
whitened coordinates, which are those of the triangular factor
(:mod:`okspca.numerics.whitening`).

D weighs classes.  A column of C̄ is p_c times the distance of a class mean from the mean, so without
weights a class counts p_c^2 (``"squared"``, as in the paper); ``"proportional"`` divides it by
sqrt(p_c), the ordinary scatter between classes, and ``"balanced"`` by p_c: all classes alike.
"""

from typing import ClassVar, Self

import numpy as np

from okspca.errors import MergeError
from okspca.moments.arrays import Change, EncodedRows, GroupArrays
from okspca.moments.calibration import Belief, Calibration, rows_that_count
from okspca.moments.class_discriminants import Discriminants, class_discriminants
from okspca.moments.input_covariance import InputCovariance, Past
from okspca.moments.moment import Moment
from okspca.moments.pencil import Pencil
from okspca.moments.recursions import add_block, add_single, faded_weights, turned
from okspca.moments.ridge_choice import RidgeChoice
from okspca.moments.scaled_moment import ScaledMoment, groups_in_units
from okspca.moments.target_compression import TargetCompression
from okspca.numerics.arrays import Floats, Integers, copied, unit_scaled
from okspca.numerics.discriminants import left_out_inflation
from okspca.numerics.matrix import product
from okspca.numerics.thin_svd import thin_svd
from okspca.numerics.whitening import (
    FactorBounds,
    factor_bounds,
    factored,
    reduced_coefficients,
    ridge_factor,
    unwhitened,
    whitened_rows,
    with_ridge,
)

#: Power of p_c that the column of a class is divided by.
CLASS_WEIGHTING = {"squared": 0.0, "proportional": 0.5, "balanced": 1.0}


class WhitenedMoment(Moment):
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
        self.class_weighting = class_weighting
        self.n_directions = n_directions
        self.covariance = InputCovariance(n_left)
        self.choice = RidgeChoice(n_left) if ridge is None else None
        self.calibration = Calibration(n_left) if calibrated else None

    @property
    def is_shown_as_stored(self) -> bool:
        """Never: services see it in whitened coordinates."""
        return False

    @property
    def ridge_in_use(self) -> float:
        """The ridge, in units of the mean variance of the features."""
        return self.choice.value if self.choice is not None else self.ridge or 0.0

    def add(self, rows: EncodedRows) -> None:
        """Learn a block of rows, cut where a round begins or ends."""
        start, n = 0, rows.Phi.shape[0]
        while start < n:
            stop = n
            if self.choice is not None:
                stop = min(stop, start + self.choice.next_stop(self.rows) - self.rows)
            if self.calibration is not None:
                stop = min(stop, start + self.calibration.next_stop(self.rows) - self.rows)
            # A piece ends where predictors change: its rows are scored by one set of them.
            self._add_piece(EncodedRows(*(part[start:stop] for part in rows)))
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
        plain = self._plain_scaled()
        shifted = with_ridge(self._covariance(), self.ridge_in_use)
        factor, weights = factored(shifted), self._column_weights()
        pencil = self._pencil(factor, factor_bounds(shifted, factor))
        rows = whitened_rows(factor, plain.Ct * weights[:, np.newaxis])
        Ct, scale = unit_scaled(rows)
        # Whitening stretches what was left out by one over the root of the smallest eigenvalue at
        # most.
        dropped = 0.0
        if plain.dropped > 0.0:
            smallest = 0.0 if pencil.bounds is None else pencil.bounds.smallest
            stretch = weights.max(initial=1.0) / np.sqrt(smallest) if smallest else np.inf
            dropped = plain.dropped * stretch / scale
        # Columns that are weighted no longer sum to zero.
        labels = plain.labels and self.class_weighting == "squared"
        return ScaledMoment(Ct, plain.scale * scale, dropped, plain.is_zero, labels, pencil)

    def feature_weights(self, vectors: Floats) -> Floats:
        """Turn directions of whitened coordinates into weights of the features."""
        return unwhitened(self._factor(), vectors)

    def in_target_coordinates(self, groups: GroupArrays) -> GroupArrays:
        """Show sub-moments in the coordinates in which this moment is shown."""
        factor, weights = self._factor(), self._column_weights()
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
            B = reduced_coefficients(self._covariance(), Ct, self.ridge_in_use, self.n_directions)
            actual[:known] -= product(B, ahead.T)
        return float((rows.weights * (actual**2).sum(axis=0)).sum()), squares

    def input_covariance(self) -> Floats:
        """Covariance of the input features (divisor: weight), symmetric."""
        upper = np.triu(self._covariance())
        return upper + np.triu(upper, 1).T

    def _add_piece(self, rows: EncodedRows) -> None:
        """Learn rows among which no round begins or ends."""
        n = rows.Phi.shape[0]
        if n == 1:
            self.add_one(rows)
            return
        self._score(rows)
        past = self._past(n)
        add_block(self.arrays, rows, self.forgetting)
        self.covariance.add(rows.Phi, faded_weights(rows, self.forgetting), past)
        self._begin_round()

    def _past(self, n: int) -> Past:
        """What is known before a change that fades it by ``n`` rows."""
        fade = self.forgetting**n
        return Past(self.arrays.left_mean.copy(), fade * self.weight, fade)

    def _score(self, rows: EncodedRows) -> None:
        """Let what is on trial predict rows that are not learned yet."""
        if self.choice is not None and self.choice.is_scoring(self.rows):
            self.choice.score(rows)
        if self.calibration is not None:
            self.calibration.score(rows, self.forgetting, self.rows)

    def _begin_round(self) -> None:
        """Begin a round of the choice of a ridge, or of scores, if one is due."""
        if self.choice is not None and self.choice.begins(self.rows):
            self.choice.begin(self.arrays, self.covariance.sums, self.units, self._n_used)
        if self.calibration is not None and self.calibration.begins(self.rows):
            self._freeze_discriminants(self.calibration)

    def _freeze_discriminants(self, calibration: Calibration) -> None:
        """Let the discriminants as they are now score the rows to come."""
        plain, R = self._plain_scaled(), self._factor()
        if plain.is_zero:
            calibration.begin(Discriminants.none(len(R)), self.rows)
            return
        rows = whitened_rows(R, plain.Ct * self._column_weights()[:, np.newaxis])
        V = thin_svd(rows).right[: self._n_used].T
        W = unwhitened(R, V)
        found = self.discriminants_of(W)
        # Rows to come are scored as features, so they are not embedded first.
        features = product(W, found.weights)
        offset = found.offset - product(self.arrays.left_mean, features)
        found = found._replace(weights=features, offset=offset)
        translation = None
        if calibration.speaks_of(len(offset)):
            mean = self.arrays.left_mean
            known, wanted = (one.linear_scores(mean) for one in (calibration.frozen, found))
            translation = wanted.told_by(known, self.input_covariance())
        calibration.begin(found, self.rows, translation)

    def discriminants_of(self, W: Floats) -> Discriminants:
        """Discriminants of the classes in the centred embedding of weights W.

        Columns of zeros are allowed; without others, the discriminants are the shares.
        """
        shares = np.maximum(self.arrays.right_mean, np.finfo(np.float64).tiny)
        if not W.any():
            return Discriminants.of_shares(W.shape[1], shares)
        S, Ct = self.input_covariance(), self.matrix().T[: self.width]
        inflation = 1.0 if self.calibration is None else self._inflation(S)
        return class_discriminants(W, Ct, shares, S, inflation)

    def belief_in(self, found: Discriminants, W: Floats) -> Belief | None:
        """How much discriminants in the centred embedding of weights W may be believed.

        None where nothing was kept that tells.
        """
        if self.calibration is None:
            return None
        translation = None
        if self.calibration.speaks_of(len(found.offset)):
            features = found._replace(weights=product(W, found.weights))
            known = features.linear_scores(np.zeros(len(W)))
            wanted = self.calibration.frozen.linear_scores(self.arrays.left_mean)
            translation = wanted.told_by(known, self.input_covariance())
        return self.calibration.belief(found, self._rows_that_count(), translation)

    def _inflation(self, S: Floats) -> float:
        """By how much squared residuals grow where a row is left out."""
        unit = float(np.trace(S)) / len(S)
        ridge = self.ridge_in_use * (unit if unit > 0.0 else 1.0)
        return left_out_inflation(self._factor(), ridge, self._rows_that_count())

    @property
    def _n_used(self) -> int:
        """Number of leading directions that are more than rounding."""
        if not self.labels:
            return self.n_directions
        n_classes = int(np.count_nonzero(self.arrays.right_mean))
        return max(1, min(self.n_directions, n_classes - 1))

    def _rows_that_count(self) -> float:
        """Rows of equal weight that a mean over these rows is as good as."""
        return rows_that_count(self.rows, self.forgetting)

    def _factor(self) -> Floats:
        """Triangular factor of the covariance with its ridge."""
        return ridge_factor(self._covariance(), self.ridge_in_use)

    def _covariance(self) -> Floats:
        """Covariance of the input features, of which only the upper triangle counts."""
        return self.units.of_square(self.covariance.mean_square(self.weight))

    def _pencil(self, factor: Floats, bounds: FactorBounds | None) -> Pencil:
        """The eigenproblem of the stored numbers, as they are now."""
        return Pencil(
            self.covariance.sums.copy(),
            self.arrays.sums.copy(),
            self.weight,
            self.ridge_in_use,
            self.units,
            self._column_weights(),
            factor,
            bounds,
        )

    def _column_weights(self) -> Floats:
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
