"""The methods that OKSPCA is compared with, as scikit-learn estimators."""

from okspca.comparators.ccipca import CCIPCA
from okspca.comparators.cipls import CIPLS
from okspca.comparators.one_vs_rest import OneVsRestReducer
from okspca.comparators.unreduced import Unreduced

__all__ = ["CCIPCA", "CIPLS", "OneVsRestReducer", "Unreduced"]
