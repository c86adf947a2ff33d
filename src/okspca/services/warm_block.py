r"""Warm-started block iteration with guard vectors, proof and escalation.

A block V of ``p = k + n_guards`` orthonormal rows is kept near the leading subspace by one power
step ``V <- orth(V C̄ C̄^T)`` at every ``refresh_every``-th observation.  A request starts from a
copy of V and repeats::

    Rayleigh-Ritz on V;  stop if the leading block is proven and converged;  power step

where *proven* means a certified projector distance of at most ``tolerance`` and *converged* a
relative residual at rounding level, for at most ``max_steps`` steps.  If the certificate is still
not good enough, the moment is factored exactly.  The request leaves V alone, so asking changes no
later answer.
"""

from dataclasses import dataclass

import numpy as np
from numpy.random import RandomState

from okspca.basis import Basis
from okspca.diagnostics.certificate import Certificate
from okspca.moments import CrossMoment, Target
from okspca.moments.arrays import Change
from okspca.numerics.arrays import Floats, unit_scaled
from okspca.numerics.leading import by_svd, within_span
from okspca.numerics.orthonormal import signed_qr
from okspca.services.answers import answer, no_target
from okspca.services.base import Service, ServiceState
from okspca.services.checks import check_count, check_positive

CONVERGED = 1e-14


@dataclass
class WarmBlockState(ServiceState):
    """The block that is kept warm, as rows."""

    rows: Floats


@dataclass(frozen=True)
class WarmBlock(Service[WarmBlockState]):
    """Leading block by warm-started subspace iteration, certified or else exact.

    Parameters
    ----------
    n_guards : int
        Columns carried beyond the number of components.
    refresh_every : int
        Observations between two power steps of the maintained block.
    tolerance : float
        Certified projector distance at which an answer is good enough (1e-8 is below a millionth of
        a degree).
    max_steps : int
        Power steps a request may take before it escalates to the exact factorisation.

    Examples
    --------
    >>> import numpy as np
    >>> from okspca import OKSPCA
    >>> X = np.random.RandomState(0).normal(size=(200, 3))
    >>> model = OKSPCA(solver=WarmBlock(), random_state=0).partial_fit(X, X[:, :2] ** 2)
    >>> model.basis().certificate.distance_upper < 1e-8
    True
    """

    n_guards: int = 8
    refresh_every: int = 64
    tolerance: float = 1e-8
    max_steps: int = 8

    def __post_init__(self) -> None:
        """Check the settings."""
        check_positive(tolerance=self.tolerance)
        check_count(refresh_every=self.refresh_every, max_steps=self.max_steps)
        check_count(n_guards=self.n_guards, least=0)

    def start(self, n_features: int, n_components: int, seed: int) -> WarmBlockState:
        """Make a random block for an empty moment."""
        width = min(n_components + self.n_guards, n_features)
        gaussian = RandomState(seed).standard_normal((n_features, width))
        return WarmBlockState(n_features, n_components, signed_qr(gaussian)[0].T.copy())

    def period(self, state: WarmBlockState, width: int) -> int | None:
        """A power step is due at every multiple of this."""
        return self.refresh_every

    def observe(
        self, state: WarmBlockState, moment: CrossMoment, change: Change | None, t: int
    ) -> None:
        """Take one power step with the current moment."""
        Ct = unit_scaled(moment.arrays.sums)[0]
        if Ct.any():
            state.rows = _power_step(state.rows, Ct)

    def request(self, state: WarmBlockState, target: Target, t: int) -> Basis:
        """Iterate from the warm block until the answer is proven, or factor exactly."""
        if target.is_zero:
            return no_target(target, t)
        rows = state.rows
        for _ in range(self.max_steps):
            leading = within_span(rows, target.Ct)
            basis = answer(leading, target, state.n_components, t)
            # A short answer may mean that the block missed a direction: only factoring can tell.
            if basis.rank == state.n_components and self._is_good(basis.certificate):
                return basis
            rows = _power_step(leading.rows, target.Ct)
        return answer(by_svd(target.Ct), target, state.n_components, t)

    def _is_good(self, certificate: Certificate | None) -> bool:
        """Whether an answer is proven and its iteration has converged."""
        if certificate is None or certificate.distance_upper is None:
            return False
        return certificate.residual <= CONVERGED and certificate.distance_upper <= self.tolerance


def _power_step(rows: Floats, Ct: Floats) -> Floats:
    """One step of subspace iteration with M = C̄ C̄^T, orthonormalised."""
    return np.ascontiguousarray(signed_qr(((rows @ Ct.T) @ Ct).T)[0].T)
