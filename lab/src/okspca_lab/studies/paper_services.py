r"""The services of the paper, in plain NumPy, one observation at a time.

This is the build that our own is compared with, in time and in quality.  It follows the equations
and uses NumPy as one would at a desk: no needless work, no compiled code, no clever algebra.  So it
takes nothing from the optimised core.

A request applies the rank rule, cuts the leading block, takes its signed QR, copies it, and checks
its shape and that it is finite.  It changes nothing that is maintained.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from okspca.basis import Status
from okspca.errors import DataError, NumericalError
from okspca.numerics.arrays import Floats
from okspca.numerics.spectrum import helmert
from okspca_lab.studies.paper_frontend import FourierFeatures, RawMoment, WelfordStandardizer
from okspca_lab.studies.workloads import PROJECTED_GRADIENT_STEPS, Maps, Regime

RANK_TOLERANCE = 1e-10
GUARD = 1e-12
DEFAULT_STEP = 0.1


class PaperAnswer(NamedTuple):
    """The response to a request.

    Attributes
    ----------
    basis : ndarray of shape (D_x, rank) or None
        Orthonormal columns, a private copy; None where there are none.
    rank : int
        Number of columns.
    built_at : int
        Observation whose moment was factored; 0 before the first factorisation.
    status : Status
        Valid, not initialised, or no target.
    """

    basis: Floats | None
    rank: int
    built_at: int
    status: Status


class Factors(NamedTuple):
    """Singular values, left singular vectors (inside ``frame``, if any) and their observation."""

    sigma: Floats
    left: Floats
    built_at: int
    frame: Floats | None = None


class PaperService(ABC):
    """A way of supplying a basis: follows the stream, and finds factors when asked."""

    @abstractmethod
    def observe(self, moment: RawMoment) -> None:
        """Follow the stream, after each observation."""

    @abstractmethod
    def factors(self, moment: RawMoment) -> Factors | None:
        """Find the factors that a request is answered from; None where there are none yet."""


class _Idle(PaperService):
    """A service that maintains nothing."""

    def observe(self, moment: RawMoment) -> None:
        """Do nothing."""


class AccumulateOnly(_Idle):
    """The control: learns the moment and never has a basis."""

    def factors(self, moment: RawMoment) -> Factors | None:
        """There are none."""
        return None


class ExactOnRequest(_Idle):
    """Full thin SVD of C̄ at every request."""

    def factors(self, moment: RawMoment) -> Factors | None:
        """Factor the current moment."""
        left, sigma = moment.factored()
        return Factors(sigma, left, moment.t)


class ExactCache(PaperService):
    """Full thin SVD at fixed observation numbers; with a period of one, after each observation."""

    def __init__(self, period: int) -> None:
        self.period = period
        self.last: Factors | None = None

    def observe(self, moment: RawMoment) -> None:
        """Factor when it is due."""
        if moment.t % self.period == 0:
            left, sigma = moment.factored()
            self.last = Factors(sigma, left, moment.t)

    def factors(self, moment: RawMoment) -> Factors | None:
        """Return the last factors, however old."""
        return self.last


class BinaryDirect(_Idle):
    """Two classes: C̄ = [c, -c], so c / ||c|| is the direction."""

    def factors(self, moment: RawMoment) -> Factors | None:
        """Normalise the first column."""
        c = moment.centred()[:, :1]
        norm = np.linalg.norm(c)
        left = c / norm if norm > 0.0 else c
        return Factors(np.array([np.sqrt(2.0) * norm]), left, moment.t)


class ContrastQR(_Idle):
    """Several classes: QR of C̄ H with Helmert contrasts H, then a small SVD."""

    def __init__(self, n_classes: int) -> None:
        self.H = helmert(n_classes)

    def factors(self, moment: RawMoment) -> Factors | None:
        """Factor the contrasts of the current moment."""
        Q, R = np.linalg.qr(moment.centred() @ self.H)
        left, sigma, _ = np.linalg.svd(R, full_matrices=False)
        return Factors(sigma, left, moment.t, frame=Q)


class Tracker(PaperService):
    """A maintained basis U; a request finds the best block inside its span."""

    def __init__(self, initial: Floats) -> None:
        self.U = initial.copy()

    def factors(self, moment: RawMoment) -> Factors | None:
        """Factor the small matrix U^T C̄."""
        left, sigma, _ = np.linalg.svd(self.U.T @ moment.centred(), full_matrices=False)
        return Factors(sigma, left, moment.t, frame=self.U)

    def _tangent_gradient(self, C: Floats) -> Floats:
        """G = 2 C (C^T U), projected: G - U sym(U^T G)."""
        G: Floats = 2.0 * (C @ (C.T @ self.U))
        inner = self.U.T @ G
        return G - self.U @ ((inner + inner.T) / 2.0)

    def _move(self, displacement: Floats) -> None:
        """Replace U by the signed QR of U + displacement."""
        self.U = _signed_qr(self.U + displacement)
        _check_finite(self.U)


class AdamTracker(Tracker):
    """Adam-style steps with a clipped tangent gradient, at the paper's settings."""

    rate, clip, beta1, beta2, epsilon = 0.03, 0.5, 0.9, 0.999, 1e-8

    def __init__(self, initial: Floats) -> None:
        super().__init__(initial)
        self.s = 0
        self.m = np.zeros_like(initial)
        self.v = np.zeros_like(initial)

    def observe(self, moment: RawMoment) -> None:
        """One step; also the first, whose gradient is zero."""
        g = self._tangent_gradient(moment.bessel())
        norm = np.linalg.norm(g)
        if norm > self.clip:
            g = self.clip * g / (norm + GUARD)
        self.s += 1
        self.m = self.beta1 * self.m + (1.0 - self.beta1) * g
        self.v = self.beta2 * self.v + (1.0 - self.beta2) * g**2
        m_hat = self.m / (1.0 - self.beta1**self.s)
        v_hat = self.v / (1.0 - self.beta2**self.s)
        self._move(self.rate * m_hat / (np.sqrt(v_hat) + self.epsilon))


