"""From raw rows to features: standardisers, maps and origins of both sides."""

from dataclasses import replace
from typing import TypeGuard

import numpy as np

from okspca.errors import NumericalError
from okspca.features import (
    CosineMap,
    FeatureMap,
    FourierMap,
    OneHotMap,
    SingleFourierMap,
    StructuredMap,
)
from okspca.features.curve import polynomials
from okspca.features.linear import Origin
from okspca.moments import Moment
from okspca.moments.arrays import EncodedRows
from okspca.moments.units import SideUnits, Units
from okspca.numerics.arrays import LARGEST_VALUE, Floats
from okspca.numerics.scratch import scratch
from okspca.numerics.sparse import largest_entry
from okspca.pipeline.state import PipelineState
from okspca.pipeline.waiting import StandardizedRows
from okspca.standardize import RunningStandardizer, Standardizer


def standardized(state: PipelineState, X: Floats, Y: Floats, weights: Floats) -> StandardizedRows:
    """Standardise rows with those before them, which the standardisers then learn."""
    linear_inputs = linear_targets = None
    if state.input_origin is not None:
        state.input_origin = state.input_origin.after(X)
        linear_inputs = X - state.input_origin.point
    if state.target_origin is not None:
        state.target_origin = state.target_origin.after(Y)
        linear_targets = Y - state.target_origin.point
    Z = state.input_standardizer.scan(X, weights)
    T = state.target_standardizer.scan(Y, weights)
    return StandardizedRows(Z, T, linear_inputs, linear_targets, weights)


def encoded(
    state: PipelineState, rows: StandardizedRows, moment: Moment | None = None
) -> EncodedRows:
    """Describe rows in the coordinates that the moment stores: that of the state, or another."""
    moment, before = state.moment if moment is None else moment, state.rows
    Phi = features(state.input_map, rows.inputs, rows.linear_inputs, ("input", before))
    if moment.compression is not None:
        along = polynomials(state.target_map, rows.targets)
        found = None if along is None else moment.encode_along(Phi, along, rows.weights)
        if found is not None:
            return found
    Psi = features(state.target_map, rows.targets, rows.linear_targets, ("target", before))
    return moment.encode(Phi, Psi, rows.weights)


def target_coordinates(
    state: PipelineState, row: StandardizedRows, moment: Moment
) -> tuple[Floats, float]:
    """Describe the target of one row as :func:`encoded` does, for another moment.

    Returns its coordinates and the squared norm of what they lack.
    """
    if isinstance(state.target_map, OneHotMap):
        return moment.indicator(int(row.targets[0, 0]), state.target_map.n_features), 0.0
    if moment.compression is not None:
        rows = encoded(state, row, moment)
        return rows.coordinates[0], float(rows.dropped[0])
    place = "target", state.rows
    found = features(state.target_map, row.targets, row.linear_targets, place)
    return np.ascontiguousarray(found[0]), 0.0


def described(state: PipelineState, rows: StandardizedRows, before: int) -> EncodedRows | None:
    """Do as :func:`encoded` for rows that come ``before`` others, changing nothing.

    None where these rows must be encoded in their turn.
    """
    moment = state.moment
    Phi = features(state.input_map, rows.inputs, rows.linear_inputs, ("input", before))
    if moment.compression is not None:
        along = polynomials(state.target_map, rows.targets)
        return None if along is None else moment.describe_along(Phi, along, rows.weights)
    Psi = features(state.target_map, rows.targets, rows.linear_targets, ("target", before))
    return moment.describe(Phi, Psi, rows.weights)


def check_features(state: PipelineState, rows: StandardizedRows) -> None:
    """Raise, while the call that brought the rows can still be refused, where one is not finite.

    Cosines of moderate numbers need no check.
    """
    for feature_map, Z, linear, side in (
        (state.input_map, rows.inputs, rows.linear_inputs, "input"),
        (state.target_map, rows.targets, rows.linear_targets, "target"),
    ):
        if not _is_bare(feature_map) or largest_entry(Z) > LARGEST_VALUE:
            features(feature_map, Z, linear, (side, state.rows))


def features(
    feature_map: FeatureMap, Z: Floats, linear: Floats | None, place: tuple[str, int]
) -> Floats:
    """Features of a block, valid until the next one is learned; raise where one is not finite.

    One such row would spoil the sums.  Cosines of moderate numbers need no check.  ``place`` says,
    for the message, which side this is and how many rows came before.
    """
    side, before = place
    if _is_bare(feature_map):
        shape = Z.shape[0], feature_map.n_features
        found = feature_map.fill(Z, scratch(f"{side} features", shape))
        if largest_entry(Z) <= LARGEST_VALUE:
            return found
    else:
        found = feature_map.transform(Z)
    if linear is not None:
        found = found.copy()
        found[:, feature_map.linear] = linear
    # The sum is finite only if all are; which row it is matters only where it is not.
    if not np.isfinite(found.sum()):
        row = before + int(np.argmin(np.isfinite(found).all(axis=1))) + 1
        message = f"The {side} features of observation {row} are not finite; nothing was learned."
        raise NumericalError(message)
    return found


def _is_bare(feature_map: FeatureMap) -> TypeGuard[CosineMap]:
    """Whether features are the cosines of this package: a class of the user's may change them."""
    return type(feature_map) in (FourierMap, SingleFourierMap, StructuredMap)


def note_units(state: PipelineState) -> None:
    """Tell the moment what its linear features are divided by when it is asked for."""
    if state.input_origin is not None or state.target_origin is not None:
        state.moment.units = units_of(state)


def units_of(state: PipelineState) -> Units:
    """What linear features are divided by as of now."""
    inputs = state.input_standardizer, state.input_map, state.input_origin
    targets = state.target_standardizer, state.target_map, state.target_origin
    return Units(_units(*inputs), _units(*targets))


def note_constancy(state: PipelineState) -> None:
    """Tell the moment whether all inputs or all responses so far were alike.

    The first row is shown raw and may make a moment of its own; there is no target all the same.
    """
    sides = state.input_standardizer, state.target_standardizer
    is_constant = any(standardizer.is_constant() for standardizer in sides)
    state.moment.is_constant = is_constant or state.constant_target is not None


def widened(state: PipelineState, input_map: FeatureMap) -> PipelineState:
    """Return the state with a map of more inputs, of which all rows so far count as zero."""
    more = input_map.n_inputs - state.input_map.n_inputs
    waiting = tuple(
        rows._replace(inputs=np.pad(rows.inputs, ((0, 0), (0, more)))) for rows in state.waiting
    )
    return replace(state, input_map=input_map, waiting=waiting)


def _units(
    standardizer: Standardizer, feature_map: FeatureMap, origin: Origin | None
) -> SideUnits | None:
    """Return what the features of one side are divided by; None where they have no unit."""
    if origin is None:
        return None
    assert isinstance(standardizer, RunningStandardizer)
    scale = standardizer.scale(standardizer.rule.plain)
    divisor = np.ones(feature_map.n_features)
    divisor[feature_map.linear] = scale
    away = (standardizer.mean - origin.point) / scale
    # All other features of such a map are bounded by one.
    bounded = feature_map.n_features - feature_map.n_inputs
    spread = bounded + float((standardizer.variance / scale**2).sum())
    return SideUnits(divisor, spread + float((away**2).sum()), spread)
