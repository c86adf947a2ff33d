"""One run of `okspca fit`: open, choose, learn, save.  Needs pyarrow."""

import copy
import os
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, suppress
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NoReturn

import pyarrow as pa

from okspca.cli.display import Progress
from okspca.cli.interruption import Interruption
from okspca.cli.options import REMEDY
from okspca.cli.resuming import check_reading, check_settings
from okspca.cli.stopping import stop
from okspca.errors import DataError, StateError
from okspca.estimators import OKSPCA
from okspca.estimators.building import n_input_features
from okspca.estimators.data import CLASSIFICATION, REGRESSION
from okspca.estimators.map_search import ENDING, may_climb
from okspca.estimators.parameters import check_parameters
from okspca.estimators.preparing import prepared_names
from okspca.estimators.presets import NEVER
from okspca.estimators.saving import load_model, save_model
from okspca.files import fitting, readers
from okspca.files.columns import (
    CATEGORY_ROWS,
    chosen_columns,
    encodings_of,
    input_names,
    is_text,
    kinds_of,
)
from okspca.files.evaluating import restarted
from okspca.files.fit_options import DEFAULTS
from okspca.files.live import Live, is_pipe
from okspca.files.position import Position
from okspca.files.reading import LABEL, NUMBER, Reading, silent
from okspca.files.reading_ahead import Nothing, read_ahead, read_as_it_comes
from okspca.files.standing import numbers_of
from okspca.files.suspicions import suspicions
from okspca.files.target_kind import check_whole, decided
from okspca.outputs import STANDARD, is_null
from okspca.state.evaluations import Evaluation
from okspca.state.files import MODEL, check_place
from okspca.state.streams import StreamRecord

FEWEST_ROWS = 2
#: First rows of a pipe are gathered for so many seconds, to see what their columns hold; so many
#: pieces of it are read ahead, all of which are learned when it ends; and after so many seconds of
#: silence there is nothing new to show.
SETTLE, AHEAD, SILENCE = 1.0, 2, 1.0


class _LeftToTheNextError(Exception):
    """A block that is not learned now, since the run has to end."""