class ProjectedGradientTracker(Tracker):
    """Plain steps, divided by 2 ||C̄||_F^2."""

    def __init__(self, initial: Floats, step: float) -> None:
        super().__init__(initial)
        self.step = step

    def observe(self, moment: RawMoment) -> None:
        """One step."""
        g = self._tangent_gradient(moment.bessel())
        size = np.linalg.norm(moment.centred())
        self._move(self.step * g / (2.0 * size**2 + GUARD))


def paper_service(name: str, regime: Regime, maps: Maps) -> PaperService:
    """Make a service by its name.

    Examples
    --------
    >>> from okspca_lab.studies.workloads import REGIMES, draw_maps
    >>> regime = REGIMES["C4"]
    >>> service_names(regime)[-2:]
    ('cache-100', 'contrast')
    >>> paper_service("cache-100", regime, draw_maps(regime, seed=0)).period
    100
    """
    start = maps.initial_basis
    step = PROJECTED_GRADIENT_STEPS.get(regime.name, DEFAULT_STEP)
    makers: dict[str, Callable[[], PaperService]] = {
        "accumulate-only": AccumulateOnly,
        "adam": lambda: AdamTracker(start),
        "projected-gradient": lambda: ProjectedGradientTracker(start, step),
        "exact-each": lambda: ExactCache(1),
        "exact-on-request": ExactOnRequest,
        "cache-10": lambda: ExactCache(10),
        "cache-100": lambda: ExactCache(100),
        "binary": BinaryDirect,
        "contrast": lambda: ContrastQR(regime.n_target_features),
    }
    if name not in makers:
        message = f"name={name!r} is no service of the paper; give one of {', '.join(makers)}."
        raise ValueError(message)
    return makers[name]()


def service_names(regime: Regime) -> tuple[str, ...]:
    """Name the services that apply to a regime: six always, one more for labels."""
    names = ("adam", "projected-gradient", "exact-each", "exact-on-request", "cache-10")
    structured = {None: (), 2: ("binary",)}.get(regime.n_classes, ("contrast",))
    return (*names, "cache-100", *structured)


