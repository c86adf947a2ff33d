"""What is proven or measured about a basis and the moment it belongs to.

Names are imported when they are first used: most programs ask for certificates only.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from okspca.diagnostics.certificate import Certificate, certify

if TYPE_CHECKING:
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

_HOMES = {
    "Comparison": "okspca.diagnostics.same_target",
    "FeatureError": "okspca.diagnostics.feature_error",
    "SameTargetReport": "okspca.diagnostics.same_target",
    "Stability": "okspca.diagnostics.stability",
    "compare": "okspca.diagnostics.same_target",
    "error_lines": "okspca.diagnostics.words",
    "gap_bound": "okspca.diagnostics.same_target",
}


def __getattr__(name: str) -> Any:
    """Import a name from its home."""
    if name not in _HOMES:
        message = f"module 'okspca.diagnostics' has no attribute {name!r}"
        raise AttributeError(message)
    return getattr(import_module(_HOMES[name]), name)
