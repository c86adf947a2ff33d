r"""The known moment of the population study, and the models that are to find its subspace.

The known moment is ``C_* = L diag(sigma) R^T`` with squared singular values 0.49, 0.36, 0.25, 0.15;
L and R are signed-QR bases of Gaussian matrices drawn with the orientation seeds.  The stream of
seed s is :func:`okspca.datasets.spherical_pairs`; the tracker's initial basis has a seed derived
from s, so it shares no numbers with the stream.
"""

from functools import cache

import numpy as np

from okspca.datasets.counter_random import gaussian_rows
from okspca.datasets.spherical import response_bound
from okspca.diagnostics.bounds import Bounded, Separated
from okspca.estimators import OKSPCA
from okspca.features import IdentityMap
from okspca.numerics.arrays import Floats
from okspca.numerics.orthonormal import signed_qr
from okspca.services import Adam, Service
from okspca_lab.studies.workloads import INITIAL_BASIS, derived_seed

D_X, D_Y, RANK = 32, 8, 3
SQUARED_SINGULAR_VALUES = (0.49, 0.36, 0.25, 0.15)
ORIENTATION_SEEDS = (81001, 81002)
N_GROUPS = 8


@cache
def population_moment() -> Floats:
    """Return C_*.

    Examples
    --------
    >>> import numpy as np
    >>> (np.linalg.svd(population_moment())[1] ** 2).round(12).tolist()[:5]
    [0.49, 0.36, 0.25, 0.15, 0.0]
    """
    r = len(SQUARED_SINGULAR_VALUES)
    left, right = (
        signed_qr(gaussian_rows(0, d, r, seed=seed))[0]
        for d, seed in zip((D_X, D_Y), ORIENTATION_SEEDS, strict=True)
    )
    C = (left * np.sqrt(SQUARED_SINGULAR_VALUES)) @ right.T
    C.flags.writeable = False
    return C


def separated() -> Separated:
    """Return the population's spectrum at the selected rank, as a condition of the bounds."""
    return Separated(tuple(np.sqrt(SQUARED_SINGULAR_VALUES).tolist()), RANK, D_X)


def bounded() -> Bounded:
    """Return the almost sure bounds on the features, as a condition of the bounds."""
    return Bounded(float(np.sqrt(D_X)), response_bound(population_moment()))


def tracker(seed: int) -> OKSPCA:
    """Return the paper's tracker with an initialisation of its own."""
    return linear_model(Adam(random_state=derived_seed(seed, INITIAL_BASIS)))


def linear_model(solver: str | Service, stability: int = 0) -> OKSPCA:  # type: ignore[type-arg]
    """Return a model with identity features and no standardiser."""
    return OKSPCA(
        RANK,
        input_map=IdentityMap(D_X),
        target_map=IdentityMap(D_Y),
        standardize=None,
        solver=solver,
        stability=stability,
    )
