"""Solvers from elsewhere, on request, given okspca's compiled front end and moment."""

from dataclasses import dataclass

from okspca.basis import Basis
from okspca.moments import Moment, ScaledMoment
from okspca.numerics.arrays import Floats
from okspca.numerics.orthonormal import signed_qr
from okspca.numerics.spectrum import numerical_rank
from okspca.services.answers import no_target, ordinary_part
from okspca.services.base import Service, ServiceState
from okspca_lab.studies.partial_svd import Solver, arpack, full_svd, propack

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
    >>> import numpy as np
    >>> from okspca import OKSPCA
    >>> X = np.random.RandomState(0).normal(size=(100, 2))
    >>> OKSPCA(2, solver=OnRequest("propack"), random_state=0).fit(X, X[:, 0]).basis().rank
    2
    """

    solver: str

    def start(self, n_features: int, n_components: int, seed: int) -> ServiceState:
        """Make the state for an empty moment."""
        return ServiceState(n_features, n_components)

    def serve(self, state: ServiceState, moment: Moment, t: int) -> Basis:
        """Solve the sums as they are, where they can be squared; their span is that of C̄."""
        arrays = moment.arrays
        if not moment.is_ordinary or ordinary_part(arrays)[0] == 0.0:
            return super().serve(state, moment, t)
        return self._solved(state, arrays.sums, 1.0 / moment.weight, t)

    def request(self, state: ServiceState, scaled: ScaledMoment, t: int) -> Basis:
        """Solve the current moment."""
        if scaled.is_zero:
            return no_target(scaled, t)
        return self._solved(state, scaled.Ct, scaled.scale, t)

    def _solved(self, state: ServiceState, Ct: Floats, unit: float, t: int) -> Basis:
        """Cut the solution at the rank and orthonormalise it."""
        left, sigma = SOLVERS[self.solver](Ct.T, state.n_components)
        q = min(state.n_components, numerical_rank(sigma))
        return Basis.of(signed_qr(left[:, :q])[0], sigma[:q] * unit, built_at=t)
