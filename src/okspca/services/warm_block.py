r"""Warm-started block iteration with guard vectors, proof and escalation.

A block V of ``p = k + n_guards`` orthonormal rows is kept near the leading subspace by one power
step ``V <- orth(V C̄ C̄^T)`` at every ``refresh_every``-th observation.  A request starts from a
copy of V and repeats, for at most ``max_steps`` steps::

    W = orth(V C̄);  B = W C̄^T;  SVD of B;  stop if the residual of the leading block is at rounding
    level;  V = right singular vectors of B

If that does not happen, or the certified projector distance is above ``tolerance``, the moment is
factored exactly.  The request leaves V alone, so asking changes no later answer.
"""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.random import RandomState

from okspca.basis import Basis
from okspca.diagnostics.certificate import UNPROVEN, bounds_from
from okspca.moments import Moment, MomentArrays, ScaledMoment
from okspca.moments.arrays import Change
from okspca.numerics.arrays import Floats, unit_scaled
from okspca.numerics.compiled import BoundKernel, compiled
from okspca.numerics.leading import polished
from okspca.numerics.matrix import multiplied, multiply_into
from okspca.numerics.orthonormal import fix_signs, orthonormalise_graded, signed_qr
from okspca.numerics.products import gram, row_products
from okspca.numerics.spectrum import RANK_TOLERANCE
from okspca.numerics.sums import distance
from okspca.numerics.symmetric import diagonalise
from okspca.services.answers import (
    Solution,
    certified,
    dropped_sum,
    exact_answer,
    fresh_basis,
    no_solution,
    ordinary_part,
)
from okspca.services.base import Service, ServiceState
from okspca.services.checks import check_count, check_positive, make_plain
from okspca.services.stored import Stored

CONVERGED = 1e-14


@dataclass
class WarmBlockState(ServiceState):
    """The block that is kept warm, as rows."""

    rows: Annotated[Floats, Stored(("p", "D"), "unit")]


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
        """Make the settings plain, and check them."""
        make_plain(self)
        check_positive(tolerance=self.tolerance)
        check_count(refresh_every=self.refresh_every, max_steps=self.max_steps)
        check_count(n_guards=self.n_guards, least=0)

    def sizes(self, n_features: int, n_components: int) -> dict[str, int]:
        """Lengths of the arrays of a state; p is the number of rows of the block."""
        width = min(n_components + self.n_guards, n_features)
        return {**super().sizes(n_features, n_components), "p": width}

    def start(self, n_features: int, n_components: int, seed: int) -> WarmBlockState:
        """Make a random block for an empty moment."""
        width = self.sizes(n_features, n_components)["p"]
        # Random, so that it is at right angles to no direction that will matter.
        gaussian = RandomState(seed).standard_normal((n_features, width))
        return WarmBlockState(n_features, n_components, signed_qr(gaussian)[0].T.copy())

    def period(self, state: WarmBlockState, width: int) -> int | None:
        """A power step is due at every multiple of this."""
        return self.refresh_every

    def observe(self, state: WarmBlockState, moment: Moment, change: Change | None, t: int) -> None:
        """Take one power step with the current moment."""
        # Any multiple of C̄ has the same directions, so the sums need no division.
        stored = moment.is_shown_as_stored
        Ct = unit_scaled(moment.arrays.sums)[0] if stored else moment.scaled().Ct
        # An empty moment would leave a block of zeros.
        if Ct.any():
            power_step(state.rows, Ct)

    def serve(self, state: WarmBlockState, moment: Moment, t: int) -> Basis:
        """Iterate from the warm block until the answer is proven, or factor exactly."""
        if moment.is_ordinary:
            block = state.n_components, self.max_steps, float(self.tolerance)
            found, solution = _bound_refine.code(moment.arrays, state.rows, block)
            if found:
                return fresh_basis(solution, t)
        return super().serve(state, moment, t)

    def request(self, state: WarmBlockState, scaled: ScaledMoment, t: int) -> Basis:
        """Factor exactly."""
        return exact_answer(scaled, state.n_components, t)


@compiled
def power_step(rows: Floats, Ct: Floats) -> None:
    """One step of subspace iteration with M = C̄ C̄^T, orthonormalised, in place."""
    multiply_into(multiplied(rows, Ct.T), Ct, rows, 1.0, 0.0, False)
    orthonormalise_graded(rows)


@compiled
def _refine(
    moment: MomentArrays, warm: Floats, block: tuple[int, int, float]
) -> tuple[bool, Solution]:
    """Iterate from the warm block; no solution where it is not proven in time."""
    k, max_steps, tolerance = block
    total, sums = ordinary_part(moment)
    if total == 0.0:
        return no_solution()
    rows, (width, D) = warm, sums.shape
    p = rows.shape[0]
    if p > width:  # nothing is gained by a block that is wider than the moment
        return no_solution()
    theta, turn = np.empty(p), np.empty((p, p))
    for _ in range(max_steps):
        right = multiplied(rows, sums.T)
        # Lengths differ by orders of magnitude, directions are nearly orthogonal.
        orthonormalise_graded(right)
        left = multiplied(right, sums)
        small = gram(left)
        if not diagonalise(small, turn):
            return no_solution()
        for j in range(p):
            # A Gram matrix has no negative eigenvalues; rounding may show one.
            theta[j] = max(small[j, j], 0.0)
        # A short rank may mean that the block missed a direction: only factoring can tell.
        if k > p or theta[k - 1] <= RANK_TOLERANCE * theta[0]:
            return no_solution()
        leading = multiplied(turn[:k], left)
        for i in range(k):
            for j in range(D):
                leading[i, j] /= np.sqrt(theta[i])
        # Division by small singular values costs digits of orthonormality; one step restores them.
        leading = polished(leading)
        projected = row_products(leading, sums)
        small = gram(projected)
        residual = distance(multiplied(projected, sums), multiplied(small, leading))
        if residual <= CONVERGED * total:
            sizes = total, dropped_sum(moment)
            numbers = bounds_from(small, residual, theta, D + width, sizes)
            fix_signs(leading)
            found, solution = certified(moment, leading, theta, numbers)
            # What is converged but not proven is escalated like the rest.
            return found and numbers[2] != UNPROVEN and numbers[2] <= tolerance, solution
        # Of the length of the singular values; the next round makes them orthonormal.
        rows = multiplied(turn, left)
    return no_solution()


_bound_refine = BoundKernel(_refine)
