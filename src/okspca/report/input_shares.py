r"""Which inputs drive each component: random features mean nothing to people, gradients do.

A component is a function of the standardised inputs s = (s_1 ... s_d)::

    z_k(s) = Σ_j u_jk a cos(w_j · s + b_j),
    ∂z_k/∂s_i = -a Σ_j u_jk sin(w_j · s + b_j) w_ji.

The relevance of input i for component k is the root mean square of that derivative over rows, in
units of the component's own standard deviation: by how many of its standard deviations the
component moves when the input moves by one of its own.
"""

import numpy as np

from okspca.errors import DataError
from okspca.estimators import OKSPCA
from okspca.features import FeatureMap, FourierMap, IdentityMap
from okspca.features.relevance import gradients
from okspca.numerics.arrays import Floats
from okspca.pipeline.answers import embedding

CHUNK = 512


def relevance(model: OKSPCA, X: Floats) -> Floats:
    """Return the relevance (components x inputs) over rows of X; zero beyond the rank.

    Examples
    --------
    >>> random = np.random.RandomState(0)
    >>> X = random.normal(size=(2000, 3))
    >>> model = OKSPCA(1, random_state=0).fit(X, X[:, 1])
    >>> int(relevance(model, X)[0].argmax())
    1
    """
    standardizer, _, U = model.ready().read(embedding)
    feature_map = model.input_map_
    squares = np.zeros((U.shape[1], X.shape[1]))
    for begin in range(0, len(X), CHUNK):
        S = standardizer.transform(X[begin : begin + CHUNK])
        squares += (_gradients(feature_map, S, U) ** 2).sum(axis=1)
    spread = feature_map.transform(standardizer.transform(X)) @ U
    scale = spread.std(axis=0)[:, np.newaxis]
    root = np.sqrt(squares / len(X))
    return np.divide(root, scale, out=np.zeros_like(root), where=scale > 0.0)


def _gradients(feature_map: FeatureMap, S: Floats, U: Floats) -> Floats:
    """Derivatives of each component by each standardised input (components x rows x inputs)."""
    if isinstance(feature_map, IdentityMap):
        return np.repeat(U.T[:, np.newaxis, :], len(S), axis=1)
    if not isinstance(feature_map, FourierMap):
        message = f"The relevance of inputs is not known for a {type(feature_map).__name__}."
        raise DataError(message)
    return np.stack(list(gradients(feature_map, U, S)))
