"""A pipeline on disk: every field of its state, and what the fields must have in common.

``FIELDS`` says once, for each field, how it is written and read.  Its order is that of the file;
what is read may depend on what stands before it.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from okspca.features import FeatureMap, FourierMap, OneHotMap
from okspca.features.linear import Origin
from okspca.numerics.arrays import frozen
from okspca.pipeline import PipelineState
from okspca.pipeline.front_end import note_units
from okspca.services import Service
from okspca.standardize import RunningStandardizer
from okspca.state.fields import MOST_DATA, Sink, Source
from okspca.state.front_ends import MAPS, STANDARDIZERS
from okspca.state.moments import read_moment, read_sub_moments, write_moment, write_sub_moments
from okspca.state.services import SERVICES, read_state, write_state
from okspca.state.waiting import read_waiting, write_waiting
from okspca.state.windows import read_window, write_window

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


class Context(NamedTuple):
    """What a field may look at: shared parts, and the fields before it by name."""

    shared: Shared
    found: dict[str, Any]

    @property
    def sizes(self) -> tuple[int, int]:
        """Number of input features, and the largest number of target features."""
        return self.found["input_map"].n_features, self.found["target_map"].n_features

    @property
    def columns(self) -> tuple[int, int]:
        """Number of input features and of components."""
        return self.sizes[0], self.found["n_components"]


Writer = Callable[[Sink, str, Any, Shared], None]


class Field(NamedTuple):
    """How one field of the state is written, under its name, and read."""

    name: str
    write: Writer
    read: Callable[[Source, str, Context], Any]


def write_pipeline(sink: Sink, pipeline: PipelineState, shared: Shared) -> None:
    """Write the state of a pipeline."""
    for field in FIELDS:
        field.write(sink, field.name, getattr(pipeline, field.name), shared)


def read_pipeline(source: Source, shared: Shared) -> PipelineState:
    """Read the state of a pipeline whose parts fit together."""
    context = Context(shared, {})
    for field in FIELDS:
        context.found[field.name] = field.read(source, field.name, context)
    pipeline = PipelineState(**context.found)
    _check_sides(source, pipeline)
    _check_target(source, pipeline)
    source.close()
    note_units(pipeline)
    return pipeline


def write_shared_service(sink: Sink, service: Service[Any], parameter: object) -> None:
    """Write a service, or that it is the one given as a parameter."""
    if service is parameter:
        sink.put("service", SHARED)
    else:
        SERVICES.write(sink.inside("service"), service)


def read_shared_service(source: Source, parameter: Service[Any] | None) -> Service[Any]:
    """Read a service, or take the one given as a parameter."""
    if not source.is_text("service"):
        return SERVICES.read(source.inside("service"))
    source.text("service", (SHARED,))
    return source.refuse("service", SHARED) if parameter is None else parameter


def _inside(write: Callable[[Sink, Any], None]) -> Writer:
    """Write an object of its own; one that may be lacking, only where it is there."""

    def write_inside(sink: Sink, name: str, value: Any, shared: Shared) -> None:
        if value is not None and value != ():
            write(sink.inside(name), value)

    return write_inside


def _put(sink: Sink, name: str, value: Any, shared: Shared) -> None:
    """Write a plain value."""
    sink.put(name, value)


def _read_count(source: Source, name: str, context: Context, *, least: int = 0) -> int:
    """Read a whole number."""
    return source.count(name, least=least)


def _read_flag(source: Source, name: str, context: Context) -> bool:
    """Read a truth value."""
    return source.flag(name)


def _put_if_set(sink: Sink, name: str, value: Any, shared: Shared) -> None:
    """Write a flag that files of earlier versions lack, where it is set."""
    if value:
        sink.put(name, value)


def _read_if_set(source: Source, name: str, context: Context) -> bool:
    """Read a flag that is lacking where it is not set."""
    return name in source.names() and source.flag(name)


def _read_standardizer(source: Source, name: str, context: Context) -> Any:
    """Read a standardiser."""
    return STANDARDIZERS.read(source.inside(name))


def _write_map(sink: Sink, name: str, value: FeatureMap, shared: Shared) -> None:
    """Write a map, or that it is a parameter or that of the labels."""
    if any(value is known for known in _shared_maps(name, shared)):
        sink.put(name, SHARED)
    else:
        MAPS.write(sink.inside(name), value)


def _read_map(source: Source, name: str, context: Context) -> FeatureMap:
    """Read a map, or take the one that is shared."""
    if not source.is_text(name):
        return MAPS.read(source.inside(name))
    source.text(name, (SHARED,))
    known = [one for one in _shared_maps(name, context.shared) if one is not None]
    return known[0] if known else source.refuse(name, SHARED)


def _shared_maps(name: str, shared: Shared) -> tuple[FeatureMap | None, ...]:
    """The maps that a side may share with the model."""
    return (shared.input_map,) if name == "input_map" else (shared.labels, shared.target_map)


def _write_service(sink: Sink, name: str, value: Service[Any], shared: Shared) -> None:
    """Write the service, or that it is a parameter."""
    write_shared_service(sink, value, shared.service)


def _read_service(source: Source, name: str, context: Context) -> Service[Any]:
    """Read the service, or take the parameter."""
    return read_shared_service(source, context.shared.service)


def _read_moment(source: Source, name: str, context: Context) -> Any:
    """Read the moment."""
    return read_moment(source.inside(name), *context.sizes)


def _write_sub_moments(sink: Sink, name: str, value: Any, shared: Shared) -> None:
    """Write the moments of disjoint parts, if there are any."""
    write_sub_moments(sink, value)


def _read_sub_moments(source: Source, name: str, context: Context) -> Any:
    """Read the moments of disjoint parts, if there are any."""
    return read_sub_moments(source, *context.sizes)


def _read_window(source: Source, name: str, context: Context) -> Any:
    """Read the blocks behind the moment, if there are any."""
    if not source.is_object(name):
        return None
    return read_window(source.inside(name), context.found["moment"], context.sizes[1])


def _read_service_state(source: Source, name: str, context: Context) -> Any:
    """Read what the service maintains."""
    if context.columns[1] > context.columns[0]:
        source.refuse("n_components", context.columns[1])
    return read_state(source.inside(name), context.found["service"], context.columns)


def _write_array(sink: Sink, name: str, value: Any, shared: Shared) -> None:
    """Write whether there is an array, and the array."""
    sink.put(name, value is not None)
    if value is not None:
        sink.array(name, value)


def _read_anchor(source: Source, name: str, context: Context) -> Any:
    """Read the columns that embeddings are rotated towards."""
    D, k = context.columns
    shape = (D, None if context.found["follows_classes"] else k)
    return frozen(source.array(name, shape)) if source.flag(name) else None


def _read_constant_target(source: Source, name: str, context: Context) -> Any:
    """Read the response that every row had."""
    width = context.found["target_map"].n_inputs
    return source.array(name, (width,)) if source.flag(name) else None


def _write_origin(sink: Sink, name: str, value: Origin | None, shared: Shared) -> None:
    """Write where linear features are measured from, if they are summed in data units."""
    if value is not None:
        sink.put(name, value.is_known)
        sink.array(name, value.point)


def _read_origin(source: Source, name: str, context: Context) -> Origin | None:
    """Read where linear features are measured from, if they are summed in data units."""
    if name not in source.names():
        return None
    side = name.removesuffix("origin")
    feature_map = context.found[f"{side}map"]
    is_running = isinstance(context.found[f"{side}standardizer"], RunningStandardizer)
    if feature_map.linear is None or not is_running:
        source.refuse(name, "not of this map")
    point = source.array(name, (feature_map.n_inputs,), most=MOST_DATA)
    return Origin(point, source.flag(name))


def _read_waiting(source: Source, name: str, context: Context) -> Any:
    """Read rows that wait for a pipeline whose other fields were read."""
    if not source.is_object(name):
        return ()
    return read_waiting(source.inside(name), PipelineState(**context.found))


def _check_sides(source: Source, pipeline: PipelineState) -> None:
    """Refuse a standardiser that gives something else than its map takes."""
    for side, standardizer, feature_map in (
        ("input", pipeline.input_standardizer, pipeline.input_map),
        ("target", pipeline.target_standardizer, pipeline.target_map),
    ):
        if standardizer.n_features not in (None, feature_map.n_inputs):
            source.refuse(f"{side}_standardizer", "of another width than its map")


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


#: Every field of the state that files hold; what accompanies it belongs to its owner.
FIELDS = (
    Field("rows", _put, _read_count),
    Field("n_components", _put, partial(_read_count, least=1)),
    Field("follows_classes", _put_if_set, _read_if_set),
    Field("align", _put, _read_flag),
    Field("input_standardizer", _inside(STANDARDIZERS.write), _read_standardizer),
    Field("target_standardizer", _inside(STANDARDIZERS.write), _read_standardizer),
    Field("input_map", _write_map, _read_map),
    Field("target_map", _write_map, _read_map),
    Field("service", _write_service, _read_service),
    Field("moment", _inside(write_moment), _read_moment),
    Field("sub_moments", _write_sub_moments, _read_sub_moments),
    Field("window", _inside(write_window), _read_window),
    Field("service_state", _inside(write_state), _read_service_state),
    Field("anchor", _write_array, _read_anchor),
    Field("constant_target", _write_array, _read_constant_target),
    Field("input_origin", _write_origin, _read_origin),
    Field("target_origin", _write_origin, _read_origin),
    Field("waiting", _inside(write_waiting), _read_waiting),
)
