"""What a model has learned, on disk: target, pipeline, rows that are held back or kept."""

import copy
from typing import Any

from okspca.estimators.ancestry import ANCESTRY, read_ancestry, write_ancestry
from okspca.estimators.building import Rows, check_widths
from okspca.estimators.intake import Intake
from okspca.estimators.learned import SCORE, SEARCH, Columns, Record
from okspca.estimators.live_monitor import Live
from okspca.estimators.map_search import MapSearch
from okspca.estimators.monitor import Monitor
from okspca.estimators.monitor_form import read_live, read_monitor, write_live, write_monitor
from okspca.estimators.parameters import is_count
from okspca.estimators.preparation_form import check_codes, read_preparation, write_preparation
from okspca.estimators.preparing import PREPARATION, RAISE, Preparation
from okspca.estimators.prequential import PrequentialScore
from okspca.estimators.presets import AUTO, ON_DRIFT, searches
from okspca.estimators.rows_form import read_rows, write_rows
from okspca.estimators.schema_form import read_columns, read_intake, write_columns, write_intake
from okspca.estimators.search_form import read_search, write_search
from okspca.estimators.watch_form import read_watch, write_watch
from okspca.estimators.watching import WATCH, Watch
from okspca.features import OneHotMap
from okspca.features.ladder import DRAWN
from okspca.pipeline import Pipeline, PipelineState
from okspca.services import Service
from okspca.state.fields import Sink, Source
from okspca.state.pipelines import Shared, read_pipeline, write_pipeline


def write_fitted(sink: Sink, model: Any, learned: Record) -> None:
    """Write what was learned."""
    columns, intake, pilot = learned.columns, learned.intake, learned.pilot
    pipeline = None if learned.pipeline is None else learned.pipeline.state
    if pipeline is not None and isinstance(pipeline.target_map, OneHotMap):
        # The classes as of this state; another thread may know more by now.
        intake = copy.copy(intake)
        intake.labels = pipeline.target_map
    sink.put("n_features_in", columns.n)
    write_columns(sink, columns)
    write_intake(sink.inside("intake"), intake, model.solver)
    if pipeline is None:
        sink.put("pipeline", None)
    else:
        write_pipeline(sink.inside("pipeline"), pipeline, _shared(model, intake.labels))
    sink.put("pilot", pilot is not None)
    if pilot is not None:
        write_rows(sink, "pilot", pilot, gaps=model.missing != RAISE)
    companions = {} if pipeline is None else pipeline.companions
    write_ancestry(sink, companions.get(ANCESTRY, ()))
    preparation: Preparation | None = learned.preparation
    if preparation is not None:
        write_preparation(sink.inside("preparation"), preparation)
    search: MapSearch | None = companions.get(SEARCH)
    if search is not None:
        write_search(sink.inside("search"), search, _shared(model, intake.labels))
    score: PrequentialScore | None = companions.get(SCORE)
    if score is not None:
        _write_score(sink.inside("prequential"), score)
    if WATCH in companions and model.relearn == ON_DRIFT:
        write_watch(sink.inside(WATCH), companions[WATCH])
    if learned.monitor is not None and pipeline is not None:
        write_monitor(sink.inside("monitor"), learned.monitor, pipeline.input_map)
    if learned.live is not None and pipeline is not None:
        write_live(sink.inside("live"), learned.live, pipeline.input_map)


def read_fitted(source: Source, model: Any) -> Record:
    """Read what a model of these parameters has learned."""
    n_inputs = source.count("n_features_in", least=1)
    columns = read_columns(source, n_inputs)
    intake = read_intake(source.inside("intake"), model.solver)
    pipeline, preparation, width = None, None, n_inputs
    waits = source.is_none("pipeline")
    if source.is_object("preparation"):
        preparation = read_preparation(source.inside("preparation"), n_inputs, waits=waits)
        width = preparation.width(n_inputs)
    shared = _shared(model, intake.labels)
    if not waits:
        pipeline = read_pipeline(source.inside("pipeline"), shared)
        _check_columns(source, columns, pipeline, width)
        _check_intake(source, intake, pipeline)
    pilot = None
    if source.flag("pilot"):
        gaps = model.missing != RAISE
        pilot = _read_pilot(source, n_inputs, intake, preparation, gaps=gaps)
    n_places = (pilot is not None) + (pipeline is not None)
    # Without a task, all rows so far were left out.
    if n_places != (intake.task is not None) or (not n_places and preparation is None):
        source.refuse("pilot", "neither held back nor learned")
    if preparation is None or not preparation.n_waiting:
        check_widths(model, width, intake.n_outputs)
    search = None
    if source.is_object("search") and pipeline is not None:
        search = read_search(source.inside("search"), shared, pipeline, intake, model)
    wants_search = searches(model) and pipeline is not None
    # Which rows allow a search that was not asked for by name is not told by the parameters.
    may_lack_it = model.frequencies in (AUTO, DRAWN) and search is None
    if (search is not None) != wants_search and not may_lack_it:
        source.refuse("search", "not what the parameters say")
    score = None
    if source.is_object("prequential"):
        n_outputs = 1 if intake.labels is not None else intake.n_outputs or 1
        score = _read_score(source.inside("prequential"), n_outputs)
        if not getattr(model, "prequential", False):
            source.refuse("prequential", "not what the parameters say")
    watch, ancestry = _read_watch(source, model, search), read_ancestry(source)
    monitor, live = _read_monitors(source, pipeline, intake, model.n_components)
    source.close()
    if pipeline is None:
        return Record(columns, intake, None, pilot, preparation)
    found = {SEARCH: search, SCORE: score, PREPARATION: preparation, WATCH: watch}
    pipeline.companions = {ANCESTRY: ancestry} if ancestry else {}
    pipeline.companions |= {name: one for name, one in found.items() if one is not None}
    return Record(columns, intake, Pipeline(pipeline), None, monitor=monitor, live=live)


