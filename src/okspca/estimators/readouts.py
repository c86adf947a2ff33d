"""What predicts: an embedding, and a function of it in closed form, all of it from one state."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from okspca.estimators.fitted import classes_of
from okspca.moments import WhitenedMoment
from okspca.moments.calibration import Belief
from okspca.moments.class_discriminants import Discriminants
from okspca.numerics.arrays import Floats
from okspca.numerics.matrix import product
from okspca.numerics.whitening import regression_along
from okspca.pipeline import Embedding, PipelineState
from okspca.pipeline.answers import embedding, mean_features
from okspca.pipeline.asking import answered_once, asked_ahead
from okspca.standardize import CausalStandardizer, FrozenStandardizer


class Linear(NamedTuple):
    """A linear function of an embedding."""

    weights: Floats
    offset: Floats

    def of(self, Z: Floats) -> Floats:
        """Values for embedded rows, one column per output."""
        return product(Z, self.weights) + self.offset


class Posteriors(NamedTuple):
    """Logarithms of posterior probabilities of classes, up to a constant.

    See :mod:`okspca.moments.calibration`; states of earlier versions have no calibration.
    """

    discriminants: Discriminants
    belief: Belief | None

    def of(self, Z: Floats) -> Floats:
        """Values for embedded rows, one column per class."""
        values = self.discriminants.of(Z)
        if self.belief is None or values.shape[1] < 2:
            return values
        return self.belief.of(values)


class Readout(NamedTuple):
    """A prediction from inputs: the embedding, a function of it, and what its columns mean."""

    embedding: Embedding
    function: Linear | Posteriors
    classes: NDArray[Any]

    def of(self, X: Floats) -> Floats:
        """Values for rows, one column per output or class."""
        return self.of_embedded(self.embedding.of(X))

    def of_embedded(self, Z: Floats) -> Floats:
        """The same for rows that are embedded."""
        values = self.function.of(Z)
        # A class that was declared but not seen yet has no column in the moment.
        missing = len(self.classes) - values.shape[1]
        if missing <= 0:
            return values
        return np.pad(values, ((0, 0), (0, missing)), constant_values=-np.inf)


@asked_ahead
@answered_once
def regressor(state: PipelineState) -> Readout:
    """What predicts a response, all of it from one state."""
    embeds = embedding(state)
    return Readout(embeds, _regression(state, embeds.columns), np.zeros(0))


@asked_ahead
@answered_once
def classifier(state: PipelineState) -> Readout:
    """What predicts classes, all of it from one state."""
    embeds = embedding(state)
    found = _discriminants(state, embeds.columns)
    return Readout(embeds, found, classes_of(state.target_map))


def _regression(state: PipelineState, W: Floats) -> Linear:
    """Regress the response on the embedding, in the units of the response."""
    moment, target_map = state.moment, state.target_map
    assert isinstance(moment, WhitenedMoment)
    columns = target_map.linear
    right_mean = moment.means()[1]
    Ct = np.ascontiguousarray(moment.matrix().T[columns])
    B = regression_along(product(W.T, moment.images(W)), product(Ct, W))
    mean, scale = np.zeros(len(B)), np.ones(len(B))
    standardizer = state.target_standardizer
    if isinstance(standardizer, CausalStandardizer):
        mean, scale = standardizer.mean, standardizer.scale()
    elif isinstance(standardizer, FrozenStandardizer):
        mean, scale = standardizer.mean, standardizer.divisor
    units = state.moment.units.right
    if state.target_origin is not None and units is not None:
        mean, scale = state.target_origin.point, units.divisor[columns]
    offset = right_mean[columns] - product(B, product(W.T, mean_features(state)))
    return Linear((B * scale[:, np.newaxis]).T, mean + scale * offset)


def _discriminants(state: PipelineState, W: Floats) -> Posteriors:
    """Find the discriminants of the classes in the embedding, and how much they are believed."""
    moment = state.moment
    assert isinstance(moment, WhitenedMoment)
    return Posteriors(*moment.judgement_of(W, mean_features(state)))
