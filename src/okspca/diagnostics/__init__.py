"""What is proven or measured about a basis and the moment it belongs to."""

from okspca.diagnostics.certificate import Certificate, certify
from okspca.diagnostics.same_target import Comparison, SameTargetReport, compare, gap_bound

__all__ = ["Certificate", "Comparison", "SameTargetReport", "certify", "compare", "gap_bound"]
