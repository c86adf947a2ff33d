"""A model on disk: parameters, what is known about the target, and the pipeline or held-back rows.

The header begins with the version of the package that wrote it, for people; the format version in
:mod:`okspca.state.container` is what decides how it is read.
"""

import copy
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from scipy.sparse import issparse

from okspca import __version__
from okspca.errors import StateError
from okspca.estimators.building import Rows, check_widths
from okspca.estimators.data import CLASSIFICATION, REGRESSION
from okspca.estimators.intake import Intake
from okspca.estimators.learned import SCORE, SEARCH, Learned
from okspca.estimators.parameters import CHOICES, READY_MADE, check_parameters
from okspca.estimators.prequential import PrequentialScore
from okspca.estimators.relevance_search import TIMES, RelevanceSearch
from okspca.features import FeatureMap, FourierMap, OneHotMap
from okspca.pipeline import Pipeline, PipelineState
from okspca.services import Service
from okspca.standardize import Standardizer
from okspca.state.container import pack, unpack
from okspca.state.fields import Sink, Source
from okspca.state.files import read, write
from okspca.state.front_ends import (
    no_form,
    read_map,
    read_standardizer,
    write_map,
    write_standardizer,
)
from okspca.state.pipelines import (
    Shared,
    read_pipeline,
    read_shared_service,
    write_pipeline,
    write_shared_service,
)
from okspca.state.services import MOST_SEED, read_service, write_service
from okspca.state.streams import StreamRecord, read_stream, write_stream

LABEL_KINDS = ("numbers", "text", "truth values")
OUTPUTS = ("default", "pandas", "polars")
_KNOWN = ("_learned", "n_features_in_", "feature_names_in_")
_OUTPUT = "_sklearn_output_config"
#: Parameters that came after the first files were written, with the value that changes nothing;
#: they are written only where they have another.
ADDED: dict[str, Any] = {
    "ridge": "auto",
    "class_weighting": "squared",
    "relevance": None,
    "target_features": "fourier",
    "window": None,
    "prequential": False,
}


def save_model(
    model: Any,
    path: str | os.PathLike[str],
    stream: StreamRecord | None = None,
    *,
    overwrite: bool = False,
) -> None:
    """Write a model to a file, atomically; the model that was there is kept beside it."""
    data = model_bytes(model, stream)
    try:
        write(Path(path), data, overwrite=overwrite)
    except OSError as failure:
        message = f"{os.fspath(path)} cannot be written: {failure.strerror}."
        raise StateError(message) from failure


def load_model(kind: type[Any], path: str | os.PathLike[str]) -> tuple[Any, StreamRecord | None]:
    """Read a model and its stream's record, or raise one error that says what is wrong."""
    name = os.fspath(path)
    try:
        return model_from(kind, read(Path(path)))
    except OSError as failure:
        message = f"{name} cannot be read: {failure.strerror}."
        raise StateError(message) from failure
    except StateError as failure:
        message = f"{name} cannot be loaded: {failure}"
        raise StateError(message) from failure


def model_bytes(model: Any, stream: StreamRecord | None = None) -> bytes:
    """The file of a model; another thread may be learning meanwhile."""
    check_parameters(model)
    learned: Learned | None = vars(model).get("_learned")
    if learned is None or learned.pipeline is None:
        return _bytes(model, learned, stream)
    intake, pilot = learned.intake, learned.pilot
    return learned.pipeline.read_as_is(
        lambda state: _bytes(model, Learned(intake, Pipeline(state), pilot), stream)
    )


def model_from(kind: type[Any], data: bytes) -> tuple[Any, StreamRecord | None]:
    """Make the model that a file holds, and the record of the stream it learns from."""
    source = Source(unpack(data))
    if not isinstance(source.raw("okspca"), str):
        source.refuse("okspca", "no version")
    source.text("estimator", (kind.__name__,))
    stream = read_stream(source)
    model = kind(**_read_parameters(source.inside("parameters"), kind))
    try:
        check_parameters(model)
        if not source.is_none("output"):
            model.set_output(transform=source.text("output", OUTPUTS))
        if not source.is_none("fitted"):
            _read_fitted(source.inside("fitted"), model)
    except StateError:
        raise
    except ValueError as failure:
        message = f"it holds something impossible: {failure}"
        raise StateError(message) from failure
    source.close_all()
    return model, stream


