"""Exact on request with nothing kept in between, and no short cut past what the moment shows.

This is what :class:`okspca.services.Exact` becomes for a whitened moment, whose rows wait to be
folded.  Files know it by its own name.
"""

from dataclasses import dataclass

from okspca.basis import Basis
from okspca.moments import Moment, ScaledMoment, UpdatedMoment
from okspca.services.answers import exact_answer, fresh_basis
from okspca.services.base import Service, ServiceState
from okspca.services.followed import solution_of


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

    def serve(self, state: ServiceState, moment: Moment, t: int) -> Basis:
        """Answer by one compiled call from a moment that has followed rows."""
        solution = None
        if isinstance(moment, UpdatedMoment):
            solution = solution_of(moment, state.n_components)
        return super().serve(state, moment, t) if solution is None else fresh_basis(solution, t)

    def request(self, state: ServiceState, scaled: ScaledMoment, t: int) -> Basis:
        """Supply the exact leading block."""
        return exact_answer(scaled, state.n_components, t)
