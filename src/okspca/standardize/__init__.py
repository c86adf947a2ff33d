"""Standardisers: the first step of a row, with what the rows before it showed."""

from okspca.standardize.base import RunningStandardizer, Standardizer
from okspca.standardize.causal import CausalStandardizer
from okspca.standardize.frozen import FrozenStandardizer, NoStandardizer
from okspca.standardize.sparse import SparseStandardizer
from okspca.standardize.variance import PAPER, RELATIVE, StandardizerArrays, VarianceRule
from okspca.standardize.window import WindowStandardizer

__all__ = [
    "PAPER",
    "RELATIVE",
    "CausalStandardizer",
    "FrozenStandardizer",
    "NoStandardizer",
    "RunningStandardizer",
    "SparseStandardizer",
    "Standardizer",
    "StandardizerArrays",
    "VarianceRule",
    "WindowStandardizer",
]
