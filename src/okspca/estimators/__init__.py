"""The scikit-learn face of the library: OKSPCA as a transformer, a regressor and a classifier.

Names are imported when they are first used: a transformer needs no predictors.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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

_HOMES = {
    "OKSPCA": "okspca.estimators.okspca",
    "Alarm": "okspca.estimators.monitored",
    "Monitored": "okspca.estimators.monitored",
    "DriftReport": "okspca.estimators.drift_report",
    "Explanation": "okspca.estimators.explanations",
    "OKSPCAClassifier": "okspca.estimators.predictors",
    "OKSPCARegressor": "okspca.estimators.predictors",
    "RowExplanation": "okspca.estimators.explanations",
    # Comparators that were found here; their old names go with the next release.
    "CCIPCA": "okspca.comparators",
    "CIPLS": "okspca.comparators",
    "OneVsRestReducer": "okspca.comparators",
    "Unreduced": "okspca.comparators",
}


def __getattr__(name: str) -> Any:
    """Import a public name from its home."""
    if name not in _HOMES:
        message = f"module 'okspca.estimators' has no attribute {name!r}"
        raise AttributeError(message)
    return getattr(import_module(_HOMES[name]), name)
