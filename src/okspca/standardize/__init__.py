"""Standardisers: the first step of a row, with what the rows before it showed."""

from okspca.standardize.causal import (
    PAPER,
    RELATIVE,
    CausalStandardizer,
    FrozenStandardizer,
    NoStandardizer,
    RunningStandardizer,
    Standardizer,
    StandardizerArrays,
    VarianceRule,
)
from okspca.standardize.sparse import SparseStandardizer
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
