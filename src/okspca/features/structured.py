r"""Random Fourier features of many inputs, by signs and fast Hadamard transforms.

For d inputs, let p be the next power of two (at least 64), z a row followed by p - d zeros, and H
the Hadamard matrix of order p (:mod:`okspca.numerics.hadamard`).  A block of p frequencies is::

    W = diag(l) p^(-3/2) H D3 H D2 H D1,      features sqrt(2 / D) cos(W z + b),

with diagonal matrices D1, D2, D3 of random signs and independent lengths l.  The product without
``diag(l)`` is orthogonal, and each of its rows is nearly a random direction: D1 makes any z look
like noise, D2 and D3 mix that.  The lengths are those of normal vectors of p numbers, times the
factor that gives a Matern kernel its tails, all divided by the bandwidth.  So the d numbers that
meet inputs have the distribution of :class:`~okspca.features.fourier.FourierMap`, up to terms of
order 1/p, and the expected kernel is that of the name.

More than p features take blocks with signs and lengths of their own.  Where D is no multiple of p,
the first D rows are taken: D3 makes all choices of rows alike, pair by pair, and since the first m
rows of H_p are copies of H_m, the last transform then costs m log m.

A row costs about 2 p log p additions for each block instead of D d products, and the map holds 3 p
signs for each block and d scales instead of D d frequencies: for 20,000 inputs and 1,024 features
0.3 MB instead of 164.

Draws use NumPy's ``RandomState``, in the order signs, lengths, tails, phases: the same seed gives
the same map for ever.
"""

from typing import Any, Self

import numpy as np
from numpy.random import RandomState
from scipy.sparse import issparse

from okspca.features.base import FeatureMap
from okspca.features.cosines import CosineMap, check_numbers
from okspca.features.fourier import KERNELS, check_choice, check_rotation_invariant, tail_factor
from okspca.numerics.arrays import Floats, Signs, frozen
from okspca.numerics.hadamard import mix_rows, unmix_rows
from okspca.numerics.room import check_room

STRUCTURED = "structured"
#: With fewer numbers than these, products of signs are too few to look like random directions.
LEAST = 64
#: Sparse rows become dense so many numbers at a time.
DENSE_AT_ONCE = 1 << 18