def _bytes(model: Any, learned: Learned | None, stream: StreamRecord | None) -> bytes:
    """Write everything a model holds."""
    sink = Sink()
    sink.put("okspca", __version__)
    sink.put("estimator", type(model).__name__)
    write_stream(sink, stream)
    parameters = model.get_params(deep=False)
    fixed: frozenset[str] = getattr(type(model), "_FIXED", frozenset())
    unknown = set(vars(model)) - set(parameters) - fixed - {*_KNOWN, _OUTPUT}
    if unknown:
        message = f"The model cannot be saved: its attribute {min(unknown)} has no form on disk."
        raise StateError(message)
    _write_parameters(sink.inside("parameters"), parameters)
    sink.put("output", vars(model).get(_OUTPUT, {}).get("transform"))
    if learned is None:
        sink.put("fitted", None)
    else:
        _write_fitted(sink.inside("fitted"), model, learned)
    return pack(sink.content())


def _write_parameters(sink: Sink, parameters: dict[str, Any]) -> None:
    """Write the parameters; objects among them are written whole."""
    for name, value in parameters.items():
        if name in ADDED and type(value) is type(ADDED[name]) and value == ADDED[name]:
            continue
        if isinstance(value, FeatureMap):
            write_map(sink.inside(name), value)
        elif isinstance(value, Standardizer):
            write_standardizer(sink.inside(name), value)
        elif isinstance(value, Service):
            write_service(sink.inside(name), value)
        elif isinstance(value, RandomState):
            _write_random_state(sink.inside(name), value)
        elif value is None or isinstance(value, bool | int | float | str | np.generic):
            sink.put(name, value)
        else:
            raise no_form(value, f"give {name} as a plain number or text")


def _read_parameters(source: Source, kind: type[Any]) -> dict[str, Any]:
    """Read the parameters, which must be exactly those of the constructor."""
    found: dict[str, Any] = {}
    for name in kind().get_params(deep=False):
        if source.is_object(name):
            found[name] = _read_object(source, name)
            continue
        if name in ADDED and name not in source.names():
            found[name] = ADDED[name]
            continue
        value = source.raw(name)
        if isinstance(value, list):
            source.refuse(name, value)
        found[name] = value
    source.close()
    if not isinstance(found["random_state"], RandomState | None):
        seed = found["random_state"]
        if type(seed) is not int or not 0 <= seed <= MOST_SEED:
            source.refuse("random_state", seed)
    return found


def _read_object(source: Source, name: str) -> Any:
    """Read a parameter that is an object."""
    inner = source.inside(name)
    if READY_MADE.get(name) is FeatureMap:
        return read_map(inner)
    if READY_MADE.get(name) is Standardizer:
        return read_standardizer(inner)
    if name == "solver":
        return read_service(inner)
    return _read_random_state(inner) if name == "random_state" else source.refuse(name, "an object")


def _write_random_state(sink: Sink, random: RandomState) -> None:
    """Write a generator that a model still has to draw from."""
    name, keys, position, has_gauss, gauss = random.get_state()
    if name != "MT19937":
        raise no_form(random, "give random_state as a whole number")
    sink.array("keys", np.asarray(keys).astype(np.int64))
    sink.put("position", int(position))
    sink.put("has_gauss", int(has_gauss))
    sink.put("gauss", float(gauss))
    sink.put("kind", name)


def _read_random_state(source: Source) -> RandomState:
    """Read a generator."""
    source.text("kind", ("MT19937",))
    keys = source.integers("keys", (624,))
    if keys.min() < 0 or keys.max() > MOST_SEED:
        source.refuse("keys", "out of range")
    random = RandomState(0)
    words = keys.astype(np.uint32)
    position = source.count("position", most=624)
    rest = source.count("has_gauss", most=1), source.number("gauss")
    random.set_state(("MT19937", words, position, *rest))
    source.close()
    return random


