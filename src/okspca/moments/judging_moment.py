r"""What a whitened moment knows of classes: discriminants, and how much they may be believed.

The maths is in :mod:`okspca.moments.class_discriminants` and :mod:`okspca.moments.calibration`.
"""

from abc import abstractmethod

import numpy as np

from okspca.moments.calibration import Belief, Calibration, rows_that_count
from okspca.moments.class_discriminants import Discriminants, class_discriminants
from okspca.moments.moment import Moment
from okspca.numerics.arrays import Floats
from okspca.numerics.discriminants import left_out_inflation
from okspca.numerics.matrix import product
from okspca.numerics.thin_svd import thin_svd
from okspca.numerics.whitening import unwhitened, whitened_rows


class JudgingMoment(Moment):
    """The part of a whitened moment that is about classes.

    Attributes
    ----------
    n_directions : int
        Number of leading directions that discriminants are about, at most.
    calibration : Calibration or None
        What tells how sure posteriors may be.
    held_inflation : float or None
        Set in copies for answers: :meth:`inflation` at the last rebuild.

    Examples
    --------
    >>> from okspca.moments import WhitenedMoment
    >>> moment = WhitenedMoment(2, 2, ridge=0.1, labels=True)
    >>> moment.update(np.eye(2), np.eye(2), np.ones(2))
    >>> moment.discriminants_of(np.ones((2, 1))).shares.tolist()
    [0.5, 0.5]
    """

    n_directions: int
    calibration: Calibration | None
    held_inflation: float | None

    @abstractmethod
    def shift(self, upper: Floats) -> float:
        """What the ridge adds to the diagonal of the covariance, which is ``upper``."""

    @abstractmethod
    def variances(self) -> Floats:
        """Covariance of the input features, of which only the upper triangle counts."""

    @abstractmethod
    def images(self, W: Floats) -> Floats:
        """Covariance of the input features times columns."""

    @abstractmethod
    def factor(self) -> Floats:
        """Triangular factor of the covariance with its ridge."""

    @abstractmethod
    def column_weights(self) -> Floats:
        """What the stored target coordinates are multiplied by."""

    @property
    def n_used(self) -> int:
        """Number of leading directions that are more than rounding."""
        if not self.labels:
            return self.n_directions
        n_classes = int(np.count_nonzero(self.arrays.right_mean))
        return max(1, min(self.n_directions, n_classes - 1))

    def freeze_discriminants(self, calibration: Calibration) -> None:
        """Let the discriminants as they are now score the rows to come."""
        plain, R = self._plain_scaled(), self.factor()
        if plain.is_zero:
            calibration.begin(Discriminants.none(len(R)), self.rows)
            return
        rows = whitened_rows(R, plain.Ct * self.column_weights()[:, np.newaxis])
        V = thin_svd(rows).right[: self.n_used].T
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
            translation = wanted.told_by(known, self.images)
        calibration.begin(found, self.rows, translation)

    def discriminants_of(self, W: Floats) -> Discriminants:
        """Discriminants of the classes in the centred embedding of weights W.

        Columns of zeros are allowed; without others, the discriminants are the shares.
        """
        shares = np.maximum(self.arrays.right_mean, np.finfo(np.float64).tiny)
        if not W.any():
            return Discriminants.of_shares(W.shape[1], shares)
        inflation = 1.0 if self.calibration is None else self.inflation()
        return class_discriminants(W, self.stored_rows(), shares, self.images, inflation)

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
            translation = wanted.told_by(known, self.images)
        return self.calibration.belief(found, self._rows_that_count(), translation)

    def inflation(self) -> float:
        """By how much squared residuals grow where a row is left out."""
        if self.held_inflation is not None:
            return self.held_inflation
        shift = self.shift(self.variances())
        return left_out_inflation(self.factor(), shift, self._rows_that_count())

    def _rows_that_count(self) -> float:
        """Rows of equal weight that a mean over these rows is as good as."""
        return rows_that_count(self.rows, self.forgetting)