class StructuredMap(CosineMap):
    """Cosine features whose frequencies are a product of signs and Hadamard matrices.

    Parameters
    ----------
    signs : ndarray of shape (n_blocks, 3, p)
        The diagonals D1, D2, D3 of each block; p is ``padded(n_inputs)``.
    lengths : ndarray of shape (n_features,)
        Lengths of the frequencies, as vectors of p numbers.
    phases : ndarray of shape (n_features,)
        Offsets in radians.
    scales : ndarray of shape (n_inputs,)
        What inputs are multiplied by first.

    Examples
    --------
    >>> import numpy as np
    >>> phi = StructuredMap.sample(20_000, 8, bandwidth=100.0, seed=0)
    >>> phi.transform(np.zeros((2, 20_000))).shape, phi.signs.nbytes
    ((2, 8), 98304)
    """

    def __init__(self, signs: Signs, lengths: Floats, phases: Floats, scales: Floats) -> None:
        super().__init__(phases)
        self.lengths, self.scales = frozen(np.ravel(lengths)), frozen(np.ravel(scales))
        self.signs: Signs = np.array(signs, dtype=np.int8, order="C")
        self.signs.flags.writeable = False
        shape = shape_of_signs(self.n_inputs, self.n_features)
        if self.lengths.shape != self.phases.shape or self.signs.shape != shape:
            message = (
                f"{self.n_inputs} scales and {self.n_features} phases need as many lengths as "
                f"phases, and signs of shape {shape}, not {self.lengths.size} and "
                f"{self.signs.shape}."
            )
            raise ValueError(message)
        check_numbers("lengths", self.lengths)
        check_numbers("scales", self.scales)
        if not (np.abs(self.signs) == 1).all():
            message = "The signs of a map must be 1 or -1."
            raise ValueError(message)
        self._factors = frozen(self.lengths * float(shape[2]) ** -1.5)

    @classmethod
    def sample(
        cls,
        n_inputs: int,
        n_features: int,
        *,
        bandwidth: float,
        kernel: str = "gaussian",
        seed: int | RandomState = 0,
    ) -> Self:
        """Draw signs, lengths for ``kernel``, and phases."""
        check_choice("kernel", kernel, KERNELS)
        check_rotation_invariant(kernel, STRUCTURED)
        what = f"A map of {n_inputs} inputs to {n_features} features"
        check_room(n_numbers(int(n_inputs), int(n_features)), what, "ask for fewer features")
        random = seed if isinstance(seed, RandomState) else RandomState(seed)
        shape = shape_of_signs(n_inputs, n_features)
        signs = np.where(random.random_sample(shape) < 0.5, -1, 1)
        squares = random.chisquare(shape[2], (n_features, 1))
        lengths = np.sqrt(squares) * tail_factor(n_features, kernel, random) / bandwidth
        phases = random.uniform(0.0, 2.0 * np.pi, n_features)
        return cls(signs, lengths, phases, np.ones(n_inputs))

    @property
    def n_inputs(self) -> int:
        """Number of columns it takes."""
        return int(self.scales.size)

    def project(self, Z: Any, out: Floats | None = None) -> Floats:
        """``Z W^T`` of rows, dense or sparse."""
        found = np.empty((Z.shape[0], self.n_features)) if out is None else out
        if not issparse(Z):
            mix_rows(np.ascontiguousarray(Z), self.scales, self.signs, self._factors, found)
            return found
        size = max(DENSE_AT_ONCE // self.n_inputs, 1)
        for start in range(0, Z.shape[0], size):
            rows = slice(start, start + size)
            mix_rows(Z[rows].toarray(), self.scales, self.signs, self._factors, found[rows])
        return found

    def backproject(self, V: Floats) -> Floats:
        """``V W`` of rows with one number per feature."""
        found = np.empty((V.shape[0], self.n_inputs))
        unmix_rows(np.ascontiguousarray(V), self.scales, self.signs, self._factors, found)
        return found

    def frequencies(self, some: slice) -> Floats:
        """Some of the rows of W."""
        numbers = np.arange(self.n_features)[some]
        units = np.zeros((numbers.size, self.n_features))
        units[np.arange(numbers.size), numbers] = 1.0
        return self.backproject(units)

    def rescaled(self, scales: Floats) -> Self:
        """Return the map of inputs that are multiplied by numbers first, one for each."""
        # One number for all inputs is a bandwidth.
        if scales.size and (scales == scales[0]).all():
            return type(self)(self.signs, self.lengths * scales[0], self.phases, self.scales)
        return type(self)(self.signs, self.lengths, self.phases, self.scales * scales)

    def equals(self, other: FeatureMap) -> bool:
        """Tell whether the other map has the same signs, lengths, phases and scales."""
        return isinstance(other, StructuredMap) and all(
            np.array_equal(getattr(self, name), getattr(other, name))
            for name in ("signs", "lengths", "phases", "scales")
        )


def padded(n_inputs: int) -> int:
    """Length of rows with the zeros that follow them.

    Examples
    --------
    >>> padded(3), padded(64), padded(20_000)
    (64, 64, 32768)
    """
    return max(1 << (int(n_inputs) - 1).bit_length(), LEAST)


def shape_of_signs(n_inputs: int, n_features: int) -> tuple[int, int, int]:
    """Shape of the signs: blocks, diagonals of a block, numbers of a diagonal.

    Examples
    --------
    >>> shape_of_signs(100, 300)
    (3, 3, 128)
    """
    p = padded(n_inputs)
    return -(-int(n_features) // p), 3, p


def n_numbers(n_inputs: int, n_features: int) -> int:
    """How many numbers of double precision drawing such a map takes at once.

    Examples
    --------
    >>> n_numbers(100, 300)
    1852
    """
    blocks, diagonals, p = shape_of_signs(n_inputs, n_features)
    return blocks * diagonals * p + 2 * n_features + n_inputs
