r"""Same-target comparison: a basis against the exact solution of the *same* moment.

For a basis U of rank q and the moment C̄ with singular values sigma::

    J = ||C̄^T U||_F^2,   J* = sigma_1^2 + ... + sigma_q^2,   rho = J / J*,
    gap = sigma_q^2 - sigma_{q+1}^2,   ||P - P*||_F <= sqrt(2 J* (1 - rho) / gap).

Normalised and geometric diagnostics are undefined (None) where J* <= 1e-15.

Everything here is *measured*, in double precision: the exact solution is that of C̄ as it was
computed, which for the whitened objective has rounding errors of its own.  What is *proven*, with
all rounding, is in the certificate.
"""

from dataclasses import dataclass

import numpy as np

from okspca.numerics.arrays import Floats
from okspca.numerics.matrix import product
from okspca.numerics.spectrum import (
    SMALLEST_OBJECTIVE,
    boundary_gap,
    is_reconstruction_tie,
    is_service_tie,
)
from okspca.numerics.subspace import principal_angles, projector_distance


@dataclass(frozen=True)
class Comparison:
    """One basis against the exact leading subspace of the same rank.

    Attributes
    ----------
    rank : int
        Number of columns compared.
    objective, best_objective : float
        J and J*.
    rho : float or None
        J / J*.
    angles : tuple of float
        All principal angles in degrees, largest first; empty where undefined.
    distance : float or None
        Unnormalised Frobenius distance of the projectors.
    distance_bound : float or None
        What the objective loss and the gap allow at most, as measured; None at a tied boundary.

    Examples
    --------
    >>> import numpy as np
    >>> C = np.diag([2.0, 1.0])
    >>> report = compare(np.eye(2)[:, 1:], C, np.eye(2), np.array([2.0, 1.0]))
    >>> report.rho, report.max_angle
    (0.25, 90.0)
    """

    rank: int
    objective: float
    best_objective: float
    rho: float | None
    angles: tuple[float, ...]
    distance: float | None
    distance_bound: float | None

    @property
    def max_angle(self) -> float | None:
        """The largest principal angle in degrees."""
        return self.angles[0] if self.angles else None


@dataclass(frozen=True)
class SameTargetReport:
    """What was maintained, what it contains at best, and the exact solution of the same moment.

    Attributes
    ----------
    n_samples_seen : int
        Observation at which the report was made.
    reference_rank, comparison_rank : int
        Numerical rank of C̄, and the smaller of it and the number of components.
    singular_values : tuple of float
        Spectrum of C̄.
    gap : float or None
        Squared-spectrum gap after the comparison rank.
    service_tie, reconstruction_tie : bool or None
        The two tie flags at that boundary.
    full : Comparison or None
        The maintained basis with all its columns; None unless its rank equals the comparison rank.
    extracted : Comparison or None
        The best block of the comparison rank inside it.
    exact : Comparison or None
        The exact solution against itself: what rounding alone leaves.

    Examples
    --------
    >>> import numpy as np
    >>> from okspca import OKSPCA
    >>> X = np.random.RandomState(0).normal(size=(300, 3))
    >>> report = OKSPCA(2, solver="adam", random_state=0).fit(X, X[:, 0] ** 2).diagnose()
    >>> report.comparison_rank, report.extracted.rho < report.exact.rho
    (2, True)
    """

    n_samples_seen: int
    reference_rank: int
    comparison_rank: int
    singular_values: tuple[float, ...]
    gap: float | None
    service_tie: bool | None
    reconstruction_tie: bool | None
    full: Comparison | None
    extracted: Comparison | None
    exact: Comparison | None


def gap_bound(best_objective: float, rho: float, gap: float) -> float | None:
    """Largest projector distance that an objective ratio allows; None without a positive gap.

    Examples
    --------
    >>> gap_bound(1.0, 0.5, 1.0)
    1.0
    """
    if gap <= 0.0:
        return None
    return float(np.sqrt(2.0 * best_objective * max(1.0 - rho, 0.0) / gap))


def compare(U: Floats, C: Floats, exact: Floats, sigma: Floats) -> Comparison:
    """Compare a basis (columns) with the leading columns of the exact one.

    Parameters
    ----------
    U : ndarray of shape (D, q)
        Orthonormal basis.
    C : ndarray of shape (D, width)
        The moment C̄.
    exact : ndarray of shape (D, at least q)
        Exact left singular vectors, leading first.
    sigma : ndarray
        All singular values of C̄.
    """
    q = U.shape[1]
    objective = float(np.sum(product(C.T, U) ** 2))
    best = float(np.sum(sigma[:q] ** 2))
    # There is nothing to capture: shares and angles would be those of rounding.
    if best <= SMALLEST_OBJECTIVE:
        return Comparison(q, objective, best, None, (), None, None)
    reference = exact[:, :q]
    rho = objective / best
    return Comparison(
        q,
        objective,
        best,
        rho,
        tuple(principal_angles(U, reference).tolist()),
        projector_distance(U, reference),
        gap_bound(best, rho, boundary_gap(sigma, q)),
    )


def same_target_report(
    t: int,
    C: Floats,
    exact: tuple[Floats, Floats],
    ranks: tuple[int, int],
    bases: tuple[Floats, Floats],
) -> SameTargetReport:
    """Assemble the report.

    Parameters
    ----------
    t : int
        Observation number.
    C : ndarray
        The moment C̄.
    exact : tuple of (vectors, sigma)
        Its exact left singular vectors and singular values.
    ranks : tuple of int
        Comparison rank and reference rank.
    bases : tuple of ndarray
        The maintained basis and the block extracted from it, as columns.
    """
    vectors, sigma = exact
    q, reference_rank = ranks
    spectrum = tuple(sigma.tolist())
    if q == 0:
        return SameTargetReport(t, reference_rank, 0, spectrum, None, None, None, None, None, None)
    # A basis of another rank than the reference has no geometry to compare: it stays undefined.
    comparable = [U if U.shape[1] == q else None for U in bases]
    full, extracted, best = [
        None if U is None else compare(U, C, vectors, sigma) for U in (*comparable, vectors[:, :q])
    ]
    return SameTargetReport(
        t,
        reference_rank,
        q,
        spectrum,
        boundary_gap(sigma, q),
        is_service_tie(sigma, q),
        is_reconstruction_tie(sigma, q),
        full,
        extracted,
        best,
    )
