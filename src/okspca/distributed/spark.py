"""Fit and transform Spark data frames (``pip install okspca[spark]``).

Only data-frame operations with Arrow batches are used, no RDDs, so it runs in local mode, on a
cluster and through Spark Connect.  Each partition gives one state; states are merged in groups of
neighbours, level by level, and the driver merges the last few.  Merging follows the number of the
partition, so a task that runs again gives the same bytes.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import functions as F  # noqa: N812 - as every text on Spark has it
from pyspark.sql.types import DoubleType, StructField, StructType

from okspca.distributed.frames import (
    block_of,
    check_free,
    embed,
    embedding_names,
    input_names,
    matrix_of,
)
from okspca.distributed.states import (
    FAN_IN,
    Block,
    check_can_be_sharded,
    check_fan_in,
    identity,
    learn,
    merge_states,
    merge_surveys,
    n_first_rows,
    seeded,
    survey_of,
)
from okspca.distributed.survey import Survey
from okspca.errors import DataError
from okspca.estimators import OKSPCA

STATE = "part long, state binary"
Merge = Callable[[list[bytes]], bytes]


def fit(
    data: Any,
    target: str,
    *,
    model: OKSPCA | None = None,
    sample_weight: str | None = None,
    pilot: Block | None = None,
    fan_in: int = FAN_IN,
) -> OKSPCA:
    """Fit a model to the rows of a Spark data frame.

    Parameters
    ----------
    data : pyspark.sql.DataFrame
        Rows; every column except target and weight is an input, in the order of the frame.  It is
        read twice, so cache it if reading is dear.
    target : str
        Name of the target column.
    model : OKSPCA, optional
        The settings; "causal" standardisers are taken as frozen ones.
    sample_weight : str, optional
        Name of a column of weights.
    pilot : (X, y) or (X, y, weights), optional
        Rows to take the standardisers from, and learned frequencies; then there is one pass instead
        of two.
    fan_in : int
        States that one task merges.

    Returns
    -------
    OKSPCA
        A new model, which equals one fitted to all rows with ``standardize="frozen"``.
    """
    model = seeded(OKSPCA() if model is None else model)
    check_can_be_sharded(model)
    kind, columns = type(model), input_names(data.columns, target, sample_weight)
    if not columns:
        message = f"There is no input column beside {target!r}."
        raise DataError(message)

    gaps = model.missing != "raise"

    def blocks(batches: Iterator[Any]) -> Iterator[Block]:
        for batch in batches:
            yield block_of(batch, target, columns, sample_weight, gaps=gaps)

    if pilot is None:
        found = _merged(
            data,
            lambda batches: survey_of(model, blocks(batches)),
            lambda parts: merge_surveys(model, parts),
            fan_in,
        )
        if most := n_first_rows(model):
            counted = data if sample_weight is None else data.where(data[sample_weight] > 0)
            first = counted.limit(most).toArrow()
            pilot = block_of(first, target, columns, sample_weight, gaps=gaps)
    else:
        found = survey_of(model, [pilot])
    start = identity(model, Survey.from_bytes(model, found), pilot).to_bytes()
    state = _merged(
        data,
        lambda batches: learn(kind, start, blocks(batches)),
        lambda parts: merge_states(kind, parts),
        fan_in,
    )
    return kind.from_bytes(state)


def transform(model: OKSPCA, data: Any, columns: Sequence[str] | None = None) -> Any:
    """Append the columns of the embedding to a Spark data frame, lazily.

    Parameters
    ----------
    model : OKSPCA
        A fitted model.
    data : pyspark.sql.DataFrame
        Rows.
    columns : sequence of str, optional
        Input columns, in the order of the model's inputs; by default all columns of the frame.
    """
    kind, state, names = type(model), model.to_bytes(), embedding_names(model)
    chosen = list(columns or getattr(model, "feature_names_in_", data.columns))
    check_free(names, data.columns)
    gaps = model.missing != "raise"

    def embedded(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            Z = embed(kind, state, matrix_of(batch, chosen, gaps=gaps))
            arrays = [*batch.columns, *(pa.array(column) for column in Z.T)]
            yield pa.RecordBatch.from_arrays(arrays, names=[*batch.schema.names, *names])

    fields = [StructField(name, DoubleType(), nullable=False) for name in names]
    return data.mapInArrow(embedded, StructType([*data.schema.fields, *fields]))


def _merged(data: Any, work: Callable[[Iterator[Any]], bytes], merge: Merge, fan_in: int) -> bytes:
    """Let every partition give bytes, and merge them in a tree."""

    def one_state(batches: Iterator[Any]) -> Iterator[Any]:
        yield _state_batch(TaskContext.get().partitionId(), work(batches))

    def merge_group(table: Any) -> Any:
        part = table.column("part")[0].as_py() // fan_in
        return pa.Table.from_batches([_state_batch(part, merge(_in_order(table)))])

    check_fan_in(fan_in)
    states = data.mapInArrow(one_state, STATE)
    left = _n_partitions(data)
    while left > fan_in:
        group = F.floor(F.col("part") / fan_in)
        states = states.groupBy(group).applyInArrow(merge_group, STATE)
        left = -(-left // fan_in)
    return merge(_in_order(states.toArrow()))


def _in_order(table: Any) -> list[bytes]:
    """States in the order of their partitions."""
    rows = sorted(zip(table.column("part").to_pylist(), table.column("state"), strict=True),
                  key=lambda row: row[0])  # fmt: skip
    return [state.as_py() for _, state in rows]


def _state_batch(part: int, state: bytes) -> Any:
    """One row of the frame of states."""
    arrays = [pa.array([part], pa.int64()), pa.array([state], pa.binary())]
    return pa.RecordBatch.from_arrays(arrays, names=["part", "state"])


def _n_partitions(data: Any) -> int:
    """Count the partitions as a frame shows them, which also Spark Connect does."""
    counted = data.select(F.spark_partition_id().alias("part")).agg(F.max("part"))
    most = counted.collect()[0][0]
    if most is None:
        message = "The data frame holds no rows."
        raise DataError(message)
    return int(most) + 1