def _write_fitted(sink: Sink, model: Any, learned: Learned) -> None:
    """Write what was learned."""
    intake, _, pilot = learned
    pipeline = None if learned.pipeline is None else learned.pipeline.state
    if pipeline is not None and isinstance(pipeline.target_map, OneHotMap):
        # The classes as of this state; another thread may know more by now.
        intake = copy.copy(intake)
        intake.labels = pipeline.target_map
    sink.put("n_features_in", model.n_features_in_)
    names = getattr(model, "feature_names_in_", None)
    sink.put("feature_names_in", None if names is None else [str(name) for name in names])
    write_intake(sink.inside("intake"), intake, model.solver)
    if pipeline is None:
        sink.put("pipeline", None)
    else:
        write_pipeline(sink.inside("pipeline"), pipeline, _shared(model, intake.labels))
    sink.put("pilot", pilot is not None)
    if pilot is not None:
        _write_rows(sink, "pilot", pilot)
    companions = {} if pipeline is None else pipeline.companions
    search: RelevanceSearch | None = companions.get(SEARCH)
    if search is not None:
        _write_search(sink.inside("search"), search, _shared(model, intake.labels))
    score: PrequentialScore | None = companions.get(SCORE)
    if score is not None:
        _write_score(sink.inside("prequential"), score)


def _read_fitted(source: Source, model: Any) -> None:
    """Read what was learned, in the order in which a model gets it."""
    n_inputs = source.count("n_features_in", least=1)
    names = read_names(source, n_inputs)
    intake = read_intake(source.inside("intake"), model.solver)
    pipeline = None
    if not source.is_none("pipeline"):
        shared = _shared(model, intake.labels)
        pipeline = read_pipeline(source.inside("pipeline"), shared)
        if pipeline.input_map.n_inputs != n_inputs:
            source.refuse("n_features_in", n_inputs)
        _check_intake(source, intake, pipeline)
    pilot = _read_rows(source, "pilot", n_inputs, intake) if source.flag("pilot") else None
    if (pilot is None) == (pipeline is None):
        source.refuse("pilot", "neither held back nor learned")
    check_widths(model, n_inputs, intake.n_outputs)
    search = None
    if source.is_object("search"):
        shared = _shared(model, intake.labels)
        low_rank = model.relevance == "low-rank"
        search = _read_search(source.inside("search"), shared, n_inputs, intake, low_rank=low_rank)
    if (search is None) == (model.relevance is not None and pipeline is not None):
        source.refuse("search", "not what the parameters say")
    score = None
    if source.is_object("prequential"):
        n_outputs = 1 if intake.labels is not None else intake.n_outputs or 1
        score = _read_score(source.inside("prequential"), n_outputs)
        if not getattr(model, "prequential", False):
            source.refuse("prequential", "not what the parameters say")
    source.close()
    if names is not None:
        model.feature_names_in_ = names
    model.n_features_in_ = n_inputs
    found = {SEARCH: search, SCORE: score}
    if pipeline is not None:
        pipeline.companions = {name: one for name, one in found.items() if one is not None}
    model._learned = Learned(intake, None if pipeline is None else Pipeline(pipeline), pilot)


def _shared(model: Any, labels: OneHotMap | None) -> Shared:
    """What the pipeline of a model may share with it."""
    service = model.solver if isinstance(model.solver, Service) else None
    return Shared(model.input_map, model.target_map, labels, service)


def read_names(source: Source, n_inputs: int) -> NDArray[np.object_] | None:
    """Read the names of the columns."""
    if source.is_none("feature_names_in"):
        return None
    names = source.raw("feature_names_in")
    if not isinstance(names, list) or len(names) != n_inputs:
        source.refuse("feature_names_in", names)
    if not all(isinstance(name, str) for name in names):
        source.refuse("feature_names_in", names)
    return np.array(names, dtype=object)


def write_intake(sink: Sink, intake: Intake, solver: object) -> None:
    """Write what is known about the target."""
    sink.put("declared", intake._declared)
    sink.put("task", intake.task)
    sink.put("label_kind", intake.label_kind)
    sink.put("n_outputs", intake.n_outputs)
    write_shared_service(sink, intake.service, solver)
    if intake.labels is None:
        sink.put("labels", None)
    else:
        write_map(sink.inside("labels"), intake.labels)


