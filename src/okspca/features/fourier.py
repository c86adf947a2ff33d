r"""Random Fourier features of a stationary kernel.

A row z is mapped to::

    phi(z) = sqrt(2 / D) cos(W z + b),      W: D x d,   b ~ Uniform(0, 2 pi)

The rows of ``W`` are drawn from the spectral density of the kernel; ``s`` is the bandwidth.

=============  ==========================================  =====================================
kernel         k(z, z')                                    a row of W
=============  ==========================================  =====================================
gaussian       exp(-||z - z'||^2 / (2 s^2))                normal, standard deviation 1/s
laplacian      exp(-||z - z'||_1 / s)                      independent Cauchy, scale 1/s
matern12, 32,  Matern with smoothness 1/2, 3/2, 5/2 and    multivariate t with 1, 3, 5 degrees
52             length scale s                              of freedom, divided by s
=============  ==========================================  =====================================

With ``sampling="orthogonal"`` the rows come in blocks of d mutually orthogonal directions whose
lengths keep the distribution of the kernel; this needs a rotation-invariant kernel, so not the
Laplacian.

Draws use NumPy's ``RandomState``, whose streams never change between NumPy versions: the same seed
gives the same map for ever.
"""

from typing import Any, Self

import numpy as np
from numpy.random import RandomState
from scipy.sparse import issparse

from okspca.features.base import FeatureMap
from okspca.features.cosines import CosineMap, check_numbers
from okspca.numerics.arrays import Floats, frozen
from okspca.numerics.cosine import cosines_along_a_line
from okspca.numerics.matrix import product
from okspca.numerics.orthonormal import signed_qr
from okspca.numerics.room import check_room

MATERN_DEGREES = {"matern12": 1, "matern32": 3, "matern52": 5}
KERNELS = ("gaussian", "laplacian", *MATERN_DEGREES)
SAMPLINGS = ("plain", "orthogonal")


class FourierMap(CosineMap):
    """Cosine features with fixed weights and phases.

    Parameters
    ----------
    weights : ndarray of shape (n_features, n_inputs)
        Frequencies.
    phases : ndarray of shape (n_features,)
        Offsets in radians.

    Examples
    --------
    >>> import numpy as np
    >>> phi = FourierMap.sample(3, 8, bandwidth=1.0, seed=0)
    >>> phi.transform(np.zeros((2, 3))).shape
    (2, 8)
    """

    def __init__(self, weights: Floats, phases: Floats) -> None:
        super().__init__(phases)
        self.weights = frozen(np.atleast_2d(weights))
        if self.phases.shape != (self.weights.shape[0],):
            message = (
                f"weights has {self.weights.shape[0]} rows but phases has {self.phases.size} "
                "entries; a map needs one phase per feature."
            )
            raise ValueError(message)
        check_numbers("weights", self.weights)
        self._by_input: Floats | None = None

    @classmethod
    def sample(
        cls,
        n_inputs: int,
        n_features: int,
        *,
        bandwidth: float,
        kernel: str = "gaussian",
        sampling: str = "plain",
        seed: int | RandomState = 0,
    ) -> Self:
        """Draw the frequencies of ``kernel``, then the phases."""
        check_choice("kernel", kernel, KERNELS)
        check_choice("sampling", sampling, SAMPLINGS)
        what = f"A map of {n_inputs} inputs to {n_features} features"
        check_room(int(n_features) * (int(n_inputs) + 1), what, "ask for fewer features")
        random = seed if isinstance(seed, RandomState) else RandomState(seed)
        draw = _orthogonal_rows if sampling == "orthogonal" else _plain_rows
        # Weights before phases: the order of the draws is part of what a seed means.
        weights = draw(n_inputs, n_features, kernel, random) / bandwidth
        return cls(weights, random.uniform(0.0, 2.0 * np.pi, n_features))

    @property
    def n_inputs(self) -> int:
        """Number of columns it takes."""
        return int(self.weights.shape[1])

    def fill(self, Z: Any, features: Floats) -> Floats:
        """Map rows, dense or sparse, to cosine features, in an array of the caller's."""
        # One input: a product per entry, with no matrix product to prepare.
        if self.n_inputs == 1:
            Z = Z.toarray() if issparse(Z) else Z
            cosines_along_a_line(
                Z[:, 0], self.weights[:, 0], self.phases, self._amplitude, features
            )
            return features
        return super().fill(Z, features)

    def project(self, Z: Any, out: Floats | None = None) -> Floats:
        """``Z W^T`` of rows, dense or sparse."""
        if not issparse(Z):
            return product(Z, self.weights.T, out)
        found: Floats = Z @ self._weights_by_input()
        if out is None:
            return found
        out[...] = found
        return out

    def backproject(self, V: Floats) -> Floats:
        """``V W`` of rows with one number per feature."""
        return product(V, self.weights)

    def frequencies(self, some: slice) -> Floats:
        """Some of the rows of W."""
        return self.weights[some]

    def rescaled(self, scales: Floats) -> Self:
        """Return the map of inputs that are multiplied first: by numbers, or by a matrix."""
        mixes = scales.ndim == 2
        weights = product(self.weights, scales) if mixes else self.weights * scales
        return type(self)(weights, self.phases)

    def _weights_by_input(self) -> Floats:
        """The weights with one row per input, as products with sparse rows read them."""
        if self._by_input is None:
            self._by_input = np.ascontiguousarray(self.weights.T)
        return self._by_input

    def __getstate__(self) -> dict[str, Any]:
        """Leave the second copy of the weights out of copies and files."""
        return {**self.__dict__, "_by_input": None}

    def equals(self, other: FeatureMap) -> bool:
        """Tell whether the other map has the same weights, phases and precision."""
        return (
            isinstance(other, FourierMap)
            and self.precision == other.precision
            and np.array_equal(self.weights, other.weights)
            and np.array_equal(self.phases, other.phases)
        )


