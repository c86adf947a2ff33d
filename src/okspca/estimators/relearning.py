"""Learning the features again, from rows of a later time.

A map that was trained on the first rows serves as long as the same inputs matter in the same way.
When that changes, a window or forgetting renews the moment, but not the features it is made of.

A fresh pilot begins by a call, or by an alarm (:mod:`okspca.estimators.watching`).  A climb of a
model that is watched is not put off: the rows after it must be watched with the map that it finds.
"""

import copy
from typing import Any, Self, TypeGuard

import numpy as np
from sklearn.utils.validation import check_is_fitted

from okspca.estimators.building import Rows, build, seeds_of
from okspca.estimators.learned import SEARCH, Record, rows_seen
from okspca.estimators.learning import Learning
from okspca.estimators.map_search import ENDING, MapSearch
from okspca.estimators.parameters import check_parameters, is_count
from okspca.estimators.presets import ON_DRIFT
from okspca.estimators.watching import WATCH, Watch
from okspca.features import CosineMap, OneHotMap
from okspca.features.bandwidth import sqrt_dimension
from okspca.features.drawing import drawn_map
from okspca.features.single import in_precision
from okspca.pipeline import Pipeline, PipelineState
from okspca.pipeline.learning import next_due
from okspca.services.checks import check_count
from okspca.standardize import FrozenStandardizer


class Relearning(Learning):
    """The part of an estimator that learns its features again."""

    relearn: str

    def relearn_features(self, rows: int | None = None) -> Self:
        """Learn the features again from the rows to come: begin a fresh pilot at the next row.

        Until it ends, the model goes on answering and learning with the features it has.  After
        512, 1,024, ... rows from now on and at last after ``rows``, the fresh rows choose as the
        first ones did, beginning with the map in use and with the map as drawn; another map is
        taken only if it predicts held-back fresh rows better.

        Where a new map is taken, the model starts again and learns the fresh rows in their order:
        the moment, its window or sub-moments, standardisers that learn, the choice of a ridge and
        the anchor of ``align``.  Sums of products of old features cannot be carried over to new
        ones, so nothing of the rows before is left in them, and coordinates are new ones.  Classes,
        frozen standardisers, means that fill gaps and scores stay, and ``n_samples_seen_`` goes on
        counting.  Where no other map pays, nothing of this happens.

        A call while a pilot is running lets go of its rows and begins again.

        Parameters
        ----------
        rows : int, optional
            Number of rows to learn from, as many as `pilot_rows` by default; they are kept until
            then, in at most 64 MB.

        Raises
        ------
        ValueError
            The model does not learn its features: they stay as drawn.

        Examples
        --------
        >>> from okspca import OKSPCARegressor
        >>> X = np.random.RandomState(0).uniform(-2.0, 2.0, size=(2400, 6))
        >>> y = np.where(np.arange(2400) < 1200, X[:, 0] * X[:, 1], X[:, 4] * X[:, 5])
        >>> model = OKSPCARegressor(n_random_features=64, pilot_rows=1024, random_state=0)
        >>> model = model.partial_fit(X[:1200], y[:1200])
        >>> bool(model.relevance_[:2].sum() > 0.9)
        True
        >>> model = model.relearn_features().partial_fit(X[1200:], y[1200:])
        >>> bool(model.relevance_[4:].sum() > 0.9), model.n_samples_seen_
        (True, 2400)
        """
        check_is_fitted(self)
        learned: Record = self._known("The pipeline")
        if rows is not None:
            check_count(rows=rows)
        pipeline = learned.ready()
        begin(self, pipeline, rows)
        return self

    @property
    def pilot_rows_left_(self) -> int:
        """Number of rows still to come until the input map is final; 0 once it is."""
        search = self._known("pilot_rows_left_").search
        return 0 if search is None else search.n_awaited

    @property
    def n_drift_alarms_(self) -> int:
        """How many fresh pilots an alarm has begun (``relearn="on-drift"``)."""
        pipeline = self._known("n_drift_alarms_").pipeline
        return 0 if pipeline is None else pipeline.read_as_is(watch_of).n_alarms

    def _followed(
        self, search: MapSearch, pipeline: Pipeline, rows: Rows, **beside: Any
    ) -> Pipeline:
        """Learn admitted rows in a search, and watch them where that was asked for."""
        if self.relearn != ON_DRIFT:
            return super()._followed(search, pipeline, rows, **beside)
        token = ENDING.set(lambda: False)
        try:
            return _Watched(self, search, pipeline, beside).learned(rows)
        finally:
            ENDING.reset(token)

    def _suffices(self, pipeline: Pipeline | None) -> TypeGuard[Pipeline]:
        """Whether the pipeline alone has to see a row."""
        return super()._suffices(pipeline) and self.relearn != ON_DRIFT


