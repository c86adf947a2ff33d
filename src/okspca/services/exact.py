"""Exact on request, by the cheapest route that is accurate for the moment at hand.

* A narrow moment (few classes, a compressed target): eigenvectors of its small Gram matrix; where
  the gap is too small for that to be accurate, the singular value decomposition.
* A wide one (many classes, several outputs): the warm-started block of
  :mod:`okspca.services.warm_block`, which proves its answer or falls back to the full
  decomposition.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from okspca.basis import Basis
from okspca.diagnostics.certificate import UNPROVEN, bounds, certificate_from
from okspca.moments import CrossMoment, MomentArrays, Target
from okspca.moments.arrays import WEIGHT, Change, dropped_norm, rounding_level
from okspca.numerics.arrays import Floats
from okspca.numerics.compiled import bound, compiled
from okspca.numerics.leading import Leading, by_gram, by_svd, gram_leading
from okspca.numerics.orthonormal import fix_signs, is_finite
from okspca.numerics.sums import square
from okspca.services.answers import answer, no_target
from okspca.services.base import Service
from okspca.services.warm_block import WarmBlock, WarmBlockState

# Between these magnitudes squares of the moment neither overflow nor lose digits.
SAFE_SMALLEST, SAFE_LARGEST = 1e-100, 1e100


@dataclass(frozen=True)
class Exact(Service[WarmBlockState]):
    """Solve the current moment exactly whenever a basis is requested.

    Parameters
    ----------
    block : WarmBlock
        Used for wide moments.

    Examples
    --------
    >>> from okspca import OKSPCA
    >>> OKSPCA(solver=Exact()).solver
    Exact(block=WarmBlock(n_guards=8, refresh_every=64, tolerance=1e-08, max_steps=8))
    """

    block: WarmBlock = field(default_factory=WarmBlock)

    def start(self, n_features: int, n_components: int, seed: int) -> WarmBlockState:
        """Make the state for an empty moment."""
        return self.block.start(n_features, n_components, seed)

    def period(self, state: WarmBlockState, width: int) -> int | None:
        """Only a wide moment has a block to keep warm."""
        return self.block.period(state, width) if self._is_wide(state, width) else None

    def observe(
        self, state: WarmBlockState, moment: CrossMoment, change: Change | None, t: int
    ) -> None:
        """Keep the block warm."""
        self.block.observe(state, moment, change, t)

    def request(self, state: WarmBlockState, target: Target, t: int) -> Basis:
        """Supply the exact leading block."""
        if target.is_zero:
            return no_target(target, t)
        if self._is_wide(state, target.Ct.shape[0]):
            return self.block.request(state, target, t)
        return answer(leading_exactly(target, state.n_components), target, state.n_components, t)

    def serve(self, state: WarmBlockState, moment: CrossMoment, t: int) -> Basis:
        """Answer by one compiled call where the moment is narrow and well separated."""
        arrays = moment.arrays
        if not moment.is_constant and not self._is_wide(state, arrays.sums.shape[0]):
            solved, vectors, sigma, numbers = _bound_solver()(arrays, state.n_components)
            if solved:
                return Basis.fresh(vectors, sigma, t, certificate_from(numbers, 1.0))
        return super().serve(state, moment, t)

    def _is_wide(self, state: WarmBlockState, width: int) -> bool:
        """Whether a block of guard vectors is much smaller than the moment."""
        return min(width, state.n_features) > 4 * state.rows.shape[0]


def leading_exactly(target: Target, n_components: int) -> Leading:
    """Factor a target by the cheapest route that keeps full accuracy."""
    width, n_features = target.Ct.shape
    if width <= n_features:
        leading = by_gram(target.Ct, n_components)
        if leading is not None:
            return leading
    return by_svd(target.Ct)


@compiled
def _solve(
    moment: MomentArrays, n_components: int
) -> tuple[bool, Floats, Floats, tuple[float, float, float, float]]:
    """Whether it succeeded, basis (columns), singular values, and the numbers of the certificate.

    Declines (zero, extreme or badly separated moments) are left to the general path.
    """
    sums, weight = moment.sums, moment.totals[WEIGHT]
    D = sums.shape[1]
    nothing = np.empty((D, 0)), np.empty(0), (0.0, 0.0, 0.0, 0.0)
    norm = np.sqrt(square(sums))
    safe = SAFE_SMALLEST < norm < SAFE_LARGEST and SAFE_SMALLEST < norm / weight < SAFE_LARGEST
    if not safe or norm / weight <= rounding_level(moment):
        return False, nothing[0], nothing[1], nothing[2]
    found, sigma, rows = gram_leading(sums, n_components)
    if not found or not is_finite(rows):
        return False, nothing[0], nothing[1], nothing[2]
    fix_signs(rows)
    missed = dropped_norm(moment) * weight
    rho, gap, distance, residual = bounds(sums, rows, sigma * sigma, missed)
    if gap != UNPROVEN:
        gap /= weight * weight
    q = rows.shape[0]
    vectors, values = np.empty((D, q)), np.empty(q)
    for i in range(q):
        values[i] = sigma[i] / weight
    for j in range(D):
        for i in range(q):
            vectors[j, i] = rows[i, j]
    return True, vectors, values, (rho, gap, distance, residual)


@cache
def _bound_solver() -> Callable[..., Any]:
    """The machine code of `_solve` for the one kind of arrays that moments have."""
    example = CrossMoment(1, 1).arrays
    return bound(_solve, example, 1)
