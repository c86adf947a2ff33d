r"""What a whitened moment knows of classes: discriminants, and how much they may be believed.

The maths is in :mod:`okspca.moments.class_discriminants` and :mod:`okspca.moments.calibration`.
"""

from abc import abstractmethod
from importlib import import_module
from typing import TYPE_CHECKING

import numpy as np

from okspca.moments.moment import Moment
from okspca.numerics.arrays import Floats
from okspca.numerics.thin_svd import thin_svd
from okspca.numerics.whitening import unwhitened, whitened_rows

if TYPE_CHECKING:
    from okspca.moments.calibration import Belief, Calibration
    from okspca.moments.class_discriminants import Discriminants, Found

# Imported where there are classes.
CALIBRATION = "okspca.moments.calibration"
_DISCRIMINANTS = "okspca.moments.class_discriminants"


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
    >>> moment.judgement_of(np.ones((2, 1)), np.zeros(2))[0].shares.tolist()
    [0.5, 0.5]
    """

    n_directions: int
    calibration: "Calibration | None"
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

    def freeze_discriminants(self, calibration: "Calibration") -> None:
        """Let the discriminants as they are now score the rows to come."""
        plain, R = self._plain_scaled(), self.factor()
        parts = import_module(_DISCRIMINANTS)
        if plain.is_zero:
            calibration.begin(parts.Discriminants.none(len(R)), self.rows)
            return
        rows = whitened_rows(R, plain.Ct * self.column_weights()[:, np.newaxis])
        V = thin_svd(rows).right[: self.n_used].T
        mean = self.arrays.left_mean
        shares, found = self._found(unwhitened(R, V), mean)
        # Rows to come are scored as features, so they are not embedded first.
        scoring = parts.Discriminants(found.features, found.offset, shares, found.spreads)
        told, known = None, calibration.frozen
        if calibration.speaks_of(len(shares)):
            told = parts.translation(known, scoring, (mean, mean), self.images(known.weights))
        calibration.begin(scoring, self.rows, told)

    def judgement_of(self, W: Floats, mean: Floats) -> "tuple[Discriminants, Belief | None]":
        """Discriminants of the classes in the embedding of weights W, and how far to believe them.

        ``mean`` is the mean of the features as they are embedded.  Columns of zeros are allowed;
        without others, the discriminants are the shares.  No belief where nothing was kept that
        tells.
        """
        parts = import_module(_DISCRIMINANTS)
        shares, found = self._found(W, mean)
        calibration, told = self.calibration, None
        judged = parts.Discriminants(found.weights, found.offset, shares, found.spreads)
        # Without an embedding there is nothing to believe but the shares.
        if calibration is None or not found.n_used:
            return judged, None
        if calibration.speaks_of(len(shares)):
            known = judged._replace(weights=found.features)
            means = mean, self.arrays.left_mean
            told = parts.translation(known, calibration.frozen, means, found.image)
        return judged, calibration.belief(judged, self._rows_that_count(), told)

    def _found(self, W: Floats, mean: Floats) -> "tuple[Floats, Found]":
        """Shares of the classes, and their discriminants in an embedding."""
        shares = np.maximum(self.arrays.right_mean, np.finfo(np.float64).tiny)
        inflation = 1.0 if self.calibration is None else self.inflation()
        Ct = self.stored_rows()
        class_discriminants = import_module(_DISCRIMINANTS).class_discriminants
        return shares, class_discriminants(W, self.images(W), Ct, shares, mean, inflation)

    def inflation(self) -> float:
        """By how much squared residuals grow where a row is left out."""
        if self.held_inflation is not None:
            return self.held_inflation
        shift = self.shift(self.variances())
        left_out_inflation = import_module("okspca.numerics.discriminants").left_out_inflation
        return left_out_inflation(self.factor(), shift, self._rows_that_count())

    def _rows_that_count(self) -> float:
        """Rows of equal weight that a mean over these rows is as good as."""
        rows_that_count = import_module(CALIBRATION).rows_that_count
        return rows_that_count(self.rows, self.forgetting)
