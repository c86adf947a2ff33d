"""Two classes: the exact direction is the difference of the class means; nothing is factored."""

from dataclasses import dataclass

from okspca.basis import Basis
from okspca.moments import ScaledMoment
from okspca.numerics.leading import by_difference
from okspca.services.answers import answer, no_target
from okspca.services.base import Service, ServiceState


@dataclass(frozen=True)
class Binary(Service[ServiceState]):
    """Exact direction for at most two classes.

    Examples
    --------
    >>> import numpy as np
    >>> from okspca import OKSPCA
    >>> X = np.random.RandomState(0).normal(size=(50, 3))
    >>> model = OKSPCA(n_components=1, solver=Binary(), random_state=0)
    >>> model.partial_fit(X, (X[:, 0] > 0).astype(int)).basis().rank
    1
    """

    def start(self, n_features: int, n_components: int, seed: int) -> ServiceState:
        """Make the state for an empty moment."""
        return ServiceState(n_features, n_components)

    def objection(self, *, labels: bool, n_targets: int) -> str | None:
        """Serve two classes only."""
        if labels and n_targets <= 2:
            return None
        kind = f"{n_targets} classes" if labels else "a continuous target"
        return f"solver='binary' serves two classes, not {kind}; use solver='exact'."

    def request(self, state: ServiceState, scaled: ScaledMoment, t: int) -> Basis:
        """Supply the direction between the two class means."""
        # A single class so far has a column of zeros, and no difference.
        if scaled.is_zero or scaled.Ct.shape[0] < 2:
            return no_target(scaled, t)
        return answer(by_difference(scaled.Ct), scaled, state.n_components, t)