def check_choice(name: str, value: str, allowed: tuple[str, ...]) -> None:
    """Raise where ``value`` is none of ``allowed``."""
    if value not in allowed:
        message = f"{name}={value!r} is not known; choose one of {', '.join(allowed)}."
        raise ValueError(message)


def check_rotation_invariant(kernel: str, sampling: str) -> None:
    """Raise where lengths and directions of frequencies cannot be drawn one by one."""
    if kernel == "laplacian":
        message = (
            f"sampling={sampling!r} needs a rotation-invariant kernel; "
            "use kernel='matern12' or sampling='plain' instead of 'laplacian'."
        )
        raise ValueError(message)


def _plain_rows(n_inputs: int, n_features: int, kernel: str, random: RandomState) -> Floats:
    """Independent rows of the spectral density at bandwidth one."""
    if kernel == "laplacian":
        return np.asarray(random.standard_cauchy((n_features, n_inputs)))
    normal: Floats = random.standard_normal((n_features, n_inputs))
    return normal * tail_factor(n_features, kernel, random)


def _orthogonal_rows(n_inputs: int, n_features: int, kernel: str, random: RandomState) -> Floats:
    """Rows in orthogonal blocks, with independent lengths of the right distribution."""
    check_rotation_invariant(kernel, "orthogonal")
    blocks = []
    for _ in range(-(-n_features // n_inputs)):
        blocks.append(signed_qr(random.standard_normal((n_inputs, n_inputs)))[0].T)
    directions = np.concatenate(blocks)[:n_features]
    # Lengths of fresh normal vectors: a row by itself is distributed as without blocks.
    lengths = np.linalg.norm(random.standard_normal((n_features, n_inputs)), axis=1)
    return directions * lengths[:, np.newaxis] * tail_factor(n_features, kernel, random)


def tail_factor(n_features: int, kernel: str, random: RandomState) -> Floats:
    """Turn normal rows into multivariate-t rows for a Matern kernel; ones for the Gaussian."""
    if kernel == "gaussian":
        return np.ones((n_features, 1))
    degrees = MATERN_DEGREES[kernel]
    chi_square: Floats = random.chisquare(degrees, (n_features, 1))
    return np.sqrt(degrees / chi_square)
