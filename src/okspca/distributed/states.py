"""The parts of a distributed fit that know no engine: begin, learn a shard, merge.

They are plain functions of bytes, so that any engine can run them again after a failure.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.random import RandomState
from scipy.sparse import issparse
from sklearn.base import clone

from okspca.distributed.survey import Survey
from okspca.errors import DataError
from okspca.estimators import OKSPCA
from okspca.estimators.building import Rows, build, pilot_rows, resolve_service
from okspca.estimators.data import check_weights, sound
from okspca.estimators.learned import SEARCH, Record
from okspca.estimators.map_search import MapSearch, placed
from okspca.estimators.missing import numbers_with_gaps
from okspca.estimators.parameters import check_parameters
from okspca.estimators.preparing import PREPARATION, RAISE, without_gaps
from okspca.estimators.presets import AUTO, NEVER, asked_from, asked_of, frequencies_from, searches
from okspca.features import OneHotMap
from okspca.features.bandwidth import MEDIAN_ROWS
from okspca.features.ladder import DRAWN
from okspca.numerics.cores import one_core
from okspca.numerics.sparse import stacked
from okspca.pipeline import Pipeline
from okspca.services import Tracker
from okspca.standardize import FrozenStandardizer, NoStandardizer
from okspca.standardize.sparse import freeze

#: States that one merging task takes; a tree of them has log(n) / log(FAN_IN) levels.
FAN_IN = 8
#: X and y, and weights where there are any.
Block = tuple[Any, ...]


def identity(model: OKSPCA, survey: Survey, pilot: Block | None = None) -> OKSPCA:
    """Make the state of zero rows that every shard starts from.

    Parameters
    ----------
    model : OKSPCA
        The settings; "causal" is taken as "frozen".
    survey : Survey
        What is known about the rows: of a first pass over all of them, or of a pilot sample.
    pilot : (X, y) or (X, y, weights), optional
        First rows.  ``bandwidth="median"`` uses at most 512 of them; frequencies are learned from
        as many as ``pilot_rows`` says, and then are the same for all shards.  Without them
        ``frequencies="auto"`` stays as drawn.

    Returns
    -------
    OKSPCA
        It holds maps, frozen standardisers and classes, and is neutral in ``merge``.

    Examples
    --------
    >>> survey = Survey(OKSPCA()).add([[1.0], [3.0]], [0.5, 1.5])
    >>> state = identity(OKSPCA(1, n_random_features=8, random_state=0), survey)
    >>> state.n_samples_seen_, state.merge(state).n_samples_seen_
    (0, 0)
    """
    state = clone(model)
    if state.standardize == "causal":
        state.standardize = "frozen"
    check_can_be_sharded(state)
    _, columns, intake = survey.known()
    recipe = clone(state)
    if state.standardize == "frozen":
        recipe.input_standardizer = state.input_standardizer or survey.frozen_inputs()
        if survey.targets is not None:
            given = state.target_standardizer
            recipe.target_standardizer = given or freeze(survey.targets)
    if survey.classes is not None:
        intake.labels = OneHotMap(survey.classes)
    looks_at_rows = pilot_rows(recipe, labels=intake.labels is not None) > 0
    learns = model.frequencies not in (AUTO, DRAWN) or any(asked_of(model))
    if pilot is None and (looks_at_rows or learns):
        message = (
            "bandwidth='median', learned frequencies and what is chosen by the model look at first "
            "rows; give them as pilot=(X, y)."
        )
        raise ValueError(message)
    rows, preparation = _pilot(survey, pilot, n_first_rows(model)), survey.preparation()
    if preparation is not None:
        rows = Rows(preparation.transform(rows.X), rows.Y, rows.weights)
    built = build(recipe, rows.first(MEDIAN_ROWS), intake.labels, columns.precision)
    pipeline = _with_learned_map(model, built, rows)
    if preparation is not None:
        companions = pipeline.state.companions
        pipeline.state.companions = {**companions, PREPARATION: preparation}
    state.learned = Record(columns, intake, pipeline, None)
    return state


def _with_learned_map(model: OKSPCA, pipeline: Pipeline, rows: Rows) -> Pipeline:
    """Return the pipeline, still without rows, with the map that first rows lead to."""
    top, asked = frequencies_from(model, rows.X), asked_from(model, rows.X)
    if not len(rows) or (top == DRAWN and not any(asked)):
        return pipeline
    start = MapSearch.start(pipeline.state.twin(), top, int(model.pilot_rows), asked)
    first = rows.first(start.times[-1])
    search: MapSearch = start.learn(pipeline, first).state.companions[SEARCH]
    assert start.blank is not None
    blank = placed(start.blank, search.place)
    blank.companions = {SEARCH: search.ended()}
    return Pipeline(blank)


def check_can_be_sharded(model: OKSPCA) -> None:
    """Raise for settings that follow one stream, and so have no merge."""
    check_parameters(model)
    following = {
        "solver": isinstance(resolve_service(model.solver), Tracker),
        "window": model.window is not None,
        "relearn": model.relearn != NEVER,
    }
    for name, follows in following.items():
        if follows:
            message = f"{name}={getattr(model, name)!r} follows one stream and cannot be merged"
            raise ValueError(f"{message}; leave {name} at its default.")
    if model.categories != RAISE:
        message = (
            f"categories={model.categories!r} finds its values in the first rows of one stream; "
            "encode text columns beforehand, with the same values for every shard."
        )
        raise ValueError(message)
    for name in ("input_standardizer", "target_standardizer"):
        given = getattr(model, name)
        if not isinstance(given, FrozenStandardizer | NoStandardizer | None):
            message = f"{name} goes on learning, each shard for itself; give a FrozenStandardizer."
            raise ValueError(message)


def seeded(model: OKSPCA) -> OKSPCA:
    """Copy the settings, with a seed drawn where there is none that can be written down."""
    model = clone(model)
    random = model.random_state
    if not isinstance(random, int | np.integer):
        random = random if isinstance(random, RandomState) else RandomState(random)
        model.random_state = int(random.randint(np.iinfo(np.int32).max))
    return model


def survey_of(model: OKSPCA, blocks: Iterable[Block]) -> bytes:
    """Pass one over a shard, given as blocks of any size; none at all is a neutral survey."""
    survey = Survey(model)
    for block in blocks:
        if n_rows(block[0]):
            survey.add(*block)
    return survey.to_bytes()


def learn(kind: type[OKSPCA], start: bytes, blocks: Iterable[Block]) -> bytes:
    """Pass two over a shard: learn its blocks from a state, such as that of zero rows."""
    model = kind.from_bytes(start)
    # Other workers of the machine use its other cores.
    with one_core():
        for X, y, *weights in blocks:
            if n_rows(X):
                model.partial_fit(X, y, sample_weight=weights[0] if weights else None)
    return model.to_bytes()


def merge_states(kind: type[OKSPCA], states: Iterable[bytes]) -> bytes:
    """Merge states in their order; one alone passes as it is.

    Whoever cuts the rows into shards sees to it that each is learned once: shards that are alike
    are taken for different rows.
    """
    first, *others = states
    if not others:
        return first
    model = kind.from_bytes(first)
    for other in others:
        model.merge(kind.from_bytes(other), distinct=True)
    return model.to_bytes()


def merge_surveys(model: OKSPCA, surveys: Iterable[bytes]) -> bytes:
    """Merge surveys in their order."""
    merged = Survey(model)
    for data in surveys:
        merged.merge(Survey.from_bytes(model, data))
    return merged.to_bytes()


def tree_depth(n: int, fan_in: int = FAN_IN) -> int:
    """Levels of merging that ``n`` states need.

    Examples
    --------
    >>> tree_depth(1), tree_depth(8), tree_depth(9), tree_depth(10_000)
    (0, 1, 2, 5)
    """
    check_fan_in(fan_in)
    depth = 0
    while n > 1:
        n, depth = -(-n // fan_in), depth + 1
    return depth


def check_fan_in(fan_in: int) -> None:
    """Raise where a task would merge nothing."""
    if fan_in < 2:
        message = f"fan_in={fan_in} merges nothing; give at least 2."
        raise ValueError(message)


def n_first_rows(model: OKSPCA) -> int:
    """How many first rows the driver looks at, for a bandwidth or to learn frequencies.

    Examples
    --------
    >>> n_first_rows(OKSPCA()), n_first_rows(OKSPCA(preset="predictive"))
    (0, 8192)
    """
    if searches(model):
        return max(int(model.pilot_rows), MEDIAN_ROWS)
    return MEDIAN_ROWS if "median" in (model.bandwidth, model.target_bandwidth) else 0


def first_rows(blocks: Iterable[Block], missing: str = RAISE, most: int = MEDIAN_ROWS) -> Block:
    """The first rows of positive weight, at most so many; takes no more blocks than it needs.

    Rows that ``missing`` leaves out are not among them.

    Examples
    --------
    >>> parts = first_rows([(np.empty((0, 1)), []), ([[1.0], [2.0]], [3.0, 4.0], [0.0, 5.0])])
    >>> [part.tolist() for part in parts]
    [[[2.0]], [4.0], [5.0]]
    """
    inputs, targets, counts, left = [], [], [], most
    for X, y, *weights in blocks:
        if not n_rows(X):
            continue
        X = sound(X) if issparse(X) else numbers_with_gaps(X)
        if missing != RAISE:
            X, y, *weights = without_gaps(missing, X, y, weights[0] if weights else None)
        weight = check_weights(weights[0] if weights else None, n_rows(X))
        kept = np.flatnonzero(weight > 0.0)[:left]
        inputs.append(X[kept])
        targets.append(np.asarray(y)[kept])
        counts.append(weight[kept])
        left -= n_rows(inputs[-1])
        if left <= 0:
            break
    if not inputs:
        return np.empty((0, 0)), np.empty(0), np.empty(0)
    return stacked(*inputs), np.concatenate(targets), np.concatenate(counts)


def n_rows(X: Any) -> int:
    """Number of rows of an array, a frame or a sparse matrix."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def groups(items: Sequence[Any], fan_in: int = FAN_IN) -> list[Sequence[Any]]:
    """Cut neighbours into groups, so that a tree over them has the same shape every time."""
    check_fan_in(fan_in)
    return [items[start : start + fan_in] for start in range(0, len(items), fan_in)]


def _pilot(survey: Survey, pilot: Block | None, most: int) -> Rows:
    """Turn first rows into numbers; without them, rows of the right width and no length."""
    width = 1 if survey.targets is None else len(survey.targets.mean)
    if pilot is None or not most:
        return Rows(np.empty((0, survey.n_features_in_)), np.empty((0, width)), np.empty(0))
    X, y, weights = first_rows([pilot], survey.probe.missing, most)
    X = X if issparse(X) else np.ascontiguousarray(X)
    n = n_rows(X)
    Y = np.zeros((n, width))
    if survey.targets is not None:
        Y = np.asarray(y, dtype=np.float64).reshape(n, -1)
    elif survey.classes is not None:
        Y = OneHotMap(survey.classes).index(np.asarray(y).tolist())
    if X.shape != (n, survey.n_features_in_) or Y.shape != (n, width):
        message = f"pilot has shapes {X.shape} and {Y.shape}, unlike the rows of the survey."
        raise DataError(message)
    return Rows(X, np.ascontiguousarray(Y), weights)
