r"""CIPLS: covariance-free incremental partial least squares (Jordao et al., 2021).

Observation n has features x and response l.  With running mean m, accumulated weights w_c,
loadings p_c, q_c and the sum s of the earlier responses::

    d = (x - m) / n,   m <- m + d,   u = x - m,
    w_1 <- w_1 - d s + u l,          s <- s + l            (so w_1 = sum_i (x_i - m) l_i)
    for c = 1, ..., k:
        w_c <- w_c + u l    (c > 1),        t_c = u . w_c / ||w_c||,
        p_c <- p_c + u t,                   q_c <- q_c + l t,       t = t_1 for c = 1, else t_{c-1},
        u   <- u - t_c p_c,                 l   <- l - t_c q_c.

The loadings are those of the authors' code: sums, not normalised, and from the second component on
with the score of the component before; ``loadings="own"`` takes t = t_c throughout.  A component
whose weights have a norm of at most the tolerance ends the row.

Such sums make the deflated u grow with every component, as a higher and higher power of n (or
shrink, for inputs in small units): after four or five components numbers leave the range of double
precision.  Two ways to go on:

* ``overflow="rescale"``: only directions are ever used, so weights, loadings and the deflated row
  each carry a power of two beside their numbers, and every component goes on.  Where nothing is
  that large or small, those powers are zero and the arithmetic is plain.
* ``overflow="freeze"``: plain double precision; a component whose new weights have no finite norm
  keeps the old ones, and ends the row.  Of the rules tried, it comes closest to the paper's scores.

Coordinates are ``(x - m) . w_c / ||w_c||``.
"""

import math
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.random import RandomState

from okspca.comparators.causal_reducer import CausalReducer, Projection
from okspca.features import FeatureMap
from okspca.numerics.arrays import Floats, Integers
from okspca.numerics.compiled import compiled
from okspca.numerics.sums import inner
from okspca.services.checks import check_count, check_positive, reject

#: Numbers beyond this power of two, up or down, are rescaled.
LARGE = 64
#: Power of an array that holds only zeros.
EMPTY = -(2**40)
#: Beyond this, a power of two is zero or infinite.
LIMIT = 4096
WEIGHTS, X_LOADINGS, Y_LOADINGS = range(3)
ROWS, SUM_Y = range(2)


class CIPLSArrays(NamedTuple):
    """Everything CIPLS keeps; ``powers`` are the binary exponents beside the arrays."""

    mean: Floats
    weights: Floats
    x_loadings: Floats
    y_loadings: Floats
    powers: Integers
    counts: Floats