class FitRun:
    """What one run of the command holds."""

    def __init__(self, out: Path, progress: Progress, interruption: Interruption) -> None:
        self.out, self.progress, self.interruption = out, progress, interruption
        self.record: StreamRecord | None = None
        self.position = Position()
        self.inputs: tuple[str, ...] = ()
        self.tell: Callable[[str], None] = silent
        self.force, self.saved_rows = False, 0
        #: How rows are read that are still on their way; None where all can be read again.
        self.live: Live | None = None
        self.skipped_first, self.going_on = True, "--resume"
        self.saved_at = self.learned_at = time.monotonic()
        #: What went wrong while rows that cannot be read again were still to be learned.
        self.failure: Exception | None = None
        #: Model and record before a block in which features may be learned that can be read again.
        self.before: tuple[OKSPCA, StreamRecord] | None = None
        self.given: dict[str, Any] = {}

    def start(
        self,
        given: dict[str, Any],
        *,
        evaluate: bool,
        force: bool = False,
        resume: bool = False,
    ) -> None:
        """Make the model; what is wrong here is wrong on the command line."""
        self.given, self.model = given, OKSPCA(**{**DEFAULTS, **given})
        self.evaluate, self.force = evaluate, force
        if not (resume and self.out.exists()):
            check_parameters(self.model)
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
        fitting.adopt_missing(model, self.record)
        check_settings(self.out, model, self.given)
        self.model, self.saved_rows = model, self.record.rows_read
        self.evaluate = self.evaluate or self.record.evaluation is not None

    def relearn(self) -> None:
        """Begin a fresh pilot with the next row; scores begin again with it."""
        if self.record is None:
            _refuse(
                "--relearn-features goes on from a model: add --resume, with its file as --out."
            )
        try:
            self.model.relearn_features()
        except ValueError as failure:
            _refuse(f"--relearn-features: {failure}")
        if self.record.evaluation is not None:
            self.record = self.record._replace(evaluation=restarted(self.record.evaluation))
        self.progress.tell(
            f"A fresh pilot of {self.model.pilot_rows_left_:,} rows begins with the next row."
        )

    def remembered(self, reading: Reading) -> Reading:
        """How the inputs are read: as they were, except where something else is said."""
        if self.record is None:
            return reading
        columns = reading.columns or frozenset([*self.record.columns, self.record.target])
        return reading.remembering(self.record.flags, own=True)._replace(columns=columns)

    def wait_for_rows(
        self,
        *,
        follow: bool = False,
        idle_timeout: float | None = None,
        replayed: bool | None = None,
        given: str | None = None,
    ) -> None:
        """Say how rows are read that are still on their way: from pipes, and files that grow."""
        from_pipe = any(map(is_pipe, self.inputs))
        if follow and (len(self.inputs) > 1 or not Path(self.inputs[0]).is_file()):
            _refuse("--follow takes one file; a pipe is followed anyway.")
        if follow and readers.format_of(self.inputs[0], given) not in readers.TEXT_FORMATS:
            _refuse(f"{self.inputs[0]} cannot be followed; only CSV, TSV and NDJSON files can.")
        if not (from_pipe or follow):
            return
        self.live = Live(
            self.interruption.stop, follow=follow, idle_timeout=idle_timeout, settle=SETTLE
        )
        self.going_on = "--resume --new-rows" if from_pipe else self.going_on
        if from_pipe and self.record is not None and replayed is None:
            _refuse(
                f"{self.out} has learned {self.record.rows_read} rows: add --new-rows if the pipe "
                "goes on after them, or --replayed if it begins again with the same rows."
            )
        self.skipped_first = replayed is not False or not from_pipe

    def open(self, reading: Reading, target: str | None) -> None:
        """Open the inputs, and read as many rows as it takes to know their columns."""
        if target is None and self.record is None:
            _refuse("Name the target column with --target.")
        self.target = target or self.record.target  # type: ignore[union-attr]
        kinds = {} if self.record is None else kinds_of(self.record)
        kinds[self.target] = NUMBER if self.model.task == REGRESSION else LABEL
        kinds, needed = {**kinds, **reading.kinds}, (self.target,)
        reading = reading._replace(kinds=kinds, live=self.live, needed=needed)
        self.tell, self.flags = reading.tell, reading.said
        self.position = Position(self.inputs)
        self.batches = readers.rows_of(self.inputs, reading, self.position)
        self.first: list[pa.RecordBatch] = []
        if not self._read_first(1):
            if self.interruption.wanted:
                self._stop_early()
            _refuse(f"{self.inputs[0]} holds no rows.")

    def _read_first(self, n_rows: int) -> bool:
        """Read on until so many rows are there; whether there are any."""
        while sum(each.num_rows for each in self.first) < n_rows:
            batch = next(self.batches, None)
            if batch is None:
                break
            self.first.append(batch)
        return any(batch.num_rows for batch in self.first)

    def choose(
        self, columns: list[str] | None, drop: list[str], one_hot: int | None, dates: bool
    ) -> None:
        """Choose the columns and what they become, and compare that with the checkpoint."""
        before = self.record
        if before is not None and columns is None and self.target == before.target:
            columns = list(before.columns)
        names = chosen_columns(self.first[0].schema.names, self.target, columns, drop)
        self.names = [*names, self.target]
        has_text = any(is_text(self.first[0].schema.field(name).type) for name in names)
        # What a file is taken for must not depend on how much of it is read at a time.
        if self.live is None or (one_hot and has_text):
            self._read_first(CATEGORY_ROWS)
        first = pa.Table.from_batches([self._selected(batch) for batch in self.first])
        if before is not None and one_hot is None:
            encodings = before.encodings
        else:
            dates = dates or (before is not None and before.has_dates)
            encodings = encodings_of(first, names, one_hot or 0, dates)
        missing = self.model.missing
        if self.evaluate and self.model.relearn != NEVER:
            _refuse("--evaluate sums features of one map; leave it out with --relearn on-drift.")
        fresh = StreamRecord(
            self.inputs, self.target, names, missing, encodings=encodings, flags=self.flags
        )
        if self.evaluate:
            seen = prepared_names(self.model, input_names(names, encodings))
            sizes = n_input_features(self.model), len(seen)
            fresh = fresh._replace(evaluation=Evaluation.start(*sizes))
        if before is None:
            self._decide(first.column(self.target).slice(0, CATEGORY_ROWS))
            for line in suspicions(first, names, self.target, self.model.task):
                self.tell(line)
        else:
            check_reading(self.out, before, fresh)
        self.record = fresh if before is None else before._replace(flags=self.flags)

    def _decide(self, target: pa.ChunkedArray) -> None:
        """Take the target for labels or quantities, unless that was said, and tell."""
        decision = decided(target, self.target) if self.model.task == "auto" else None
        if decision is not None:
            self.model.task = decision.task
            self.progress.tell(decision.told)

    def learn(self, every: tuple[int, float]) -> None:
        """Learn block by block, with checkpoints, and write the model."""
        assert self.record is not None
        ENDING.set(self._has_to_end)
        self.progress.begin(self.position, self.record.rows_read)
        try:
            self._learn_blocks(self.record, every)
            if self.failure is not None:
                raise self.failure
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
        for line in fitting.others_told(self.record):
            self.tell(line)

    def _has_to_end(self) -> bool:
        """Whether learning features has to be put off.

        Rows that can be read again are rather left to the next run: nothing that is noted or scored
        on the way then tells that this one was stopped.
        """
        if self.interruption.wanted and self.before is not None:
            raise _LeftToTheNextError
        return self.interruption.wanted

    def _learn_blocks(self, record: StreamRecord, every: tuple[int, float]) -> None:
        """Learn to the end of the inputs, or to an interruption."""
        self.saved_at = self.learned_at = time.monotonic()
        with closing(self._incoming(record)) as incoming:
            for block in incoming:
                if not isinstance(block, Nothing):
                    self._learn_block(block)
                try:
                    self._tell(every)
                except Exception as failure:
                    if self.live is None:
                        raise
                    # Rows that were read and cannot be read again are learned before it is told.
                    self.failure = self.failure or failure
                    self.live.stop.request()

    def _learn_block(self, block: fitting.Block) -> None:
        """Learn a block; of one that came from a pipe, all rows before one that is refused."""
        assert self.record is not None
        if self.live is None:
            is_kept = may_climb(self.model)
            self.before = copy.deepcopy((self.model, self.record)) if is_kept else None
            try:
                self.record = fitting.learn(self.model, self.record, block)
            except _LeftToTheNextError:
                assert self.before is not None
                self.model, self.record = self.before
                return
        else:
            self.record, failed = fitting.learn_what_can_be(self.model, self.record, block)
            if failed is not None:
                raise failed
        self.record = fitting.noted(self.model, self.record)
        self.learned_at = time.monotonic()

    def _tell(self, every: tuple[int, float]) -> None:
        """Show how things stand and write a checkpoint, each if it is due."""
        record, now = self.record, time.monotonic()
        assert record is not None
        if self.failure is not None or not record.rows_read:
            return
        if now - self.learned_at < SILENCE and self.model.__sklearn_is_fitted__():
            self.progress.show(record.rows_read, self._numbers)
        new_rows = record.rows_read - self.saved_rows
        is_due = 0 < every[0] <= new_rows or 0.0 < every[1] <= now - self.saved_at
        if is_due and new_rows and fitting.rows_learned(self.model) >= FEWEST_ROWS:
            self._save()
            self.saved_at = time.monotonic()

    def _incoming(self, record: StreamRecord) -> Generator[fitting.Block | Nothing, None, None]:
        """Rows as numbers, block by block, while a thread reads ahead."""
        batches = chain(self.first, self.batches)
        selected = (self._selected(batch) for batch in batches)
        if self.live is None:
            read = self._blocks(record, selected)
            yield from read_ahead(read, lambda: self.interruption.wanted)
            return
        live = self.live
        start = row = record.rows_read if self.skipped_first else 0
        with closing(read_as_it_comes(selected, depth=AHEAD, release=live.stop.request)) as coming:
            for table in fitting.blocks_as_they_come(coming, start, lambda: live.is_cut):
                if isinstance(table, Nothing):
                    yield table
                    continue
                yield self._block_of(table, record, row)
                row += table.num_rows

    def _save_the_rest(self, failure: BaseException) -> None:
        """Save the rows since the last checkpoint, and note that with what ends the run."""
        assert self.record is not None
        learned = self.record.rows_read - self.record.rows_skipped
        # Both must have come through the same rows, or a resumed run would learn some twice.
        is_whole = FEWEST_ROWS <= learned == fitting.rows_learned(self.model)
        if is_whole and self.record.rows_read > self.saved_rows:
            with suppress(StateError):  # the first failure is what is told
                self._save()
        if self.saved_rows and not is_null(self.out):
            failure.add_note(
                f"{self.saved_rows:,} rows are in {self.out}; go on with {self.going_on}."
            )

    def _blocks(
        self, record: StreamRecord, selected: Iterator[pa.RecordBatch]
    ) -> Iterator[fitting.Block]:
        """Rows as numbers, block by block; runs in the reading thread."""
        row = record.rows_read
        for table in fitting.blocks(selected, row):
            yield self._block_of(table, record, row)
            row += table.num_rows

    def _block_of(self, table: pa.Table, record: StreamRecord, row: int) -> fitting.Block:
        """Rows as numbers, after so many of this run; a label that is a quantity is refused."""
        block = fitting.block_of(table, record, partial(self.position.place_after, row))
        if self.model.task == CLASSIFICATION and "task" not in self.given:
            check_whole(block.y, self.target, block.place)
        return block

    def _selected(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The chosen columns of a batch."""
        return batch.select(self.names)

    def _stop_early(self) -> NoReturn:
        """Save what was learned and say how to go on."""
        self.progress.close()
        told = "Interrupted before anything was learned."
        if self.record is not None and fitting.rows_learned(self.model):
            self._save()
            told = f"Interrupted after {self.record.rows_read} rows; go on with {self.going_on}."
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
