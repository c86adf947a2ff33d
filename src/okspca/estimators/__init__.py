"""The scikit-learn face of the library: OKSPCA, and the methods it is compared with."""

from okspca.estimators.ccipca import CCIPCA
from okspca.estimators.cipls import CIPLS
from okspca.estimators.okspca import OKSPCA
from okspca.estimators.one_vs_rest import OneVsRestReducer
from okspca.estimators.predictors import OKSPCAClassifier, OKSPCARegressor
from okspca.estimators.unreduced import Unreduced

__all__ = [
    "CCIPCA",
    "CIPLS",
    "OKSPCA",
    "OKSPCAClassifier",
    "OKSPCARegressor",
    "OneVsRestReducer",
    "Unreduced",
]