def read_intake(source: Source, parameter: object) -> Intake:
    """Read what is known about the target."""
    intake = Intake(source.text("declared", tuple(map(str, CHOICES["task"]))))
    solver = parameter if isinstance(parameter, Service) else None
    intake.service = read_shared_service(source, solver)
    intake.task = source.text("task", (CLASSIFICATION, REGRESSION))
    if intake.task == CLASSIFICATION:
        labels = read_map(source.inside("labels"))
        if not isinstance(labels, OneHotMap):
            return source.refuse("labels", "a map of another kind")
        intake.labels = labels
        intake.label_kind = source.text("label_kind", LABEL_KINDS)
        _check_label_kind(source, intake)
    for name in ("labels", "label_kind") if intake.labels is None else ("n_outputs",):
        if not source.is_none(name):
            source.refuse(name, "known")
    if intake.labels is None:
        intake.n_outputs = source.count("n_outputs", least=1)
    source.close()
    return intake


def _check_label_kind(source: Source, intake: Intake) -> None:
    """Refuse labels of another type than the one that is stated."""
    assert intake.labels is not None
    wanted: dict[str | None, tuple[type, ...]] = {
        "numbers": (int, float),
        "text": (str,),
        "truth values": (bool,),
    }
    if any(type(label) not in wanted[intake.label_kind] for label in intake.labels.classes):
        source.refuse("label_kind", intake.label_kind)


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


def _write_search(sink: Sink, search: RelevanceSearch, shared: Shared) -> None:
    """Write what is known about the inputs, and the rows that are kept to learn more."""
    sink.put("known", search.relevance is not None)
    sink.put("is_final", search.is_final)
    sink.array("scales", search.scales)
    if search.relevance is not None:
        sink.array("relevance", search.relevance)
    if search.blank is not None:
        blank = copy.copy(search.blank)
        blank.target_map = shared.labels or blank.target_map
        write_pipeline(sink.inside("blank"), blank, shared)
        sink.put("n_blocks", len(search.held))
        for number, rows in enumerate(search.held):
            _write_rows(sink, str(number), rows)


def _read_search(
    source: Source, shared: Shared, n_inputs: int, intake: Intake, *, low_rank: bool
) -> RelevanceSearch:
    """Read what is known about the inputs."""
    search = RelevanceSearch.__new__(RelevanceSearch)
    known, is_final = source.flag("known"), source.flag("is_final")
    search.scales = source.array("scales", (n_inputs,) * (2 if low_rank else 1))
    search.relevance = source.array("relevance", (n_inputs,)) if known else None
    if known and search.relevance is not None and search.relevance.min() < 0.0:
        source.refuse("known", "negative")
    search.blank, search.held = None, ()
    if not is_final:
        search.blank = read_pipeline(source.inside("blank"), shared)
        if search.blank.rows or type(search.blank.input_map) is not FourierMap:
            source.refuse("blank", "not blank")
        n_blocks = source.count("n_blocks", most=TIMES[-1])
        search.held = tuple(
            _read_rows(source, str(number), n_inputs, intake) for number in range(n_blocks)
        )
        if search.n_held >= TIMES[-1]:
            source.refuse("n_blocks", n_blocks)
    source.close()
    return search


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


def _write_rows(sink: Sink, name: str, rows: Rows) -> None:
    """Write rows that are kept."""
    if issparse(rows.X):
        message = "Sparse rows that are held back cannot be saved; learn 512, or give a bandwidth."
        raise StateError(message)
    sink.array(f"{name}_inputs", rows.X)
    sink.array(f"{name}_targets", rows.Y)
    sink.array(f"{name}_weights", rows.weights)


def _read_rows(source: Source, name: str, n_inputs: int, intake: Intake) -> Rows:
    """Read rows that are kept until a bandwidth, a scale or more can be taken from them."""
    X = source.array(f"{name}_inputs", (None, n_inputs))
    width = 1 if intake.labels is not None else intake.n_outputs
    Y = source.array(f"{name}_targets", (X.shape[0], width))
    weights = source.array(f"{name}_weights", X.shape[:1])
    if weights.min(initial=1.0) <= 0.0:
        source.refuse(f"{name}_weights", "not positive")
    if intake.labels is not None:
        known = set(range(intake.labels.n_features))
        if not set(Y[:, 0].tolist()) <= known:
            source.refuse(f"{name}_targets", "of unknown classes")
    return Rows(X, Y, weights)
