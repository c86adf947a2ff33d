"""Merge the states of two pipelines: what can be merged, and how.

Moments and standardisers are sums, so merging adds them.  A class that one side lacks is a zero
column there.
"""

import numpy as np

from okspca.errors import MergeError
from okspca.features import OneHotMap
from okspca.numerics.arrays import Floats, copied
from okspca.pipeline.front_end import note_constancy, note_units
from okspca.pipeline.learning import fold, period_of, settled
from okspca.pipeline.state import PipelineState


def check_merge(mine: PipelineState, theirs: PipelineState) -> None:
    """Raise where the second state cannot be merged into the first."""
    if _n_groups(mine) != _n_groups(theirs):
        message = (
            f"The models keep {_n_groups(mine)} and {_n_groups(theirs)} sub-moments; "
            "merge models made with the same stability."
        )
        raise MergeError(message)
    if _deal_apart(mine, theirs):
        message = (
            "One model forgets and deals its rows to sub-moments in turn, as earlier versions did, "
            "the other does not; learn both with the same version."
        )
        raise MergeError(message)
    if mine.window is not None or theirs.window is not None:
        message = "Models with a window cannot be merged: their rows have no common order."
        raise MergeError(message)
    if mine.service != theirs.service:
        message = f"The models differ in their solver: {mine.service} here, {theirs.service} there."
        raise MergeError(message)
    if mine.tracker is not None:
        message = "A tracking solver follows one stream and cannot be merged; use solver='exact'."
        raise MergeError(message)
    _check_input_maps(mine, theirs)
    for name in ("input_standardizer", "target_standardizer"):
        if type(getattr(mine, name)) is not type(getattr(theirs, name)):
            message = (
                "The models standardise their inputs or responses in different ways: "
                f"{type(getattr(mine, name)).__name__} here, "
                f"{type(getattr(theirs, name)).__name__} there."
            )
            raise MergeError(message)
    for name in ("input_origin", "target_origin"):
        if (getattr(mine, name) is None) != (getattr(theirs, name) is None):
            message = (
                "One model sums its linear features in data units and the other, of an earlier "
                "version, standardised; learn both with the same version."
            )
            raise MergeError(message)
    _check_components(mine, theirs)
    _check_targets(mine, theirs)


def merge(mine: PipelineState, theirs: PipelineState) -> None:
    """Merge the second state, which :func:`check_merge` accepts, into the first.

    A state that has learned no row is the neutral element.
    """
    if mine.rows and theirs.rows:
        fold(mine)
        theirs = settled(theirs)
    mine.waiting = (*mine.waiting, *theirs.waiting)
    theirs = _from_my_origins(mine, theirs)
    _merge_targets(mine, theirs)
    mine.input_standardizer.merge(theirs.input_standardizer)
    mine.target_standardizer.merge(theirs.target_standardizer)
    mine.constant_target = _constant_target(mine, theirs)
    if mine.rows == 0:
        mine.anchor = theirs.anchor
        mine.service_state = copied(theirs.service_state)
    is_new = mine.rows > 0 and theirs.rows > 0
    mine.rows += theirs.rows
    note_constancy(mine)
    note_units(mine)
    if is_new and period_of(mine) is not None:
        # What the service keeps belongs to the moment of the first alone.
        mine.service.observe(mine.service_state, mine.moment, None, mine.rows)


def _from_my_origins(mine: PipelineState, theirs: PipelineState) -> PipelineState:
    """The second state with its linear features measured from the origins of the first."""
    shifts = []
    for side in ("input", "target"):
        here, there = (getattr(state, f"{side}_origin") for state in (mine, theirs))
        feature_map = getattr(theirs, f"{side}_map")
        shift = np.zeros(feature_map.n_features)
        if here is not None and there.is_known:
            if here.is_known:
                shift = there.shift_to(here, feature_map)
            else:
                setattr(mine, f"{side}_origin", there)
        shifts.append(shift)
    if not any(shift.any() for shift in shifts):
        return theirs
    shifted = theirs.twin()
    groups = [] if shifted.sub_moments is None else shifted.sub_moments.groups
    for moment in (shifted.moment, *groups):
        moment.shift_means(*shifts)
    return shifted


