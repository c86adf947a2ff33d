r"""The fast row path: one compiled call learns one row, for the pipelines most people run.

It serves Fourier features of causally standardised inputs, with class labels or a numeric response
(compressed or not).  The arithmetic is that of the block path, from the same kernels.  Whatever is
out of the ordinary (a value that is not finite, a class or a target direction not met before) is
declined *before* anything changes; then room is made, or the general path takes the row.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from okspca.features import FourierMap, OneHotMap, SingleFourierMap
from okspca.moments import CrossMoment, Moment, SubMoments
from okspca.moments.arrays import EncodedRows
from okspca.numerics.addresses import table_of
from okspca.numerics.arrays import LARGEST_VALUE, Floats
from okspca.numerics.compiled import bound
from okspca.pipeline.fast_row_kernels import (
    DIRECTIONS,
    LEARNED,
    LEARNED_CONSTANT,
    NEW_DIRECTION,
    SETTINGS,
    SUMS,
    Scratch,
    Settings,
    SideArrays,
    enter_moment,
    learn_label,
    learn_numbers,
    settings_array,
    side_list,
)
from okspca.pipeline.learning import follow, next_due, period_of
from okspca.pipeline.single_row_kernels import learn_single_label, learn_single_numbers
from okspca.pipeline.state import PipelineState
from okspca.standardize import CausalStandardizer, Standardizer

FLOAT64 = np.dtype(np.float64)
#: Inputs of a row in any form, and its target: the column of a label, a number, several numbers.
RowInputs = Floats | Sequence[float]
RowTarget = int | float | Floats


class FastRow:
    """The kernel that learns rows, bound to the arrays of one state, which it changes in place.

    Parameters
    ----------
    state : PipelineState
        One of the kind that :func:`is_served` accepts, with arrays that can be written.

    Attributes
    ----------
    kernel : callable
        The compiled call.
    psi : ndarray
        The target features of the row that was met last, before compression.
    due : int
        Row number at which there is next something to do besides learning.
    """

    kernel: Callable[..., int]
    psi: Floats

    def __init__(self, state: PipelineState) -> None:
        self._state, self._tracker = state, state.tracker
        self.due = next_due(state)
        self._x = np.zeros(state.input_map.n_inputs)  # for inputs that are no plain array
        self._beside: Mapping[str, Any] = {}
        # By how much the clock of the moment is ahead of the rows, and the rows of the groups.
        self._lag, self._ungrouped = state.moment.rows - state.rows, 0
        if state.sub_moments is not None:
            self._ungrouped = state.rows - state.sub_moments.rows
        self._has_groups = False  # whether they are ready for rows of this width
        inputs = _side(state.input_standardizer, state.input_map)
        self._phi = inputs.features
        moment, numbers = self._moment_arrays(), settings_array(_settings(state))
        self._arrays = [*side_list(inputs), *moment, numbers]
        if isinstance(state.target_map, OneHotMap):
            self._bind_label()
        else:
            self._bind_numbers(_side(state.target_standardizer, state.target_map))

    def learn(self, x: RowInputs, target: RowTarget, beside: Mapping[str, Any]) -> bool:
        """Learn a row and what accompanies it; False where the general path must take it."""
        self._beside = beside
        if not (type(x) is np.ndarray and x.dtype is FLOAT64 and x.flags.carray):
            try:
                np.copyto(self._x, x)
            except (TypeError, ValueError):  # not numbers: the general path says what is wrong
                return False
            x = self._x
        state = self._state
        if self._y is None:
            outcome = self.kernel(x, target)
        else:
            self._y[self._place] = target
            outcome = self.kernel(x)
            if outcome == NEW_DIRECTION and state.moment.add_direction(self.psi):
                self.renew()
                outcome = self.kernel(x)
        if outcome < LEARNED:
            return False
        self._count_one()
        if state.constant_target is not None and (state.constant_target != target).any():
            state.constant_target = None
        is_constant = outcome == LEARNED_CONSTANT or state.constant_target is not None
        state.moment.is_constant = is_constant
        if state.sub_moments is not None:
            self._group_row(state.sub_moments)
        if self._tracker is not None:
            self._tracker.follow_row(state.service_state, state.moment, state.rows)
        if state.rows >= self.due:
            if follow(state, None):
                self.renew()
            self.due = next_due(state)
        return True

    def count_row(self) -> None:
        """Count a row that the kernel had learned when Ctrl-C came before the rest was done."""
        state = self._state
        rows = state.moment.rows - self._lag
        if rows > state.rows:
            self._count_one()
        groups = state.sub_moments
        if groups is not None and rows > groups.rows + self._ungrouped:
            self._group_row(groups)

    def _count_one(self) -> None:
        """Count a row, with what accompanies it."""
        state = self._state
        if self._beside:
            state.companions = {**state.companions, **self._beside}
        state.rows += 1

    def renew(self) -> None:
        """Go on with a compressed moment whose directions are more, or others, than before."""
        moment = self._state.moment
        self._arrays[SUMS:SETTINGS] = self._moment_arrays()
        self._arrays[DIRECTIONS] = directions = _directions(moment)
        enter_moment(self._table, moment.arrays, self._scratch, directions)
        self.due = next_due(self._state)  # a wider moment may be served in another way
        self._has_groups = False

    def _moment_arrays(self) -> list[Floats]:
        """The arrays of the moment, and new scratch of its width."""
        arrays = self._state.moment.arrays
        width, D = arrays.sums.shape
        coordinates, dropped = np.zeros((1, width)), np.zeros(1)
        self._scratch = Scratch(coordinates[0], np.empty(D), np.empty(width), dropped)
        self._rows = EncodedRows(self._phi[None], coordinates, np.ones(1), dropped)
        return [*arrays, *self._scratch]

    def _bind_label(self) -> None:
        """Bind the kernel that takes the column of a label."""
        self._y: Floats | None = None
        self.psi = self._scratch.coordinates
        self._table = table_of(self._arrays)
        self._bind(learn_label, learn_single_label, 0)

    def _bind_numbers(self, targets: SideArrays) -> None:
        """Bind the kernel that takes a numeric response."""
        moment, y = self._state.moment, np.zeros(self._state.target_map.n_inputs)
        self._y, self.psi = y, targets.features
        self._place = 0 if y.size == 1 else slice(None)  # a single number is put in faster
        if moment.compression is None:
            self._rows = self._rows._replace(coordinates=targets.features[None])
        self._arrays += [y, *side_list(targets), _directions(moment)]
        self._table = table_of(self._arrays)
        self._bind(learn_numbers, learn_single_numbers)

    def _bind(self, kernel: Callable[..., int], single: Callable[..., int], *label: int) -> None:
        """Bind the kernel that goes with the precision of the map."""
        feature_map = self._state.input_map
        first: tuple[Any, ...] = (self._table,)
        if isinstance(feature_map, SingleFourierMap):
            kernel, first = single, (self._table, feature_map.by_input, feature_map.reach)
        self.kernel = partial(bound(kernel, *first, self._x, *label), *first)

    def _group_row(self, groups: SubMoments) -> None:
        """Let the row that was learned last join its group."""
        moment = self._state.moment
        if not self._has_groups:
            groups.prepare(moment.width)
            self._has_groups = True
        groups.add_one(self._rows, moment.rows - 1)


def is_served(state: PipelineState) -> bool:
    """Whether a state is of the kind whose rows are learned by one compiled call."""
    if state.window is not None or type(state.moment) is not CrossMoment:
        return False
    inputs, targets = state.input_standardizer, state.target_standardizer
    if type(inputs) is not CausalStandardizer:
        return False
    if type(state.input_map) not in (FourierMap, SingleFourierMap):
        return False
    if period_of(state) == 1:  # the service wants the change that each row makes
        return False
    if isinstance(state.target_map, OneHotMap):
        return state.moment.width > 0
    compression = state.moment.compression
    return (
        type(state.target_map) is FourierMap
        and type(targets) is CausalStandardizer
        and targets.rule == inputs.rule
        and targets.forgetting == inputs.forgetting
        and (compression is None or state.moment.width == compression.rank > 0)
    )


def _settings(state: PipelineState) -> Settings:
    """Collect the numbers that kernels need."""
    standardizer, compression = state.input_standardizer, state.moment.compression
    assert isinstance(standardizer, CausalStandardizer)
    return Settings(
        standardizer.rule,
        state.moment.forgetting,
        standardizer.forgetting,
        0.0 if compression is None else compression.tolerance,
        LARGEST_VALUE,
    )


def _directions(moment: Moment) -> Floats:
    """The directions that a target is compressed to; none where it is not."""
    if moment.compression is None:
        return np.zeros((0, 1))
    return moment.compression.directions[: moment.width].copy()


def _side(standardizer: Standardizer, feature_map: object) -> SideArrays:
    """Collect what one side's front end needs; kernels want plain, writable arrays."""
    assert isinstance(standardizer, CausalStandardizer)
    assert isinstance(feature_map, FourierMap)
    # In single precision, the kernel gets the frequencies in another form.
    n_kept = 0 if isinstance(feature_map, SingleFourierMap) else feature_map.n_features
    return SideArrays(
        standardizer.arrays,
        feature_map.weights[:n_kept].copy(),
        feature_map.phases.copy(),
        np.ones(feature_map.n_inputs),
        np.zeros(feature_map.n_features),
    )
