r"""What theory guarantees about the rows so far and their source: the paper's propositions.

Notation: t rows of feature pairs (phi, psi) with the population moment C_*, its singular values
sigma_1 >= sigma_2 >= ..., and ``M_* = C_* C_*^T`` with eigenvalues ``sigma_j^2``; C̄ the empirical
moment (divisor t), C the one with divisor t - 1; P the projector on the leading k directions.

* consistency factor: ``E C̄ = (t - 1) / t C_*``;
* concentration, with probability 1 - delta:
  ``||C̄ - C_*|| <= b_t = 6 sqrt(2) B_x B_y sqrt(log(6 / delta) / t)``;
* its Bessel version, on the same event: ``||C - C_*|| <= t / (t - 1) b_t + sigma_1 / (t - 1)``;
* operator error, always: ``||M - M_*|| <= e (2 sigma_1 + e)`` with ``e = ||C̄ - C_*||``;
* perturbation, always: ``||P - P_*||_F <= 2 sqrt(2 k) ||M - M_*|| / gap``;
* combination, with probability 1 - delta:
  ``||P - P_*||_F <= 2 sqrt(2 k) b_t (2 sigma_1 + b_t) / gap``;
* objective gap, always: ``||P - P_*||_F <= sqrt(2 J* (1 - rho) / gap)``;

with ``gap = sigma_k^2 - sigma_{k+1}^2``.  Every condition is an argument with a type of its own:
making it checks it, and a condition that does not hold raises :class:`ConditionError`, which names
it.  A statement at probability 1 - delta is about *one* t fixed beforehand, not about all requests
along a stream.  It is about the exact subspace, not about a tracker's.
"""

import math
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from okspca.diagnostics.same_target import gap_bound
from okspca.errors import ConditionError
from okspca.numerics.arrays import Floats
from okspca.numerics.spectrum import SMALLEST_OBJECTIVE, boundary_gap

# Norms computed in floating point may exceed their bound by rounding.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Sample:
    """Rows of which the probability statements speak: independent, alike, with fixed features.

    Parameters
    ----------
    t : int
        Number of rows, fixed beforehand.
    standardize : str or None
        As in :class:`okspca.OKSPCA`; "causal" features change along the stream.
    forgetting : float
        As there; only 1 weighs all rows alike.
    independent : bool
        That rows are independent draws from one source cannot be computed: you vouch for it.

    Examples
    --------
    >>> Sample(256).t
    256
    >>> Sample(256, standardize="causal")
    Traceback (most recent call last):
    okspca.errors.ConditionError: fixed features: ...
    """

    t: int
    standardize: str | None = None
    forgetting: float = 1.0
    independent: bool = True

    def __post_init__(self) -> None:
        """Check the conditions."""
        # To Python, True is a whole number.
        whole = isinstance(self.t, int | np.integer) and not isinstance(self.t, bool)
        if not whole or self.t < 1:
            _unmet("number of rows", f"t={self.t!r}, but it must be a whole number from 1 up")
        if self.standardize not in (None, "frozen"):
            _unmet(
                "fixed features",
                f"standardize={self.standardize!r} changes them along the stream; "
                "use 'frozen' or None",
            )
        if self.forgetting != 1.0:
            _unmet("equal weights", f"forgetting={self.forgetting!r} fades earlier rows; use 1")
        if not self.independent:
            _unmet("independent rows", "the statement is about independent draws from one source")


