"""The centred cross-moment: the one statistic that every service consumes."""

from okspca.moments.arrays import GroupArrays, MomentArrays
from okspca.moments.cross_moment import CrossMoment
from okspca.moments.moment import Moment
from okspca.moments.moment_window import MomentWindow
from okspca.moments.scaled_moment import ScaledMoment
from okspca.moments.sub_moments import SubMoments
from okspca.moments.target_compression import TargetCompression
from okspca.moments.updated_moment import UpdatedMoment
from okspca.moments.whitened_moment import WhitenedMoment

__all__ = [
    "CrossMoment",
    "GroupArrays",
    "Moment",
    "MomentArrays",
    "MomentWindow",
    "ScaledMoment",
    "SubMoments",
    "TargetCompression",
    "UpdatedMoment",
    "WhitenedMoment",
]
