r"""A second source: random features, an evolving standardiser, a truth from 2 million rows.

Inputs and response are those of :func:`okspca.datasets.response_surface` with ten inputs; features
are 64 random Fourier features on either side, drawn once for all seeds; the standardisers are
causal, so the features of early rows differ from those of late ones.  Nobody knows the population
subspace in closed form.  It is taken from one more stream, so long that its own error is small
beside what is measured (at 2,000,000 rows an eighth of that at 32,768).
"""

from functools import cache

import numpy as np

from okspca.datasets import response_surface
from okspca.estimators import OKSPCA
from okspca.features import FourierMap
from okspca.numerics.arrays import Floats
from okspca.numerics.subspace import principal_angles, projector_distance
from okspca_lab.studies.population.models import N_GROUPS
from okspca_lab.studies.population.recovery import estimated
from okspca_lab.studies.rows import Cell, Row

N_INPUTS, N_FEATURES, RANK = 10, 64, 2
MAP_SEED = 7000
#: Streams of the truth start here; those that are measured have small seeds.
TRUTH_SEED, TRUTH_BLOCK = 1_000_000, 20_000


def confirm(cell: Cell) -> list[Row]:
    """Run one seed through all sizes: ``{"source": "random features", "seed": 0, ...}``."""
    seed, sizes, truth_rows = cell["seed"], cell["sizes"], cell["truth_rows"]
    truth = population_basis(truth_rows)
    X, y = response_surface(sizes[-1], N_INPUTS, seed)
    model, rows, start = feature_model(N_GROUPS), [], 0
    for n in sizes:
        model.partial_fit(X[start:n], y[start:n])
        U = model.basis().vectors
        row = {
            "d_stat": projector_distance(U, truth),
            "angle": float(principal_angles(U, truth)[0]),
        }
        rows.append({"seed": seed, "n": n, **row, **estimated(model), "truth_rows": truth_rows})
        start = n
    return rows


def feature_model(stability: int) -> OKSPCA:
    """Return the model, with the maps that all streams share."""
    maps = [
        FourierMap.sample(d, N_FEATURES, bandwidth=float(np.sqrt(d)), seed=MAP_SEED + side)
        for side, d in enumerate((N_INPUTS, 1))
    ]
    return OKSPCA(RANK, input_map=maps[0], target_map=maps[1], stability=stability)


@cache
def population_basis(n_rows: int) -> Floats:
    """Learn the truth from its own long stream; done once per process.

    Examples
    --------
    >>> population_basis(1000).shape
    (64, 2)
    """
    model = feature_model(0)
    for block in range(-(-n_rows // TRUTH_BLOCK)):
        n = min(TRUTH_BLOCK, n_rows - block * TRUTH_BLOCK)
        model.partial_fit(*response_surface(n, N_INPUTS, TRUTH_SEED + block))
    return model.basis().vectors
