"""The number of components, chosen by the first rows of a stream where a model is asked to."""

from dataclasses import replace

import numpy as np

from okspca.features import CosineMap
from okspca.features.component_count import errors_by_number, fewest
from okspca.features.trials import Pilot, tried
from okspca.moments import WhitenedMoment
from okspca.moments.whitened_moment import CLASS_WEIGHTING
from okspca.numerics.arrays import Floats
from okspca.pipeline import PipelineState


def n_components_by(blank: PipelineState, feature_map: CosineMap, pilot: Pilot) -> int | None:
    """How many components these rows need; None for as many as their classes allow.

    Classes that come later then have components too.
    """
    moment = blank.moment
    assert isinstance(moment, WhitenedMoment)
    ridge = tried(feature_map, pilot).ridge if moment.ridge is None else moment.ridge
    if not moment.labels:
        Psi = blank.target_map.transform(pilot.T)
        return max(fewest(errors_by_number(feature_map, pilot, Psi, ridge)), 1)
    Psi = _weighted(pilot, CLASS_WEIGHTING[moment.class_weighting])
    errors = errors_by_number(feature_map, pilot, Psi, ridge)
    found = fewest(errors)
    return None if found >= len(errors) else found


def _weighted(pilot: Pilot, power: float) -> Floats:
    """Indicators of classes, each divided by a power of its share."""
    shares = pilot.T[: pilot.learn].mean(axis=0)
    return np.asarray(pilot.T * np.where(shares > 0.0, np.maximum(shares, 1e-300) ** -power, 0.0))


def with_components(blank: PipelineState, n_components: int) -> PipelineState:
    """Return a pipeline before its first row that has another number of components."""
    made = blank.twin()
    assert isinstance(made.moment, WhitenedMoment)
    made.n_components, made.follows_classes = n_components, False
    made.moment.n_directions = n_components
    # What serves a whitened moment keeps nothing but this number.
    made.service_state = replace(made.service_state, n_components=n_components)
    return made
