r"""Normalised projected gradient: one plain step per observation.

No adaptive arrays, no clipping, no line search::

    U <- qf( U + gamma G_T / (2 ||C̄||_F^2 + 1e-12) )

The tangent gradient G_T uses the Bessel moment C, the denominator C̄.
"""

from dataclasses import dataclass

import numpy as np

from okspca.moments import Moment, MomentArrays
from okspca.moments.arrays import WEIGHT, EncodedRows, add_encoded
from okspca.numerics.compiled import BoundKernel, compiled
from okspca.numerics.orthonormal import is_finite, orthonormalise_rows
from okspca.services.checks import check_positive, make_plain
from okspca.services.gradient import (
    GradientTracker,
    TrackerArrays,
    TrackerState,
    add_scaled,
    tangent_gradient,
    tracker_arrays,
)
from okspca.services.stored import Seed

DENOMINATOR_GUARD = 1e-12


@dataclass(frozen=True)
class ProjectedGradient(GradientTracker[TrackerState]):
    """The paper's projected-gradient tracker.

    Parameters
    ----------
    step : float
        Step size gamma.
    random_state : int, optional
        Seed of the initial basis; by default it comes from the model's seed.

    Examples
    --------
    >>> import numpy as np
    >>> from okspca import OKSPCA
    >>> X = np.random.RandomState(0).normal(size=(300, 3))
    >>> model = OKSPCA(solver=ProjectedGradient(step=1.0), n_random_features=32, random_state=0)
    >>> model.partial_fit(X, X[:, 0]).basis().age
    0
    """

    step: float = 1.0
    random_state: Seed | None = None

    def __post_init__(self) -> None:
        """Make the setting plain, and check it."""
        make_plain(self)
        check_positive(step=self.step)

    def start(self, n_features: int, n_components: int, seed: int) -> TrackerState:
        """Make the initial basis."""
        first = seed if self.random_state is None else self.random_state
        return TrackerState(
            n_features, n_components, tracker_arrays(n_features, n_components, first)
        )

    def learn_and_step(
        self, state: TrackerState, moment: Moment, rows: EncodedRows, start: int
    ) -> int:
        """Learn rows from ``start`` on, with one projected-gradient step after each."""
        return _scan(
            moment.arrays, rows, (start, moment.forgetting), state.arrays, float(self.step)
        )

    def advance(self, state: TrackerState, moment: Moment) -> bool:
        """Take one projected-gradient step."""
        return _bound_step.code(moment.arrays, state.arrays, float(self.step))


@compiled
def _scan(
    moment: MomentArrays,
    rows: EncodedRows,
    clock: tuple[int, float],
    tracker: TrackerArrays,
    step: float,
) -> int:
    """Learn rows from ``clock[0]`` on; return how many are done, negative where the basis broke."""
    start, forgetting = clock
    left, right = np.empty(rows.Phi.shape[1]), np.empty(rows.coordinates.shape[1])
    for i in range(start, rows.Phi.shape[0]):
        add_encoded(moment, rows, i, forgetting, left, right)
        if not _step(moment, tracker, step):
            return -(i + 1)
    return rows.Phi.shape[0]


@compiled
def _step(moment: MomentArrays, tracker: TrackerArrays, step: float) -> bool:
    """One projected-gradient step in place; False where the new basis is not finite."""
    tangent_gradient(moment, tracker)
    weight = moment.totals[WEIGHT]
    square = 0.0
    for i in range(moment.sums.shape[0]):
        for j in range(moment.sums.shape[1]):
            square += moment.sums[i, j] * moment.sums[i, j]
    # Here C̄, in the gradient C: the two divisors are those of the paper.
    norm = 2.0 * square / (weight * weight) + DENOMINATOR_GUARD
    add_scaled(tracker.rows, step / norm, tracker.gradient)
    orthonormalise_rows(tracker.rows, tracker.triangular, tracker.reflectors)
    return is_finite(tracker.rows)


_bound_step = BoundKernel(_step)
