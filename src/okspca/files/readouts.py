r"""Linear readouts of reduced rows, in closed form from second moments.

With the means m of columns x and s of targets t, G = Σ (x-m)(x-m)ᵀ and H = Σ (x-m)(t-s)ᵀ, every
reduction to the columns of some W is read by the same ridge regression, restricted to their span::

    (Wᵀ G W + λ Wᵀ W) B = Wᵀ H,      t(x) = s + Bᵀ Wᵀ (x - m),

and for classes by the linear discriminants of :mod:`okspca.numerics.discriminants` with the same
penalty.  λ is chosen for each W by generalised cross-validation of the regression on orthonormal
columns of its span, from the rows seen so far (:mod:`okspca.files.ridges`): one that suits hundreds
of columns would hide what a few of them tell if those vary little.  A response is predicted at most
``MOST_SPREADS`` standard deviations from its mean so far: one row with a wild input would decide
everything otherwise.  The reductions are

* all columns: W = (G + λ I)⁻¹ H, whose span gives the same as all of them;
* PCA: the leading eigenvectors of G;
* LDA, for classes: the leading discriminant directions, with the same penalty;
* PLS, for one number: the span of H, G H, G² H ..., which is that of SIMPLS and of NIPALS.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh

from okspca.files.ridges import Regression, regression
from okspca.numerics.arrays import Floats
from okspca.numerics.discriminants import discriminants
from okspca.numerics.matrix import product
from okspca.state.evaluations import Side

#: How far from the mean a response is predicted, in standard deviations.
MOST_SPREADS = 5.0
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


def regression_of(side: Side, totals: Totals) -> Regression:
    """The regression on all columns; its coefficients are directions whose readout is the same."""
    return regression(side.gram, side.cross, float(totals.square.sum()), totals.rows)


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


def reduced_readout(side: Side, W: Floats, totals: Totals) -> Readout:
    """Read targets from the columns of W with the ridge that suits them."""
    Q = _orthonormal(W)
    if not Q.shape[1]:
        return constant(side, totals)
    gram, cross = product(Q.T, product(side.gram, Q)), product(Q.T, side.cross)
    found = regression(gram, cross, float(totals.square.sum()), totals.rows)
    return readout(side, Q, found.ridge, totals)


def pca(side: Side, k: int) -> Floats:
    """Directions of largest variance."""
    D = len(side.gram)
    vectors = eigh(side.gram, subset_by_index=(max(D - k, 0), D - 1))[1]
    return np.asarray(vectors[:, ::-1])


def lda(side: Side, whole: Regression, totals: Totals, k: int) -> Floats:
    """Directions along which classes differ most, relative to the variance.

    They are among those of the regression on all columns.
    """
    W = _uncorrelated(side, whole.coefficients, whole.ridge, totals.rows)
    distances = (product(W.T, side.cross) / (totals.rows * totals.mean)).T
    between = product((distances * totals.mean[:, np.newaxis]).T, distances)
    return product(W, eigh(between)[1][:, ::-1][:, :k])


def pls(side: Side, k: int) -> Floats:
    """Orthonormal columns that span H, G H, ... for one target."""
    D = len(side.gram)
    found = np.zeros((D, 0))
    # In units of the trace, so that no power overflows.
    G = side.gram / max(float(side.gram.trace()), np.finfo(np.float64).tiny)
    direction = side.cross[:, :1]
    for _ in range(min(k, D)):
        before = np.linalg.norm(direction)
        for _ in range(2):
            direction = direction - product(found, product(found.T, direction))
        length = np.linalg.norm(direction)
        if length <= np.sqrt(DEPENDENT) * before or length == 0.0:
            break
        found = np.hstack([found, direction / length])
        direction = product(G, found[:, -1:])
    return found


def _uncorrelated(side: Side, W: Floats, ridge: float, rows: int) -> Floats:
    """Columns of the same span along which rows are uncorrelated and, penalty added, of size 1."""
    return _unit_columns(W, (product(W.T, product(side.gram, W)) + ridge * product(W.T, W)) / rows)


def _orthonormal(W: Floats) -> Floats:
    """Orthonormal columns of the same span."""
    return _unit_columns(W, product(W.T, W))


def _unit_columns(W: Floats, products: Floats) -> Floats:
    """Columns of the same span whose inner products, given those of W, are zero and one."""
    size = np.sqrt(np.maximum(products.diagonal(), 0.0))
    there = size > np.finfo(np.float64).tiny
    W, size = W[:, there], size[there]
    if not W.shape[1]:
        return W
    values, vectors = eigh(products[np.ix_(there, there)] / np.outer(size, size))
    own = values > DEPENDENT * values[-1]
    return product(W / size, vectors[:, own] / np.sqrt(values[own]))
