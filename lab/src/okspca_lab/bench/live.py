"""Whitened models that learn row by row and answer in between, as live programs use them."""

from dataclasses import replace
from typing import Any

import numpy as np

from okspca.estimators import OKSPCA, OKSPCAClassifier
from okspca.numerics.arrays import Floats
from okspca.services import ExactSnapshot
from okspca_lab.bench.contenders import Contender, Ours
from okspca_lab.bench.feed import Feed

#: An answer that is further from a solve of the same sums, in degrees, is no exact one.
MOST_DEGREES = 1e-6


def model_for(feed: Feed, **settings: Any) -> OKSPCA:
    """A model of the sizes of a feed, its features as drawn."""
    regime = feed.regime
    settings = {"n_random_features": regime.n_input_features, "random_state": 0, **settings}
    return OKSPCA(regime.n_components, **settings)


class LiveRows(Ours):
    """`learn_one` with every row, and `basis` where it is wanted, under some objective."""

    def __init__(self, feed: Feed, **settings: Any) -> None:
        Contender.__init__(self, feed)
        self.model = model_for(feed, **settings)
        self.request, self.answer = self.model.basis, None

    def prepare(self, start: int, stop: int) -> None:
        """See, off the clock, that a whitened answer is that of its sums."""
        super().prepare(start, stop)
        if self.model.objective == "whitened" and self.answer is not None:
            degrees = apart(self.model.basis().vectors, solved(self.model))
            if not degrees <= MOST_DEGREES:
                message = f"A whitened answer is {degrees} degrees from a solve of its sums."
                raise RuntimeError(message)

    def delivered(self) -> Floats | None:
        """Nothing to judge beside the paper's target; whitened answers are judged above."""
        return None


class FromScratch(LiveRows):
    """The same sums solved anew for every row; they are copied off the clock."""

    def prepare(self, start: int, stop: int) -> None:
        """Learn the rows."""
        self.model.partial_fit(self.feed.X[start:stop], self.feed.targets[start:stop])
        self.moment, self.service = self.model.moment_, ExactSnapshot()
        width, k = self.feed.regime.n_input_features, self.feed.regime.n_components
        self.state = self.service.start(width, k, 0)

    def serve(self, start: int, stop: int) -> None:
        """Solve, once for each row."""
        for row in range(start, stop):
            self.answer = self.service.request(self.state, self.moment.scaled(), row + 1)


class Wide(LiveRows):
    """Blocks of wide rows are learned; nothing is asked."""

    def serve(self, start: int, stop: int) -> None:
        """Learn the rows as one block."""
        self.model.partial_fit(self.feed.X[start:stop], self.feed.targets[start:stop])


class Single(Wide):
    """The same with rows of float32, whose features are computed in single precision."""

    def __init__(self, feed: Feed, **settings: Any) -> None:
        super().__init__(replace(feed, X=feed.X.astype(np.float32)), **settings)


class SingleRows(LiveRows):
    """`learn_one` with rows of float32."""

    def __init__(self, feed: Feed, **settings: Any) -> None:
        super().__init__(replace(feed, X=feed.X.astype(np.float32)), **settings)


class TestThenTrain(Contender):
    """The classifier predicts every row, and then learns it."""

    def __init__(self, feed: Feed) -> None:
        super().__init__(feed)
        width = feed.regime.n_input_features
        self.model: Any = OKSPCAClassifier(
            n_random_features=width, frequencies="drawn", random_state=0
        )

    def learn(self, n: int) -> None:
        """Learn the first rows."""
        self.model.partial_fit(self.feed.X[:n], self.feed.targets[:n])

    def serve(self, start: int, stop: int) -> None:
        """Test, then train."""
        model, X, y = self.model, self.feed.X, self.feed.y
        for i in range(start, stop):
            model.predict_one(X[i])
            model.learn_one(X[i], y[i])


class RiverForest(Contender):
    """river's adaptive random forest of ten trees, row by row."""

    def __init__(self, feed: Feed) -> None:
        super().__init__(feed)
        from river.forest import ARFClassifier  # noqa: PLC0415 - only here, and only if installed

        self.model: Any = ARFClassifier(n_models=10, seed=0)
        self.rows = [dict(enumerate(row)) for row in feed.X.tolist()]

    def learn(self, n: int) -> None:
        """Learn the first rows."""
        for x, y in zip(self.rows[:n], self.feed.y[:n], strict=True):
            self.model.learn_one(x, y)

    def serve(self, start: int, stop: int) -> None:
        """Test, then train."""
        for i in range(start, stop):
            self.model.predict_one(self.rows[i])
            self.model.learn_one(self.rows[i], self.feed.y[i])


def solved(model: OKSPCA) -> Floats:
    """Leading directions of a whitened model's sums, by a full decomposition."""
    scaled = model.moment_.scaled()
    rows = np.linalg.svd(scaled.Ct, full_matrices=False)[2]
    return rows[: model.basis().rank].T


def apart(one: Floats, other: Floats) -> float:
    """Largest angle between the spans of orthonormal columns, in degrees."""
    sine = float(np.linalg.norm(one - other @ (other.T @ one), 2))
    return float(np.degrees(np.arcsin(min(sine, 1.0))))
