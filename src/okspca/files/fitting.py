"""Fit a model to a stream of record batches, block by block, so that a run can be resumed.

Where a block ends follows from the number of its first row alone: at multiples of ``SMALL`` rows at
first, at multiples of ``BLOCK`` later, whatever the sizes of the batches and wherever a run was
stopped.  A checkpoint is written between two blocks and notes how many rows were read, so a resumed
run learns the same blocks as one that was never stopped, and ends in the same state to the last
bit.

Rows of a pipe cannot be read again, and must not wait for others: there a block also ends when its
first row has waited for ``LINGER`` seconds, and what is refused costs no other row.  How rows are
cut changes no result by more than rounding.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from okspca.errors import DataError
from okspca.estimators import OKSPCA
from okspca.estimators.data import CLASSIFICATION
from okspca.estimators.preparing import IMPUTE, RAISE
from okspca.files.columns import chosen_columns, input_names, inputs_of
from okspca.files.comparison import scores
from okspca.files.evaluating import after_learning, before_learning
from okspca.files.reading_ahead import Nothing
from okspca.numerics.arrays import Floats
from okspca.state.streams import ONE_HOT, Standing, StreamRecord

SMALL, BLOCK = 256, 4096
#: Seconds for which a row from a pipe waits for others.
LINGER = 0.5
#: A moment is noted whenever the rows have grown by this factor since the last.
HISTORY_STEP = 1.25


def some_row(row: int) -> str:
    """Where a row stands, if nothing better is known."""
    return f"Row {row + 1:,} of these"


class Block(NamedTuple):
    """Rows as numbers: inputs, targets, which rows have a target, where inputs are missing."""

    X: Floats
    y: NDArray[Any]
    known: NDArray[np.bool_]
    missing: NDArray[np.bool_] | None
    #: Says in which file and line a row of the block stands.
    place: Callable[[int], str] = some_row

    @property
    def is_whole(self) -> bool:
        """Whether nothing is missing."""
        return self.missing is None and bool(self.known.all())

    def part(self, start: int, end: int) -> "Block":
        """Return some of the rows."""
        missing = None if self.missing is None else self.missing[start:end]
        known, place = self.known[start:end], partial(_place_after, self.place, start)
        return Block(self.X[start:end], self.y[start:end], known, missing, place)


def _place_after(place: Callable[[int], str], start: int, row: int) -> str:
    """Where a row of a part stands."""
    return place(start + row)


def block_end(row: int) -> int:
    """Where the block ends that begins after so many rows.

    Examples
    --------
    >>> block_end(0), block_end(300), block_end(4096)
    (256, 512, 8192)
    """
    size = SMALL if row < BLOCK else BLOCK
    return (row // size + 1) * size


def blocks(batches: Iterable[pa.RecordBatch], start: int) -> Iterator[pa.Table]:
    """Cut batches into blocks, beginning after the first ``start`` rows."""
    waiting = _Waiting(start)
    for batch in batches:
        yield from waiting.filled(batch)
    waiting.check_start()
    yield from waiting.rest()


def blocks_as_they_come(
    batches: Iterable[pa.RecordBatch | Nothing],
    start: int,
    is_cut: Callable[[], bool] = lambda: False,
) -> Iterator[pa.Table | Nothing]:
    """Cut batches into blocks, and end one early rather than let a row wait for too long.

    The first ``start`` rows are left out, and must be there unless ``is_cut()`` says that the
    input was left before its end.  Before an error of the batches is raised, the rows that came
    before it are handed out.
    """
    waiting = _Waiting(start)
    try:
        for batch in batches:
            if not isinstance(batch, Nothing):
                yield from waiting.filled(batch)
            yield from waiting.overdue()
            if isinstance(batch, Nothing):
                yield batch
    except DataError:
        yield from waiting.rest()
        raise
    if not is_cut():
        waiting.check_start()
    yield from waiting.rest()


class _Waiting:
    """Rows that are not yet a block."""

    def __init__(self, start: int) -> None:
        self._held: list[pa.RecordBatch] = []
        self._start, self._size, self._row, self._ahead = start, 0, start, start
        self._since = 0.0

    def filled(self, batch: pa.RecordBatch) -> Iterator[pa.Table]:
        """Add a batch and hand out the blocks that are full."""
        skipped = min(self._ahead, batch.num_rows)
        self._ahead -= skipped
        rest = batch.slice(skipped)
        while self._size + rest.num_rows >= (wanted := block_end(self._row) - self._row):
            self._hold(rest.slice(0, wanted - self._size))
            rest = rest.slice(self._held[-1].num_rows)
            yield from self.rest()
        if rest.num_rows:
            self._hold(rest)

    def check_start(self) -> None:
        """Raise where the input ended among the rows that were to be left out."""
        if self._ahead:
            found = self._start - self._ahead
            message = f"The checkpoint had read {self._start} rows, but the input has only {found}."
            raise DataError(message)

    def overdue(self) -> Iterator[pa.Table]:
        """Hand out rows that have waited for long enough."""
        if self._held and time.monotonic() - self._since >= LINGER:
            yield from self.rest()

    def rest(self) -> Iterator[pa.Table]:
        """Hand out what waits."""
        if self._held:
            table = pa.Table.from_batches(self._held)
            self._row, self._held, self._size = self._row + self._size, [], 0
            yield table

    def _hold(self, batch: pa.RecordBatch) -> None:
        if not self._held:
            self._since = time.monotonic()
        self._held.append(batch)
        self._size += batch.num_rows


def block_of(
    table: pa.Table, record: StreamRecord, place: Callable[[int], str] = some_row
) -> Block:
    """Turn rows of a table into numbers."""
    X = inputs_of(table, record.columns, record.encodings)
    y, known = target_of(table, record.target)
    missing = None
    with np.errstate(over="ignore", invalid="ignore"):
        total = X.sum()
    if np.isnan(total):  # or infinite with both signs, which learning will refuse
        missing = np.isnan(X)
    return Block(X, y, known, missing if missing is not None and missing.any() else None, place)


def learn(model: OKSPCA, record: StreamRecord, block: Block) -> StreamRecord:
    """Learn one block and return the record of where the stream stands now."""
    n = len(block.X)
    X, y, kept = block.X, block.y, np.ones(n, dtype=np.bool_)
    adopt_missing(model, record)
    if not block.is_whole:
        kept = _kept(model, record, block)
        X, y = np.ascontiguousarray(X[kept]), y[kept]
    evaluation = record.evaluation
    if kept.any():
        tested = None
        if evaluation is not None:
            tested = before_learning(model, evaluation, _completed(model, X), y)
        try:
            model.partial_fit(block.X, block.y)
        except DataError as failure:
            _refuse_infinite(record, block)
            until = f" to {block.place(n - 1)}, counted from 0 there" if n > 1 else ""
            message = f"{block.place(0)}{until}: {failure}"
            raise DataError(message) from failure
        if evaluation is not None and tested is not None:
            evaluation = after_learning(model, evaluation, tested, X, y)
    return record._replace(
        rows_read=record.rows_read + n,
        rows_skipped=record.rows_skipped + n - int(kept.sum()),
        values_imputed=record.values_imputed + _n_filled(record, block, kept),
        evaluation=evaluation,
        others=_with_others(record, block.X),
    )


def _with_others(record: StreamRecord, X: Floats) -> tuple[int, ...]:
    """Count the texts that are no category of their column, for each column."""
    counts, at = [], 0
    for number, encoding in enumerate(record.encodings):
        width, before = 1, record.others[number] if record.others else 0
        if encoding.kind == ONE_HOT:
            width = len(encoding.categories)
            before += int((X[:, at : at + width].sum(axis=1) == 0.0).sum())
        counts.append(before)
        at += width
    return tuple(counts) if any(counts) else ()


def others_told(record: StreamRecord) -> Iterator[str]:
    """Say how many texts were no category of their column.

    Examples
    --------
    >>> from okspca.state.streams import Encoding
    >>> colour = Encoding("one-hot", ("red", "blue"))
    >>> rows = StreamRecord((), "y", ("colour",), "skip", 10, encodings=(colour,), others=(3,))
    >>> list(others_told(rows))
    ["Column 'colour': 3 of 10 values are none of its 2 categories and count as zeros."]
    """
    for name, encoding, count in zip(record.columns, record.encodings, record.others, strict=False):
        if count:
            told = f"{count:,} of {record.rows_read:,} values are none of its"
            yield (
                f"Column {name!r}: {told} {len(encoding.categories)} categories and count as zeros."
            )


def learn_what_can_be(
    model: OKSPCA, record: StreamRecord, block: Block
) -> tuple[StreamRecord, DataError | None]:
    """Learn a block or, if it is refused, the rows before the first that cannot be learned.

    Returns the record of where the stream stands now, and why it stands there.
    """
    before = rows_learned(model)
    try:
        return learn(model, record, block), None
    except DataError as failure:
        n = len(block.X)
        if n == 1 or rows_learned(model) != before:
            return record, failure
    record, failed = learn_what_can_be(model, record, block.part(0, n // 2))
    if failed is None:
        record, failed = learn_what_can_be(model, record, block.part(n // 2, n))
    return record, failed


def rows_learned(model: OKSPCA) -> int:
    """Rows that a model has learned; none before the first."""
    return model.n_samples_seen_ if model.__sklearn_is_fitted__() else 0


def noted(model: OKSPCA, record: StreamRecord) -> StreamRecord:
    """Note how things stand, where that is due."""
    is_due = not record.history or record.rows_read >= HISTORY_STEP * record.history[-1].rows
    return with_standing(model, record) if is_due else record


def with_standing(model: OKSPCA, record: StreamRecord) -> StreamRecord:
    """Note how things stand, unless that was done at this very row or nothing was learned."""
    if not model.__sklearn_is_fitted__():
        return record
    if record.history and record.history[-1].rows == record.rows_read:
        return record
    basis = model.basis()
    rho = np.nan if basis.certificate is None else basis.certificate.rho_lower
    objective = float((basis.singular_values**2).sum())
    standing = Standing(float(record.rows_read), objective, rho, float(basis.rank))
    found = scores(record.evaluation, classes=model.task_ == CLASSIFICATION)
    if found is not None:
        inputs = np.nan if found.inputs is None else found.inputs
        standing = standing._replace(embedding_score=found.embedding, input_score=inputs)
    return record._replace(history=(*record.history, standing))


def first_rows(
    batches: Iterable[pa.RecordBatch], target: str, drop: list[str], most: int, fewest: int
) -> tuple[Floats, NDArray[Any], int | None]:
    """Return the first complete rows: inputs, targets and, for labels, the number of classes."""
    found: list[tuple[Floats, NDArray[Any]]] = []
    n_rows = 0
    for batch in batches:
        table = pa.Table.from_batches([batch.slice(0, most - n_rows)])
        X = inputs_of(table, chosen_columns(batch.schema.names, target, None, drop), ())
        y, known = target_of(table, target)
        kept = known & np.isfinite(X).all(axis=1)
        found.append((X[kept], y[kept]))
        n_rows += int(kept.sum())
        if n_rows >= most:
            break
    if n_rows < fewest:
        message = f"The input has {n_rows} complete rows; at least {fewest} are needed."
        raise DataError(message)
    X, y = (np.concatenate(part) for part in zip(*found, strict=True))
    labels = y.dtype.kind != "f"
    return np.ascontiguousarray(X), y, len(set(y.tolist())) if labels else None


def adopt_missing(model: OKSPCA, record: StreamRecord) -> None:
    """Let the model deal with missing values; in files of earlier versions only the record knew."""
    if model.missing != record.missing:
        model.set_params(missing=record.missing)


def _kept(model: OKSPCA, record: StreamRecord, block: Block) -> NDArray[np.bool_]:
    """Tell which rows of a block will be learned; refuse what the record says."""
    missing = block.missing
    if missing is None:
        missing = np.zeros(block.X.shape, dtype=np.bool_)
    if record.missing == RAISE:
        _refuse_missing(record, missing, block)
    if record.missing == IMPUTE:
        _refuse_empty(model, record, missing)
        return block.known
    return np.asarray(block.known & ~missing.any(axis=1))


def _completed(model: OKSPCA, X: Floats) -> Floats:
    """The rows that are learned, for the probes: as the model would complete them now."""
    is_ready = model.learned is not None and model.learned.pipeline is not None
    is_plain = model.missing != IMPUTE or not (model.missing_indicators or np.isnan(X).any())
    return X if is_plain or not is_ready else model.complete_rows(X)


def _n_filled(record: StreamRecord, block: Block, kept: NDArray[np.bool_]) -> int:
    """Values of the files that the model fills in; a text that is missing is one of them."""
    if block.missing is None or record.missing != IMPUTE:
        return 0
    widths = [len(each.categories) or 1 for each in record.encodings] or [1] * block.X.shape[1]
    first = np.cumsum([0, *widths[:-1]])
    return int(block.missing[kept][:, first].sum())


def target_of(table: pa.Table, name: str) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return the target, and which rows have one."""
    column = table.column(name)
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    known: NDArray[np.bool_] = np.asarray(column.is_valid().to_numpy(), dtype=np.bool_)
    if pa.types.is_floating(column.type):
        values = np.asarray(column.to_numpy(), dtype=np.float64)
        return values, known & ~np.isnan(values)
    if pa.types.is_integer(column.type) and known.all():
        return np.asarray(column.to_numpy()), known
    return np.array(column.to_pylist(), dtype=object), known


