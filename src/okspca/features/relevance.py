r"""Which inputs matter: the average gradient of a predictor, and the map that uses it.

Let f(z) = B^T phi(z) be the ridge regression of the targets on cosine features of standardised
inputs.  The relevance of input j is the mean square of its partial derivatives, summed over the
targets::

    m_j = mean_z sum_c (df_c / dz_j)^2,      df/dz = -sqrt(2 / D) (B * sin(W z + b))^T W,

the diagonal of the average gradient outer product M.  Inputs are rescaled by the square roots of
their relevance, such that the sum of squares stays d: an input twice as steep counts twice as
much, and the mean squared distance of rows stays what the bandwidth was made for.

What matters may be a mixture of inputs.  Then inputs are multiplied by a symmetric square root
instead, that of the leading eigenvectors of M that hold 99 % of its trace.  They get 99 % of the
sum of squares; 1 % is spread evenly over all directions, so that none is lost.
"""

from collections.abc import Iterator

import numpy as np

from okspca.features.cosines import CosineMap
from okspca.numerics.arrays import Floats, frozen
from okspca.numerics.cosine import cosine_features
from okspca.numerics.matrix import gram, product
from okspca.numerics.scratch import lent
from okspca.numerics.symmetric import diagonalise

#: Memory for features of all rows: those on trial, or slopes, but never both at a time.
FEATURES, WEIGHED = "features of rows", "weighed features of rows"
#: Share of the trace that decides how many eigenvectors are kept, and share they then have.
KEPT = 0.99
#: Most inputs for which mixtures are looked for; eigenvectors of more would take too long.
MOST_MIXED = 2048


def relevance(feature_map: CosineMap, B: Floats, Z: Floats) -> Floats:
    """Mean squared partial derivatives of ``B^T phi``, one per input; B has one column per target.

    Examples
    --------
    >>> from okspca.features import FourierMap
    >>> phi = FourierMap(np.array([[1.0, 0.0], [2.0, 0.0]]), np.zeros(2))
    >>> m = relevance(phi, np.ones((2, 1)), np.random.RandomState(0).normal(size=(50, 2)))
    >>> bool(m[0] > 0.0), float(m[1])
    (True, 0.0)
    """
    found = np.zeros(feature_map.n_inputs)
    for by_row in gradients(feature_map, B, Z):
        found += (by_row**2).mean(axis=0)
    return found


def gradient_outer_product(feature_map: CosineMap, B: Floats, Z: Floats) -> Floats:
    """Average gradient outer product of ``B^T phi`` (inputs x inputs), summed over the targets.

    Examples
    --------
    >>> from okspca.features import FourierMap
    >>> phi = FourierMap(np.array([[1.0, 1.0]]), np.array([-np.pi / 2.0]))  # sqrt(2) sin(z1 + z2)
    >>> gradient_outer_product(phi, np.ones((1, 1)), np.zeros((1, 2))).round(6).tolist()
    [[2.0, 2.0], [2.0, 2.0]]
    """
    found = np.zeros((feature_map.n_inputs, feature_map.n_inputs))
    for by_row in gradients(feature_map, B, Z):
        found += gram(by_row)
    return found / len(Z)


def gradients(feature_map: CosineMap, B: Floats, Z: Floats) -> Iterator[Floats]:
    """Partial derivatives of each column of ``B^T phi`` at each row (rows x inputs).

    Examples
    --------
    >>> from okspca.features import FourierMap
    >>> phi = FourierMap(np.array([[2.0]]), np.array([-np.pi / 2.0]))  # sqrt(2) sin(2 z)
    >>> [float(found[0, 0].round(6)) for found in gradients(phi, np.ones((1, 1)), np.zeros((1, 1)))]
    [2.828427]
    """
    amplitude = float(np.sqrt(2.0 / feature_map.n_features))
    shape = len(Z), feature_map.n_features
    slopes = feature_map.project(Z, lent(FEATURES, shape))
    # Frozen, as those of the map are: another type would be another kernel.
    cosine_features(slopes, frozen(feature_map.phases + 0.5 * np.pi), amplitude)  # -sin
    # One target at a time: all would take rows x inputs x targets numbers.
    for column in B.T[:-1]:
        yield feature_map.backproject(np.multiply(slopes, column, out=lent(WEIGHED, shape)))
    for column in B.T[-1:]:
        slopes *= column
        yield feature_map.backproject(slopes)


def input_scales(m: Floats) -> Floats:
    """What standardised inputs are multiplied by; ones where no input matters.

    Examples
    --------
    >>> input_scales(np.array([3.0, 1.0])).round(3).tolist()
    [1.225, 0.707]
    """
    largest = m.max(initial=0.0)
    if not 0.0 < largest < np.inf:
        return np.ones(m.shape[0])
    # Divided by the largest first, so that the sum neither overflows nor vanishes.
    shares = m / largest
    return np.asarray(np.sqrt(shares * (m.shape[0] / shares.sum())))


def input_root(M: Floats) -> Floats:
    """Symmetric matrix that standardised inputs are multiplied by; the identity where none matters.

    Examples
    --------
    >>> input_root(np.array([[1.0, 1.0], [1.0, 1.0]])).round(3).tolist()
    [[0.755, 0.655], [0.655, 0.755]]
    """
    d, trace = M.shape[0], float(np.trace(M))
    if not 0.0 < trace < np.inf:
        return np.eye(d)
    shares, rows = M / trace, np.empty_like(M)
    diagonalise(shares, rows)
    # Rounding may leave eigenvalues of zero below it.
    values, vectors = shares.diagonal().clip(0.0), rows.T
    rank = 1 + int(np.searchsorted(np.cumsum(values), KEPT))
    squares = np.full(d, 1.0 - KEPT)
    squares[:rank] += KEPT * d * values[:rank] / values[:rank].sum()
    return product(vectors * np.sqrt(squares), vectors.T)
