r"""The fast path of rows that wait: one compiled call standardises a row and keeps it.

It serves moments whose rows are folded together (:mod:`okspca.pipeline.waiting`), with Fourier
features of causally standardised inputs, and labels or a numeric response.  The row after which
something is due is left to the general path, which works on a copy; so nothing but standardisers,
the rows that wait and their number ever changes in place.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from okspca.features import FourierMap, OneHotMap, SingleFourierMap
from okspca.features.chebyshev import ChebyshevMap
from okspca.numerics.addresses import table_of
from okspca.numerics.arrays import LARGEST_VALUE, Floats
from okspca.numerics.compiled import bound
from okspca.pipeline.fast_row import FLOAT64, RowInputs, RowTarget
from okspca.pipeline.fast_row_kernels import LEARNED, LEARNED_CONSTANT, Settings, settings_array
from okspca.pipeline.learning import next_due, period_of
from okspca.pipeline.state import PipelineState
from okspca.pipeline.waiting import StandardizedRows
from okspca.pipeline.waiting_row_kernels import let_label_wait, let_numbers_wait
from okspca.standardize import CausalStandardizer


class WaitingRow:
    """The kernel that lets rows wait, bound to the arrays of one state, which it changes in place.

    Parameters
    ----------
    state : PipelineState
        One of the kind that :func:`waits_here` accepts, with arrays that can be written.
    """

    def __init__(self, state: PipelineState) -> None:
        self._state, self._before, self._row = state, state.waiting, state.rows
        # All but the last row until something is due.
        room = next_due(state) - state.rows - 1
        inputs, targets = state.input_standardizer, state.target_standardizer
        assert isinstance(inputs, CausalStandardizer)
        self._counts, self._learned_before = inputs.counts, inputs.rows
        self._x = np.zeros(state.input_map.n_inputs)
        self._beside: Mapping[str, Any] = {}
        is_label = isinstance(state.target_map, OneHotMap)
        width = 1 if is_label else state.target_map.n_inputs
        origin = None if state.target_origin is None else state.target_origin.point
        linear = None if origin is None else np.zeros((room, width))
        self._rows = StandardizedRows(
            np.zeros((room, self._x.size)), np.zeros((room, width)), None, linear, np.ones(room)
        )
        self._arrays = [*inputs.arrays, _settings(inputs), self._rows.inputs]
        self._y: Floats | None = None
        if not is_label:
            assert isinstance(targets, CausalStandardizer)
            self._y, self._place = np.zeros(width), 0 if width == 1 else slice(None)
            none = np.zeros((0, 1)), np.zeros(0)
            at_origin = none if linear is None or origin is None else (linear, origin.copy())
            self._arrays += [*targets.arrays, _settings(targets), self._rows.targets]
            self._arrays += [self._y, *at_origin]
        self._table = table_of(self._arrays)
        self._kernel = self._bound(is_label=is_label)

    def learn(self, x: RowInputs, target: RowTarget, beside: Mapping[str, Any]) -> bool:
        """Let a row wait, with what accompanies it; False where the general path must take it."""
        state, n = self._state, self._state.rows - self._row
        if n >= len(self._rows.weights):
            return False
        if not (type(x) is np.ndarray and x.dtype is FLOAT64 and x.flags.carray):
            try:
                np.copyto(self._x, x)
            except (TypeError, ValueError):  # not numbers: the general path says what is wrong
                return False
            x = self._x
        self._beside = beside
        if self._y is None:
            self._rows.targets[n, 0] = target
            outcome = self._kernel(x, target, n)
        else:
            self._y[self._place] = target
            outcome = self._kernel(x, n)
        if outcome < LEARNED:
            return False
        self.count_row()
        if state.constant_target is not None and (state.constant_target != target).any():
            state.constant_target = None
        is_constant = outcome == LEARNED_CONSTANT or state.constant_target is not None
        state.moment.is_constant = is_constant
        return True

    def count_row(self) -> None:
        """Count the rows that the kernel has learned, also where Ctrl-C came right after it."""
        state, n = self._state, int(self._counts[1]) - self._learned_before
        if self._row + n == state.rows:
            return
        if self._beside:
            state.companions = {**state.companions, **self._beside}
        state.waiting = (*self._before, self._rows.between(0, n))
        state.rows = self._row + n

    def _bound(self, *, is_label: bool) -> Callable[..., int]:
        """The kernel for the kind of target."""
        if is_label:
            return partial(bound(let_label_wait, self._table, self._x, 0, 0), self._table)
        return partial(bound(let_numbers_wait, self._table, self._x, 0), self._table)


def waits_here(state: PipelineState) -> bool:
    """Whether a state is of the kind whose rows are let wait by one compiled call."""
    inputs, targets = state.input_standardizer, state.target_standardizer
    if not (state.moment.folds and state.rows > 0 and state.input_origin is None):
        return False
    if type(inputs) is not CausalStandardizer:
        return False
    if type(state.input_map) not in (FourierMap, SingleFourierMap):
        return False
    if period_of(state) is not None or next_due(state) - state.rows < 2:
        return False
    if isinstance(state.target_map, OneHotMap):
        return True
    is_mapped = type(state.target_map) in (FourierMap, ChebyshevMap)
    return is_mapped and type(targets) is CausalStandardizer


def _settings(standardizer: CausalStandardizer) -> Floats:
    """Collect the numbers that kernels need of a side."""
    rule, forgetting = standardizer.rule, standardizer.forgetting
    return settings_array(Settings(rule, 1.0, forgetting, 0.0, LARGEST_VALUE))
