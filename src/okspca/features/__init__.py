"""Feature maps: what turns standardised rows or labels into the coordinates of the moment."""

from okspca.features.base import FeatureMap
from okspca.features.chebyshev import ChebyshevMap
from okspca.features.cosines import CosineMap
from okspca.features.fourier import FourierMap
from okspca.features.identity import IdentityMap
from okspca.features.one_hot import OneHotMap
from okspca.features.single import SingleFourierMap
from okspca.features.structured import StructuredMap

__all__ = [
    "ChebyshevMap",
    "CosineMap",
    "FeatureMap",
    "FourierMap",
    "IdentityMap",
    "OneHotMap",
    "SingleFourierMap",
    "StructuredMap",
]
