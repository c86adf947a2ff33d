r"""The path of one observation: standardise, map, accumulate, serve.

For each row, in this order: the input and target are standardised with the rows *before* it, mapped
to features, added to the moment; the service follows; the standardisers learn the row last.  A
block is transport only: it is cut at the observations where something is due (a cache, a warm
block, an alignment anchor), so where a block ends decides nothing.

Rooms meet here in plain arrays; this is the only module that knows them all.
"""

from typing import Any, Self

import numpy as np

from okspca.basis import Basis
from okspca.diagnostics.same_target import SameTargetReport, same_target_report
from okspca.errors import MergeError
from okspca.features import FeatureMap, OneHotMap
from okspca.moments import CrossMoment, Target
from okspca.numerics.arrays import Floats, frozen
from okspca.numerics.leading import by_svd, within_span
from okspca.numerics.spectrum import numerical_rank
from okspca.numerics.subspace import aligned
from okspca.services import Service
from okspca.services.answers import certificate_of
from okspca.standardize import Standardizer

CHUNK_ROWS = 1024
FIRST_ANCHOR = 64


class Pipeline:
    """Causal front end, moment and service, advanced together.

    Parameters
    ----------
    inputs, targets : tuple of (Standardizer, FeatureMap)
        How rows of x and of y become features.
    moment : CrossMoment
        Where they are accumulated.
    service : Service
        How a basis is supplied.
    n_components : int
        Number of columns asked for.
    seed : int
        Seed of the service's own randomness.
    align : bool
        Keep an anchor that `embedding_basis` is rotated towards.

    Examples
    --------
    >>> import numpy as np
    >>> from okspca.features import IdentityMap
    >>> from okspca.services import Exact
    >>> from okspca.standardize import NoStandardizer
    >>> linear = NoStandardizer(), IdentityMap(1)
    >>> pipeline = Pipeline(linear, linear, CrossMoment(1, 1), Exact(), n_components=1)
    >>> pipeline.run(np.array([[0.0], [1.0]]), np.array([[1.0], [3.0]]), np.ones(2))
    >>> pipeline.request().singular_values.tolist()
    [0.5]
    """

    def __init__(
        self,
        inputs: tuple[Standardizer, FeatureMap],
        targets: tuple[Standardizer, FeatureMap],
        moment: CrossMoment,
        service: Service[Any],
        *,
        n_components: int,
        seed: int = 0,
        align: bool = False,
    ) -> None:
        self.input_standardizer, self.input_map = inputs
        self.target_standardizer, self.target_map = targets
        self.moment = moment
        self.service = service
        self.n_components = n_components
        self.align = align
        self.rows = 0
        self.anchor: Floats | None = None
        self.service_state = service.start(self.input_map.n_features, n_components, seed)

    def embed(self, X: Floats) -> Floats:
        """Input features of rows as the next observation would have them; learns nothing."""
        return self.input_map.transform(self.input_standardizer.transform(X))

    def step(self, x: Floats, y: Floats, weight: float = 1.0) -> None:
        """Learn one observation, given as one-dimensional arrays."""
        self.run(x[np.newaxis], y[np.newaxis], np.array([weight]))

    def run(self, X: Floats, Y: Floats, weights: Floats) -> None:
        """Learn rows in order (n x d inputs, n x d_y targets or column numbers of classes)."""
        start, n = 0, X.shape[0]
        while start < n:
            stop = start + min(n - start, CHUNK_ROWS, self._next_due() - self.rows)
            self._learn(X[start:stop], Y[start:stop], weights[start:stop])
            start = stop

    def request(self) -> Basis:
        """Supply a basis of the current moment."""
        if self.rows == 0:
            return Basis.not_initialised(self.input_map.n_features)
        return self.service.request(self.service_state, self.target(), self.rows)

    def maintained(self) -> Basis:
        """Return all columns a tracking service maintains; for others, the requested basis."""
        rows = self.service.maintained(self.service_state)
        if rows is None:
            return self.request()
        target = self.target()
        sigma = within_span(rows, target.Ct).sigma
        norms = np.linalg.norm(rows @ target.Ct.T, axis=1) * target.scale
        certificate = None if target.is_zero else certificate_of(rows, sigma, target)
        return Basis.of(rows.T, norms, built_at=self.rows, certificate=certificate)

    def embedding_basis(self) -> Floats:
        """Columns that embeddings use (D_x x k): maintained, or requested and padded with zeros."""
        basis = self.maintained()
        vectors = basis.vectors
        if self.align and self.anchor is not None and basis.rank and self.anchor.shape[1]:
            vectors = aligned(vectors, self.anchor)
        return np.pad(vectors, ((0, 0), (0, self.n_components - basis.rank)))

    def target(self) -> Target:
        """The current moment as services see it."""
        return self.moment.target()

    def report(self) -> SameTargetReport:
        """Compare the delivered basis with the exact solution of the same moment."""
        target = self.target()
        exact = by_svd(target.Ct)
        sigma = exact.sigma * target.scale
        reference_rank = 0 if target.is_zero else numerical_rank(sigma)
        q = min(self.n_components, reference_rank)
        full = self.service.maintained(self.service_state)
        if full is None or q == 0:
            delivered = self.request().vectors
            bases = (delivered, delivered)
        else:
            extracted = within_span(full, target.Ct).rows[:q]
            bases = (full.T, extracted.T)
        C = target.Ct.T * target.scale
        return same_target_report(self.rows, C, (exact.rows.T, sigma), (q, reference_rank), bases)

    def merge(self, other: Self) -> None:
        """Pool another pipeline over the same maps into this one."""
        if self.service != other.service or self.n_components != other.n_components:
            message = "The models differ in their solver or number of components."
            raise MergeError(message)
        if self.service.tracks:
            message = (
                "A tracking solver follows one stream and cannot be pooled; use solver='exact'."
            )
            raise MergeError(message)
        if not self.input_map.equals(other.input_map):
            message = "The input maps differ; pool models made with the same random_state or maps."
            raise MergeError(message)
        if type(self.input_standardizer) is not type(other.input_standardizer):
            message = "The models standardise their inputs in different ways."
            raise MergeError(message)
        self._merge_targets(other)
        self.input_standardizer.merge(other.input_standardizer)
        self.target_standardizer.merge(other.target_standardizer)
        self.moment.is_constant = self.target_standardizer.is_constant()
        self.rows += other.rows

    def _merge_targets(self, other: Self) -> None:
        """Pool the moments; a class that one side lacks is a zero column there."""
        mine, theirs = self.target_map, other.target_map
        if isinstance(mine, OneHotMap) and isinstance(theirs, OneHotMap):
            mine.learn(theirs.classes)
            columns = mine.index(theirs.classes)[:, 0].astype(np.int64)
            self.moment.merge(other.moment.with_columns(columns, mine.n_features))
            return
        if not mine.equals(theirs):
            message = "The target maps differ; pool models made with the same random_state or maps."
            raise MergeError(message)
        self.moment.merge(other.moment)

    def _learn(self, X: Floats, Y: Floats, weights: Floats) -> None:
        """Learn rows among which nothing is due except, possibly, after the last."""
        Phi = self.input_map.transform(self.input_standardizer.scan(X, weights))
        Psi = self.target_map.transform(self.target_standardizer.scan(Y, weights))
        self.moment.is_constant = self.target_standardizer.is_constant()
        change = None
        if self.service.scans:
            rows = self.moment.encode(Phi, Psi, weights)
            self.service.scan(self.service_state, self.moment, rows, self.rows)
        elif X.shape[0] == 1:
            change = self.moment.update_row(Phi, Psi, weights)
        else:
            self.moment.update(Phi, Psi, weights)
        self.rows += X.shape[0]
        period = self._period()
        if not self.service.scans and period is not None and self.rows % period == 0:
            self.service.observe(self.service_state, self.moment, change, self.rows)
        if self.align and _is_anchor_row(self.rows):
            self.anchor = frozen(self.embedding_basis())

    def _period(self) -> int | None:
        """How often the service wants to follow the stream."""
        return self.service.period(self.service_state, self.moment.width)

    def _next_due(self) -> int:
        """Return the next observation after which something other than learning happens."""
        due = self.rows + CHUNK_ROWS
        period = self._period()
        if not self.service.scans and period is not None:
            due = min(due, (self.rows // period + 1) * period)
        if self.align:
            due = min(due, max(FIRST_ANCHOR, 1 << int(self.rows).bit_length()))
        return due


def _is_anchor_row(t: int) -> bool:
    """Anchors are set at 64, 128, 256, ... observations."""
    return t >= FIRST_ANCHOR and t & (t - 1) == 0
