r"""A moment as services are shown it: scaled by a power of two, or known to be zero.

A moment at rounding level *is* zero: ``||C̄||_F <= 64 eps (s_phi d_psi + d_phi s_psi)``, with ``s``
the running root mean square of the feature norms and ``d`` that of the deviations from their means.
(A deviation carries a rounding error of ``eps s``, so this is what rounding alone can make of a
product.)
"""

from typing import NamedTuple

import numpy as np

from okspca.moments.arrays import (
    WEIGHT,
    GroupArrays,
    MomentArrays,
    dropped_norm,
    feature_sizes,
    level_of,
)
from okspca.moments.followed_pencil import FollowedPencil
from okspca.moments.pencil import Pencil
from okspca.moments.units import Units
from okspca.numerics.accurate import norm
from okspca.numerics.arrays import Floats, unit_scaled


class ScaledMoment(NamedTuple):
    """The moment as services and certificates see it, at one point of the stream.

    Attributes
    ----------
    Ct : ndarray of shape (width, D_x)
        C̄ transposed, divided by ``scale``; its largest magnitude is in [0.5, 1) unless it is zero.
    scale : float
        The power of two that was divided out.
    dropped : float
        Bound on the Frobenius norm of what compression left out, in units of ``scale``.
    is_zero : bool
        The moment is at rounding level: there is no target.
    labels : bool
        The target features are centred labels, so the rows of ``Ct`` sum to zero.
    pencil : Pencil, FollowedPencil or None
        Where ``Ct`` was solved for: the eigenproblem of stored numbers that it stands for.

    Examples
    --------
    >>> from okspca.moments import CrossMoment
    >>> CrossMoment(3, 2).scaled().is_zero
    True
    """

    Ct: Floats
    scale: float
    dropped: float
    is_zero: bool
    labels: bool
    pencil: Pencil | FollowedPencil | None = None


def scaled_of(
    arrays: MomentArrays, units: Units, *, labels: bool, is_constant: bool
) -> ScaledMoment:
    """Snapshot of C̄ in its units; ``is_constant``: it is known to be zero."""
    weight = max(float(arrays.totals[WEIGHT]), np.finfo(np.float64).tiny)
    # Scale before dividing by the weight: sums near the largest number must not overflow.
    scaled, factor = unit_scaled(units.of_left(units.of_right(arrays.sums)))
    Ct, rest = unit_scaled(scaled / weight)
    scale = factor * rest
    is_zero = is_constant or norm(Ct) <= _rounding_level(arrays, units) / scale
    return ScaledMoment(Ct, scale, _dropped_norm(arrays, units) / scale, is_zero, labels)


def groups_in_units(groups: GroupArrays, units: Units) -> GroupArrays:
    """Show sub-moments in the units in which the moment is shown."""
    if units.are_plain:
        return groups
    sums = units.of_left(groups.sums)
    return groups._replace(
        sums=np.moveaxis(units.of_right(np.moveaxis(sums, 1, 0)), 0, 1),
        left_means=units.of_left(groups.left_means),
        right_means=units.of_right(groups.right_means.T).T,
    )


def _dropped_norm(arrays: MomentArrays, units: Units) -> float:
    """Bound on the norm of what compression left out, in the units in which C̄ is shown."""
    smallest = 1.0 if units.left is None else float(units.left.divisor.min())
    return float(dropped_norm(arrays)) / smallest


def _rounding_level(arrays: MomentArrays, units: Units) -> float:
    """Largest norm of C̄ that rounding alone explains, in the units in which it is shown."""
    sizes = feature_sizes(arrays)
    left = sizes[:2] if units.left is None else (units.left.square, units.left.spread)
    right = sizes[2:] if units.right is None else (units.right.square, units.right.spread)
    return level_of((*left, *right))
