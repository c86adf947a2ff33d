r"""A whitened moment a few rows past a rebuild, for answers between two folds.

Rows that wait to be folded have to be in the answers, but a block of them is folded only at certain
row numbers.  In between, answers come from a copy of the moment as it was at a *rebuild*, the last
row number of a fixed rule, whose factor has followed the rows since
(:mod:`okspca.moments.followed_factor`): that costs ``O(D^2)`` a row, where a fresh factor costs
``O(D^3)``.

What is decided from the sums (the ridge, what calibrates posteriors) stays as it was at the
rebuild, here and in :func:`okspca.pipeline.learning.settled`, which shows the same moment with all
its sums.  Where nothing fades, the ridge is on a grid, and the factor is made anew after the row
that takes it to another step.  All this follows from the state alone, so an answer does not depend
on who asked before.
"""

from typing import Self

import numpy as np

from okspca.moments.followed_factor import Features, Followed, FollowedFactor
from okspca.moments.followed_pencil import FollowedPencil
from okspca.moments.scaled_moment import ScaledMoment
from okspca.moments.whitened_moment import WhitenedMoment
from okspca.numerics.arrays import Floats, copied, unit_scaled
from okspca.numerics.whitening import steady


class UpdatedMoment(WhitenedMoment):
    """A whitened moment that answers at the price of a few products, and learns single rows.

    Make it by :meth:`at`; it shares nothing that its rows change.

    Examples
    --------
    >>> import numpy as np
    >>> from okspca.features import FourierMap
    >>> Z = np.random.RandomState(0).normal(size=(70, 2))
    >>> kernel = FourierMap.sample(2, 5, bandwidth=1.0)
    >>> X, Y, weights = kernel.transform(Z), Z[:, :1], np.ones(70)
    >>> whole, part = (WhitenedMoment(5, 1, ridge=1e-2) for _ in range(2))
    >>> whole.update(X, Y, weights)
    >>> part.update(X[:64], Y[:64], weights[:64])
    >>> updated = UpdatedMoment.at(part, Features(kernel.weights.copy(), kernel.phases.copy()))
    >>> for i in range(64, 70):
    ...     updated.follow(Followed(Z[i], Y[i].copy(), 1.0, 0.0))
    >>> found, wanted = (np.linalg.norm(one.scaled().Ct) for one in (updated, whole))
    >>> bool(abs(found / wanted - 1.0) < 1e-12)
    True
    """

    _rebuilt: WhitenedMoment
    followed: FollowedFactor
    _features: Features | None
    _step: float

    @classmethod
    def at(cls, rebuilt: WhitenedMoment, features: Features | None) -> Self:
        """Begin at a moment all of whose rows are in its sums, and which does not change.

        ``features``: the input map, of random Fourier features; None where rows come as features.
        """
        made = object.__new__(cls)
        made.__dict__.update(rebuilt.__getstate__())
        for name in ("_buffer", "_left_mean", "_right_mean", "_totals"):
            setattr(made, name, getattr(made, name).copy())
        made.compression = None if rebuilt.compression is None else copied(rebuilt.compression)
        made.is_ahead = True
        made.renew_views()
        made._rebuilt, made._features = rebuilt, features
        made._make_factor(rebuilt.covariance.sums, rebuilt.shift(rebuilt.variances()))
        return made

    def follow(self, row: Followed) -> None:
        """Learn one row."""
        followed = self.followed
        followed.follow(self.arrays, self._features, row, self.forgetting)
        stays = self.forgetting < 1.0 or self._step == self._step_now()
        if not (stays and followed.is_trusted):
            shift = followed.shift if stays else self.ridge_in_use * self._step_now() / self.weight
            self._make_factor(followed.sums_of_squares(), shift)

    def scaled(self) -> ScaledMoment:
        """Snapshot for services."""
        plain, followed = self._plain_scaled(), self.followed
        factors = self.units.of_right(self.column_weights())[:, np.newaxis]
        bounds = followed.bounds()
        Ct, scale = unit_scaled(followed.whitened() * factors)
        pencil = FollowedPencil(followed, self.arrays.sums * factors, self.weight, bounds)
        labels = plain.labels and self.class_weighting == "squared"
        dropped = self._dropped(plain, bounds) / scale
        return ScaledMoment(Ct, scale, dropped, plain.is_zero, labels, pencil)

    def shift(self, upper: Floats) -> float:
        """What the ridge adds to the diagonal of the covariance."""
        return self.followed.shift

    def feature_weights(self, vectors: Floats) -> Floats:
        """Turn directions of whitened coordinates into weights of the features."""
        return self.followed.weights(vectors)

    def images(self, W: Floats) -> Floats:
        """Covariance of the input features times columns."""
        return self.followed.images(W)

    def variances(self) -> Floats:
        """Covariance of the input features, of which only the upper triangle counts."""
        return self.followed.sums_of_squares() / self.weight

    def drop_coordinates(self) -> None:
        """Turn what was solved to all target features, as the sums are about to be."""
        self.followed.Q = np.ascontiguousarray(self.expanded(self.followed.Q.T).T)

    def inflation(self) -> float:
        """By how much squared residuals grow where a row is left out: as at the rebuild."""
        if self._rebuilt.held_inflation is None:
            self._rebuilt.held_inflation = self._rebuilt.inflation()
        return self._rebuilt.held_inflation

    def _make_factor(self, squares: Floats, shift: float) -> None:
        """Make the factor anew."""
        self.followed = FollowedFactor(squares, self.arrays.sums, self.weight, shift)
        self._step = self._step_now()

    def _step_now(self) -> float:
        """Where on its grid the unit of the ridge is."""
        return steady(self.followed.trace / self.n_left)
