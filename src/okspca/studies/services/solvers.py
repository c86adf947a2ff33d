"""Solvers from elsewhere, on request, given okspca's compiled front end and moment."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.sparse.linalg import ArpackError, svds

from okspca.basis import Basis
from okspca.moments import CrossMoment, Target
from okspca.numerics.arrays import Floats
from okspca.numerics.orthonormal import signed_qr
from okspca.numerics.spectrum import numerical_rank
from okspca.services.answers import no_target, ordinary_part
from okspca.services.base import Service, ServiceState

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


SOLVERS: dict[str, Solver] = {"full-svd": full_svd, "arpack": arpack, "propack": propack}


@dataclass(frozen=True)
class OnRequest(Service[ServiceState]):
    """Hand the current moment to a solver at every request; no certificate.

    Parameters
    ----------
    solver : {"full-svd", "arpack", "propack"}
        Who solves.

    Examples
    --------
    >>> from okspca import OKSPCA
    >>> X = np.random.RandomState(0).normal(size=(100, 2))
    >>> OKSPCA(2, solver=OnRequest("propack"), random_state=0).fit(X, X[:, 0]).basis().rank
    2
    """

    solver: str

    def start(self, n_features: int, n_components: int, seed: int) -> ServiceState:
        """Make the state for an empty moment."""
        return ServiceState(n_features, n_components)

    def serve(self, state: ServiceState, moment: CrossMoment, t: int) -> Basis:
        """Solve the sums as they are, where they can be squared; their span is that of C̄."""
        arrays = moment.arrays
        if moment.is_constant or ordinary_part(arrays)[0] == 0.0:
            return super().serve(state, moment, t)
        return self._solved(state, arrays.sums, 1.0 / moment.weight, t)

    def request(self, state: ServiceState, target: Target, t: int) -> Basis:
        """Solve the current moment."""
        if target.is_zero:
            return no_target(target, t)
        return self._solved(state, target.Ct, target.scale, t)

    def _solved(self, state: ServiceState, Ct: Floats, unit: float, t: int) -> Basis:
        """Cut the solution at the rank and orthonormalise it."""
        left, sigma = SOLVERS[self.solver](Ct.T, state.n_components)
        q = min(state.n_components, numerical_rank(sigma))
        return Basis.of(signed_qr(left[:, :q])[0], sigma[:q] * unit, built_at=t)
