r"""What inputs do to a component: derivatives, their mean squares, and shares of one row's value.

A component is a function of the standardised inputs s::

    z(s) = sum_j u_j a cos(w_j . s + b_j),     dz/ds_i = -a sum_j u_j sin(w_j . s + b_j) w_ji.

**One row.**  On the straight line from a base s0 to s, the derivative by input i times its change
D_i = s_i - s0_i is integrated (integrated gradients).  For cosines that integral is known::

    c_i = D_i sum_j u_j w_ji q_j,     q_j = -a sin((A_j + B_j) / 2) sinc((A_j - B_j) / 2),

where A_j and B_j are the phases w_j . s + b_j of both ends and sinc(t) = sin(t) / t, so that q_j
times A_j - B_j is a (cos A_j - cos B_j).  The c_i add up to z(s) - z(s0) but for rounding.

**No rows.**  For independent standard normal inputs, means of products of cosines and sines are
known too::

    mean cos cos, mean sin sin = (e^(-|w_j - w_k|^2 / 2) cos(b_j - b_k)
                                  +- e^(-|w_j + w_k|^2 / 2) cos(b_j + b_k)) / 2.
"""

from typing import NamedTuple

import numpy as np

from okspca.errors import DataError
from okspca.features.base import FeatureMap
from okspca.features.cosines import CosineMap
from okspca.features.identity import IdentityMap
from okspca.features.relevance import gradients
from okspca.numerics.arrays import Floats
from okspca.numerics.matrix import product

CHUNK = 512
#: Of wide maps, so many numbers of the frequencies are looked at together: 32 MB.
MOST_NUMBERS = 1 << 22


class Slopes(NamedTuple):
    """How steep components are (components x inputs), and how much each varies."""

    squares: Floats
    variances: Floats


def derivatives(feature_map: FeatureMap, U: Floats, S: Floats) -> Floats:
    """Derivatives of each component by each input at each row (components x rows x inputs).

    Examples
    --------
    >>> derivatives(IdentityMap(2), np.array([[3.0], [4.0]]), np.zeros((1, 2))).tolist()
    [[[3.0, 4.0]]]
    """
    if isinstance(feature_map, IdentityMap):
        return np.repeat(U.T[:, np.newaxis, :], len(S), axis=1)
    return np.stack(list(gradients(_cosines(feature_map), U, S)))


def contributions(feature_map: FeatureMap, U: Floats, S: Floats, base: Floats) -> Floats:
    """What each input adds on the way from the base to each row (rows x components x inputs).

    Examples
    --------
    >>> from okspca.features import FourierMap
    >>> phi = FourierMap.sample(3, 8, bandwidth=1.0, seed=0)
    >>> U, S = np.ones((8, 1)), np.ones((1, 3))
    >>> added = contributions(phi, U, S, np.zeros(3)).sum()
    >>> bool(np.isclose(added, (phi.transform(S) - phi.transform(0.0 * S)).sum()))
    True
    """
    D = S - base
    if isinstance(feature_map, IdentityMap):
        return D[:, np.newaxis, :] * U.T
    phi = _cosines(feature_map)
    here, there = phi.project(S) + phi.phases, phi.project(base[np.newaxis])[0] + phi.phases
    # NumPy's sinc has a factor of pi inside.
    wave = np.sinc((here - there) / (2.0 * np.pi))
    q = -np.sqrt(2.0 / phi.n_features) * np.sin((here + there) / 2.0) * wave
    return np.stack([phi.backproject(q * u) * D for u in U.T], axis=1)


def slopes_over(feature_map: FeatureMap, U: Floats, S: Floats) -> Slopes:
    """Mean squared derivatives over rows, and the variances of the components there."""
    squares = np.zeros((U.shape[1], S.shape[1]))
    for begin in range(0, len(S), CHUNK):
        squares += (derivatives(feature_map, U, S[begin : begin + CHUNK]) ** 2).sum(axis=1)
    return Slopes(squares / len(S), product(feature_map.transform(S), U).var(axis=0))


def normal_slopes(feature_map: FeatureMap, U: Floats) -> Slopes:
    """The same for independent standard normal inputs, in closed form.

    Examples
    --------
    >>> found = normal_slopes(IdentityMap(2), np.array([[3.0], [4.0]]))
    >>> found.squares.tolist(), found.variances.tolist()
    ([[9.0, 16.0]], [25.0])
    """
    if isinstance(feature_map, IdentityMap):
        return Slopes(U.T**2, (U**2).sum(axis=0))
    phi = _cosines(feature_map)
    b, size = phi.phases, min(CHUNK, max(MOST_NUMBERS // phi.n_inputs, 1))
    chunks = [slice(begin, begin + size) for begin in range(0, phi.n_features, size)]
    lengths = np.concatenate([(phi.frequencies(rows) ** 2).sum(axis=1) for rows in chunks])
    squares, variances = np.zeros((U.shape[1], phi.n_inputs)), np.zeros(U.shape[1])
    for rows in chunks:
        W = phi.frequencies(rows)
        half, products = (lengths[rows, np.newaxis] + lengths) / 2.0, phi.project(W)
        near = np.exp(products - half) * np.cos(b[rows, np.newaxis] - b)
        far = np.exp(-products - half) * np.cos(b[rows, np.newaxis] + b)
        for place, u in enumerate(U.T):
            slopes = W * u[rows, np.newaxis]
            squares[place] += (slopes * phi.backproject(0.5 * (near - far) * u)).sum(axis=0)
            variances[place] += u[rows] @ product(0.5 * (near + far), u)
    means = (np.exp(-lengths / 2.0) * np.cos(b)) @ U
    factor = 2.0 / phi.n_features
    # Rounding may leave a variance of zero below it.
    return Slopes(factor * squares.clip(0.0), factor * (variances - means**2).clip(0.0))


def _cosines(feature_map: FeatureMap) -> CosineMap:
    """The map, if its derivative is known."""
    if not isinstance(feature_map, CosineMap):
        message = f"The derivative of a {type(feature_map).__name__} is not known."
        raise DataError(message)
    return feature_map
