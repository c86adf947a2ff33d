"""Exact on request for objectives other than the covariance.

Other services take short cuts through the arrays of the plain cross-moment.  This one solves
whatever the moment shows as its target, so it serves moments that show something else than C̄.
"""

from dataclasses import dataclass

from okspca.basis import Basis
from okspca.moments import Target
from okspca.numerics.leading import leading_exactly
from okspca.services.answers import answer, no_target
from okspca.services.base import Service, ServiceState


@dataclass(frozen=True)
class ExactSnapshot(Service[ServiceState]):
    """Solve what the moment shows, exactly, whenever a basis is requested.

    Examples
    --------
    >>> from okspca import OKSPCA
    >>> OKSPCA(objective="whitened", solver=ExactSnapshot()).solver
    ExactSnapshot()
    """

    def start(self, n_features: int, n_components: int, seed: int) -> ServiceState:
        """Make the state for an empty moment; there is nothing to keep."""
        return ServiceState(n_features, n_components)

    def request(self, state: ServiceState, target: Target, t: int) -> Basis:
        """Supply the exact leading block."""
        if target.is_zero:
            return no_target(target, t)
        return answer(leading_exactly(target.Ct, state.n_components), target, state.n_components, t)