class PaperPipeline:
    """Causal standardisers, features, moment and service, advanced by one observation at a time.

    Parameters
    ----------
    regime : Regime
        Dimensions.
    maps : Maps
        The feature maps.
    service : PaperService
        How a basis is supplied.

    Examples
    --------
    >>> from okspca_lab.studies.workloads import REGIMES, draw_maps, stream
    >>> regime = REGIMES["C2"]
    >>> pipeline = PaperPipeline(regime, draw_maps(regime, seed=0), ExactOnRequest())
    >>> for x, y in zip(*stream(regime, seed=0, n_rows=50), strict=True):
    ...     pipeline.step(x, y)
    >>> basis, rank, built_at, status = pipeline.request()
    >>> basis.shape, rank, built_at, status.name
    ((64, 1), 1, 50, 'VALID')
    """

    def __init__(self, regime: Regime, maps: Maps, service: PaperService) -> None:
        self.regime = regime
        self.service = service
        self.moment = RawMoment(regime.n_input_features, regime.n_target_features)
        self.input_scaler = WelfordStandardizer(regime.n_inputs)
        self.target_scaler = WelfordStandardizer(1)
        self._phi = FourierFeatures(maps.input_map)
        self._psi = None if maps.target_map is None else FourierFeatures(maps.target_map)

    def step(self, x: Floats, y: float) -> None:
        """Learn one observation: features with the past, moment, service, then standardisers."""
        if x.shape != (self.regime.n_inputs,) or not (np.isfinite(x).all() and np.isfinite(y)):
            message = f"x must be {self.regime.n_inputs} finite numbers and y a finite one."
            raise DataError(message)
        target = np.array([y], dtype=np.float64)
        phi = self._phi(self.input_scaler.transform(x))
        self.moment.update(phi, self._target_features(target))
        self.service.observe(self.moment)
        self.input_scaler.learn(x)
        if self._psi is not None:
            self.target_scaler.learn(target)

    def request(self) -> PaperAnswer:
        """Supply a basis; change nothing."""
        if self.moment.t == 0:
            return PaperAnswer(None, 0, 0, Status.NOT_INITIALISED)
        return answer_from(self.service, self.moment, self.regime.n_components)

    def _target_features(self, target: Floats) -> Floats:
        """Features of a standardised response, or the indicator of a class."""
        if self._psi is not None:
            return self._psi(self.target_scaler.transform(target))
        indicator = np.zeros(self.regime.n_target_features)
        indicator[int(target[0])] = 1.0
        return indicator


def answer_from(service: PaperService, moment: RawMoment, n_components: int) -> PaperAnswer:
    """Ask a service that has followed a moment; change nothing."""
    factors = service.factors(moment)
    if factors is None:
        return PaperAnswer(None, 0, 0, Status.NOT_INITIALISED)
    q = min(n_components, _rank(factors.sigma))
    if q == 0:
        return PaperAnswer(None, 0, factors.built_at, Status.NO_TARGET)
    block = factors.left[:, :q]
    basis = _signed_qr(block if factors.frame is None else factors.frame @ block).copy()
    assert basis.shape == (moment.mu_phi.size, q)
    _check_finite(basis)
    return PaperAnswer(basis, q, factors.built_at, Status.VALID)


def _signed_qr(matrix: Floats) -> Floats:
    """Orthonormal factor of the QR whose triangular diagonal is never negative."""
    Q, R = np.linalg.qr(matrix)
    return Q * np.where(np.diagonal(R) < 0.0, -1.0, 1.0)


def _rank(sigma: Floats) -> int:
    """Count the squared singular values above 1e-10 times the largest."""
    if sigma[0] == 0.0:
        return 0
    return int(np.count_nonzero(sigma**2 > RANK_TOLERANCE * sigma[0] ** 2))


def _check_finite(basis: Floats) -> None:
    """Stop where a basis has become unusable."""
    if not np.isfinite(basis).all():
        message = "The basis has non-finite entries; the run stops here."
        raise NumericalError(message)
