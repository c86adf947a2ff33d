"""Score a model on rows that it has not learned, without learning them.

The model stays as it is.  Readouts are fitted to the held-out rows before each block, so nothing is
predicted from rows that the readout has seen, and every method has the same rows to learn from.
"""

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from okspca.errors import DataError
from okspca.estimators import OKSPCA
from okspca.estimators.data import CLASSIFICATION, check_labels
from okspca.estimators.preparing import IMPUTE
from okspca.features import OneHotMap
from okspca.files.columns import check_present
from okspca.files.comparison import Scores, scores
from okspca.files.evaluating import before_learning, taken
from okspca.files.fitting import SMALL, Block, block_of, blocks
from okspca.files.readers import expanded, rows_of
from okspca.files.reading import LABEL, NUMBER, Reading
from okspca.files.saved import reading_for
from okspca.state.evaluations import Evaluation
from okspca.state.streams import StreamRecord


class HeldOut(NamedTuple):
    """Scores on held-out rows, and how many of them could not be scored."""

    scores: Scores
    left_out: int


def score_held_out(
    model: OKSPCA, record: StreamRecord, inputs: list[str], reading: Reading
) -> HeldOut:
    """Score the rows of files, without those of unknown classes or with gaps that stay."""
    classes = model.task_ == CLASSIFICATION
    target = {record.target: LABEL if classes else NUMBER}
    reading = reading_for(record, reading, inputs, target, needed=[record.target])
    evaluation = Evaluation.start(model.input_map_.n_features, model.input_map_.n_inputs)
    rows = used = 0
    found = rows_of(expanded(inputs), reading)
    for table in blocks((_checked(batch, record) for batch in found), 0):
        block = _usable(model, block_of(table, record))
        rows, used = rows + table.num_rows, used + len(block.X)
        if len(block.X):
            tested = before_learning(model, evaluation, block.X, block.y)
            evaluation = taken(model, evaluation, tested, block.y)
    told = scores(evaluation, classes=classes)
    if told is None:
        message = (
            f"{inputs[0]} has {used:,} rows without gaps and of known classes, of {rows:,}; "
            f"more than {SMALL} are needed to judge the model by."
        )
        raise DataError(message)
    return HeldOut(told, rows - used)


def _checked(batch: pa.RecordBatch, record: StreamRecord) -> pa.RecordBatch:
    """A batch that has all columns of the model."""
    check_present([*record.columns, record.target], batch.schema.names)
    return batch.select([*record.columns, record.target])


def _usable(model: OKSPCA, block: Block) -> Block:
    """The rows without gaps, or completed as the model does, whose class the model knows."""
    fits = ~np.isinf(block.X) if model.missing == IMPUTE else np.isfinite(block.X)
    kept = block.known & fits.all(axis=1)
    X, y = np.ascontiguousarray(block.X[kept]), block.y[kept]
    labels = model.target_map_
    if isinstance(labels, OneHotMap) and len(y):
        values = check_labels(y, len(y)).values
        known = np.array([labels.column_of(value) is not None for value in values])
        X, y = np.ascontiguousarray(X[known]), y[known]
    X = model.complete_rows(X) if len(X) and model.missing == IMPUTE else X
    return Block(X, y, np.ones(len(y), dtype=np.bool_), None)
