"""One run of `okspca fit`: open, choose, learn, save.  Needs pyarrow."""

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any, NoReturn

import pyarrow as pa
from threadpoolctl import threadpool_limits

from okspca.cli.display import Progress
from okspca.cli.interruption import Interruption
from okspca.cli.options import REMEDY
from okspca.cli.stopping import stop
from okspca.errors import DataError, StateError
from okspca.estimators import OKSPCA
from okspca.estimators.building import n_input_features
from okspca.estimators.parameters import check_parameters
from okspca.estimators.saving import load_model, save_model
from okspca.files import fitting, readers
from okspca.files.columns import CATEGORY_ROWS, chosen_columns, encodings_of, input_names
from okspca.files.reading_ahead import read_ahead
from okspca.files.standing import numbers_of
from okspca.outputs import STANDARD, is_null
from okspca.state.evaluations import Evaluation
from okspca.state.files import MODEL, check_place
from okspca.state.streams import MISSING, StreamRecord

FEWEST_ROWS = 2


class FitRun:
    """What one run of the command holds."""

    def __init__(self, out: Path, progress: Progress, interruption: Interruption) -> None:
        self.out, self.progress, self.interruption = out, progress, interruption
        self.record: StreamRecord | None = None
        self.position = readers.Position()
        self.inputs: tuple[str, ...] = ()
        self.force, self.saved_rows = False, 0

    def start(
        self, parameters: dict[str, Any], missing: str, *, evaluate: bool, force: bool = False
    ) -> None:
        """Make the model; what is wrong here is wrong on the command line."""
        self.model, self.missing, self.evaluate = OKSPCA(**parameters), missing, evaluate
        self.force = force
        check_parameters(self.model)
        if missing not in MISSING:
            _refuse(f"--missing {missing} is not known; give raise, skip or impute.")
        if str(self.out) == STANDARD:
            _refuse("A model cannot be written to standard output; name a file with --out.")

    def check_place(self, inputs: list[str]) -> None:
        """Refuse a place where the model must not or cannot be written, before any work."""
        self.inputs = readers.expanded(inputs)
        if not self.out.parent.is_dir():
            _refuse(f"{self.out.parent} is not a folder; create it or choose another --out.")
        if self.out.is_dir() or not os.access(self.out.parent, os.W_OK):
            _refuse(f"{self.out} cannot be written; choose another --out.")
        check_place(self.out, self.inputs, MODEL._replace(remedy=REMEDY), overwrite=self.force)

    def resume(self) -> None:
        """Go on from the checkpoint, if there is one."""
        if not self.out.exists() or is_null(self.out):
            return
        model, self.record = load_model(OKSPCA, self.out)
        if self.record is None:
            _refuse(f"{self.out} was not written by `okspca fit`; it cannot be resumed.")
        if model.get_params() != self.model.get_params():
            _refuse(f"{self.out} was fitted with other options; resume with the same.")
        self.model, self.saved_rows = model, self.record.rows_read

    def open(self, file_format: str | None, delimiter: str | None, target: str) -> None:
        """Open the inputs, and read as many rows as it takes to know their columns."""
        self.target = target
        types = {target: pa.float64() if self.model.task == "regression" else None}
        reading = readers.Reading(file_format, types, delimiter)
        self.position = readers.Position(self.inputs)
        batches = chain.from_iterable(
            readers.batches(name, reading, self.position) for name in self.inputs
        )
        self.first: list[pa.RecordBatch] = []
        for batch in batches:
            self.first.append(batch)
            if sum(each.num_rows for each in self.first) >= CATEGORY_ROWS:
                break
        if not sum(each.num_rows for each in self.first):
            _refuse(f"{self.inputs[0]} holds no rows.")
        self.batches = chain(self.first, batches)

    def choose(self, columns: list[str] | None, drop: list[str], one_hot: int, dates: bool) -> None:
        """Choose the columns and what they become, and compare that with the checkpoint."""
        names = chosen_columns(self.first[0].schema.names, self.target, columns, drop)
        self.names = [*names, self.target]
        first = pa.Table.from_batches([self._selected(batch) for batch in self.first])
        encodings = encodings_of(first, names, one_hot, dates)
        fresh = StreamRecord(self.inputs, self.target, names, self.missing, encodings=encodings)
        if self.evaluate:
            sizes = n_input_features(self.model), len(input_names(names, encodings))
            fresh = fresh._replace(evaluation=Evaluation.start(*sizes))
        self.record = self.record or fresh
        if not self.record.reads_as(fresh):
            _refuse(f"{self.out} was fitted to other inputs, columns or options; give the same.")

    def learn(self, every: tuple[int, float]) -> None:
        """Learn block by block, with checkpoints, and write the model.

        Products are made by one thread: they are small, the other core reads, and a sum must round
        alike in a resumed run.
        """
        with threadpool_limits(limits=1, user_api="blas"):
            self._learn(every)

    def _learn(self, every: tuple[int, float]) -> None:
        assert self.record is not None
        self.progress.begin(self.position, self.record.rows_read)
        try:
            self._learn_blocks(self.record, every)
        except BaseException as failure:
            self._save_the_rest(failure)
            raise
        if self.interruption.wanted:
            self._stop_early()
        if self.record.rows_read == self.record.rows_skipped:
            _refuse("No row could be learned: in each of them a value is missing.")
        if self.model.n_samples_seen_ < FEWEST_ROWS:
            _refuse("Only one row could be learned; a model takes at least two.")
        self.record = fitting.with_standing(self.model, self.record)
        self._save()
        self.progress.finish(self.record.rows_read, self._numbers, self.out)

    def _learn_blocks(self, record: StreamRecord, every: tuple[int, float]) -> None:
        """Learn to the end of the inputs, or to an interruption."""
        saved_at = time.monotonic()
        for block in read_ahead(self._blocks(record), lambda: self.interruption.wanted):
            record = self.record = fitting.learn(self.model, record, block)
            record = self.record = fitting.noted(self.model, record)
            self.progress.show(record.rows_read, self._numbers)
            by_rows = 0 < every[0] <= record.rows_read - self.saved_rows
            if by_rows or 0.0 < every[1] <= time.monotonic() - saved_at:
                self._save()
                saved_at = time.monotonic()

    def _save_the_rest(self, failure: BaseException) -> None:
        """Save the rows since the last checkpoint, and note that with what ends the run."""
        assert self.record is not None
        learned = self.record.rows_read - self.record.rows_skipped
        # Both must have come through the same rows, or a resumed run would learn some twice.
        is_whole = FEWEST_ROWS <= learned == self.model.n_samples_seen_
        if is_whole and self.record.rows_read > self.saved_rows:
            with suppress(StateError):  # the first failure is what is told
                self._save()
        if self.saved_rows and not is_null(self.out):
            failure.add_note(f"{self.saved_rows:,} rows are in {self.out}; go on with --resume.")

    def _blocks(self, record: StreamRecord) -> Iterator[fitting.Block]:
        """Rows as numbers, block by block; runs in the reading thread."""
        selected = (self._selected(batch) for batch in self.batches)
        for table in fitting.blocks(selected, record.rows_read):
            yield fitting.block_of(table, record)

    def _selected(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The chosen columns of a batch, which every input must have."""
        for name in self.names:
            if name not in batch.schema.names:
                _refuse(f"Not every input has a column {name!r}.")
        return batch.select(self.names)

    def _stop_early(self) -> NoReturn:
        """Save what was learned and say how to go on."""
        assert self.record is not None
        self.progress.close()
        told = "Interrupted before anything was learned."
        if self.record.rows_read:
            self._save()
            told = f"Interrupted after {self.record.rows_read} rows; go on with --resume."
        stop(told, self.interruption.code)

    def _numbers(self, with_error_bar: bool) -> dict[str, Any]:
        """What the display shows."""
        assert self.record is not None
        return numbers_of(self.model, self.record, with_error_bar=with_error_bar)

    def _save(self) -> None:
        assert self.record is not None
        save_model(self.model, self.out, self.record, overwrite=self.force)
        self.saved_rows = self.record.rows_read


def _refuse(sentence: str) -> NoReturn:
    raise DataError(sentence)