class CIPLS(CausalReducer):
    """Covariance-free incremental partial least squares, for one numeric response.

    A comparator of the paper.  Labels of two classes are given as -1 and +1; for more classes see
    :class:`~okspca.comparators.OneVsRestReducer`.

    Parameters
    ----------
    n_components : int, default=2
        Number of columns of the embedding.
    n_random_features : int, optional
        Number of random Fourier features; by default the inputs themselves are used.  The same
        ``random_state`` draws the same map as in :class:`~okspca.OKSPCA`.
    bandwidth : "sqrt-dim" or float, default="sqrt-dim"
        Bandwidth of the kernel, where features are drawn.
    standardize : {"causal", None}, default="causal"
        Standardise inputs and response by the rows before, or take them as they are.
    standardize_target : bool, default=True
        With False the response is left as it is, whatever happens to the inputs.
    variance_floor : {"relative", "paper"} or float, default="relative"
        When a column is too constant to be scaled.
    input_map : FeatureMap, optional
        A ready-made map.
    tolerance : float, default=1e-12
        Weights of at most this norm have no direction.
    overflow : {"rescale", "freeze"}, default="rescale"
        What happens to components that leave the range of double precision: they go on in rescaled
        numbers, or keep their last weights.
    loadings : {"before", "own"}, default="before"
        Whose score enters the loadings: that of the component before, or a component's own.
    random_state : int, RandomState or None, default=None
        Seed of the map.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, number of features)
        Normalised weights; a zero row where a component has no direction yet.
    mean_ : ndarray
        Mean of the features.

    Examples
    --------
    >>> import numpy as np
    >>> from okspca.comparators import CIPLS
    >>> X = np.random.RandomState(0).normal(size=(400, 3))
    >>> model = CIPLS(n_components=1).fit(X, X[:, 0] - X[:, 1])
    >>> Z = model.transform(X)[:, 0]
    >>> bool(abs(np.corrcoef(Z, X[:, 0] - X[:, 1])[0, 1]) > 0.99)
    True
    """

    supervised: ClassVar[bool] = True

    def __init__(
        self,
        n_components: int = 2,
        *,
        n_random_features: int | None = None,
        bandwidth: str | float = "sqrt-dim",
        standardize: str | None = "causal",
        standardize_target: bool = True,
        variance_floor: str | float = "relative",
        input_map: FeatureMap | None = None,
        tolerance: float = 1e-12,
        overflow: str = "rescale",
        loadings: str = "before",
        random_state: int | RandomState | None = None,
    ) -> None:
        self.n_components = n_components
        self.n_random_features = n_random_features
        self.bandwidth = bandwidth
        self.standardize = standardize
        self.standardize_target = standardize_target
        self.variance_floor = variance_floor
        self.input_map = input_map
        self.tolerance = tolerance
        self.overflow = overflow
        self.loadings = loadings
        self.random_state = random_state

    @property
    def components_(self) -> Floats:
        """Normalised weights, one component per row."""
        return _directions(self._fitted("components_").state, self.tolerance)

    @property
    def mean_(self) -> Floats:
        """Mean of the features learned."""
        return self._fitted("mean_").state.mean.copy()

    def check_parameters(self) -> None:
        """Raise for a parameter whose value cannot be used."""
        super().check_parameters()
        check_count(n_components=self.n_components)
        check_positive(tolerance=self.tolerance)
        if self.overflow not in ("rescale", "freeze"):
            reject("overflow", self.overflow, "'rescale' or 'freeze'")
        if self.loadings not in ("before", "own"):
            reject("loadings", self.loadings, "'before' or 'own'")

    def start(self, n_features: int) -> CIPLSArrays:
        """Make the state for rows of so many features."""
        k = int(self.n_components)
        return CIPLSArrays(
            np.zeros(n_features),
            np.zeros((k, n_features)),
            np.zeros((k, n_features)),
            np.zeros(k),
            _first_powers(k, plain=self.overflow == "freeze"),
            np.zeros(2),
        )

    def scan(self, state: CIPLSArrays, Phi: Floats, y: Floats) -> None:
        """Learn rows in order, changing the arrays of the state in place."""
        freeze, own = self.overflow == "freeze", self.loadings == "own"
        _learn_rows(state, Phi, y, float(self.tolerance), freeze, own)

    def projection(self, state: CIPLSArrays) -> Projection:
        """Return what embeds features with the present state."""
        directions = _directions(state, self.tolerance)
        return lambda Phi: (Phi - state.mean) @ directions.T

    def _scales_response(self) -> bool:
        return self.standardize_target

    def width(self, n_features: int) -> int:
        """Number of columns of an embedding."""
        return int(self.n_components)


def _directions(state: CIPLSArrays, tolerance: float) -> Floats:
    """Weights of length one; zero where they have no direction."""
    norms = np.linalg.norm(state.weights, axis=1)
    with np.errstate(over="ignore"):
        usable = np.ldexp(norms, np.clip(state.powers[WEIGHTS], -LIMIT, LIMIT)) > tolerance
    return state.weights / np.where(usable, norms, np.inf)[:, np.newaxis]


def _first_powers(k: int, *, plain: bool) -> Integers:
    """Powers of arrays of zeros; the first weights are always plain numbers."""
    powers = np.full((3, k), 0 if plain else EMPTY, dtype=np.int64)
    powers[WEIGHTS, 0] = 0
    return powers


@compiled
def _learn_rows(
    state: CIPLSArrays, Phi: Floats, y: Floats, tolerance: float, freeze: bool, own: bool
) -> None:
    """Learn rows in order."""
    u, scratch = np.empty(Phi.shape[1]), np.empty(Phi.shape[1])
    for i in range(Phi.shape[0]):
        _centre(state, Phi[i], u)
        # The first row lies in its own mean and says nothing.
        if state.counts[ROWS] > 1.0:
            if freeze:
                _learn_plainly(state, u, y[i], tolerance, own, scratch)
            else:
                _learn_components(state, u, y[i], tolerance, own)
        state.counts[SUM_Y] += y[i]


