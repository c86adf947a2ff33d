"""Exact on request with nothing kept in between, and no short cut past what the moment shows.

This is what :class:`okspca.services.Exact` becomes for a whitened moment, whose rows wait to be
folded.  Files know it by its own name.
"""

from dataclasses import dataclass

from okspca.basis import Basis
from okspca.moments import ScaledMoment
from okspca.services.answers import exact_answer
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

    def request(self, state: ServiceState, scaled: ScaledMoment, t: int) -> Basis:
        """Supply the exact leading block."""
        return exact_answer(scaled, state.n_components, t)