@dataclass(frozen=True)
class Bounded:
    """Almost sure bounds on the norms of whole feature vectors.

    Parameters
    ----------
    B_x, B_y : float
        Bounds on ``||phi||`` and ``||psi||``.

    Examples
    --------
    >>> Bounded.of_maps("fourier", "one-hot").B_y
    1.0
    >>> Bounded(1.0, 2.0).check([[0.6, 0.8]], [[3.0]])
    Traceback (most recent call last):
    okspca.errors.ConditionError: bounded features: row 0 of psi has norm 3, above 2.
    """

    B_x: float
    B_y: float

    def __post_init__(self) -> None:
        """Check the bounds."""
        for name, bound in (("B_x", self.B_x), ("B_y", self.B_y)):
            if not (math.isfinite(bound) and bound >= 0.0):
                _unmet("bounded features", f"{name}={bound!r} is not a finite bound")

    @classmethod
    def of_maps(cls, input_map: str, target_map: str) -> Self:
        """Return the bounds that hold for "fourier" (sqrt 2) and "one-hot" (1) features."""
        norms = {"fourier": math.sqrt(2.0), "one-hot": 1.0}
        for name in (input_map, target_map):
            if name not in norms:
                _unmet("bounded features", f"{name!r} features have no bound of their own")
        return cls(norms[input_map], norms[target_map])

    def check(self, Phi: ArrayLike, Psi: ArrayLike) -> None:
        """Raise where a row of features breaks a bound."""
        for name, rows, bound in (("phi", Phi, self.B_x), ("psi", Psi, self.B_y)):
            norms = np.linalg.norm(np.atleast_2d(np.asarray(rows, dtype=np.float64)), axis=1)
            beyond = np.flatnonzero(norms > bound * (1.0 + _ROUNDING))
            if beyond.size:
                row = int(beyond[0])
                _unmet(
                    "bounded features",
                    f"row {row} of {name} has norm {norms[row]:.6g}, above {bound:.6g}",
                )


@dataclass(frozen=True)
class Confidence:
    """Probability ``delta`` with which a statement may fail.

    Examples
    --------
    >>> Confidence(0.05).delta
    0.05
    """

    delta: float

    def __post_init__(self) -> None:
        """Check that it is a probability strictly between 0 and 1."""
        if not 0.0 < self.delta < 1.0:
            _unmet("confidence", f"delta={self.delta!r}, but it must lie between 0 and 1")


@dataclass(frozen=True)
class Separated:
    """A moment whose leading k directions are separated from the rest.

    Parameters
    ----------
    singular_values : sequence of float
        Of the moment that the bound is about, descending; missing ones are zero.
    k : int
        Number of leading directions.
    n_features : int
        Number of input features D_x.

    Examples
    --------
    >>> Separated((0.7, 0.6, 0.5), k=2, n_features=32).gap
    0.10999999999999999
    >>> Separated((0.7, 0.7), k=1, n_features=32)
    Traceback (most recent call last):
    okspca.errors.ConditionError: separated directions: ...
    """

    singular_values: tuple[float, ...]
    k: int
    n_features: int

    def __post_init__(self) -> None:
        """Check order, rank and gap."""
        sigma = np.asarray(self.singular_values, dtype=np.float64)
        object.__setattr__(self, "singular_values", tuple(sigma.tolist()))
        if not 1 <= self.k < self.n_features:
            _unmet(
                "rank below the dimension",
                f"k={self.k!r} must lie between 1 and n_features - 1 = {self.n_features - 1}",
            )
        descending = sigma.size and bool(np.all(np.diff(sigma) <= 0.0))
        if not (descending and np.isfinite(sigma).all() and sigma[-1] >= 0.0):
            _unmet("singular values", "they must be finite, not negative and in descending order")
        if not self.gap > 0.0:
            _unmet(
                "separated directions",
                f"direction {self.k} is tied with the next one (gap {self.gap:.3g})",
            )

    @property
    def gap(self) -> float:
        """Difference of the squared singular values after the k-th."""
        return boundary_gap(self._sigma, self.k)

    @property
    def norm(self) -> float:
        """The operator norm sigma_1."""
        return self.singular_values[0]

    @property
    def best_objective(self) -> float:
        """J*, the sum of the k leading squared singular values."""
        return float(np.sum(self._sigma[: self.k] ** 2))

    @property
    def _sigma(self) -> Floats:
        return np.array(self.singular_values)


def consistency_factor(sample: Sample) -> float:
    """Return (t - 1) / t, by which C̄ is too small on average.

    Examples
    --------
    >>> consistency_factor(Sample(4))
    0.75
    """
    return (sample.t - 1) / sample.t


