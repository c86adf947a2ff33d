r"""The workloads of the service study: five regimes, their streams and maps, and when to request.

A regime fixes the dimensions; everything random follows from a seed.  The stream of seed s is that
of :mod:`okspca.datasets` with seed s.  The maps and the initial basis of trackers are drawn with
seeds derived from s, so that they share no numbers with the stream.

Derived seeds and random requests come from a counter-based hash, the SplitMix64 generator started
at a scrambled seed.  All arithmetic is modulo 2^64::

    mix(z):   z <- (z ^ (z >> 30)) a;   z <- (z ^ (z >> 27)) b;   return z ^ (z >> 31)
    hash(seed, i) = mix(mix(seed) + g i)

with a = 0xBF58476D1CE4E5B9, b = 0x94D049BB133111EB and g = 0x9E3779B97F4A7C15.  Observation i is
requested with probability p where ``hash(seed, i) < p 2^64``, which depends on no other observation
and on no library's generator.
"""

from dataclasses import dataclass

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray

from okspca.datasets import response_surface, sectors
from okspca.features import FourierMap
from okspca.numerics.arrays import Floats, Integers
from okspca.numerics.orthonormal import signed_qr

Words = NDArray[np.uint64]

INPUT_MAP, TARGET_MAP, INITIAL_BASIS = 1, 2, 3


@dataclass(frozen=True)
class Regime:
    """Dimensions of one workload.

    Attributes
    ----------
    name : str
        As the paper calls it.
    n_inputs : int
        Number of raw inputs d_x.
    n_input_features, n_target_features : int
        Number of features D_x of the inputs and D_y of the target.
    n_components : int
        Columns asked for, k.
    n_rows : int
        Length of the stream.
    n_classes : int or None
        Number of classes; None for a continuous response.

    Examples
    --------
    >>> REGIMES["C11"].n_target_features, REGIMES["R256"].n_classes
    (11, None)
    """

    name: str
    n_inputs: int
    n_input_features: int
    n_target_features: int
    n_components: int
    n_rows: int
    n_classes: int | None

    def __post_init__(self) -> None:
        """Refuse labels whose indicators do not have one column per class."""
        if self.n_classes not in (None, self.n_target_features):
            message = (
                f"{self.n_classes} classes have as many target features, "
                f"not n_target_features={self.n_target_features}."
            )
            raise ValueError(message)


REGIMES = {
    regime.name: regime
    for regime in (
        Regime("C2", 20, 64, 2, 1, 4096, 2),
        Regime("C4", 64, 256, 4, 3, 4096, 4),
        Regime("C11", 48, 256, 11, 10, 4096, 11),
        Regime("R128", 10, 128, 128, 4, 4096, None),
        Regime("R256", 64, 256, 256, 8, 2048, None),
    )
}

#: Step of the projected gradient that the paper selected for each regime.
PROJECTED_GRADIENT_STEPS = {"C2": 1.0, "C4": 3.0, "C11": 3.0, "R128": 1.0, "R256": 0.1}


@dataclass(frozen=True)
class Maps:
    """What all services of one regime and seed share.

    Attributes
    ----------
    input_map : FourierMap
        Features of the inputs.
    target_map : FourierMap or None
        Features of a continuous response; None where labels become indicators.
    initial_seed : int
        Seed of the Gaussian matrix that trackers start from.
    initial_basis : ndarray of shape (D_x, k)
        Its signed-QR basis.
    """

    input_map: FourierMap
    target_map: FourierMap | None
    initial_seed: int
    initial_basis: Floats


def stream(
    regime: Regime, seed: int, n_rows: int | None = None
) -> tuple[Floats, Floats | Integers]:
    """Draw the stream of a regime, by default in its full length.

    Examples
    --------
    >>> X, y = stream(REGIMES["C4"], seed=6200, n_rows=100)
    >>> X.shape, sorted(set(y.tolist()))
    ((100, 64), [0, 1, 2, 3])
    """
    n = regime.n_rows if n_rows is None else n_rows
    if regime.n_classes is None:
        return response_surface(n, regime.n_inputs, seed)
    return sectors(n, regime.n_classes, regime.n_inputs, seed)


def draw_maps(regime: Regime, seed: int) -> Maps:
    """Draw the maps of a regime: bandwidth sqrt(d_x) for inputs, one for a response.

    Examples
    --------
    >>> maps = draw_maps(REGIMES["R128"], seed=6200)
    >>> maps.input_map.weights.shape, maps.initial_basis.shape
    ((128, 10), (128, 4))
    """
    input_map = FourierMap.sample(
        regime.n_inputs,
        regime.n_input_features,
        bandwidth=float(np.sqrt(regime.n_inputs)),
        seed=derived_seed(seed, INPUT_MAP),
    )
    target_map = None
    if regime.n_classes is None:
        target_map = FourierMap.sample(
            1, regime.n_target_features, bandwidth=1.0, seed=derived_seed(seed, TARGET_MAP)
        )
    initial_seed = derived_seed(seed, INITIAL_BASIS)
    shape = (regime.n_input_features, regime.n_components)
    basis = signed_qr(RandomState(initial_seed).standard_normal(shape))[0]
    return Maps(input_map, target_map, initial_seed, basis)


@dataclass(frozen=True)
class Schedule:
    """When a basis is requested: every so many observations, or at random.

    Attributes
    ----------
    name : str
        How it is called.
    every : int or None
        Request at the multiples of this.
    probability : float or None
        Request each observation with this probability instead.

    Examples
    --------
    >>> Schedule("every-10", every=10).requests(25, seed=0).tolist()
    [10, 20, 25]
    """

    name: str
    every: int | None = None
    probability: float | None = None

    def __post_init__(self) -> None:
        """Refuse settings that name no rule or two."""
        if (self.every is None) == (self.probability is None):
            message = f"Schedule {self.name!r} needs either every or probability."
            raise ValueError(message)

    def requests(self, n_rows: int, seed: int) -> Integers:
        """Return the observations (from 1) after which a basis is wanted, ascending.

        The last observation is always one of them, and none comes twice.
        """
        observations = np.arange(1, n_rows + 1, dtype=np.int64)
        if self.every is not None:
            wanted = observations % self.every == 0
        else:
            assert self.probability is not None
            threshold = int(self.probability * 2.0**64)
            wanted = hashed(seed, observations) < np.uint64(min(threshold, 2**64 - 1))
        wanted[-1:] = True
        return observations[wanted]


SCHEDULES = {
    schedule.name: schedule
    for schedule in (
        Schedule("every-1", every=1),
        Schedule("every-10", every=10),
        Schedule("every-100", every=100),
        Schedule("every-1000", every=1000),
        Schedule("bernoulli", probability=0.01),
    )
}


def derived_seed(seed: int, part: int) -> int:
    """Return the seed of one part of a run: the upper half of the hash.

    Examples
    --------
    >>> derived_seed(6200, 1) != derived_seed(6200, 2)
    True
    """
    return int(hashed(seed, np.array([part]))[0] >> np.uint64(32))


def hashed(seed: int, indices: Integers) -> Words:
    """Hash each index with the seed to 64 bits.

    Examples
    --------
    >>> [hex(word) for word in hashed(0, np.array([1, 2]))]
    ['0xe220a8397b1dcdaf', '0x6e789e6aa1b965f4']
    """
    start = _mix(np.array([seed], dtype=np.uint64))
    return _mix(start + np.uint64(0x9E3779B97F4A7C15) * indices.astype(np.uint64))


def _mix(words: Words) -> Words:
    """Scramble 64-bit words; one-to-one, and zero stays zero."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))