@compiled
def _centre(state: CIPLSArrays, x: Floats, u: Floats) -> None:
    """Move the mean, keep w_1 centred by it, and fill ``u`` with the centred row."""
    state.counts[ROWS] += 1.0
    n, total = state.counts[ROWS], state.counts[SUM_Y]
    first = state.weights[0]
    for j in range(x.shape[0]):
        d = (x[j] - state.mean[j]) / n
        state.mean[j] += d
        u[j] = x[j] - state.mean[j]
        first[j] -= d * total


@compiled
def _learn_plainly(
    state: CIPLSArrays, u: Floats, response: float, tolerance: float, own: bool, moved: Floats
) -> None:
    """Pass a row through the components in double precision, as far as it goes."""
    before = 0.0
    for c in range(state.weights.shape[0]):
        w, p = state.weights[c], state.x_loadings[c]
        for j in range(u.shape[0]):
            moved[j] = w[j] + response * u[j]
        norm = math.sqrt(inner(moved, moved, 0))
        t = inner(u, moved, 0) / norm
        if not (math.isfinite(norm) and (math.isfinite(t) or norm <= tolerance)):
            return
        for j in range(u.shape[0]):
            w[j] = moved[j]
        if norm <= tolerance:
            return
        score = t if own or c == 0 else before
        state.y_loadings[c] += response * score
        response -= t * state.y_loadings[c]
        for j in range(u.shape[0]):
            p[j] += score * u[j]
            u[j] -= t * p[j]
        before = t


@compiled
def _learn_components(
    state: CIPLSArrays, u: Floats, response: float, tolerance: float, own: bool
) -> None:
    """Pass a row through the components with powers of two beside the numbers."""
    powers, y_loadings = state.powers, state.y_loadings
    # The deflated row is u 2^power, the deflated response is response 2^y_power, and the score of
    # the component before is before 2^before_power.
    power, y_power, before, before_power = 0, 0, 0.0, 0
    for c in range(state.weights.shape[0]):
        w, p = state.weights[c], state.x_loadings[c]
        powers[WEIGHTS, c] = _add(w, powers[WEIGHTS, c], u, response, power + y_power)
        norm = math.sqrt(inner(w, w, 0))
        if norm * _two_to(powers[WEIGHTS, c]) <= tolerance:
            return
        t = inner(u, w, 0) / norm
        if own or c == 0:
            before, before_power = t, power
        powers[X_LOADINGS, c] = _add(p, powers[X_LOADINGS, c], u, before, power + before_power)
        y_loadings[c], powers[Y_LOADINGS, c] = _sum(
            y_loadings[c], powers[Y_LOADINGS, c], response * before, y_power + before_power
        )
        before, before_power = t, power
        response, y_power = _sum(
            response, y_power, -t * y_loadings[c], power + powers[Y_LOADINGS, c]
        )
        power = _add(u, power, p, -t, power + powers[X_LOADINGS, c])
        power = _rescale(u, power)
        response, shift = math.frexp(response)
        y_power += shift


@compiled
def _add(row: Floats, power: int, x: Floats, factor: float, x_power: int) -> int:
    """Add ``factor x 2^x_power`` to ``row 2^power``; return the new power of the row."""
    shift = x_power - power
    if shift > LARGE:
        smaller = _two_to(-shift)
        for j in range(row.shape[0]):
            row[j] *= smaller
        power, shift = x_power, 0
    scaled = factor * _two_to(shift)
    for j in range(row.shape[0]):
        row[j] += scaled * x[j]
    return power


@compiled
def _sum(a: float, power: int, b: float, b_power: int) -> tuple[float, int]:
    """Add ``b 2^b_power`` to ``a 2^power``."""
    shift = b_power - power
    if shift > LARGE:
        return a * _two_to(-shift) + b, b_power
    return a + b * _two_to(shift), power


@compiled
def _rescale(u: Floats, power: int) -> int:
    """Move the size of a row that is very large or small into its power of two."""
    shift = math.frexp(math.sqrt(inner(u, u, 0)))[1]
    if abs(shift) <= LARGE:
        return power
    factor = _two_to(-shift)
    for j in range(u.shape[0]):
        u[j] *= factor
    return power + shift


@compiled
def _two_to(power: int) -> float:
    """Power of two; zero or infinite where it cannot be written."""
    return math.ldexp(1.0, max(-LIMIT, min(power, LIMIT)))
