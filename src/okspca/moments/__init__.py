"""The centred cross-moment: the one statistic that every service consumes."""

from okspca.moments.arrays import GroupArrays, MomentArrays, Target
from okspca.moments.cross_moment import CrossMoment
from okspca.moments.moment_window import MomentWindow
from okspca.moments.sub_moments import SubMoments
from okspca.moments.target_compression import TargetCompression
from okspca.moments.whitened_moment import WhitenedMoment

__all__ = [
    "CrossMoment",
    "GroupArrays",
    "MomentArrays",
    "MomentWindow",
    "SubMoments",
    "Target",
    "TargetCompression",
    "WhitenedMoment",
]