def check_precision(here: str, there: str) -> None:
    """Raise where features are computed in different precision."""
    if here != there:
        message = (
            f"The models differ in the precision of their features, {here} here and {there} there, "
            "as the dtype of the first rows said; learn both from rows of one dtype."
        )
        raise MergeError(message)


def _check_input_maps(mine: PipelineState, theirs: PipelineState) -> None:
    """Raise where rows become other features, or the same in another precision."""
    check_precision(mine.input_map.precision, theirs.input_map.precision)
    if not mine.input_map.equals(theirs.input_map):
        message = (
            "The input maps differ; merge models made with the same random_state or maps, and "
            "with frequencies='drawn' (okspca fit --frequencies drawn), which keeps the map."
        )
        raise MergeError(message)


def _check_components(mine: PipelineState, theirs: PipelineState) -> None:
    """Raise where the states have different numbers of components."""
    if (mine.n_components, mine.follows_classes) != (theirs.n_components, theirs.follows_classes):
        message = (
            f"The models have {mine.n_columns} and {theirs.n_columns} components; merge models "
            "made with the same n_components."
        )
        raise MergeError(message)


def _check_targets(mine: PipelineState, theirs: PipelineState) -> None:
    """Raise where the target maps differ, or the service cannot serve the classes of both."""
    if isinstance(mine.target_map, OneHotMap) and isinstance(theirs.target_map, OneHotMap):
        together = {*mine.target_map.classes, *theirs.target_map.classes}
        objection = mine.service.objection(labels=True, n_targets=len(together))
        if objection is not None:
            raise MergeError(objection)
    elif not mine.target_map.equals(theirs.target_map):
        message = "The target maps differ; merge models made with the same random_state or maps."
        raise MergeError(message)


def _merge_targets(mine: PipelineState, theirs: PipelineState) -> None:
    """Merge the moments and, where they are kept, the sub-moments."""
    clock, compression = mine.moment.rows, mine.moment.compression
    groups = [] if theirs.sub_moments is None else theirs.sub_moments.groups
    if isinstance(mine.target_map, OneHotMap) and isinstance(theirs.target_map, OneHotMap):
        mine.target_map = mine.target_map.with_classes(theirs.target_map.classes)
        columns = mine.target_map.index(theirs.target_map.classes)[:, 0].astype(np.int64)
        n_classes = mine.target_map.n_features
        mine.moment.merge(theirs.moment.with_columns(columns, n_classes))
        groups = [group.with_columns(columns, n_classes) for group in groups]
    else:
        mine.moment.merge(theirs.moment)
        basis = mine.moment.basis_of(theirs.moment)
        if basis is not None:
            groups = [group.transformed(basis[: group.width].T) for group in groups]
    if mine.sub_moments is not None and theirs.sub_moments is not None:
        if compression is not None and mine.moment.compression is None:
            mine.sub_moments.expand(compression)
        clocks = clock, theirs.moment.rows
        mine.sub_moments.merge(groups, theirs.sub_moments.dealing, clocks)


def _constant_target(mine: PipelineState, theirs: PipelineState) -> Floats | None:
    """The response that all rows of both had, if there is one."""
    if mine.rows == 0 or theirs.rows == 0:
        return theirs.constant_target if mine.rows == 0 else mine.constant_target
    same = np.array_equal(mine.constant_target, theirs.constant_target)  # type: ignore[arg-type]
    return mine.constant_target if same else None


def _n_groups(state: PipelineState) -> int:
    """Number of sub-moments that a state keeps."""
    return 0 if state.sub_moments is None else len(state.sub_moments)


def _deal_apart(mine: PipelineState, theirs: PipelineState) -> bool:
    """Whether sub-moments that forget got their rows by different rules, so that ages differ."""
    if mine.sub_moments is None or theirs.sub_moments is None:
        return False
    differ = mine.sub_moments.seed != theirs.sub_moments.seed
    return differ and mine.moment.forgetting < 1.0 and min(mine.rows, theirs.rows) > 0