def _refuse_missing(record: StreamRecord, missing: NDArray[np.bool_], block: Block) -> None:
    """Raise for the first row in which a value is missing."""
    bad = missing.any(axis=1) | ~block.known
    if bad.any():
        row = int(np.argmax(bad))
        names = input_names(record.columns, record.encodings)
        lacks = names[int(np.argmax(missing[row]))] if block.known[row] else record.target
        lacks = lacks if lacks in (*record.columns, record.target) else lacks.split("=")[0]
        where = f"{block.place(row)}, column {lacks!r}"
        message = f"{where} has no value; use --missing skip or --missing impute."
        raise DataError(message)


def _refuse_infinite(record: StreamRecord, block: Block) -> None:
    """Raise for the first value that is infinite, by its place and its column."""
    y = block.y if block.y.dtype.kind == "f" else np.zeros(len(block.X))
    values = np.column_stack([block.X, y])
    places = np.argwhere(np.isinf(values))
    if len(places):
        row, column = map(int, places[0])
        name = [*input_names(record.columns, record.encodings), record.target][column]
        value = values[row, column]
        message = (
            f"{block.place(row)}, column {name!r}: {value:g} is not finite; if it stands for a "
            f"missing value, add --na and what is written there, or use --drop {name!r}."
        )
        raise DataError(message)


def _refuse_empty(model: OKSPCA, record: StreamRecord, missing: NDArray[np.bool_]) -> None:
    """Raise where the first block has a column without any value: nothing tells its mean."""
    empty = missing.all(axis=0)
    if model.learned is None and empty.any():
        name = input_names(record.columns, record.encodings)[int(np.argmax(empty))]
        n = len(missing)
        message = f"Column {name!r} has no value in the first {n} rows; use --drop {name!r}."
        raise DataError(message)
