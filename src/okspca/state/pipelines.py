"""A pipeline on disk: every part of it, and what the parts must have in common."""

from typing import Any, NamedTuple

from okspca.features import FeatureMap, FourierMap, OneHotMap
from okspca.features.linear import Origin
from okspca.numerics.arrays import frozen
from okspca.pipeline import PipelineState
from okspca.pipeline.front_end import note_units
from okspca.services import Service
from okspca.standardize import RunningStandardizer, Standardizer
from okspca.state.fields import MOST_DATA, Sink, Source
from okspca.state.front_ends import read_map, read_standardizer, write_map, write_standardizer
from okspca.state.moments import read_moment, read_sub_moments, write_moment, write_sub_moments
from okspca.state.services import read_service, read_state, write_service, write_state
from okspca.state.waiting import read_waiting, write_waiting
from okspca.state.windows import read_window, write_window

#: Written only where linear features are summed in data units.
ORIGINS = ("input_origin", "target_origin")
#: Written in place of a part that is one and the same object as a parameter or the labels.
SHARED = "shared"


class Shared(NamedTuple):
    """Objects that a pipeline may share with its model; they are written once, with the model.

    Examples
    --------
    >>> Shared(None, None, None, None).labels is None
    True
    """

    input_map: FeatureMap | None
    target_map: FeatureMap | None
    labels: OneHotMap | None
    service: Service[Any] | None


def write_pipeline(sink: Sink, pipeline: PipelineState, shared: Shared) -> None:
    """Write a pipeline."""
    for name in ("rows", "n_components", "align"):
        sink.put(name, getattr(pipeline, name))
    write_standardizer(sink.inside("input_standardizer"), pipeline.input_standardizer)
    write_standardizer(sink.inside("target_standardizer"), pipeline.target_standardizer)
    if pipeline.input_map is shared.input_map:
        sink.put("input_map", SHARED)
    else:
        write_map(sink.inside("input_map"), pipeline.input_map)
    if pipeline.target_map is shared.labels or pipeline.target_map is shared.target_map:
        sink.put("target_map", SHARED)
    else:
        write_map(sink.inside("target_map"), pipeline.target_map)
    write_shared_service(sink, pipeline.service, shared.service)
    write_moment(sink.inside("moment"), pipeline.moment)
    write_sub_moments(sink, pipeline.sub_moments)
    if pipeline.window is not None:
        write_window(sink.inside("window"), pipeline.window)
    write_state(sink.inside("service_state"), pipeline.service_state)
    for name in ("anchor", "constant_target"):
        array = getattr(pipeline, name)
        sink.put(name, array is not None)
        if array is not None:
            sink.array(name, array)
    for name in ORIGINS:
        origin: Origin | None = getattr(pipeline, name)
        if origin is not None:
            sink.put(name, origin.is_known)
            sink.array(name, origin.point)
    if pipeline.waiting:
        write_waiting(sink.inside("waiting"), pipeline.waiting)


def read_pipeline(source: Source, shared: Shared) -> PipelineState:
    """Read a pipeline whose parts fit together."""
    sides = [read_standardizer(source.inside(f"{s}_standardizer")) for s in ("input", "target")]
    input_map = _read_map(source, "input_map", shared.input_map)
    target_map = _read_map(source, "target_map", shared.labels or shared.target_map)
    for name, standardizer, feature_map in zip(
        ("input", "target"), sides, (input_map, target_map), strict=True
    ):
        if not _fits(standardizer, feature_map):
            source.refuse(f"{name}_standardizer", "of another width than its map")
    D = input_map.n_features
    moment = read_moment(source.inside("moment"), D, target_map.n_features)
    sub_moments = read_sub_moments(source, D, target_map.n_features)
    window = None
    if source.is_object("window"):
        window = read_window(source.inside("window"), moment, target_map.n_features)
    service = read_shared_service(source, shared.service)
    n_components = source.count("n_components", least=1, most=D)
    state = read_state(source.inside("service_state"), service, (D, n_components))
    pipeline = PipelineState(
        input_standardizer=sides[0],
        input_map=input_map,
        target_standardizer=sides[1],
        target_map=target_map,
        moment=moment,
        sub_moments=sub_moments,
        window=window,
        service=service,
        n_components=n_components,
        align=source.flag("align"),
        rows=source.count("rows"),
        anchor=frozen(source.array("anchor", (D, n_components))) if source.flag("anchor") else None,
        constant_target=source.array("constant_target", (target_map.n_inputs,))
        if source.flag("constant_target")
        else None,
        service_state=state,
        input_origin=_read_origin(source, "input_origin", sides[0], input_map),
        target_origin=_read_origin(source, "target_origin", sides[1], target_map),
    )
    if source.is_object("waiting"):
        pipeline.waiting = read_waiting(source.inside("waiting"), pipeline)
    _check_target(source, pipeline)
    source.close()
    note_units(pipeline)
    return pipeline


def write_shared_service(sink: Sink, service: Service[Any], parameter: object) -> None:
    """Write a service, or that it is the one given as a parameter."""
    if service is parameter:
        sink.put("service", SHARED)
    else:
        write_service(sink.inside("service"), service)


def read_shared_service(source: Source, parameter: Service[Any] | None) -> Service[Any]:
    """Read a service, or take the one given as a parameter."""
    if not source.is_text("service"):
        return read_service(source.inside("service"))
    source.text("service", (SHARED,))
    return source.refuse("service", SHARED) if parameter is None else parameter


def _read_map(source: Source, name: str, parameter: FeatureMap | None) -> FeatureMap:
    """Read a map, or take the one given as a parameter."""
    if not source.is_text(name):
        return read_map(source.inside(name))
    source.text(name, (SHARED,))
    return source.refuse(name, SHARED) if parameter is None else parameter


def _read_origin(
    source: Source, name: str, standardizer: Standardizer, feature_map: FeatureMap
) -> Origin | None:
    """Read where linear features are measured from, if they are summed in data units."""
    if name not in source.names():
        return None
    if feature_map.linear is None or not isinstance(standardizer, RunningStandardizer):
        source.refuse(name, "not of this map")
    point = source.array(name, (feature_map.n_inputs,), most=MOST_DATA)
    return Origin(point, source.flag(name))


def _fits(standardizer: Standardizer, feature_map: FeatureMap) -> bool:
    """Whether a map takes what its standardiser gives."""
    return standardizer.n_features in (None, feature_map.n_inputs)


def _check_target(source: Source, pipeline: PipelineState) -> None:
    """Refuse a moment that cannot have come from the target map, or a service that cannot serve."""
    moment, target_map = pipeline.moment, pipeline.target_map
    labels = isinstance(target_map, OneHotMap)
    n_features = target_map.n_features
    if moment.labels != labels:
        source.refuse("target_map", "not the moment's")
    if not labels:
        is_full = moment.width == moment.n_right == n_features
        is_compressed = moment.compression is not None and isinstance(target_map, FourierMap)
        if not (is_compressed and moment.n_right == n_features) and not is_full:
            source.refuse("target_map", "not the moment's")
    n_targets = n_features if labels else target_map.n_inputs
    objection = pipeline.service.objection(labels=labels, n_targets=n_targets)
    if objection is not None:
        source.refuse("service", objection)
