"""One row in, one row out: the calls that a live program makes, with nothing learned in between."""

from typing import Any

import numpy as np
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from okspca.estimators import OKSPCAClassifier, OKSPCARegressor
from okspca_lab.bench.contenders import Contender
from okspca_lab.bench.feed import Feed


class OurRow(Contender):
    """okspca asked about single rows.

    Parameters
    ----------
    feed : Feed
        What to learn, and to be asked about.
    question : str
        A method for blocks, whose answer the others must equal: "transform", "predict" or
        "predict_proba"; a number has no probability, so it is predicted.
    block : bool
        Whether this method itself is called, with blocks of one row.
    """

    def __init__(self, feed: Feed, question: str, *, block: bool = False) -> None:
        super().__init__(feed)
        head = OKSPCARegressor if feed.regime.n_classes is None else OKSPCAClassifier
        width = feed.regime.n_input_features
        self.model: Any = head(n_random_features=width, frequencies="drawn", random_state=0)
        self.question = question if hasattr(self.model, question) else "predict"
        self.block = block

    def learn(self, n: int) -> None:
        """Learn the first rows."""
        self.model.fit(self.feed.X[:n], self.feed.targets[:n])

    def prepare(self, start: int, stop: int) -> None:
        """Solve, off the clock, and see that a row is answered as in a block."""
        rows = self.feed.X[start:stop]
        expected = getattr(self.model, self.question)(rows)
        if not self.block:
            ask = getattr(self.model, f"{self.question}_one")
            if not np.array_equal([ask(x) for x in rows], expected):
                message = f"{self.question}_one differs from {self.question}."
                raise RuntimeError(message)

    def serve(self, start: int, stop: int) -> None:
        """Answer row by row."""
        X = self.feed.X
        if self.block:
            ask = getattr(self.model, self.question)
            for i in range(start, stop):
                ask(X[i : i + 1])
            return
        ask = getattr(self.model, f"{self.question}_one")
        for i in range(start, stop):
            ask(X[i])


class PipelineRow(Contender):
    """scikit-learn's scaler, random features and linear model in a pipeline, asked likewise."""

    def __init__(self, feed: Feed) -> None:
        super().__init__(feed)
        gamma, width = 1.0 / (2.0 * feed.regime.n_inputs), feed.regime.n_input_features
        sampler = RBFSampler(gamma=gamma, n_components=width, random_state=0)
        last = Ridge() if feed.regime.n_classes is None else LogisticRegression()
        self.model: Any = make_pipeline(StandardScaler(), sampler, last)

    def learn(self, n: int) -> None:
        """Learn the first rows."""
        self.model.fit(self.feed.X[:n], self.feed.targets[:n])

    def serve(self, start: int, stop: int) -> None:
        """Predict row by row."""
        predict, X = self.model.predict, self.feed.X
        for i in range(start, stop):
            predict(X[i : i + 1])
