"""okspca: online supervised dimension reduction with a certificate.

Stream pairs (x, y) into :class:`OKSPCA`; ask at any time for a basis or an embedding.
"""

from okspca.basis import Basis, Status
from okspca.diagnostics import Certificate
from okspca.errors import DataError, MergeError, NotReadyError, NumericalError, RankWarning
from okspca.estimators import OKSPCA

__version__ = "0.1.0"

__all__ = [
    "OKSPCA",
    "Basis",
    "Certificate",
    "DataError",
    "MergeError",
    "NotReadyError",
    "NumericalError",
    "RankWarning",
    "Status",
    "__version__",
]
