"""The centred cross-moment: the one statistic that every service consumes."""

from okspca.moments.arrays import MomentArrays, Target
from okspca.moments.cross_moment import CrossMoment
from okspca.moments.sub_moments import GroupArrays, SubMoments
from okspca.moments.target_compression import TargetCompression

__all__ = [
    "CrossMoment",
    "GroupArrays",
    "MomentArrays",
    "SubMoments",
    "Target",
    "TargetCompression",
]
