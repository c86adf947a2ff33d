r"""An incremental low-rank decomposition of the moment, after Brand (2006).

The sums change by one rank-one term per observation, ``S <- S + c a b^T``.  A decomposition ``S ~ U
diag(s) V^T`` of rank r is kept by adding what of a and b is new as one more direction::

    a = U x + alpha p,    b = V z + beta q,
    [U p] K [V q]^T   with   K = diag(s, 0) + c [x; alpha] [z; beta]^T,

a small SVD of K, and cutting back to at most ``n_components + n_guards``.  What is cut is lost for
good: the answer is an approximation, and nothing tells how good it is.

Rounding would let U and V lose their orthogonality.  So new directions are orthogonalised twice,
and every ``repair_every`` observations both bases are factored anew.  a and b are recovered from
how the running means moved, so that the service needs nothing from the kernel that learned the row.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from okspca.basis import Basis
from okspca.moments import Moment, MomentArrays, ScaledMoment
from okspca.moments.arrays import ROWS, EncodedRows, add_encoded
from okspca.moments.target_compression import TargetCompression
from okspca.numerics.arrays import Floats
from okspca.numerics.compiled import BoundKernel, compiled
from okspca.numerics.orthonormal import fix_signs
from okspca.numerics.spectrum import numerical_rank
from okspca.services.answers import no_target
from okspca.services.base import ServiceState
from okspca.services.tracker import Tracker

NEGLIGIBLE = 1e-15


class LowRank(NamedTuple):
    """The decomposition and the means it has followed, changed in place.

    Attributes
    ----------
    U, V : ndarray of shape (capacity, D_x) and (capacity, width)
        Singular vectors as rows; only the first ``size`` are in use.
    s : ndarray of shape (capacity,)
        Singular values of the sums.
    size : ndarray of shape (1,)
        Number of directions in use.
    left_mean, right_mean : ndarray
        Means after the last observation that was followed.
    """

    U: Floats
    V: Floats
    s: Floats
    size: np.ndarray[tuple[int], np.dtype[np.int64]]
    left_mean: Floats
    right_mean: Floats


@dataclass
class IncrementalState(ServiceState):
    """The decomposition along a stream, and the coordinates of the target it is in."""

    low_rank: LowRank
    compression: TargetCompression | None = None


@dataclass(frozen=True)
class Incremental(Tracker[IncrementalState]):
    """Leading block of a decomposition of bounded rank, changed with every observation.

    Parameters
    ----------
    n_guards : int
        Directions kept beyond the number of components.
    repair_every : int
        Observations between two full re-orthogonalisations.

    Examples
    --------
    >>> from okspca import OKSPCA
    >>> X = np.random.RandomState(0).normal(size=(100, 2))
    >>> OKSPCA(2, solver=Incremental(), random_state=0).fit(X, X[:, 0]).basis().rank
    2
    """

    n_guards: int = 8
    repair_every: int = 64

    def start(self, n_features: int, n_components: int, seed: int) -> IncrementalState:
        """Make the state for an empty moment."""
        capacity = min(n_components + self.n_guards, n_features)
        empty = LowRank(
            np.zeros((capacity, n_features)),
            np.zeros((capacity, 0)),
            np.zeros(capacity),
            np.zeros(1, dtype=np.int64),
            np.zeros(n_features),
            np.zeros(0),
        )
        return IncrementalState(n_features, n_components, empty)

    def scan(self, state: IncrementalState, moment: Moment, rows: EncodedRows, t: int) -> None:
        """Learn and follow rows one by one."""
        left, right = np.empty(rows.Phi.shape[1]), np.empty(moment.width)
        for i in range(rows.Phi.shape[0]):
            add_encoded(moment.arrays, rows, i, moment.forgetting, left, right)
            self.follow_row(state, moment, t + i + 1)

    def follow_row(self, state: IncrementalState, moment: Moment, t: int) -> None:
        """Follow the row that was learned last."""
        if state.low_rank.V.shape[1] != moment.width:
            if state.compression is not None and moment.compression is None:
                state.low_rank = expanded(state.low_rank, state.compression)
            state.low_rank = widened(state.low_rank, moment.width)
        state.compression = moment.compression
        _bound_follow.code(moment.arrays, state.low_rank, t % self.repair_every == 0)

    def maintained(self, state: IncrementalState) -> None:
        """Embeddings use what a request hands out, cut at its rank."""

    def request(self, state: IncrementalState, scaled: ScaledMoment, t: int) -> Basis:
        """Hand out the leading rows, orthonormal as they are maintained."""
        if scaled.is_zero:
            return no_target(scaled, t)
        return self._leading(state, scaled.scale, t)

    def serve(self, state: IncrementalState, moment: Moment, t: int) -> Basis:
        """Answer from what is maintained; the moment itself is only asked whether it is zero."""
        if not moment.is_ordinary or state.low_rank.size[0] == 0:
            return super().serve(state, moment, t)
        return self._leading(state, 1.0 / moment.weight, t)

    def _leading(self, state: IncrementalState, unit: float, t: int) -> Basis:
        """Cut at the rank of what is maintained."""
        low = state.low_rank
        sigma = low.s[: low.size[0]]
        q = min(state.n_components, numerical_rank(sigma))
        rows = low.U[:q].copy()
        fix_signs(rows)
        return Basis.of(rows.T, sigma[:q] * unit, built_at=t)


def widened(low: LowRank, width: int) -> LowRank:
    """Make room for target coordinates not met before."""
    more = width - low.V.shape[1]
    return low._replace(
        V=np.pad(low.V, ((0, 0), (0, more))), right_mean=np.pad(low.right_mean, (0, more))
    )


def expanded(low: LowRank, compression: TargetCompression) -> LowRank:
    """Go from compressed target coordinates to all target features."""
    directions = compression.directions[: low.V.shape[1]]
    return low._replace(V=low.V @ directions, right_mean=low.right_mean @ directions)


@compiled
def follow(moment: MomentArrays, low: LowRank, repair: bool) -> None:
    """Fold the last observation in, found from how the means moved."""
    t = moment.totals[ROWS]
    a = moment.left_mean - low.left_mean
    b = moment.right_mean - low.right_mean
    low.left_mean[:] = moment.left_mean
    low.right_mean[:] = moment.right_mean
    if t > 1.0:
        # The means moved by a = (phi - mean) / t, and the sums by t (t - 1) a b^T.
        fold(low, a, b, t * (t - 1.0))
    if repair:
        reorthogonalise(low)


_bound_follow = BoundKernel(follow)


@compiled
def fold(low: LowRank, a: Floats, b: Floats, c: float) -> None:
    """Add ``c a b^T`` to the decomposition and cut it back to its capacity."""
    r = low.size[0]
    x, p = _split(low.U[:r], a)
    z, q = _split(low.V[:r], b)
    K = np.empty((r + 1, r + 1))
    for i in range(r + 1):
        for j in range(r + 1):
            K[i, j] = c * x[i] * z[j]
        if i < r:
            K[i, i] += low.s[i]
    left, s, right = np.linalg.svd(K)
    most = min(min(r + 1, low.s.shape[0]), min(a.shape[0], b.shape[0]))
    kept = 0
    while kept < most and s[kept] > NEGLIGIBLE * s[0]:
        kept += 1
    _turn(low.U, left.T[:kept], p, r)
    _turn(low.V, right[:kept], q, r)
    low.s[:kept] = s[:kept]
    low.size[0] = kept


@compiled
def _split(basis: Floats, a: Floats) -> tuple[Floats, Floats]:
    """Coordinates of ``a``, the last one along the new unit direction that is returned too."""
    r = basis.shape[0]
    x, rest = np.zeros(r + 1), a.copy()
    for _ in range(2):
        inside = np.dot(basis, rest)
        rest -= np.dot(inside, basis)
        x[:r] += inside
    size = np.sqrt(np.dot(rest, rest))
    if size > NEGLIGIBLE * np.sqrt(np.dot(a, a)):
        x[r] = size
        rest /= size
    else:
        rest[:] = 0.0
    return x, rest


@compiled
def _turn(basis: Floats, turn: Floats, added: Floats, r: int) -> None:
    """Replace the rows by ``turn`` times the rows and the added one."""
    kept = turn.shape[0]
    turned = np.dot(np.ascontiguousarray(turn[:, :r]), basis[:r])
    for i in range(kept):
        basis[i] = turned[i] + turn[i, r] * added


@compiled
def reorthogonalise(low: LowRank) -> None:
    """Factor both bases anew, keeping their product."""
    r = low.size[0]
    if r == 0:
        return
    Q, R = np.linalg.qr(np.ascontiguousarray(low.U[:r].T))
    P, T = np.linalg.qr(np.ascontiguousarray(low.V[:r].T))
    for j in range(r):
        R[:, j] *= low.s[j]
    left, s, right = np.linalg.svd(np.dot(np.ascontiguousarray(R), np.ascontiguousarray(T.T)))
    low.U[:r] = np.dot(np.ascontiguousarray(left.T), np.ascontiguousarray(Q.T))
    low.V[:r] = np.dot(np.ascontiguousarray(right), np.ascontiguousarray(P.T))
    low.s[:r] = s