def _read_monitors(
    source: Source, pipeline: PipelineState | None, intake: Intake, n_components: Any
) -> tuple[Monitor | None, Live | None]:
    """Read a monitor and what renews it, where there are any."""
    monitor, live = None, None
    if pipeline is not None and source.is_object("monitor"):
        monitor = read_monitor(source.inside("monitor"), pipeline.input_map)
    if pipeline is not None and source.is_object("live"):
        live = read_live(source.inside("live"), pipeline.input_map, monitor)
        _check_live(source, live, intake, n_components)
        if monitor is not None and monitor.target is None:
            source.refuse("monitor", "without targets")
    return monitor, live


def _check_live(source: Source, live: Live, intake: Intake, n_components: Any) -> None:
    """Refuse rows with more targets, and coordinates with more components, than there are."""
    n_targets = (intake.n_outputs or 1) if intake.labels is None else intake.labels.n_features
    for rows in (live.collected, live.first):
        if rows is not None and rows.Y.shape[1] > n_targets:
            source.refuse("live", "rows with too many targets")
    k = 0 if live.frozen is None else live.frozen.columns.shape[1]
    if is_count(n_components) and k > n_components:
        source.refuse("live", "coordinates with too many components")


def _read_watch(source: Source, model: Any, search: MapSearch | None) -> Watch | None:
    """Read what watches for drift, where the parameters ask for it."""
    if not source.is_object(WATCH):
        return None
    if model.relearn != ON_DRIFT or search is None:
        source.refuse(WATCH, "not what the parameters say")
    return read_watch(source.inside(WATCH))


def _read_pilot(
    source: Source,
    n_inputs: int,
    intake: Intake,
    preparation: Preparation | None,
    *,
    gaps: bool,
) -> Rows:
    """Read rows that are held back, and refuse those that could not wait for text to be encoded."""
    pilot = read_rows(source, "pilot", n_inputs, intake, gaps=gaps)
    if preparation is not None and preparation.categories is not None:
        check_codes(source, preparation.categories, pilot.X)
        if len(pilot) >= preparation.n_waiting:
            source.refuse("pilot", "more rows than wait")
    return pilot


def _shared(model: Any, labels: OneHotMap | None) -> Shared:
    """What the pipeline of a model may share with it."""
    service = model.solver if isinstance(model.solver, Service) else None
    return Shared(model.input_map, model.target_map, labels, service)


def _check_columns(source: Source, columns: Columns, pipeline: PipelineState, width: int) -> None:
    """Refuse a pipeline for other inputs, or one that computes their features otherwise."""
    if pipeline.input_map.n_inputs != width:
        source.refuse("n_features_in", columns.n)
    if pipeline.input_map.precision != columns.precision:
        source.refuse("precision", columns.precision)


def _check_intake(source: Source, intake: Intake, pipeline: PipelineState) -> None:
    """Refuse a pipeline that was made for another kind of target."""
    if intake.labels is not None:
        fits = pipeline.target_map is intake.labels
    else:
        fits = pipeline.target_map.n_inputs == intake.n_outputs
    if not fits:
        source.refuse("pipeline", "made for another target")
    if pipeline.moment.weight and not pipeline.rows:
        source.refuse("pipeline", "without rows")
    groups, forgetting = pipeline.sub_moments, pipeline.moment.forgetting
    if forgetting <= 0.0 or (groups is not None and groups.forgetting != forgetting):
        source.refuse("pipeline", "of an impossible forgetting")


def _write_score(sink: Sink, score: PrequentialScore) -> None:
    """Write what a prequential score adds up."""
    sink.put("weight", score.weight)
    for name in ("mean", "squares", "errors"):
        sink.array(name, getattr(score, name))


def _read_score(source: Source, n_outputs: int) -> PrequentialScore:
    """Read what a prequential score adds up."""
    weight = source.number("weight")
    mean, squares, errors = (
        source.array(name, (n_outputs,)) for name in ("mean", "squares", "errors")
    )
    if weight <= 0.0 or min(squares.min(), errors.min()) < 0.0:
        source.refuse("weight", "impossible sums")
    source.close()
    return PrequentialScore(weight, mean, squares, errors)
