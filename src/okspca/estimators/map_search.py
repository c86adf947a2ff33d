r"""Finding the input map along the stream, among maps learned from its first rows.

After 512, 1,024, 2,048, ... rows, and at last after ``pilot_rows``, the ladder of input maps is
climbed on the rows so far (:mod:`okspca.features.ladder`), which are kept until then.  Only the
last climb is made on fewer than eight rows per input, since what is found in so few does not carry
over.

A replaced map means a new moment: the pipeline starts empty and learns the rows kept so far again,
in their order.  After the last climb the map is final, and the rows are let go.  So from then on
the model is what one would have had with this map from the first row on, and memory is bounded.

**A fresh pilot** (:mod:`okspca.estimators.relearning`) is the same with rows of a later time: they
are kept and climbed on as the first ones were, counted from where it began, while the model goes on
with the map and the moment it has.  The climb begins with the map in use and the map as drawn, so
that a map from before stays where nothing predicts the fresh rows better.  Where a new one is
taken, the moment restarts from the fresh rows, since sums of old features say nothing about new
ones.

A climb takes seconds.  Where a process has to end at once, it is put off (``ENDING``): the rows are
learned with the map in use, and the climb is made before the next row is learned, from the rows it
was due after.  So in the end the model is the same.
"""

import time
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, Self

import numpy as np

from okspca.estimators.building import Rows
from okspca.estimators.presets import Asked
from okspca.features import CosineMap, FeatureMap
from okspca.features.ladder import Place, climbed
from okspca.features.single import in_double, in_precision
from okspca.features.trials import Pilot, n_learned, varies
from okspca.numerics.announcing import tell
from okspca.numerics.scratch import reused
from okspca.pipeline import Pipeline, PipelineState

#: After so many rows the first climb is made; after twice as many the next, and so on.
FIRST_CLIMB = 512
#: The last climb is made in any case; the others need so many rows per input.
ROWS_PER_INPUT = 8
#: Rows that are kept take no more than this, whatever ``pilot_rows`` says.
MOST_BYTES = 2**26
#: Asked during a climb: whether the process has to end, so that the climb is put off.
ENDING: ContextVar[Callable[[], bool]] = ContextVar("ENDING", default=lambda: False)
#: Frequencies as drawn times these: bandwidths from an eighth to eight times that of the rule.
#: With powers of two, a map equals the one drawn with such a bandwidth to the last bit.
FACTORS = (0.125, 0.25, 0.5, 2.0, 4.0, 8.0)
NOTHING = Asked()
#: Imported where rows choose the number of components.
_COMPONENTS = "okspca.estimators.component_choice"
#: A climb that takes longer than so many seconds says so, and again every so many.
PATIENCE, INTERVAL = 1.0, 5.0


