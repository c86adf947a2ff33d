"""Several classes: QR of the Helmert contrasts of the moment, then a small SVD."""

from dataclasses import dataclass

from okspca.basis import Basis
from okspca.moments import ScaledMoment
from okspca.numerics.leading import by_contrast
from okspca.services.answers import answer, no_target
from okspca.services.base import Service, ServiceState


@dataclass(frozen=True)
class Contrast(Service[ServiceState]):
    """Exact block for class labels from C - 1 contrasts.

    Examples
    --------
    >>> import numpy as np
    >>> from okspca import OKSPCA
    >>> X = np.random.RandomState(0).normal(size=(50, 3))
    >>> model = OKSPCA(n_components=2, solver=Contrast(), random_state=0)
    >>> model.partial_fit(X, np.digitize(X[:, 0], [-0.5, 0.5])).basis().rank
    2
    """

    def start(self, n_features: int, n_components: int, seed: int) -> ServiceState:
        """Make the state for an empty moment."""
        return ServiceState(n_features, n_components)

    def objection(self, *, labels: bool, n_targets: int) -> str | None:
        """Serve class labels only."""
        if labels:
            return None
        return "solver='contrast' serves class labels, not a continuous target; use solver='exact'."

    def request(self, state: ServiceState, scaled: ScaledMoment, t: int) -> Basis:
        """Supply the exact leading block."""
        # A single class so far has a column of zeros, and no contrast.
        if scaled.is_zero or scaled.Ct.shape[0] < 2:
            return no_target(scaled, t)
        return answer(by_contrast(scaled.Ct), scaled, state.n_components, t)
