"""Rows that wait to be folded into the moment, on disk."""

from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from okspca.features import OneHotMap
from okspca.features.linear import Origin
from okspca.numerics.arrays import LARGEST_VALUE, Floats
from okspca.pipeline import PipelineState
from okspca.pipeline.schedule import FOLD_ROWS
from okspca.pipeline.waiting import StandardizedRows, joined
from okspca.state.fields import Sink, Source

LINEAR = ("linear_inputs", "linear_targets")


def write_waiting(sink: Sink, waiting: tuple[StandardizedRows, ...]) -> None:
    """Write the rows as one block."""
    rows = joined(waiting)
    sink.put("n", len(rows.weights))
    sink.put("sparse", issparse(rows.inputs))
    if issparse(rows.inputs):
        inputs: Any = csr_array(rows.inputs)
        sink.array("values", inputs.data)
        sink.array("columns", inputs.indices.astype(np.int64))
        sink.array("starts", inputs.indptr.astype(np.int64))
    else:
        sink.array("inputs", rows.inputs)
    sink.array("targets", rows.targets)
    sink.array("weights", rows.weights)
    for name in LINEAR:
        linear = getattr(rows, name)
        if linear is not None:
            sink.array(name, linear)


def read_waiting(source: Source, pipeline: PipelineState) -> tuple[StandardizedRows, ...]:
    """Read the rows that wait for a pipeline whose other parts were read."""
    if not pipeline.moment.folds:
        source.refuse("n", "not of this moment")
    n = source.count("n", least=1, most=min(FOLD_ROWS, pipeline.rows))
    inputs = _read_inputs(source, (n, pipeline.input_map.n_inputs))
    targets = source.array("targets", (n, _target_width(pipeline)))
    weights = source.array("weights", (n,))
    if weights.min() <= 0.0:
        source.refuse("weights", "not positive")
    linear_inputs = _read_linear(source, "linear_inputs", n, pipeline.input_origin)
    linear_targets = _read_linear(source, "linear_targets", n, pipeline.target_origin)
    _check_classes(source, pipeline, targets)
    source.close()
    return (StandardizedRows(inputs, targets, linear_inputs, linear_targets, weights),)


def _read_linear(source: Source, name: str, n: int, origin: Origin | None) -> Floats | None:
    """Read deviations from an origin, if there is one."""
    return None if origin is None else source.array(name, (n, len(origin.point)))


def _read_inputs(source: Source, shape: tuple[int, int]) -> Any:
    """Read standardised inputs, dense or sparse."""
    if not source.flag("sparse"):
        return source.array("inputs", shape)
    values = source.array("values", (None,))
    columns = source.integers("columns", values.shape)
    starts = source.integers("starts", (shape[0] + 1,))
    in_order = starts[0] == 0 and starts[-1] == len(values) and (np.diff(starts) >= 0).all()
    if not in_order or not ((columns >= 0) & (columns < shape[1])).all():
        source.refuse("columns", "not of these rows")
    return csr_array((values, columns, starts), shape)


def _target_width(pipeline: PipelineState) -> int:
    """Number of columns that targets have before they are mapped."""
    return 1 if isinstance(pipeline.target_map, OneHotMap) else pipeline.target_map.n_inputs


def _check_classes(source: Source, pipeline: PipelineState, targets: Floats) -> None:
    """Refuse columns of classes that are not known, and numbers that could not have come in."""
    if isinstance(pipeline.target_map, OneHotMap):
        known = set(range(pipeline.target_map.n_features))
        if not set(targets[:, 0].tolist()) <= known:
            source.refuse("targets", "of unknown classes")
    elif np.abs(targets).max() > LARGEST_VALUE:
        source.refuse("targets", "too large")
