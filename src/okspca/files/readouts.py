r"""Linear readouts of reduced rows, in closed form from second moments.

With the means m of columns x and s of targets t, G = Σ (x-m)(x-m)ᵀ and H = Σ (x-m)(t-s)ᵀ, every
reduction to the columns of some W is read by the same ridge regression, restricted to their span::

    (Wᵀ G W + λ Wᵀ W) B = Wᵀ H,      t(x) = s + Bᵀ Wᵀ (x - m),

and for classes by the linear discriminants of :mod:`okspca.numerics.discriminants` with the same
penalty.  λ is chosen by generalised cross-validation of the regression on all columns, from the
rows seen so far.  A response is predicted at most ``MOST_SPREADS`` standard deviations from its
mean so far: one row with a wild input would decide everything otherwise.  The reductions are

* all columns: W = (G + λ I)⁻¹ H, whose span gives the same as all of them;
* PCA: the leading eigenvectors of G;
* LDA, for classes: the leading discriminant directions, with the same penalty;
* PLS, for one number: the span of H, G H, G² H ..., which is that of SIMPLS and of NIPALS.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh

from okspca.numerics.arrays import Floats
from okspca.numerics.discriminants import discriminants
from okspca.numerics.matrix import product
from okspca.state.evaluations import Side

#: Ridges to choose from, relative to the mean of the diagonal of G, and the one without a choice.
RIDGES = tuple(float(10.0**power) for power in range(-6, 2))
FIXED_RIDGE = 1e-4
#: How far from the mean a response is predicted, in standard deviations.
MOST_SPREADS = 5.0
#: The least share of the rows that must be left as degrees of freedom.
LEAST_FREE = 0.02
#: A column that varies by less than this multiple of its mean is constant.
ROUNDING = 64.0 * float(np.finfo(np.float64).eps)
#: Directions whose squared length, among unit ones, is below this are none of their own.
DEPENDENT = 1e-10


class Totals(NamedTuple):
    """What is known of the targets: rows, mean, sum of squared deviations, and their kind."""

    rows: int
    mean: Floats
    square: Floats
    classes: bool


class Readout(NamedTuple):
    """A linear prediction from deviations: of the response, or of the log odds of classes.

    A response is predicted no further than ``reach`` from its mean.
    """

    weights: Floats
    offsets: Floats
    reach: float = np.inf

    def of(self, deviations: Floats) -> Floats:
        """Predict rows."""
        found = product(deviations, self.weights).clip(-self.reach, self.reach)
        return np.asarray(found + self.offsets)


class Spectrum(NamedTuple):
    """Eigenvalues of G, largest first, eigenvectors as columns, H in these, and the ridge λ."""

    values: Floats
    vectors: Floats
    cross: Floats
    ridge: float


def constant(side: Side, totals: Totals) -> Readout:
    """Predict the mean, or the shares of the classes."""
    offsets = np.log(np.maximum(totals.mean, np.finfo(np.float64).tiny))
    return Readout(np.zeros(side.cross.shape), offsets if totals.classes else totals.mean)


def standardized(side: Side, rows: int) -> tuple[Side, Floats]:
    """Sums of columns of unit variance, and what columns are multiplied with; constant ones by 0.

    Sums are kept in units of the data: scaled by the rows before them, early rows of a column that
    spreads later would outweigh all others.
    """
    spread = np.sqrt(np.maximum(side.gram.diagonal(), 0.0) / max(rows, 1))
    varies = spread > ROUNDING * np.abs(side.mean)
    units = np.divide(1.0, spread, out=np.zeros_like(spread), where=varies)
    gram = side.gram * units * units[:, np.newaxis]
    return Side(np.zeros_like(side.mean), gram, side.cross * units[:, np.newaxis]), units


def spectrum_of(side: Side, totals: Totals) -> Spectrum:
    """Factor the products of the columns and choose the ridge."""
    values, vectors = eigh(side.gram, driver="evd")
    values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
    cross = product(vectors.T, side.cross)
    return Spectrum(values, vectors, cross, _chosen_ridge(values, cross, totals))


def fixed_ridge(side: Side) -> float:
    """The ridge where G is too wide to be factored."""
    return FIXED_RIDGE * float(side.gram.trace()) / max(len(side.mean), 1)


def readout(side: Side, W: Floats, ridge: float, totals: Totals) -> Readout:
    """Read targets from the columns of W; the constant where nothing varies along them."""
    W = _uncorrelated(side, W, ridge, totals.rows)
    if not W.shape[1]:
        return constant(side, totals)
    # Along these columns G + λ I is the number of rows times one.
    cross = product(W.T, side.cross)
    if not totals.classes:
        spread = float(np.sqrt(totals.square.sum() / totals.rows))
        return Readout(product(W, cross) / totals.rows, totals.mean, MOST_SPREADS * spread)
    distances = (cross / (totals.rows * totals.mean)).T
    weights, offsets = discriminants(distances, np.eye(W.shape[1]), totals.mean)
    return Readout(product(W, weights), offsets)


def all_columns(spectrum: Spectrum) -> Floats:
    """Directions whose readout is that of all columns."""
    scale = spectrum.values + spectrum.ridge
    inverse = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0.0)
    return product(spectrum.vectors, inverse[:, np.newaxis] * spectrum.cross)


def pca(spectrum: Spectrum, k: int) -> Floats:
    """Directions of largest variance."""
    return spectrum.vectors[:, :k]


def lda(side: Side, spectrum: Spectrum, totals: Totals, k: int) -> Floats:
    """Directions along which classes differ most, relative to the variance."""
    W = _uncorrelated(side, all_columns(spectrum), spectrum.ridge, totals.rows)
    distances = (product(W.T, side.cross) / (totals.rows * totals.mean)).T
    between = product((distances * totals.mean[:, np.newaxis]).T, distances)
    return product(W, eigh(between)[1][:, ::-1][:, :k])


def pls(spectrum: Spectrum, k: int) -> Floats:
    """Orthonormal columns that span H, G H, ... for one target."""
    found: list[Floats] = []
    # In units of the largest eigenvalue, so that no power overflows.
    values = spectrum.values / max(float(spectrum.values[:1].sum()), np.finfo(np.float64).tiny)
    direction = spectrum.cross[:, 0]
    for _ in range(min(k, len(values))):
        before = np.linalg.norm(direction)
        for _ in range(2):
            direction = direction - sum((q * (q @ direction) for q in found), np.zeros(len(values)))
        length = np.linalg.norm(direction)
        if length <= np.sqrt(DEPENDENT) * before or length == 0.0:
            break
        found.append(direction / length)
        direction = values * found[-1]
    columns = np.array(found).T if found else np.zeros((len(values), 0))
    return product(spectrum.vectors, columns)


def _uncorrelated(side: Side, W: Floats, ridge: float, rows: int) -> Floats:
    """Columns of the same span along which rows are uncorrelated and, penalty added, of size 1."""
    products = (product(W.T, product(side.gram, W)) + ridge * product(W.T, W)) / rows
    size = np.sqrt(np.maximum(products.diagonal(), 0.0))
    there = size > np.finfo(np.float64).tiny
    W, size = W[:, there], size[there]
    if not W.shape[1]:
        return W
    values, vectors = eigh(products[np.ix_(there, there)] / np.outer(size, size))
    own = values > DEPENDENT * values[-1]
    return product(W / size, vectors[:, own] / np.sqrt(values[own]))


def _chosen_ridge(values: Floats, cross: Floats, totals: Totals) -> float:
    """The ridge with the least error by generalised cross-validation, the larger one if equal."""
    unit = float(values.mean()) if len(values) else 0.0
    if unit <= 0.0:
        return 0.0
    explained, total = (cross**2).sum(axis=1), float(totals.square.sum())
    errors = []
    for ridge in (unit * factor for factor in RIDGES):
        shrunk = values + ridge
        left = total - float((explained * (values + 2.0 * ridge) / shrunk**2).sum())
        free = 1.0 - (1.0 + float((values / shrunk).sum())) / totals.rows
        error = max(left, 0.0) / free**2 if free > LEAST_FREE else np.inf
        errors.append((error, -ridge))
    return -min(errors)[1]
