"""What is known about the columns and the target of a stream, on disk."""

import numpy as np

from okspca.estimators.data import CLASSIFICATION, REGRESSION
from okspca.estimators.intake import Intake
from okspca.estimators.learned import Columns
from okspca.estimators.parameters import CHOICES
from okspca.features import OneHotMap
from okspca.features.base import FLOAT32, FLOAT64
from okspca.services import Service
from okspca.state.fields import Sink, Source
from okspca.state.front_ends import MAPS
from okspca.state.pipelines import read_shared_service, write_shared_service

LABEL_KINDS = ("numbers", "text", "truth values")


def write_columns(sink: Sink, columns: Columns) -> None:
    """Write the names of the columns, and their precision where it is single."""
    names = columns.names
    sink.put("feature_names_in", None if names is None else [str(name) for name in names])
    # Files of models that know no other keep their bytes.
    if columns.precision != FLOAT64:
        sink.put("precision", columns.precision)


def read_columns(source: Source, n_inputs: int) -> Columns:
    """Read the names and the precision of so many columns."""
    precision = FLOAT64
    if "precision" in source.names():
        precision = source.text("precision", (FLOAT32,))
    if source.is_none("feature_names_in"):
        return Columns(n_inputs, None, precision)
    names = source.raw("feature_names_in")
    if not isinstance(names, list) or len(names) != n_inputs:
        source.refuse("feature_names_in", names)
    if not all(isinstance(name, str) for name in names):
        source.refuse("feature_names_in", names)
    return Columns(n_inputs, np.array(names, dtype=object), precision)


def write_intake(sink: Sink, intake: Intake, solver: object) -> None:
    """Write what is known about the target."""
    sink.put("declared", intake.declared)
    sink.put("task", intake.task)
    sink.put("label_kind", intake.label_kind)
    sink.put("n_outputs", intake.n_outputs)
    write_shared_service(sink, intake.service, solver)
    if intake.labels is None:
        sink.put("labels", None)
    else:
        MAPS.write(sink.inside("labels"), intake.labels)


def read_intake(source: Source, parameter: object) -> Intake:
    """Read what is known about the target."""
    intake = Intake(source.text("declared", tuple(map(str, CHOICES["task"]))))
    solver = parameter if isinstance(parameter, Service) else None
    intake.service = read_shared_service(source, solver)
    if source.is_none("task"):  # every row so far was left out
        for name in ("labels", "label_kind", "n_outputs"):
            if not source.is_none(name):
                source.refuse(name, "known")
        source.close()
        return intake
    intake.task = source.text("task", (CLASSIFICATION, REGRESSION))
    if intake.task == CLASSIFICATION:
        labels = MAPS.read(source.inside("labels"))
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