class _Watched:
    """Learning rows in steps: through pilots, and between them up to where rows are folded."""

    def __init__(
        self, model: Any, search: MapSearch, pipeline: Pipeline, beside: dict[str, Any]
    ) -> None:
        self.model, self.search, self.beside = model, search, beside
        self.pipeline, self.is_own = pipeline, False

    def learned(self, rows: Rows) -> Pipeline:
        """Learn rows; return the pipeline to go on with.  Where it raises, nothing has changed."""
        start = 0
        while start < len(rows):
            stop = min(start + self._n_next(), len(rows))
            # One step is all or nothing by itself; several are, in a copy.
            if stop < len(rows) and not self.is_own:
                self.pipeline, self.is_own = self.pipeline.twin(), True
            self._learn(rows.between(start, stop))
            start = stop
        return self.pipeline

    def _n_next(self) -> int:
        """How many rows the next step takes at most."""
        state = self.pipeline.state
        if not self.search.is_final:
            return max(self.search.n_awaited, 1)
        # The last row before rows are folded is a step by itself: those that wait are tested first.
        return max(next_due(state) - state.rows - 1, 1)

    def _learn(self, rows: Rows) -> None:
        """Learn the rows of one step."""
        state = self.pipeline.state
        watch = watch_of(state)
        if not self.search.is_final:
            beside = {**self.beside, WATCH: watch.restarted()}
            self.pipeline = self.search.learn(self.pipeline, rows, **beside)
            self.search = self.pipeline.state.companions[SEARCH]
            return
        if next_due(state) - state.rows == 1:
            watch = watch.after(state)
        if watch.is_raised and not self.is_own:
            self.pipeline, self.is_own = self.pipeline.twin(), True
        beside = {**self.beside, SEARCH: self.search, WATCH: watch}
        self.pipeline.run(rows.X, rows.Y, rows.weights, **beside)
        if watch.is_raised:
            self.search = begin(self.model, self.pipeline)


def watch_of(state: PipelineState) -> Watch:
    """The watch of a pipeline; a new one where there is none yet."""
    found: Watch = state.companions.get(WATCH, Watch())
    return found


def begin(model: Any, pipeline: Pipeline, rows: int | None = None) -> MapSearch:
    """Begin a fresh pilot in a pipeline; return the search."""
    state = pipeline.state
    search = fresh_search(model, state, rows)
    nothing = np.empty((0, state.input_map.n_inputs)), np.empty((0, 1)), np.empty(0)
    beside: dict[str, Any] = {SEARCH: search}
    if WATCH in state.companions:
        beside[WATCH] = watch_of(state).restarted()
    pipeline.run(*nothing, **beside)
    return search


def fresh_search(model: Any, state: PipelineState, rows: int | None = None) -> MapSearch:
    """Begin a fresh pilot of so many rows in a pipeline; ``pilot_rows`` by default."""
    search: MapSearch | None = state.companions.get(SEARCH)
    if search is None:
        message = (
            f"frequencies={model.frequencies!r} left the features as they were drawn, so there is "
            "nothing to learn again; make the model with frequencies='trained'."
        )
        raise ValueError(message)
    n_rows = int(model.pilot_rows if rows is None else rows)
    base = search.base or drawn_again(model, state)
    base = in_precision(base, state.input_map.precision)
    return search.renewed(blank_like(model, state, base), n_rows, rows_seen(state))


def drawn_again(model: Any, state: PipelineState) -> CosineMap:
    """Draw the map as it was drawn at first, as far as the parameters tell."""
    if isinstance(model.input_map, CosineMap):
        return model.input_map
    n_inputs = state.input_map.n_inputs
    # What "median" found in the first rows is not known any more.
    is_told = not isinstance(model.bandwidth, str)
    return drawn_map(
        n_inputs,
        state.input_map.n_features,
        bandwidth=float(model.bandwidth) if is_told else sqrt_dimension(n_inputs),
        kernel=model.kernel,
        sampling=model.sampling,
        seed=seeds_of(_seed(model))[0],
    )


def blank_like(model: Any, state: PipelineState, base: CosineMap) -> PipelineState:
    """Make a pipeline like one that has learned rows, but without any, over another input map."""
    check_parameters(model)
    recipe: Any = copy.copy(model)
    recipe.input_map = base
    if is_count(model.n_components):
        recipe.n_components = state.n_components
    labels = state.target_map if isinstance(state.target_map, OneHotMap) else None
    recipe.target_map = None if labels is not None else state.target_map
    for name in ("input_standardizer", "target_standardizer"):
        fixed = getattr(state, name)
        if isinstance(fixed, FrozenStandardizer):
            setattr(recipe, name, fixed)
    # Both maps are given, so the seed is only that of the service.
    recipe.random_state = _seed(model)
    width = 1 if labels is not None else state.target_map.n_inputs
    nothing = Rows(np.empty((0, base.n_inputs)), np.empty((0, width)), np.empty(0))
    return build(recipe, nothing, labels).state


def _seed(model: Any) -> int:
    """The seed of a model, where it has one that can be used twice."""
    seed = model.random_state
    return int(seed) if isinstance(seed, int | np.integer) else 0
