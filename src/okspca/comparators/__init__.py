"""The methods that OKSPCA is compared with, the comparison, and the choice of settings by it."""

from okspca.comparators.ccipca import CCIPCA
from okspca.comparators.choosing import Choice, choose
from okspca.comparators.cipls import CIPLS
from okspca.comparators.comparison import Comparison, compare
from okspca.comparators.one_vs_rest import OneVsRestReducer
from okspca.comparators.unreduced import Unreduced

__all__ = [
    "CCIPCA",
    "CIPLS",
    "Choice",
    "Comparison",
    "OneVsRestReducer",
    "Unreduced",
    "choose",
    "compare",
]
