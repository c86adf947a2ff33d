"""Other libraries that take part: SciPy's solvers, scikit-learn's solver, features and PCA."""

import numpy as np
from sklearn.decomposition import IncrementalPCA
from sklearn.kernel_approximation import RBFSampler
from sklearn.preprocessing import StandardScaler
from sklearn.utils.extmath import randomized_svd

from okspca.numerics.arrays import Floats
from okspca_lab.bench.contenders import Contender, Paper
from okspca_lab.bench.feed import Feed
from okspca_lab.studies.paper_frontend import RawMoment
from okspca_lab.studies.paper_services import ExactOnRequest, Factors
from okspca_lab.studies.partial_svd import Solver


def randomized(C: Floats, k: int) -> tuple[Floats, Floats]:
    """Leading left singular vectors and values by scikit-learn's randomized solver."""
    left, sigma, _ = randomized_svd(C, k, random_state=0)
    return left, sigma


class PaperWith(Paper):
    """The paper's exact service with another solver in place of the full decomposition."""

    def __init__(self, feed: Feed, solver: Solver) -> None:
        super().__init__(feed, "exact-on-request")
        self.pipeline.service = _Partial(solver, feed.regime.n_components)


class _Partial(ExactOnRequest):
    """Leading factors only."""

    def __init__(self, solver: Solver, n_components: int) -> None:
        self.solver = solver
        self.k = n_components

    def factors(self, moment: RawMoment) -> Factors | None:
        """Factor the current moment."""
        left, sigma = self.solver(moment.centred(), self.k)
        return Factors(sigma, left, moment.t)


class SolverAlone(Contender):
    """A solver that is handed the current moment: nothing but the factorisation is timed."""

    def __init__(self, feed: Feed, solver: Solver) -> None:
        super().__init__(feed)
        self.solver = solver
        self.moments = Paper(feed, "accumulate-only")
        self.left = np.zeros((0, 0))

    def learn(self, n: int) -> None:
        """Learn the first rows."""
        self.moments.learn(n)

    def prepare(self, start: int, stop: int) -> None:
        """Learn the rows and form the moment."""
        self.moments.serve(start, stop)
        self.C = self.moments.pipeline.moment.centred()

    def serve(self, start: int, stop: int) -> None:
        """Factor it, once for each row of the turn."""
        for _ in range(start, stop):
            self.left, _ = self.solver(self.C, self.feed.regime.n_components)

    def delivered(self) -> Floats | None:
        """Return the leading left singular vectors."""
        return np.linalg.qr(self.left)[0]


class Features(Contender):
    """scikit-learn's scaler and random features of the inputs; no moment, no basis."""

    def __init__(self, feed: Feed, *, scaler_learns: bool) -> None:
        super().__init__(feed)
        self.scaler_learns = scaler_learns
        self.scaler = StandardScaler()
        gamma = 1.0 / (2.0 * feed.regime.n_inputs)
        width = feed.regime.n_input_features
        self.sampler = RBFSampler(gamma=gamma, n_components=width, random_state=0)

    def learn(self, n: int) -> None:
        """Learn the scale and draw the map."""
        self.scaler.partial_fit(self.feed.X[:n])
        self.sampler.fit(self.feed.X[:n])

    def serve(self, start: int, stop: int) -> None:
        """Transform block by block."""
        for begin, end in self.pieces:
            self.transform(self.feed.X[begin:end])

    def transform(self, X: Floats) -> Floats:
        """Turn inputs into features."""
        if self.scaler_learns:
            self.scaler.partial_fit(X)
        return np.asarray(self.sampler.transform(self.scaler.transform(X)))


class UnsupervisedPCA(Features):
    """The same features, followed by scikit-learn's IncrementalPCA; the target is not used."""

    def __init__(self, feed: Feed) -> None:
        super().__init__(feed, scaler_learns=True)
        self.pca = IncrementalPCA(feed.regime.n_components)

    def learn(self, n: int) -> None:
        """Learn the first rows as one block."""
        super().learn(n)
        self.pca.partial_fit(self.sampler.transform(self.scaler.transform(self.feed.X[:n])))

    def serve(self, start: int, stop: int) -> None:
        """Learn block by block; a request is a copy of the components."""
        for begin, end in self.pieces:
            self.pca.partial_fit(self.transform(self.feed.X[begin:end]))
            if self.feed.wanted[end - 1]:
                self.components = self.pca.components_.copy()
