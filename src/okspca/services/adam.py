r"""Adam-style maintenance of an orthonormal basis: one step per observation.

With the clipped tangent gradient g (global Frobenius norm at most c) and elementwise operations::

    s <- s + 1,   m <- b1 m + (1 - b1) g,   v <- b2 v + (1 - b2) g^2,
    D = a (m / (1 - b1^s)) / (sqrt(v / (1 - b2^s)) + eps),      U <- qf(U + D),

where qf is the signed QR.  The arrays stay in ambient coordinates, without transport.  This is the
paper's tracker, kept for comparison and reproduction; it is not known to converge.  A basis that
becomes non-finite is replaced by a Gaussian one seeded with the sample counter, and counted in
:meth:`Adam.health`.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, NamedTuple

import numpy as np

from okspca.moments import Moment, MomentArrays
from okspca.moments.arrays import EncodedRows, add_encoded
from okspca.numerics.arrays import Floats, Integers
from okspca.numerics.compiled import BoundKernel, compiled
from okspca.numerics.matrix import multiplied
from okspca.numerics.orthonormal import is_finite, orthonormalise_rows
from okspca.numerics.products import row_products
from okspca.services.checks import check_fraction, check_positive, make_plain
from okspca.services.gradient import (
    GradientTracker,
    TrackerArrays,
    TrackerState,
    add_scaled,
    copy_entries,
    scale_entries,
    tangent_gradient,
    tracker_arrays,
)
from okspca.services.stored import Seed, Stored

STEPS, CLIPPED, SHORTENED, RESTRICTED = range(4)
CLIP_GUARD = 1e-12
MOST_HALVINGS = 40


class AdamSettings(NamedTuple):
    """The settings as the kernel sees them; infinity disables a limit."""

    learning_rate: float
    clip: float
    beta1: float
    beta2: float
    epsilon: float
    max_displacement: float
    max_basis_change: float


class AdamArrays(NamedTuple):
    """First and second moments of the gradient, the displacement, and counters."""

    first: Annotated[Floats, Stored(("k", "D"), "scratch")]
    second: Annotated[Floats, Stored(("k", "D"), "scratch")]
    displacement: Annotated[Floats, Stored(("k", "D"), "scratch")]
    previous: Annotated[Floats, Stored(("k", "D"), "scratch")]
    counters: Annotated[Integers, Stored((4,))]


@dataclass
class AdamState(TrackerState):
    """Tracker state with the adaptive arrays."""

    adaptive: AdamArrays | None = None


@dataclass(frozen=True)
class Adam(GradientTracker[AdamState]):
    """The paper's Adam-style tracker.

    Parameters
    ----------
    learning_rate : float
        Base step a.
    clip : float
        Largest Frobenius norm of the tangent gradient.
    beta1, beta2, epsilon : float
        Decay of the adaptive arrays and the number added outside the square root.
    max_displacement : float, optional
        Largest Frobenius norm of the displacement D; no limit by default.
    max_basis_change : float, optional
        Largest projector distance of one step; the displacement is halved until it holds.  No limit
        by default.
    random_state : int, optional
        Seed of the initial basis; by default it comes from the model's seed.

    Examples
    --------
    >>> import numpy as np
    >>> from okspca import OKSPCA
    >>> X = np.random.RandomState(0).normal(size=(300, 3))
    >>> model = OKSPCA(solver=Adam(learning_rate=0.03), n_random_features=32, random_state=0)
    >>> model.partial_fit(X, X[:, 0]).basis().age
    0
    """

    learning_rate: float = 0.03
    clip: float = 0.5
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8
    max_displacement: float | None = None
    max_basis_change: float | None = None
    random_state: Seed | None = None

    def __post_init__(self) -> None:
        """Make the settings plain, and check them."""
        make_plain(self)
        check_positive(
            learning_rate=self.learning_rate,
            clip=self.clip,
            epsilon=self.epsilon,
            max_displacement=self.max_displacement,
            max_basis_change=self.max_basis_change,
        )
        check_fraction(beta1=self.beta1, beta2=self.beta2)

    def start(self, n_features: int, n_components: int, seed: int) -> AdamState:
        """Make the initial basis and empty adaptive arrays."""
        first = seed if self.random_state is None else self.random_state
        shape = (n_components, n_features)
        empty = (np.zeros(shape), np.zeros(shape), np.zeros(shape), np.zeros(shape))
        return AdamState(
            n_features,
            n_components,
            tracker_arrays(n_features, n_components, first),
            adaptive=AdamArrays(*empty, np.zeros(4, dtype=np.int64)),
        )

    def learn_and_step(
        self, state: AdamState, moment: Moment, rows: EncodedRows, start: int
    ) -> int:
        """Learn rows from ``start`` on, with one Adam step after each."""
        clock = (start, moment.forgetting)
        return _scan(moment.arrays, rows, clock, state.arrays, _adaptive(state), self._settings)

    def advance(self, state: AdamState, moment: Moment) -> bool:
        """Take one Adam step."""
        return _bound_step.code(moment.arrays, state.arrays, _adaptive(state), self._settings)

    def health(self, state: AdamState) -> dict[str, float]:
        """Steps, clips and limits applied, beside what every tracker reports."""
        counters = _adaptive(state).counters
        return {
            "steps": int(counters[STEPS]),
            "clipped": int(counters[CLIPPED]),
            "shortened": int(counters[SHORTENED]),
            "restricted": int(counters[RESTRICTED]),
            **super().health(state),
        }

    @cached_property
    def _settings(self) -> AdamSettings:
        """The settings as plain numbers."""
        unlimited = float("inf")
        return AdamSettings(
            float(self.learning_rate),
            float(self.clip),
            float(self.beta1),
            float(self.beta2),
            float(self.epsilon),
            unlimited if self.max_displacement is None else float(self.max_displacement),
            unlimited if self.max_basis_change is None else float(self.max_basis_change),
        )


def _adaptive(state: AdamState) -> AdamArrays:
    """The adaptive arrays, which every started state has."""
    assert state.adaptive is not None
    return state.adaptive


@compiled
def _scan(
    moment: MomentArrays,
    rows: EncodedRows,
    clock: tuple[int, float],
    tracker: TrackerArrays,
    adaptive: AdamArrays,
    settings: AdamSettings,
) -> int:
    """Learn rows from ``clock[0]`` on; return how many are done, negative where the basis broke."""
    start, forgetting = clock
    left, right = np.empty(rows.Phi.shape[1]), np.empty(rows.coordinates.shape[1])
    for i in range(start, rows.Phi.shape[0]):
        add_encoded(moment, rows, i, forgetting, left, right)
        if not _step(moment, tracker, adaptive, settings):
            return -(i + 1)
    return rows.Phi.shape[0]


@compiled
def _step(
    moment: MomentArrays, tracker: TrackerArrays, adaptive: AdamArrays, settings: AdamSettings
) -> bool:
    """One Adam step in place; False where the new basis is not finite."""
    counters = adaptive.counters
    norm = tangent_gradient(moment, tracker)
    gradient = tracker.gradient
    if norm > settings.clip:
        scale_entries(gradient, settings.clip / (norm + CLIP_GUARD))
        counters[CLIPPED] += 1
    counters[STEPS] += 1
    # Counted before: the bias corrections divide by zero at step 0.
    size = _displace(gradient, adaptive, settings, counters[STEPS])
    if size > settings.max_displacement:
        scale_entries(adaptive.displacement, settings.max_displacement / (size + CLIP_GUARD))
        counters[SHORTENED] += 1
    if settings.max_basis_change < np.inf:
        _restricted_move(tracker, adaptive, settings.max_basis_change)
    else:
        add_scaled(tracker.rows, 1.0, adaptive.displacement)
        orthonormalise_rows(tracker.rows, tracker.triangular, tracker.reflectors)
    return is_finite(tracker.rows)


_bound_step = BoundKernel(_step)


@compiled
def _displace(gradient: Floats, adaptive: AdamArrays, settings: AdamSettings, step: int) -> float:
    """Update the adaptive arrays, fill the displacement, return its Frobenius norm."""
    first, second, displacement = adaptive.first, adaptive.second, adaptive.displacement
    b1, b2 = settings.beta1, settings.beta2
    correction1, correction2 = 1.0 - b1**step, 1.0 - b2**step
    square = 0.0
    for i in range(gradient.shape[0]):
        for j in range(gradient.shape[1]):
            g = gradient[i, j]
            first[i, j] = b1 * first[i, j] + (1.0 - b1) * g
            second[i, j] = b2 * second[i, j] + (1.0 - b2) * g * g
            denominator = np.sqrt(second[i, j] / correction2) + settings.epsilon
            displacement[i, j] = settings.learning_rate * (first[i, j] / correction1) / denominator
            square += displacement[i, j] * displacement[i, j]
    return np.sqrt(square)


@compiled
def _restricted_move(tracker: TrackerArrays, adaptive: AdamArrays, limit: float) -> None:
    """Move by the displacement, halved until the projector distance is within ``limit``."""
    previous, rows = adaptive.previous, tracker.rows
    copy_entries(previous, rows)
    for halving in range(MOST_HALVINGS):
        # Each try begins where the step began: halvings must not add up.
        copy_entries(rows, previous)
        add_scaled(rows, 0.5**halving, adaptive.displacement)
        orthonormalise_rows(rows, tracker.triangular, tracker.reflectors)
        # The squared projector distance is twice what the new rows hold outside the old span.
        inside = multiplied(row_products(rows, previous), previous)
        square = 0.0
        for i in range(rows.shape[0]):
            for j in range(rows.shape[1]):
                square += (rows[i, j] - inside[i, j]) ** 2
        if np.sqrt(2.0 * square) <= limit:
            return
        # However often it was halved, one step counts once.
        if halving == 0:
            adaptive.counters[RESTRICTED] += 1
    copy_entries(rows, previous)
