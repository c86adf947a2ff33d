"""The scikit-learn face of the library: OKSPCA as a transformer, a regressor and a classifier."""

from importlib import import_module
from typing import Any

from okspca.estimators.drift_report import DriftReport
from okspca.estimators.explanations import Explanation, RowExplanation
from okspca.estimators.monitored import Alarm, Monitored
from okspca.estimators.okspca import OKSPCA
from okspca.estimators.predictors import OKSPCAClassifier, OKSPCARegressor

__all__ = [
    "OKSPCA",
    "Alarm",
    "DriftReport",
    "Explanation",
    "Monitored",
    "OKSPCAClassifier",
    "OKSPCARegressor",
    "RowExplanation",
]

#: Comparators that were found here; their old names go with the next release.
_MOVED = ("CCIPCA", "CIPLS", "OneVsRestReducer", "Unreduced")


def __getattr__(name: str) -> Any:
    """Find comparators in their own room."""
    if name not in _MOVED:
        message = f"module 'okspca.estimators' has no attribute {name!r}"
        raise AttributeError(message)
    return getattr(import_module("okspca.comparators"), name)
