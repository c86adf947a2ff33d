"""Leading singular vectors by solvers from elsewhere: NumPy, ARPACK and PROPACK."""

from collections.abc import Callable

import numpy as np
from scipy.sparse.linalg import ArpackError, svds

from okspca.numerics.arrays import Floats

Solver = Callable[[Floats, int], tuple[Floats, Floats]]


def full_svd(C: Floats, k: int) -> tuple[Floats, Floats]:
    """Leading left singular vectors and values by NumPy's full thin decomposition."""
    left, sigma, _ = np.linalg.svd(C, full_matrices=False)
    return left[:, :k], sigma[:k]


def arpack(C: Floats, k: int) -> tuple[Floats, Floats]:
    """Leading left singular vectors and values by SciPy's ARPACK, to machine precision."""
    return _svds(C, k, "arpack", min(C.shape))


def propack(C: Floats, k: int) -> tuple[Floats, Floats]:
    """Leading left singular vectors and values by SciPy's PROPACK, to machine precision."""
    return _svds(C, k, "propack", C.shape[0])


def _svds(C: Floats, k: int, solver: str, start: int) -> tuple[Floats, Floats]:
    """Run SciPy's partial decomposition from a fixed start; factor whole what it refuses."""
    if k >= min(C.shape):
        return full_svd(C, k)
    v0 = np.full(start, 1.0 / np.sqrt(start))
    try:
        left, sigma, _ = svds(C, k, v0=v0, return_singular_vectors="u", solver=solver)
    except (np.linalg.LinAlgError, ArpackError):
        # Both give up on some moments of low rank; a user would then factor them whole.
        return full_svd(C, k)
    order = np.argsort(sigma)[::-1]
    return left[:, order], sigma[order]
