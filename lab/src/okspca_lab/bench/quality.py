"""How good the answers are, checked off the clock against something plain."""

import numpy as np

from okspca.numerics.arrays import Floats
from okspca.numerics.spectrum import numerical_rank
from okspca.numerics.subspace import principal_angles
from okspca_lab.bench.contenders import Ours, Paper
from okspca_lab.bench.feed import Feed
from okspca_lab.studies.paper_services import PaperPipeline, paper_service

# Angle that stands for an answer of the wrong rank.
WRONG_RANK = 90.0


class Witness:
    """Keeps the moment of a feed in the plainest way, and knows its exact span.

    Parameters
    ----------
    feed : Feed
        The stream.
    """

    def __init__(self, feed: Feed) -> None:
        self.feed = feed
        service = paper_service("accumulate-only", feed.regime, feed.maps)
        self.pipeline = PaperPipeline(feed.regime, feed.maps, service)
        self._exact = np.zeros((feed.regime.n_input_features, 0))

    def learn_to(self, stop: int) -> None:
        """Learn all rows before ``stop`` and factor the moment."""
        for i in range(self.pipeline.moment.t, stop):
            self.pipeline.step(self.feed.X[i], self.feed.y[i])
        left, sigma, _ = np.linalg.svd(self.pipeline.moment.centred(), full_matrices=False)
        q = min(self.feed.regime.n_components, numerical_rank(np.asarray(sigma)))
        self._exact = left[:, :q]

    def angles(self, delivered: Floats | None) -> list[float]:
        """Return the largest angle of a delivered basis; nothing where there is none to judge."""
        if delivered is None or self._exact.shape[1] == 0:
            return []
        if delivered.shape != self._exact.shape:
            return [WRONG_RANK]
        return [float(principal_angles(delivered, self._exact)[0])]


def largest_difference(ours: Ours, paper: Paper, n: int) -> float:
    """Largest angle, in radians, between two maintained bases over the first ``n`` rows."""
    worst = 0.0
    for i in range(n):
        ours.model.learn_one(ours.feed.X[i], ours.feed.y[i])
        paper.pipeline.step(paper.feed.X[i], paper.feed.y[i])
        maintained = ours.model.basis(kind="maintained").vectors
        angle = principal_angles(maintained, paper.maintained())[0]
        worst = max(worst, float(np.radians(angle)))
    return worst
