r"""Rules on a singular spectrum: rank, boundary gap, ties, and the contrasts of centred labels.

Spectra ``sigma`` are in descending order and are extended by zeros past their end.  Gaps are
between *squared* singular values, ``sigma_q^2 - sigma_{q+1}^2``.
"""

import numpy as np

from okspca.numerics.arrays import Floats

RANK_TOLERANCE = 1e-10
SERVICE_TIE = 1e-12
RECONSTRUCTION_TIE = 1e-10
SMALLEST_OBJECTIVE = 1e-15


def numerical_rank(sigma: Floats, tolerance: float = RANK_TOLERANCE) -> int:
    """Count the squared singular values strictly above ``tolerance`` times the largest.

    Examples
    --------
    >>> import numpy as np
    >>> numerical_rank(np.array([1.0, 2e-5, 0.9e-5])), numerical_rank(np.zeros(2))
    (2, 0)
    """
    if sigma.size == 0 or sigma[0] <= 0.0:
        return 0
    # Divided first: the square of a small singular value could vanish.
    relative = sigma / sigma[0]
    return int(np.count_nonzero(relative * relative > tolerance))


def boundary_gap(sigma: Floats, q: int) -> float:
    """Squared-spectrum gap after the leading ``q`` values (``q >= 1``)."""
    inside = float(sigma[q - 1]) if q <= sigma.size else 0.0
    outside = float(sigma[q]) if q < sigma.size else 0.0
    # Not a difference of squares, which would cancel where the two are close.
    return (inside - outside) * (inside + outside)


def is_service_tie(sigma: Floats, q: int) -> bool:
    """Tie flag of the service study: gap at most ``1e-12 max(1, sigma_1^2)``."""
    return boundary_gap(sigma, q) <= SERVICE_TIE * max(1.0, float(sigma[0]) ** 2)


def is_reconstruction_tie(sigma: Floats, q: int) -> bool:
    """Tie flag of the same-target reconstructions: gap at most ``1e-10 sigma_1^2``."""
    return boundary_gap(sigma, q) <= RECONSTRUCTION_TIE * float(sigma[0]) ** 2


def helmert(n_classes: int) -> Floats:
    """Orthonormal contrasts (C x C-1) that span the complement of the all-ones vector.

    Column ``j = 1, 2, ...`` compares class ``j + 1`` with the mean of those before it.

    Examples
    --------
    >>> helmert(3).round(4).tolist()
    [[0.7071, 0.4082], [-0.7071, 0.4082], [0.0, -0.8165]]
    """
    contrasts = np.zeros((n_classes, max(n_classes - 1, 0)))
    for j in range(1, n_classes):
        norm = np.sqrt(j * (j + 1.0))
        contrasts[:j, j - 1] = 1.0 / norm
        contrasts[j, j - 1] = -j / norm
    return contrasts
