r"""What became of each request: rank, freshness and geometry, and how they are counted.

The reference is the offline full moment C̄ after the same observation::

    r_ref = #{j : sigma_j^2 > 1e-10 sigma_1^2},     q_ref = min(k, r_ref).

A request with q_ref > 0 is a *positive reference*.  It is *matched* by a valid answer of exactly
q_ref columns; only then are objective ratio, angle and distance defined, always against the
current moment.  All other positive references are *shortfalls*: *missing* (no valid answer) or
*unequal* (a valid one of another rank).  *Stale* (built before the current observation) and *tied*
(the reference's boundary gap is at most ``1e-12 max(1, sigma_1^2)``) overlap these kinds.  What is
undefined stays NaN and is never filled.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from okspca.basis import Status
from okspca.numerics.arrays import Floats, Integers
from okspca.numerics.spectrum import boundary_gap, is_service_tie, numerical_rank
from okspca.numerics.subspace import principal_angles, projector_distance
from okspca_lab.studies.rows import Row

STATUSES = tuple(Status)


@dataclass(frozen=True)
class Reference:
    """The exact answer for one moment.

    Attributes
    ----------
    C : ndarray of shape (D_x, D_y)
        The moment.
    basis : ndarray of shape (D_x, q)
        Its leading left singular vectors.
    rank, q : int
        r_ref and q_ref.
    best : float
        The largest objective value of q columns.
    gap : float
        Squared-spectrum gap after them.
    tied : bool
        Whether that gap counts as a tie.

    Examples
    --------
    >>> reference = reference_of(np.diag([2.0, 1.0, 0.0]), 1)
    >>> reference.rank, reference.q, reference.best, reference.gap, reference.tied
    (2, 1, 4.0, 3.0, False)
    """

    C: Floats
    basis: Floats
    rank: int
    q: int
    best: float
    gap: float
    tied: bool


def reference_of(C: Floats, n_components: int) -> Reference:
    """Factor a moment with NumPy's full thin SVD."""
    left, sigma, _ = np.linalg.svd(C, full_matrices=False)
    rank = numerical_rank(sigma)
    q = min(n_components, rank)
    if q == 0:
        return Reference(C, left[:, :0], rank, 0, 0.0, 0.0, False)
    best = float(np.sum(sigma[:q] ** 2))
    return Reference(
        C, left[:, :q], rank, q, best, boundary_gap(sigma, q), is_service_tie(sigma, q)
    )


class Ledger:
    """One service's answers after every observation of a stream, beside the reference.

    Parameters
    ----------
    n_rows : int
        Length of the stream.

    Examples
    --------
    >>> ledger = Ledger(2)
    >>> ledger.enter(1, reference_of(np.zeros((3, 2)), 1), None, 1, Status.NO_TARGET)
    >>> ledger.enter(2, reference_of(np.eye(3, 2), 1), np.eye(3)[:, :1], 2, Status.VALID)
    >>> row = ledger.summary(np.array([1, 2]))
    >>> row["requests"], row["positive"], row["matched"], row["no_target"], row["rho"]
    (2, 1, 1, 1, 1.0)
    """

    def __init__(self, n_rows: int) -> None:
        self.q_ref: Integers = np.zeros(n_rows, dtype=np.int64)
        self.q_out: Integers = np.zeros(n_rows, dtype=np.int64)
        self.built_at: Integers = np.zeros(n_rows, dtype=np.int64)
        self.status: Integers = np.zeros(n_rows, dtype=np.int64)
        self.tied = np.zeros(n_rows, dtype=bool)
        self.rho = np.full(n_rows, np.nan)
        self.angle = np.full(n_rows, np.nan)
        self.distance = np.full(n_rows, np.nan)

    def enter(
        self,
        t: int,
        reference: Reference,
        vectors: Floats | None,
        built_at: int,
        status: Status,
    ) -> None:
        """Note the answer after observation ``t`` (from 1)."""
        i = t - 1
        self.q_ref[i], self.tied[i] = reference.q, reference.tied
        self.q_out[i] = 0 if vectors is None else vectors.shape[1]
        self.built_at[i], self.status[i] = built_at, STATUSES.index(status)
        if status is Status.VALID and self.q_out[i] == reference.q > 0:
            assert vectors is not None
            self.rho[i], self.angle[i], self.distance[i] = geometry(reference, vectors)

    def is_status(self, status: Status) -> NDArray[np.bool_]:
        """Where answers have a status."""
        return self.status == STATUSES.index(status)

    @property
    def positive(self) -> NDArray[np.bool_]:
        """Where the reference has a target."""
        return self.q_ref > 0

    @property
    def matched(self) -> NDArray[np.bool_]:
        """Where a valid answer has the rank of the reference."""
        return self.positive & self.is_status(Status.VALID) & (self.q_out == self.q_ref)

    @property
    def stale(self) -> NDArray[np.bool_]:
        """Where an answer was built from an older moment."""
        observations = np.arange(1, self.q_ref.size + 1)
        built = ~self.is_status(Status.NOT_INITIALISED)
        return built & (self.built_at < observations)

    def summary(self, requests: Integers) -> Row:
        """Count and average over requested observations (from 1)."""
        at = np.zeros(self.q_ref.size, dtype=bool)
        at[requests - 1] = True
        valid, matched = self.is_status(Status.VALID), self.matched & at
        short = at & self.positive & ~self.matched
        counts = {
            "requests": at,
            "positive": at & self.positive,
            "matched": matched,
            "missing": short & ~valid,
            "unequal": short & valid,
            "excess": short & valid & (self.q_out > self.q_ref),
            "stale": at & self.stale,
            "tied": at & self.tied,
            **{status.name.lower(): at & self.is_status(status) for status in Status},
        }
        row: Row = {name: int(np.count_nonzero(where)) for name, where in counts.items()}
        row |= {name: mean_of(getattr(self, name)[matched]) for name in GEOMETRY}
        row["worst_angle"] = float(self.angle[matched].max()) if matched.any() else None
        return row


GEOMETRY = ("rho", "angle", "distance")
COUNTS = (
    "requests",
    "positive",
    "matched",
    "missing",
    "unequal",
    "excess",
    "stale",
    "tied",
    *(status.name.lower() for status in Status),
)


def geometry(reference: Reference, vectors: Floats) -> tuple[float, float, float]:
    """Objective ratio, largest principal angle in degrees, and projector distance."""
    rho = float(np.sum((reference.C.T @ vectors) ** 2)) / reference.best
    angle = float(principal_angles(vectors, reference.basis)[0])
    return rho, angle, projector_distance(vectors, reference.basis)


def mean_of(values: Floats) -> float | None:
    """Mean of what is defined; None where nothing is."""
    return float(values.mean()) if values.size else None
