"""okspca: online supervised dimension reduction with a certificate.

Stream pairs (x, y) into :class:`OKSPCA`; ask at any time for a basis or an embedding.  Names are
imported when they are first used, so ``import okspca`` itself is quick.
"""

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from okspca.basis import Basis, Status
    from okspca.diagnostics import Certificate, Stability
    from okspca.errors import (
        ConditionError,
        DataError,
        MergeError,
        NotReadyError,
        NumericalError,
        RankWarning,
        StateError,
    )
    from okspca.estimators import OKSPCA, OKSPCAClassifier, OKSPCARegressor

__version__ = "0.1.0"

# Former names of modules stay importable for one release.
__path__ = [*__path__, str(Path(__file__).parent / "moved")]

_HOMES = {
    "OKSPCA": "okspca.estimators",
    "OKSPCAClassifier": "okspca.estimators",
    "OKSPCARegressor": "okspca.estimators",
    "Basis": "okspca.basis",
    "Certificate": "okspca.diagnostics",
    "ConditionError": "okspca.errors",
    "DataError": "okspca.errors",
    "MergeError": "okspca.errors",
    "NotReadyError": "okspca.errors",
    "NumericalError": "okspca.errors",
    "RankWarning": "okspca.errors",
    "Stability": "okspca.diagnostics",
    "StateError": "okspca.errors",
    "Status": "okspca.basis",
    "choose": "okspca.comparators",
    "compare": "okspca.comparators",
}

__all__ = [
    "OKSPCA",
    "Basis",
    "Certificate",
    "ConditionError",
    "DataError",
    "MergeError",
    "NotReadyError",
    "NumericalError",
    "OKSPCAClassifier",
    "OKSPCARegressor",
    "RankWarning",
    "Stability",
    "StateError",
    "Status",
    "__version__",
    "choose",
    "compare",
]


def __getattr__(name: str) -> Any:
    """Import a public name from its home."""
    if name not in _HOMES:
        message = f"module 'okspca' has no attribute {name!r}"
        raise AttributeError(message)
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    """List the public names."""
    return sorted(__all__)
