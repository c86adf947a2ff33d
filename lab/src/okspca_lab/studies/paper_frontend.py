r"""From observations to the moment, as the paper describes it, in plain NumPy.

With phi, psi the features of observation t::

    mu_phi <- (1 - 1/t) mu_phi + phi / t,      mu_psi likewise,
    R      <- (1 - 1/t) R + phi psi^T / t,     C̄ = R - mu_phi mu_psi^T,     C = t C̄ / (t - 1).

C̄ is formed, and factored, at most once per observation, and only where it is needed.
"""

import numpy as np

from okspca.features import FourierMap
from okspca.numerics.arrays import Floats

VARIANCE_CLAMP = 1e-8
VARIANCE_FLOOR = 1e-7


class WelfordStandardizer:
    """Causal standardiser with the paper's variance floor.

    Examples
    --------
    >>> scaler = WelfordStandardizer(1)
    >>> for value in (2.0, 4.0):
    ...     scaler.learn(np.array([value]))
    >>> scaler.transform(np.array([5.0])).tolist()
    [2.0]
    """

    def __init__(self, n: int) -> None:
        self.count = 0
        self.mean = np.zeros(n)
        self.squares = np.zeros(n)

    def transform(self, x: Floats) -> Floats:
        """Standardise with the rows learned so far."""
        if self.count == 0:
            return x
        centred: Floats = x - self.mean
        if self.count < 2:
            return centred
        variance = np.maximum(self.squares / self.count, VARIANCE_CLAMP)
        return np.where(variance > VARIANCE_FLOOR, centred / np.sqrt(variance), centred)

    def learn(self, x: Floats) -> None:
        """Learn one row (Welford's update)."""
        self.count += 1
        difference = x - self.mean
        self.mean += difference / self.count
        self.squares += difference * (x - self.mean)


class RawMoment:
    """Running means and raw moment, and from them the centred moment.

    Examples
    --------
    >>> moment = RawMoment(1, 1)
    >>> for value in (0.0, 1.0):
    ...     moment.update(np.array([value]), np.array([3.0 * value]))
    >>> moment.centred().tolist(), moment.bessel().tolist()
    ([[0.75]], [[1.5]])
    """

    def __init__(self, n_phi: int, n_psi: int) -> None:
        self.t = 0
        self.mu_phi = np.zeros(n_phi)
        self.mu_psi = np.zeros(n_psi)
        self.R = np.zeros((n_phi, n_psi))
        self._centred: Floats | None = None
        self._factors: tuple[Floats, Floats] | None = None

    def update(self, phi: Floats, psi: Floats) -> None:
        """Learn one pair of feature vectors."""
        self.t += 1
        step = 1.0 / self.t
        self.mu_phi = (1.0 - step) * self.mu_phi + step * phi
        self.mu_psi = (1.0 - step) * self.mu_psi + step * psi
        self.R *= 1.0 - step
        self.R += step * np.outer(phi, psi)
        self._centred = self._factors = None

    def centred(self) -> Floats:
        """C̄, formed once per observation."""
        if self._centred is None:
            self._centred = self.R - np.outer(self.mu_phi, self.mu_psi)
        return self._centred

    def factored(self) -> tuple[Floats, Floats]:
        """Left singular vectors and singular values of C̄, found once per observation."""
        if self._factors is None:
            left, sigma, _ = np.linalg.svd(self.centred(), full_matrices=False)
            self._factors = left, sigma
        return self._factors

    def bessel(self) -> Floats:
        """C, zero for a single observation."""
        if self.t < 2:
            return np.zeros_like(self.R)
        return self.t / (self.t - 1.0) * self.centred()


class FourierFeatures:
    """Random Fourier features of one row, with the numbers of a drawn map.

    Examples
    --------
    >>> features = FourierFeatures(FourierMap(np.zeros((2, 1)), np.zeros(2)))
    >>> features(np.array([5.0])).tolist()
    [1.0, 1.0]
    """

    def __init__(self, drawn: FourierMap) -> None:
        self.W = np.array(drawn.weights, order="C")
        self.b = np.array(drawn.phases)

    def __call__(self, z: Floats) -> Floats:
        """Map one row."""
        features: Floats = np.sqrt(2.0 / self.b.size) * np.cos(self.W @ z + self.b)
        return features
