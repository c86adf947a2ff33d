"""Ways to supply a basis of the current moment (sections 2.2 and 5.1, S5.1).

Call ``observe`` after each observation and ``request`` when a basis is wanted. A response is
``(basis or None, rank, observation number at which the basis was built or None)``.
"""

from __future__ import annotations

from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .geometry import helmert, numerical_rank, signed_qr
from .moments import RawMoment

Array: TypeAlias = NDArray[np.float64]
Response: TypeAlias = tuple[Array | None, int, int | None]


class Service(Protocol):
    """What every service offers."""

    def observe(self, moment: RawMoment) -> None:
        """Maintain the state after an observation."""

    def request(self, moment: RawMoment) -> Response:
        """Deliver a basis without changing the maintained state."""


def leading_block(matrix: Array, k: int, t: int) -> Response:
    """Leading left singular vectors of ``matrix``, at most k and at most its rank, Eq. (20)."""
    left, sigma, _ = np.linalg.svd(matrix, full_matrices=False)
    q = min(k, numerical_rank(sigma))
    if q == 0:
        return None, 0, t
    return signed_qr(left[:, :q])[0], q, t


def within_span(U: Array, moment: RawMoment) -> Response:
    """Best block inside the span of U at the local rank, Eq. (12) with the rule of Eq. (20)."""
    left, sigma, _ = np.linalg.svd(U.T @ moment.centred(), full_matrices=False)
    q = min(U.shape[1], numerical_rank(sigma))
    if q == 0:
        return None, 0, moment.t
    return signed_qr(U @ left[:, :q])[0], q, moment.t


def tangent_gradient(U: Array, C: Array) -> Array:
    """Tangent part at U of the gradient of the captured energy, first two lines of Eq. (9)."""
    gradient = 2.0 * C @ (C.T @ U)
    inner = U.T @ gradient
    return np.asarray(gradient - U @ ((inner + inner.T) / 2.0), dtype=np.float64)


class Adam:
    """Basis kept by ambient Adam steps and signed QR, Eqs. (9) and (10)."""

    def __init__(
        self,
        U0: Array,
        rate: float = 0.03,
        clip: float = 0.5,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-8,
    ) -> None:
        self.U: Array = np.array(U0, dtype=np.float64)
        self.rate, self.clip = rate, clip
        self.beta1, self.beta2, self.eps = beta1, beta2, eps
        self.s = 0
        self.m: Array = np.zeros_like(self.U)
        self.v: Array = np.zeros_like(self.U)

    def clipped(self, gradient: Array) -> Array:
        """Global clipping, last line of Eq. (9)."""
        norm = float(np.linalg.norm(gradient))
        if norm <= self.clip:
            return gradient
        return self.clip * gradient / (norm + 1e-12)

    def observe(self, moment: RawMoment) -> None:
        """One step; a zero gradient still advances the counter and runs the QR."""
        gradient = self.clipped(tangent_gradient(self.U, moment.bessel()))
        self.s += 1
        self.m = self.beta1 * self.m + (1.0 - self.beta1) * gradient
        self.v = self.beta2 * self.v + (1.0 - self.beta2) * gradient**2
        m_hat = self.m / (1.0 - self.beta1**self.s)
        v_hat = self.v / (1.0 - self.beta2**self.s)
        step = self.rate * m_hat / (np.sqrt(v_hat) + self.eps)
        self.U = signed_qr(self.U + step)[0]

    def request(self, moment: RawMoment) -> Response:
        """Extract within the maintained span."""
        return within_span(self.U, moment)


class ProjectedGradient:
    """Basis kept by normalised tangent steps and signed QR, Eq. (21)."""

    def __init__(self, U0: Array, gamma: float) -> None:
        self.U: Array = np.array(U0, dtype=np.float64)
        self.gamma = gamma

    def observe(self, moment: RawMoment) -> None:
        """One step: divisor t - 1 in the gradient, divisor t in the normaliser."""
        tangent = tangent_gradient(self.U, moment.bessel())
        normaliser = 2.0 * float(np.sum(moment.centred() ** 2)) + 1e-12
        self.U = signed_qr(self.U + self.gamma * tangent / normaliser)[0]

    def request(self, moment: RawMoment) -> Response:
        """Extract within the maintained span."""
        return within_span(self.U, moment)


class ExactOnRequest:
    """Full thin SVD of the centred moment whenever a basis is asked for."""

    def __init__(self, k: int) -> None:
        self.k = k

    def observe(self, moment: RawMoment) -> None:
        """Nothing is maintained."""

    def request(self, moment: RawMoment) -> Response:
        """Factor the current moment."""
        return leading_block(moment.centred(), self.k, moment.t)


class Cached:
    """Exact basis refreshed at observation numbers divisible by ``period``."""

    def __init__(self, k: int, period: int) -> None:
        self.k = k
        self.period = period
        self.stored: Response = (None, 0, None)

    def observe(self, moment: RawMoment) -> None:
        """Refresh when due."""
        if moment.t % self.period == 0:
            self.stored = leading_block(moment.centred(), self.k, moment.t)

    def request(self, moment: RawMoment) -> Response:
        """Return the last refresh with its own rank and observation number."""
        basis, rank, built_at = self.stored
        return (None if basis is None else basis.copy()), rank, built_at


class ExactEach(Cached):
    """Exact basis refreshed at every observation."""

    def __init__(self, k: int) -> None:
        super().__init__(k, period=1)


class Binary:
    """Two-class direction c / ||c|| read off the first column [c, -c] (section 5.1)."""

    def __init__(self, k: int) -> None:
        self.k = k

    def observe(self, moment: RawMoment) -> None:
        """Nothing is maintained."""

    def request(self, moment: RawMoment) -> Response:
        """Normalise the first column of the current moment."""
        c = moment.centred()[:, 0]
        length = float(np.linalg.norm(c))
        if length == 0.0:
            return None, 0, moment.t
        return (c / length).reshape(-1, 1), 1, moment.t


class Contrast:
    """Exact basis through Helmert contrasts, QR and a small SVD (S5.1)."""

    def __init__(self, k: int) -> None:
        self.k = k

    def observe(self, moment: RawMoment) -> None:
        """Nothing is maintained."""

    def request(self, moment: RawMoment) -> Response:
        """Factor the contrast matrix; the rank comes from singular values, not QR entries."""
        centred = moment.centred()
        Q, R = signed_qr(centred @ helmert(centred.shape[1]))
        left, sigma, _ = np.linalg.svd(R, full_matrices=False)
        q = min(self.k, numerical_rank(sigma))
        if q == 0:
            return None, 0, moment.t
        return signed_qr(Q @ left[:, :q])[0], q, moment.t