@dataclass(frozen=True, eq=False)
class MapSearch:
    """The rows kept so far, and the map that they told to use.

    A search never changes: learning rows gives another one.

    Parameters
    ----------
    blank : PipelineState or None
        The pipeline before its first row, with the map as drawn; None once the map is final.
    place : Place
        Where the last climb led.
    top : str
        The highest rung of the ladder that may be taken.
    pilot_rows : int
        How many rows are kept at most.
    held : tuple of Rows
        The rows kept.
    climbed_at : int
        Row number after which the last climb was due that was made; 0 once the map is final.
    asked : Asked
        What else the rows have to choose.
    drawn : CosineMap or None
        The map as drawn, once ``blank`` is gone; None where files of earlier versions do not tell.
    began_at : int
        Number of rows learned when the pilot began: none, unless it is a fresh one.
    rows_before : int
        Number of rows that the moment let go, since a new map could not take them over.

    Examples
    --------
    >>> from okspca import OKSPCA
    >>> X = np.random.RandomState(0).uniform(-2.0, 2.0, size=(600, 4))
    >>> model = OKSPCA(1, n_random_features=32, frequencies="scaled", random_state=0)
    >>> shares = model.fit(X, X[:, 0] * X[:, 1]).relevance_
    >>> bool(shares[:2].sum() > 0.8)
    True
    """

    blank: PipelineState | None
    place: Place
    top: str
    pilot_rows: int
    held: tuple[Rows, ...] = ()
    climbed_at: int = 0
    asked: Asked = NOTHING
    drawn: CosineMap | None = None
    began_at: int = 0
    rows_before: int = 0

    @classmethod
    def start(cls, blank: PipelineState, top: str, pilot_rows: int, asked: Asked = NOTHING) -> Self:
        """Begin a search at the foot of the ladder."""
        return cls(blank, Place.drawn(_base(blank)), top, pilot_rows, asked=asked)

    @property
    def is_final(self) -> bool:
        """Whether the map will not change any more."""
        return self.blank is None

    @property
    def base(self) -> CosineMap | None:
        """The map as drawn; None where that is not known."""
        if self.blank is not None:
            return _base(self.blank)
        return self.place.feature_map if self.place.is_as_drawn else self.drawn

    @property
    def n_awaited(self) -> int:
        """Number of rows still to come until the map is final."""
        return 0 if self.is_final else max(self.times[-1] - self.n_held, 0)

    @property
    def times(self) -> tuple[int, ...]:
        """Row numbers after which the ladder is climbed."""
        return times(len(self.place.scales), self.pilot_rows)

    @property
    def n_held(self) -> int:
        """Number of rows kept."""
        return sum(len(rows) for rows in self.held)

    @property
    def owed(self) -> tuple[int, ...]:
        """Row numbers of climbs that were put off."""
        n = self.n_held
        return tuple(time for time in self.times if self.climbed_at < time <= n)

    def learn(
        self,
        pipeline: Pipeline,
        rows: Rows,
        *,
        target_map: FeatureMap | None = None,
        **companions: Any,
    ) -> Pipeline:
        """Learn rows, climbing where that is due; return the pipeline to go on with.

        The search after these rows accompanies the pipeline returned.  That is the pipeline given,
        unless there was a climb; where it raises, nothing has changed.  All else is as for
        :meth:`Pipeline.run`.
        """
        search = self
        if self.owed:
            nothing = rows.first(0)
            pipeline, search = search.tested(pipeline.twin(), nothing, target_map)
        before, start = search.n_held, 0
        due = [time - before for time in self.times if before < time <= before + len(rows)]
        for stop in due:
            if search.is_final or search.owed:
                break
            piece = rows.between(start, stop)
            pipeline, search = search.tested(pipeline.twin(), piece, target_map)
            start = stop
        rest = rows.between(start, len(rows))
        beside = {**companions, "target_map": target_map, "search": search.holding(rest)}
        pipeline.run(rest.X, rest.Y, rest.weights, **beside)
        return pipeline

    def holding(self, rows: Rows) -> Self:
        """Return the search that keeps these rows too, as long as any are kept."""
        if self.is_final or not len(rows):
            return self
        held = [*self.held, rows.owned()]
        # Blocks of falling length: single rows are copied a few times each, and are few blocks.
        while len(held) > 1 and len(held[-2]) <= len(held[-1]):
            last = held.pop()
            held[-1] = held[-1].followed_by(last)
        return replace(self, held=tuple(held))

    def with_row(self, x: Any, target: Any) -> Self | None:
        """Return the search that keeps one row more; None where a climb is due, or x is no row."""
        n = self.n_held
        if self.owed or n + 1 in self.times:
            return None
        try:
            X = np.array(x, dtype=np.float64, ndmin=2)
            Y = np.array(target, dtype=np.float64, ndmin=2)
        except (TypeError, ValueError):
            return None
        return self.holding(Rows(X, Y, np.ones(1)))

    def tested(
        self, pipeline: Pipeline, rows: Rows, target_map: FeatureMap | None
    ) -> tuple[Pipeline, Self]:
        """Learn rows after the last of which the ladder is climbed; make climbs that are owed."""
        assert self.blank is not None
        first, *more = self.holding(rows).held
        kept = first.followed_by(*more)
        blank = self.blank.twin()
        blank.companions = pipeline.state.companions
        blank.target_map = blank.target_map if target_map is None else target_map
        after = replace(self, held=(kept,))
        for row in after.owed:
            try:
                place = found_place(blank, kept.first(row), after)
            except _PutOffError:
                break
            after = replace(after, place=place, climbed_at=row)
        if after.place.is_same_model(self.place):
            pipeline.run(rows.X, rows.Y, rows.weights, target_map=target_map)
        else:
            seen = self.rows_before + pipeline.state.rows + len(rows)
            after = replace(after, rows_before=seen - len(kept))
            pipeline = Pipeline(placed(blank, after.place))
            pipeline.run(kept.X, kept.Y, kept.weights)
        return pipeline, after.ended() if after.climbed_at == self.times[-1] else after

    def ended(self) -> Self:
        """Return the search with its map as the final one, and without rows."""
        place = self.place._replace(mixture=None)
        # As in a file: a map that is in use as it was drawn is kept once.
        drawn = None if place.is_as_drawn else self.base
        return replace(self, blank=None, drawn=drawn, place=place, held=(), climbed_at=0)

    def renewed(self, blank: PipelineState, pilot_rows: int, began_at: int) -> Self:
        """Begin a fresh pilot, with a pipeline without rows that has the map as drawn."""
        return replace(
            self,
            blank=blank,
            pilot_rows=pilot_rows,
            held=(),
            climbed_at=0,
            drawn=None,
            began_at=began_at,
        )

    def merged(self, other: Self) -> Self:
        """What accompanies two merged pipelines of one map."""
        return replace(self, rows_before=self.rows_before + other.rows_before)


