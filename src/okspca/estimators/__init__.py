"""The scikit-learn face of the library."""

from okspca.estimators.okspca import OKSPCA

__all__ = ["OKSPCA"]