def concentration(sample: Sample, bounded: Bounded, confidence: Confidence) -> float:
    """b_t(delta): bound on the error of C̄ that holds with probability 1 - delta.

    It bounds the Frobenius norm and so the operator norm.

    Examples
    --------
    >>> round(concentration(Sample(100), Bounded(1.0, 1.0), Confidence(0.06)), 6)
    1.820913
    """
    logarithm = math.log(6.0 / confidence.delta)
    return 6.0 * math.sqrt(2.0) * bounded.B_x * bounded.B_y * math.sqrt(logarithm / sample.t)


def bessel_concentration(
    sample: Sample, bounded: Bounded, confidence: Confidence, population_norm: float
) -> float:
    """Bound on the error of C (divisor t - 1), from the norm of C_*; needs two rows.

    Examples
    --------
    >>> bessel_concentration(Sample(1), Bounded(1.0, 1.0), Confidence(0.06), 0.7)
    Traceback (most recent call last):
    okspca.errors.ConditionError: number of rows: ...
    """
    if sample.t < 2:
        _unmet("number of rows", f"the divisor t - 1 needs at least 2 rows, not t={sample.t}")
    if not (math.isfinite(population_norm) and population_norm >= 0.0):
        _unmet("population norm", f"{population_norm!r} is not a finite norm")
    t = sample.t
    return t / (t - 1) * concentration(sample, bounded, confidence) + population_norm / (t - 1)


def operator_error(population_norm: float, moment_error: float) -> float:
    """Bound on ``||M - M_*||`` from ``||C_*||`` and ``||C̄ - C_*||``.

    Examples
    --------
    >>> operator_error(1.0, 0.5)
    1.25
    """
    if not moment_error >= 0.0:
        _unmet("moment error", f"{moment_error!r} is not the norm of a difference")
    return moment_error * (2.0 * population_norm + moment_error)


def perturbation(population: Separated, operator_difference: float) -> float:
    """Bound on ``||P - P_*||_F`` from ``||M - M_*||`` and the population gap; no sample gap needed.

    Examples
    --------
    >>> perturbation(Separated((1.0, 0.0), k=1, n_features=4), 0.25) == 0.5 * 2.0**0.5
    True
    """
    if not operator_difference >= 0.0:
        _unmet("operator error", f"{operator_difference!r} is not the norm of a difference")
    return 2.0 * math.sqrt(2.0 * population.k) * operator_difference / population.gap


def population_distance(
    sample: Sample, bounded: Bounded, confidence: Confidence, population: Separated
) -> float:
    """Bound on ``||P - P_*||_F`` that holds with probability 1 - delta: all of the above together.

    Examples
    --------
    >>> spectrum = Separated((0.7, 0.6, 0.5, 0.15**0.5), k=3, n_features=32)
    >>> bound = population_distance(Sample(32768), Bounded(1.0, 1.0), Confidence(0.1), spectrum)
    >>> round(bound, 2)
    6.95
    """
    error = concentration(sample, bounded, confidence)
    return perturbation(population, operator_error(population.norm, error))


def objective_gap(moment: Separated, rho: float) -> float:
    """Bound on ``||P - P_*||_F`` from the share of the objective that P captures.

    It is about any one moment, empirical or not, and the leading directions of that same moment.

    Examples
    --------
    >>> objective_gap(Separated((1.0, 0.0), k=1, n_features=4), rho=0.5)
    1.0
    """
    if not moment.best_objective > SMALLEST_OBJECTIVE:
        _unmet("positive objective", f"J* = {moment.best_objective:.3g}: there is no target")
    if not -_ROUNDING <= rho <= 1.0 + _ROUNDING:
        _unmet("share of the objective", f"rho={rho!r}, but it must lie between 0 and 1")
    bound = gap_bound(moment.best_objective, rho, moment.gap)
    assert bound is not None
    return bound


def _unmet(condition: str, why: str) -> None:
    """Raise the error that names a condition."""
    message = f"{condition}: {why}."
    raise ConditionError(message)
