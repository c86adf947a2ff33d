"""Who takes part: okspca through its public door, and the services of the paper.

A contender learns the rows of a feed and answers the requests in it.  `serve` is what is timed;
`prepare` comes before it, off the clock.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from okspca.estimators import OKSPCA
from okspca.numerics.arrays import Floats
from okspca.pipeline.answers import request
from okspca_lab.bench.feed import REHEARSED, Feed, Span
from okspca_lab.studies.paper_services import PaperPipeline, Tracker, paper_service


class Contender(ABC):
    """One way of learning a feed and answering its requests."""

    def __init__(self, feed: Feed) -> None:
        self.feed = feed
        self.pieces: list[Span] = []

    def warm_up(self, n: int) -> None:
        """Learn the first rows off the clock, the last of them as they will be served."""
        rehearsed = min(REHEARSED, n - 1)
        self.learn(n - rehearsed)
        self.prepare(n - rehearsed, n)
        self.serve(n - rehearsed, n)

    def prepare(self, start: int, stop: int) -> None:
        """Make ready for :meth:`serve`, off the clock."""
        self.pieces = self.feed.pieces(start, stop)

    @abstractmethod
    def learn(self, n: int) -> None:
        """Learn the first ``n`` rows, answering nothing."""

    @abstractmethod
    def serve(self, start: int, stop: int) -> None:
        """Learn rows and answer the requests among them."""

    def delivered(self) -> Floats | None:
        """Return the columns last delivered; None where there are none to judge."""
        return None


class Ours(Contender):
    """okspca, row by row: `learn_one`, and `basis` where it is wanted.

    Parameters
    ----------
    feed : Feed
        What to learn.
    certify : bool
        Request bases with their certificates.
    settings
        Parameters of OKSPCA.
    """

    def __init__(self, feed: Feed, *, certify: bool = True, **settings: Any) -> None:
        super().__init__(feed)
        self.model = OKSPCA(
            feed.regime.n_components,
            variance_floor="paper",
            input_map=feed.maps.input_map,
            target_map=feed.maps.target_map,
            **settings,
        )
        self.request: Callable[[], Any] = self.model.basis
        if not certify:
            switch: dict[str, Any] = {"certify": False}
            self.request = partial(self.model.basis, **switch)
        self.answer: Any = None

    def learn(self, n: int) -> None:
        """Learn the first rows as one block, which gives the same state as row by row."""
        self.model.partial_fit(self.feed.X[:n], self.feed.targets[:n])

    def serve(self, start: int, stop: int) -> None:
        """Learn row by row."""
        model, feed = self.model, self.feed
        X, y, wanted = feed.X, feed.y, feed.wanted
        for i in range(start, stop):
            model.learn_one(X[i], y[i])
            if wanted[i]:
                self.answer = self.request()

    def delivered(self) -> Floats | None:
        """Return the last answer; where nothing was ever requested, request now."""
        answer = self.model.basis() if self.answer is None else self.answer
        return np.asarray(answer.vectors)


class OursByBlock(Ours):
    """okspca with `partial_fit` of the rows between two requests."""

    def serve(self, start: int, stop: int) -> None:
        """Learn block by block."""
        X, targets, wanted = self.feed.X, self.feed.targets, self.feed.wanted
        for begin, end in self.pieces:
            self.model.partial_fit(X[begin:end], targets[begin:end])
            if wanted[end - 1]:
                self.answer = self.request()


class OursOption(OursByBlock):
    """okspca in blocks with an option switched on; its answers are those of another target."""

    def delivered(self) -> Floats | None:
        """Nothing to judge: the quality is measured against the moment of all rows."""
        return None


class OursIngest(Ours):
    """okspca's `learn_one` alone; requests are ignored."""

    def serve(self, start: int, stop: int) -> None:
        """Learn row by row."""
        model, X, y = self.model, self.feed.X, self.feed.y
        for i in range(start, stop):
            model.learn_one(X[i], y[i])


class OursRequest(Ours):
    """okspca's answers alone: rows are learned off the clock.

    The state is asked itself; a model would remember its answer until the next row.
    """

    def prepare(self, start: int, stop: int) -> None:
        """Learn the rows."""
        self.model.partial_fit(self.feed.X[start:stop], self.feed.targets[start:stop])

    def serve(self, start: int, stop: int) -> None:
        """Answer, once for each row of the turn."""
        state = self.model.ready().state
        for _ in range(start, stop):
            self.answer = request(state)


class Paper(Contender):
    """A service of the paper in plain NumPy."""

    def __init__(self, feed: Feed, service: str) -> None:
        super().__init__(feed)
        chosen = paper_service(service, feed.regime, feed.maps)
        self.pipeline = PaperPipeline(feed.regime, feed.maps, chosen)
        self.basis: Floats | None = None

    def learn(self, n: int) -> None:
        """Learn the first rows."""
        for i in range(n):
            self.pipeline.step(self.feed.X[i], self.feed.y[i])

    def serve(self, start: int, stop: int) -> None:
        """Learn row by row."""
        pipeline, feed = self.pipeline, self.feed
        X, y, wanted = feed.X, feed.y, feed.wanted
        for i in range(start, stop):
            pipeline.step(X[i], y[i])
            if wanted[i]:
                self.basis = pipeline.request().basis

    def delivered(self) -> Floats | None:
        """Return the last answer."""
        return self.basis

    def maintained(self) -> Floats:
        """Return all columns that a tracker maintains."""
        service = self.pipeline.service
        assert isinstance(service, Tracker)
        return service.U
