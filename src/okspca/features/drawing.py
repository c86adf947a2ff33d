"""Maps of random cosines by the names that the parameters of a model have for them."""

from numpy.random import RandomState

from okspca.features.cosines import CosineMap
from okspca.features.fourier import SAMPLINGS as OF_FREQUENCIES
from okspca.features.fourier import FourierMap
from okspca.features.structured import STRUCTURED, StructuredMap

SAMPLINGS = (*OF_FREQUENCIES, STRUCTURED)


def drawn_map(
    n_inputs: int,
    n_features: int,
    *,
    bandwidth: float,
    kernel: str,
    sampling: str,
    seed: int | RandomState,
) -> CosineMap:
    """Draw an input map.

    Examples
    --------
    >>> settings = {"bandwidth": 1.0, "kernel": "gaussian", "seed": 0}
    >>> type(drawn_map(3, 8, sampling="structured", **settings)).__name__
    'StructuredMap'
    """
    if sampling == STRUCTURED:
        return StructuredMap.sample(
            n_inputs, n_features, bandwidth=bandwidth, kernel=kernel, seed=seed
        )
    return FourierMap.sample(
        n_inputs, n_features, bandwidth=bandwidth, kernel=kernel, sampling=sampling, seed=seed
    )


def target_sampling(sampling: str) -> str:
    """How target features are drawn: responses are few, and products of signs are for many inputs.

    Examples
    --------
    >>> target_sampling("structured"), target_sampling("orthogonal")
    ('plain', 'orthogonal')
    """
    return "plain" if sampling == STRUCTURED else sampling
