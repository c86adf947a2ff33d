r"""How many components are enough, by rows that were held back.

The leading directions of the target features Psi, in whitened coordinates, are found from the first
three quarters of the pilot rows (:mod:`okspca.features.trials`).  For k = 1, 2, ... the targets T
are regressed on the first k of them, and the last quarter is predicted.  Taken is the smallest k
whose squared error is within one standard error of the smallest (the error of the difference on the
same rows), or within 1 % of it.
"""

import numpy as np

from okspca.features.cosines import CosineMap
from okspca.features.trials import Pilot
from okspca.numerics.arrays import Floats
from okspca.numerics.matrix import gram, product
from okspca.numerics.spectrum import numerical_rank
from okspca.numerics.thin_svd import thin_svd
from okspca.numerics.whitening import ridge_factor, unwhitened, whitened_rows

#: More components than these are not considered.
MOST = 32
#: Ridge that only keeps factors from failing.
NEGLIGIBLE = 1e-10
#: Errors that differ by this share are as good as equal.
EQUAL = 0.01


def errors_by_number(feature_map: CosineMap, pilot: Pilot, Psi: Floats, ridge: float) -> Floats:
    """Squared errors of the rows held back (numbers of components x rows).

    ``Psi`` holds the target features of all rows that directions are found for.

    Examples
    --------
    >>> from okspca.features import FourierMap
    >>> random = np.random.RandomState(0)
    >>> Z = random.normal(size=(400, 2))
    >>> T = np.sin(Z)
    >>> feature_map = FourierMap.sample(2, 64, bandwidth=1.0)
    >>> errors = errors_by_number(feature_map, Pilot(Z, T, np.ones(400)), T, ridge=1e-4)
    >>> (errors.sum(axis=1) / (T[300:] ** 2).sum()).round(1).tolist()
    [0.5, 0.0]
    """
    learn, weights = pilot.learn, pilot.weights
    share = weights[:learn] / weights[:learn].sum()
    Phi, mean_T = feature_map.transform(pilot.Z), product(share, pilot.T[:learn])
    mean, mean_Psi = product(share, Phi[:learn]), product(share, Psi[:learn])
    root = np.sqrt(share)[:, np.newaxis]
    left = root * (Phi[:learn] - mean)
    R = ridge_factor(gram(left), ridge)
    cross = product((root * (Psi[:learn] - mean_Psi)).T, left)
    found = thin_svd(whitened_rows(R, cross))
    W = unwhitened(R, found.right[: min(numerical_rank(found.sigma), MOST)].T)
    inside, known = product(left, W), root * (pilot.T[:learn] - mean_T)
    # In these coordinates components do not correlate: each adds its own part to a prediction.
    turn = ridge_factor(gram(inside), NEGLIGIBLE)
    coefficients = whitened_rows(turn, product(known.T, inside))
    ahead = whitened_rows(turn, product(Phi[learn:] - mean, W))
    rest, errors = pilot.T[learn:] - mean_T, np.empty((W.shape[1], len(ahead)))
    for k in range(W.shape[1]):
        rest = rest - np.outer(ahead[:, k], coefficients[:, k])
        errors[k] = weights[learn:] * (rest**2).sum(axis=1)
    return errors


def fewest(errors: Floats) -> int:
    """Smallest number of components whose error is as good as the smallest.

    Examples
    --------
    >>> fewest(np.array([[4.0, 4.0], [1.0, 2.0], [1.1, 1.8]])), fewest(np.ones((3, 2)))
    (2, 1)
    """
    best = errors[int(np.argmin(errors.sum(axis=1)))]
    for number, own in enumerate(errors, start=1):
        losses = own - best
        standard_error = np.sqrt(losses.size) * losses.std()
        if losses.sum() <= max(standard_error, EQUAL * best.sum()):
            return number
    return len(errors)