def is_searching(search: MapSearch | None) -> bool:
    """Whether rows are still kept to find the map."""
    return search is not None and not search.is_final


def may_climb(model: Any) -> bool:
    """Whether features may be learned from the next rows, by a model or by one beside it."""
    if not model.__sklearn_is_fitted__() or model.n_samples_seen_ < int(model.pilot_rows):
        return True
    return is_searching(model.learned.search)


def times(n_inputs: int, pilot_rows: int) -> tuple[int, ...]:
    """Row numbers after which the ladder is climbed.

    Examples
    --------
    >>> times(20, 4096), times(200, 5000), times(10**5, 4096)
    ((512, 1024, 2048, 4096), (2048, 4096, 5000), (83,))
    """
    last = min(pilot_rows, max(MOST_BYTES // (8 * n_inputs), 1))
    doubled = [FIRST_CLIMB << i for i in range(last.bit_length()) if FIRST_CLIMB << i < last]
    return (*(t for t in doubled if t >= ROWS_PER_INPUT * n_inputs), last)


def placed(blank: PipelineState, place: Place) -> PipelineState:
    """Return a pipeline before its first row as a climb says that it should be."""
    made = blank.twin()
    made.input_map = place.feature_map
    if place.n_components is None:
        return made
    return import_module(_COMPONENTS).with_components(made, place.n_components)


def found_place(blank: PipelineState, rows: Rows, search: MapSearch) -> Place:
    """Climb on these rows; rows that tell nothing must not choose a map."""
    place, asked = search.place, search.asked
    learned = n_learned(len(rows))
    if not (varies(rows.X[:learned]) and varies(rows.Y[:learned])):
        # Fresh rows that tell nothing leave what is known about the map from before.
        known = np.zeros(len(place.scales)) if place.relevance is None else place.relevance
        return place._replace(relevance=known)
    fresh = blank.twin()
    # All rows are at hand, so all count alike: scaled by those before them, the first rows would
    # look like outliers, and one that came while the response was idle could outweigh the rest.
    fresh.input_standardizer.scan(rows.X, rows.weights)
    Z = fresh.input_standardizer.transform(rows.X)
    if fresh.moment.labels:
        # As they came: neither classes of later rows nor the order of columns must tell.
        classes, first = np.unique(rows.Y, return_index=True)
        met = classes[np.argsort(first)].astype(int)
        T = np.ascontiguousarray(fresh.target_map.transform(rows.Y)[:, met])
    else:
        fresh.target_standardizer.scan(rows.Y, rows.weights)
        T = fresh.target_standardizer.transform(rows.Y)
    progress, pilot = _Progress(len(rows)), Pilot(Z, T, rows.weights)
    factors = FACTORS if asked.bandwidth else ()
    # In double precision, so that rows of float32 lead to the same map.
    base = in_double(_base(blank))
    doubles = place._replace(feature_map=in_double(place.feature_map))
    with reused():
        found = climbed(base, doubles, pilot, search.top, progress.tick, factors)
    # A fresh pilot that keeps the map from before keeps its moment and number of components too.
    is_kept = found.feature_map.equals(doubles.feature_map)
    chosen = place.feature_map
    if not is_kept:
        chosen = in_precision(found.feature_map, blank.input_map.precision)
    n_components = found.n_components
    if is_kept and search.began_at > search.rows_before:
        n_components = place.n_components
    elif asked.components:
        choose = import_module(_COMPONENTS).n_components_by
        n_components = choose(fresh, found.feature_map, pilot)
    return found._replace(feature_map=chosen, n_components=n_components)


class _PutOffError(Exception):
    """A climb that has to wait."""


class _Progress:
    """Tells people why a call takes seconds, and ends it where there is no time for it."""

    def __init__(self, n_rows: int) -> None:
        self._n_rows = n_rows
        self._next = time.monotonic() + PATIENCE

    def tick(self) -> None:
        """Say something, if it is time."""
        if ENDING.get()():
            raise _PutOffError
        if time.monotonic() >= self._next:
            tell(f"okspca is learning its features from {self._n_rows:,} rows.")
            self._next = time.monotonic() + INTERVAL


def _base(blank: PipelineState) -> CosineMap:
    """The map as it was drawn."""
    assert isinstance(blank.input_map, CosineMap)
    return blank.input_map
