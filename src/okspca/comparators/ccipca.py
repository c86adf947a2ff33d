r"""CCIPCA: candid covariance-free incremental principal components (Weng, Zhang and Hwang, 2003).

Observation n has features x.  With running mean m (divisor n) and amnesic parameter a::

    m <- m + (x - m) / n,      u = x - m,
    for i = 1, ..., k:
        v_i <- (n - 1 - a)/n v_i + (1 + a)/n (u . v_i / ||v_i||) u,
        u   <- u - (u . v_i / ||v_i||^2) v_i.

A component that has no direction yet takes the residual u as it is, and the row ends there; so at
most one component begins with each row.  While n <= a + 1 the first factor would be negative or
zero, and a = 0 is used.  Coordinates are ``(x - m) . v_i / ||v_i||``.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.random import RandomState

from okspca.comparators.causal_reducer import CausalReducer, Projection
from okspca.features import FeatureMap
from okspca.numerics.arrays import Floats
from okspca.numerics.compiled import compiled
from okspca.numerics.scalars import plain
from okspca.numerics.sums import inner
from okspca.services.checks import check_count, check_positive, reject


class CCIPCAArrays(NamedTuple):
    """Mean, unnormalised eigenvectors as rows, and the number of rows learned."""

    mean: Floats
    vectors: Floats
    rows: Floats


class CCIPCA(CausalReducer):
    """Candid covariance-free incremental principal components; takes no response.

    An unsupervised comparator of the paper.

    Parameters
    ----------
    n_components : int, default=2
        Number of columns of the embedding.
    amnesic : float, default=2.0
        How much more than its share the newest row counts.
    n_random_features : int, optional
        Number of random Fourier features; by default the inputs themselves are used.
    bandwidth : "sqrt-dim" or float, default="sqrt-dim"
        Bandwidth of the kernel, where features are drawn.
    standardize : {"causal", None}, default="causal"
        Standardise inputs by the rows before, or take them as they are.
    variance_floor : {"relative", "paper"} or float, default="relative"
        When a column is too constant to be scaled.
    input_map : FeatureMap, optional
        A ready-made map.
    tolerance : float, default=1e-12
        A residual of at most this norm begins no component.
    random_state : int, RandomState or None, default=None
        Seed of the map.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, number of features)
        Normalised eigenvectors; a zero row where a component has not begun.
    explained_variance_ : ndarray of shape (n_components,)
        Norms of the eigenvectors: the method's estimates of the eigenvalues.

    Examples
    --------
    >>> import numpy as np
    >>> from okspca.comparators import CCIPCA
    >>> X = np.random.RandomState(0).normal(size=(400, 3)) * [3.0, 1.0, 1.0]
    >>> abs(CCIPCA(n_components=1, standardize=None).fit(X).components_).round(1).tolist()
    [[1.0, 0.0, 0.0]]
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        amnesic: float = 2.0,
        n_random_features: int | None = None,
        bandwidth: str | float = "sqrt-dim",
        standardize: str | None = "causal",
        variance_floor: str | float = "relative",
        input_map: FeatureMap | None = None,
        tolerance: float = 1e-12,
        random_state: int | RandomState | None = None,
    ) -> None:
        self.n_components = n_components
        self.amnesic = amnesic
        self.n_random_features = n_random_features
        self.bandwidth = bandwidth
        self.standardize = standardize
        self.variance_floor = variance_floor
        self.input_map = input_map
        self.tolerance = tolerance
        self.random_state = random_state

    @property
    def components_(self) -> Floats:
        """Normalised eigenvectors, one per row."""
        return _directions(self._fitted("components_").state)

    @property
    def explained_variance_(self) -> Floats:
        """Estimated eigenvalues."""
        norms: Floats = np.linalg.norm(self._fitted("explained_variance_").state.vectors, axis=1)
        return norms

    def check_parameters(self) -> None:
        """Raise for a parameter whose value cannot be used."""
        super().check_parameters()
        check_count(n_components=self.n_components)
        check_positive(tolerance=self.tolerance)
        if not (isinstance(plain(self.amnesic), int | float) and self.amnesic >= 0.0):
            reject("amnesic", self.amnesic, "a number of at least 0")

    def start(self, n_features: int) -> CCIPCAArrays:
        """Make the state for rows of so many features."""
        vectors = np.zeros((int(self.n_components), n_features))
        return CCIPCAArrays(np.zeros(n_features), vectors, np.zeros(1))

    def scan(self, state: CCIPCAArrays, Phi: Floats, y: Floats) -> None:
        """Learn rows in order, changing the arrays of the state in place."""
        _learn_rows(state, Phi, float(self.amnesic), float(self.tolerance))

    def projection(self, state: CCIPCAArrays) -> Projection:
        """Return what embeds features with the present state."""
        directions = _directions(state)
        return lambda Phi: (Phi - state.mean) @ directions.T

    def width(self, n_features: int) -> int:
        """Number of columns of an embedding."""
        return int(self.n_components)


def _directions(state: CCIPCAArrays) -> Floats:
    """Eigenvectors of length one; zero where a component has not begun."""
    norms = np.linalg.norm(state.vectors, axis=1)
    return state.vectors / np.where(norms > 0.0, norms, np.inf)[:, np.newaxis]


@compiled
def _learn_rows(state: CCIPCAArrays, Phi: Floats, amnesic: float, tolerance: float) -> None:
    """Learn rows in order."""
    u = np.empty(Phi.shape[1])
    for i in range(Phi.shape[0]):
        state.rows[0] += 1.0
        n = state.rows[0]
        for j in range(u.shape[0]):
            state.mean[j] += (Phi[i, j] - state.mean[j]) / n
            u[j] = Phi[i, j] - state.mean[j]
        extra = amnesic if n > amnesic + 1.0 else 0.0
        _learn_components(state.vectors, u, (n - 1.0 - extra) / n, (1.0 + extra) / n, tolerance)


@compiled
def _learn_components(
    vectors: Floats, u: Floats, old_share: float, new_share: float, tolerance: float
) -> None:
    """Pass a centred row through the components, deflating it on the way."""
    for i in range(vectors.shape[0]):
        v = vectors[i]
        norm = math.sqrt(inner(v, v, 0))
        if norm == 0.0:
            if math.sqrt(inner(u, u, 0)) > tolerance:
                for j in range(v.shape[0]):
                    v[j] = u[j]
            return
        gain = new_share * inner(u, v, 0) / norm
        for j in range(v.shape[0]):
            v[j] = old_share * v[j] + gain * u[j]
        square = inner(v, v, 0)
        if square == 0.0:
            return
        part = inner(u, v, 0) / square
        for j in range(v.shape[0]):
            u[j] -= part * v[j]
