"""Exact on request, by the cheapest route that is accurate for the moment at hand.

* A narrow moment (few classes, a compressed target): eigenvectors of its small Gram matrix; where
  the gap is too small for that to be accurate, rotations of its rows, and where those do not
  settle it (ties), the singular value decomposition.
* A wide one (many classes, several outputs): the warm-started block of
  :mod:`okspca.services.warm_block`, which proves its answer or falls back to the full
  decomposition.
"""

from dataclasses import dataclass, field
from typing import Any

from okspca.basis import Basis
from okspca.diagnostics.certificate import UNPROVEN, bounds_of_combination
from okspca.moments import Moment, MomentArrays, ScaledMoment
from okspca.moments.arrays import Change
from okspca.numerics.compiled import BoundKernel, compiled
from okspca.numerics.leading import gram_leading, jacobi_leading
from okspca.numerics.orthonormal import fix_signs
from okspca.numerics.products import row_products
from okspca.services.answers import (
    Solution,
    certified,
    dropped_sum,
    exact_answer,
    fresh_basis,
    no_solution,
    ordinary_part,
    solution_from,
)
from okspca.services.base import Service
from okspca.services.exact_snapshot import ExactSnapshot
from okspca.services.warm_block import WarmBlock, WarmBlockState

# A compressed response takes up to some 60 columns, few of them above rounding: that is not wide.
NARROW = 64
#: What kernels say of a moment.
NOT_FOUND, FOUND, TOO_CLOSE = range(3)


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

    def sizes(self, n_features: int, n_components: int) -> dict[str, int]:
        """Lengths of the arrays of a state: those of the block."""
        return self.block.sizes(n_features, n_components)

    def suited_to(self, moment: Moment) -> Service[Any]:
        """Keep no block beside a moment whose rows wait: it could not be kept warm in between."""
        return ExactSnapshot() if moment.folds else self

    def start(self, n_features: int, n_components: int, seed: int) -> WarmBlockState:
        """Make the state for an empty moment."""
        return self.block.start(n_features, n_components, seed)

    def period(self, state: WarmBlockState, width: int) -> int | None:
        """Only a wide moment has a block to keep warm."""
        return self.block.period(state, width) if self._is_wide(state, width) else None

    def observe(self, state: WarmBlockState, moment: Moment, change: Change | None, t: int) -> None:
        """Keep the block warm."""
        self.block.observe(state, moment, change, t)

    def request(self, state: WarmBlockState, scaled: ScaledMoment, t: int) -> Basis:
        """Supply the exact leading block."""
        return exact_answer(scaled, state.n_components, t)

    def serve(self, state: WarmBlockState, moment: Moment, t: int) -> Basis:
        """Answer by one compiled call where the moment is narrow and well separated."""
        arrays = moment.arrays
        width = arrays.sums.shape[0]
        # The first test settles it for nearly everybody, without a call.
        if width > NARROW and self._is_wide(state, width):
            return self.block.serve(state, moment, t)
        if moment.is_ordinary:
            found, solution = _bound_solve.code(arrays, state.n_components, True)
            if found == TOO_CLOSE:
                found, solution = _bound_turn.code(arrays, state.n_components)
            if found == FOUND:
                return fresh_basis(solution, t)
        return super().serve(state, moment, t)

    def serve_uncertified(self, state: WarmBlockState, moment: Moment, t: int) -> Basis:
        """As :meth:`serve`, without the work for the certificate."""
        arrays = moment.arrays
        # A wide moment is left to the block, whose proof is part of finding the answer.
        if moment.is_ordinary and not self._is_wide(state, arrays.sums.shape[0]):
            found, (packed, _) = _bound_solve.code(arrays, state.n_components, False)
            if found == TOO_CLOSE:
                found, (packed, _) = _bound_turn.code(arrays, state.n_components)
            if found == FOUND:
                return Basis.fresh(packed, t, None)
        return super().serve_uncertified(state, moment, t)

    def _is_wide(self, state: WarmBlockState, width: int) -> bool:
        """Whether a block of guard vectors is much smaller than the moment."""
        return width > NARROW and min(width, state.n_features) > max(4 * len(state.rows), NARROW)


@compiled
def _solve(moment: MomentArrays, n_components: int, certify: bool) -> tuple[int, Solution]:
    """Solve an ordinary moment; singular values too close to each other are left to ``_turn``."""
    total, sums = ordinary_part(moment)
    if total == 0.0:
        return NOT_FOUND, no_solution()[1]
    found, sigma, rows, coefficients = gram_leading(sums, n_components)
    if not found:
        return TOO_CLOSE, no_solution()[1]
    # What is not proven is returned as such where nobody asked for a proof.
    ritz, numbers = sigma * sigma, (0.0, UNPROVEN, UNPROVEN, UNPROVEN, 0.0)
    if certify:
        sizes = total, dropped_sum(moment)
        projected = row_products(rows, sums)
        n_summed = sums.shape[0] + sums.shape[1]
        numbers = bounds_of_combination(projected, coefficients, ritz, n_summed, sizes)
    fix_signs(rows)
    is_finite, solution = certified(moment, rows, ritz, numbers)
    return FOUND if is_finite else NOT_FOUND, solution


@compiled
def _turn(moment: MomentArrays, n_components: int) -> tuple[bool, Solution]:
    """Solve a moment with a small gap: rotations of its rows are as accurate there as an SVD."""
    part = ordinary_part(moment)
    if part[0] == 0.0:
        return no_solution()
    found, theta, rows = jacobi_leading(part[1], n_components)
    return solution_from(moment, part, rows, theta) if found else no_solution()


_bound_solve, _bound_turn = BoundKernel(_solve), BoundKernel(_turn)
