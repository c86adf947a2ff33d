"""What is proven or measured about a basis and the moment it belongs to."""

from okspca.diagnostics.certificate import Certificate, certify
from okspca.diagnostics.feature_error import FeatureError
from okspca.diagnostics.same_target import Comparison, SameTargetReport, compare, gap_bound
from okspca.diagnostics.stability import Stability
from okspca.diagnostics.words import error_lines

__all__ = [
    "Certificate",
    "Comparison",
    "FeatureError",
    "SameTargetReport",
    "Stability",
    "certify",
    "compare",
    "error_lines",
    "gap_bound",
]
