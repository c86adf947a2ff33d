r"""One row in, one row out: an embedding bound to what one compiled call needs.

It serves Fourier features of dense inputs that are standardised by what was learned, by fixed
numbers, or not at all.  The kernel does what :meth:`Embedding.of` does, each sum in the same order
(:mod:`okspca.numerics.matrix`), so that a row has the same bits alone and in a block.  It reads the
frequencies input by input; that copy of them is kept beside the map, as long as the map lives.

A bound embedding is an answer about one version of a state, remembered like others
(:mod:`okspca.pipeline.asking`), and may be used by any number of threads.
"""

from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from okspca.features import FourierMap, SingleFourierMap
from okspca.numerics.arrays import LARGEST_VALUE, Floats
from okspca.numerics.compiled import BoundKernel, compiled
from okspca.numerics.cosine import cosine_row
from okspca.numerics.matrix import row_product_into
from okspca.numerics.single import SingleArrays
from okspca.pipeline.answers import Embedding, embedding
from okspca.pipeline.asking import answered_once, asked_ahead
from okspca.pipeline.single_row_kernels import EMBED_SINGLE
from okspca.pipeline.state import PipelineState
from okspca.standardize import (
    CausalStandardizer,
    FrozenStandardizer,
    NoStandardizer,
    Standardizer,
    WindowStandardizer,
)

#: Maps of more frequencies are not kept twice.
MOST_FREQUENCIES = 2**20
_BY_INPUT: WeakKeyDictionary[FourierMap, Floats] = WeakKeyDictionary()


class RowArrays(NamedTuple):
    """What the kernel reads: units of the inputs, the map, and the columns of the embedding."""

    mean: Floats
    divisor: Floats
    frequencies: Floats
    phases: Floats
    columns: Floats


class SingleRowArrays(NamedTuple):
    """The same for a map in single precision, with the limits of a value and of a row's norm."""

    units: tuple[Floats, Floats]
    map: SingleArrays
    columns: Floats
    limits: tuple[float, float]


class RowEmbedding:
    """An embedding of single rows.

    Parameters
    ----------
    embedding : Embedding
        What it does.

    Attributes
    ----------
    n_inputs : int
        Number of values in a row; none where no row can be served.

    Examples
    --------
    >>> random = np.random.RandomState(0)
    >>> input_map = FourierMap.sample(2, 8, bandwidth=1.0)
    >>> known = Embedding(NoStandardizer(), input_map, random.normal(size=(8, 3)))
    >>> x = random.normal(size=2)
    >>> np.array_equal(RowEmbedding(known).of(x), known.of(x[np.newaxis])[0])
    True
    >>> RowEmbedding(known).of(np.array([1.0, np.inf])) is None
    True
    """

    def __init__(self, embedding: Embedding) -> None:
        self._arrays = _bound_arrays(embedding)
        self.n_inputs = 0 if self._arrays is None else embedding.input_map.n_inputs

    def of(self, x: Floats) -> Floats | None:
        """Embed a plain row of so many values; None if one of them cannot be learned either."""
        assert self._arrays is not None
        if isinstance(self._arrays, RowArrays):
            embedded = _EMBED.code(x, self._arrays, LARGEST_VALUE)
        else:
            embedded = EMBED_SINGLE.code(x, *self._arrays)
        return embedded if embedded.size else None


@asked_ahead
@answered_once
def row_embedding(state: PipelineState) -> RowEmbedding:
    """What embeds single rows as of now."""
    return RowEmbedding(embedding(state))


def _bound_arrays(embedding: Embedding) -> RowArrays | SingleRowArrays | None:
    """Collect what the kernel reads; None where it cannot serve."""
    feature_map = embedding.input_map
    if type(feature_map) not in (FourierMap, SingleFourierMap) or not embedding.columns.size:
        return None
    assert isinstance(feature_map, FourierMap)
    weights, units = feature_map.weights, _units(embedding.standardizer, feature_map.n_inputs)
    if weights.size > MOST_FREQUENCIES or units is None:
        return None
    columns = np.ascontiguousarray(embedding.columns)
    if isinstance(feature_map, SingleFourierMap):
        limits = LARGEST_VALUE, feature_map.reach
        return SingleRowArrays(units, feature_map.by_input, columns, limits)
    frequencies = _BY_INPUT.get(feature_map)
    if frequencies is None:
        frequencies = _BY_INPUT[feature_map] = np.ascontiguousarray(weights.T)
    return RowArrays(*units, frequencies, feature_map.phases, columns)


def _units(standardizer: Standardizer, n_inputs: int) -> tuple[Floats, Floats] | None:
    """What is subtracted from a row, and what it is divided by; None for other standardisers."""
    if type(standardizer) in (CausalStandardizer, WindowStandardizer):
        assert isinstance(standardizer, CausalStandardizer)
        return standardizer.mean, standardizer.divisors()
    if type(standardizer) is FrozenStandardizer:
        return standardizer.mean, standardizer.divisor
    return (np.zeros(n_inputs), np.ones(n_inputs)) if type(standardizer) is NoStandardizer else None


@compiled
def embed_row(x: Floats, arrays: RowArrays, largest: float) -> Floats:
    """Embed a row; nothing is returned where a value is not finite or too large to be squared."""
    z = np.empty(x.shape[0])
    bad = 0
    for j in range(x.shape[0]):
        bad += not abs(x[j]) <= largest
        z[j] = (x[j] - arrays.mean[j]) / arrays.divisor[j]
    if bad:
        return np.empty(0)
    phi, out = np.empty(arrays.phases.shape[0]), np.empty(arrays.columns.shape[1])
    row_product_into(z, arrays.frequencies, phi)
    cosine_row(phi, arrays.phases, np.sqrt(2.0 / phi.shape[0]))
    row_product_into(phi, arrays.columns, out)
    return out


_EMBED: BoundKernel[Floats] = BoundKernel(embed_row)
