"""Answers about one row: what the answer to a block is, without the checks of a table.

All that belongs to a version of the state is bound once (:class:`RowAnswer`).  A plain row of
finite numbers takes one compiled call from there; any other row, and any row of a model that one
call cannot serve, is checked, encoded and filled in as for a block of one.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from okspca.errors import DataError
from okspca.estimators.data import check_values, row_of_numbers
from okspca.estimators.learned import Columns
from okspca.estimators.missing import as_array
from okspca.estimators.preparing import PREPARATION, RAISE, Preparation
from okspca.estimators.readouts import Readout, classifier, regressor
from okspca.features import FeatureMap
from okspca.numerics.arrays import Floats
from okspca.pipeline import Embedding, PipelineState
from okspca.pipeline.answers import embedding
from okspca.pipeline.asking import answered_once, asked_ahead
from okspca.pipeline.one_row import RowEmbedding, row_embedding
from okspca.standardize import Standardizer

FLOAT64 = np.dtype(np.float64)
Question: TypeAlias = Callable[[PipelineState], "RowAnswer"]


class RowAnswer(NamedTuple):
    """What answers about single rows, all of it from one state.

    Attributes
    ----------
    function : Embedding or Readout
        What answers about blocks of complete rows.
    row : RowEmbedding
        What embeds one.
    classes : list
        Classes as plain values, in the order of the columns; empty where there are none.
    companions, input_standardizer, input_map
        What rows are completed by.
    """

    function: Embedding | Readout
    row: RowEmbedding
    classes: list[Any]
    companions: dict[str, Any]
    input_standardizer: Standardizer
    input_map: FeatureMap

    def of_plain(self, x: Any, n_columns: int) -> Floats | None:
        """Values for a row of finite numbers; None where rows take the other way."""
        if self.row.n_inputs != n_columns or _is_encoded(self.companions.get(PREPARATION)):
            return None
        row = _plain_row(x)
        embedded = None if row is None or row.shape[0] != n_columns else self.row.of(row)
        if embedded is None or isinstance(self.function, Embedding):
            return embedded
        values: Floats = self.function.of_embedded(embedded[np.newaxis])[0]
        return values


@asked_ahead
@answered_once
def of_embedding(state: PipelineState) -> RowAnswer:
    """What embeds single rows, however they have to be completed."""
    known = embedding(state)
    return _bound(state, known, known)


@asked_ahead
@answered_once
def of_regressor(state: PipelineState) -> RowAnswer:
    """What predicts the response of single rows."""
    found = regressor(state)
    return _bound(state, found, found.embedding)


@asked_ahead
@answered_once
def of_classifier(state: PipelineState) -> RowAnswer:
    """What predicts the class of single rows."""
    found = classifier(state)
    return _bound(state, found, found.embedding)._replace(classes=found.classes.tolist())


def checked_row(
    x: Any, columns: Columns, preparation: Preparation | None, missing: str, caller: str
) -> Floats:
    """Return a row as a block of one, coded and checked, NaN where a value may be missing."""
    if preparation is not None and preparation.reads_text:
        names = columns.listed or list(range(columns.n))
        X: Floats = preparation.coded_row(x, names)[1]
    else:
        X = row_of_numbers(x, caller, gaps=missing != RAISE)[np.newaxis]
        if X.shape[1] != columns.n:
            message = f"x has {X.shape[1]} values, but the model learned {columns.n}."
            raise DataError(message)
    check_values(X, "x", columns.names, gaps=missing != RAISE)
    return X


def _bound(state: PipelineState, function: Embedding | Readout, embeds: Embedding) -> RowAnswer:
    """Bind what answers to a state."""
    row, standardizer = row_embedding(state), embeds.standardizer
    return RowAnswer(function, row, [], state.companions, standardizer, embeds.input_map)


def _is_encoded(preparation: Preparation | None) -> bool:
    """Whether complete rows change before they are as many inputs."""
    return preparation is not None and preparation.categories is not None


def _plain_row(x: Any) -> Floats | None:
    """A row as a plain array, if it holds numbers and nothing that tells of missing ones."""
    if type(x) is np.ndarray:
        if x.dtype is FLOAT64 and x.ndim == 1 and x.flags.carray:
            return x
    elif not isinstance(x, list | tuple):
        return None
    try:
        array = as_array(x)
    except (TypeError, ValueError):  # no row at all: whoever checks it says so
        return None
    if type(array) is not np.ndarray or array.ndim != 1 or array.dtype.kind not in "fiub":
        return None
    return np.array(array, dtype=np.float64)
