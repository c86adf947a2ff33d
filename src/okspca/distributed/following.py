"""A model and how far it has followed a stream, in one file: what exactly once rests on.

A source that can be read again from a given place (a log, or a query that replays its batches)
delivers messages once or several times.  Each is learned exactly once if

1. model and place are saved together, atomically, so that the file says how far *this* model got;
2. what lies before that place is left out;
3. reading goes on from that place.

Then no record that somebody else keeps, such as the offsets of a consumer group, has to agree with
the model at every moment, which across two systems cannot be had.
"""

from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np

from okspca.errors import DataError
from okspca.estimators import OKSPCA
from okspca.estimators.saving import load_model, save_model
from okspca.state.files import previous
from okspca.state.streams import StreamRecord


class Follower:
    """A model that learns a stream, and the record of how far it has come.

    Parameters
    ----------
    path : path
        File of both; where it exists, they are taken from it.
    model : OKSPCA
        Where to begin otherwise, a copy of it; its task must be given.
    record : StreamRecord
        What is read: a file of other inputs, columns or another target is refused.
    """

    def __init__(self, path: Path | str, model: OKSPCA, record: StreamRecord) -> None:
        if model.task == "auto":
            message = (
                "task='auto' cannot be told from a first block, where whole numbers may be "
                "quantities; make the model with task='regression' or task='classification'."
            )
            raise ValueError(message)
        self.path, self.model, self.record = Path(path), deepcopy(model), record
        if self.path.exists():
            self.model, found = load_model(type(model), self.path)
            if found is None or not found.reads_as(record):
                message = f"{path} belongs to other topics, columns or another target."
                raise DataError(message)
            self.record = found
        self._saved = self.record
        #: Rows of the model before a block, and the record of when it is learned.
        self._underway: tuple[int, StreamRecord] | None = None

    @property
    def n_rows(self) -> int:
        """Rows that the model has learned."""
        return int(getattr(self.model, "n_samples_seen_", 0))

    def learn(self, X: Any, y: Any, learned: StreamRecord, weights: Any = None) -> None:
        """Learn a block, and only then take the record that counts it."""
        self._underway = self.n_rows, learned
        self.model.partial_fit(np.asarray(X, dtype=np.float64), y, sample_weight=weights)
        self.record, self._underway = learned, None

    def settle(self) -> None:
        """Count a block if the model has learned it, even if Ctrl-C came just after."""
        if self._underway is not None:
            before, learned = self._underway
            if self.n_rows > before:
                self.record = learned
            self._underway = None

    def begin(self, record: StreamRecord) -> None:
        """Take a record that says no more than the one before, and need not be saved for itself."""
        self.record = self._saved = record

    def earlier(self) -> Iterator[tuple[Path, StreamRecord]]:
        """The files that hold earlier states of this model, latest first, with their records."""
        is_saved = self.record is self._saved
        for path in [previous(self.path)] if is_saved else [self.path, previous(self.path)]:
            record = load_model(type(self.model), path)[1] if path.exists() else None
            if record is not None and record.reads_as(self.record):
                yield path, record

    def go_back(self, path: Path) -> None:
        """Take model and record from such a file."""
        model, record = load_model(type(self.model), path)
        assert record is not None
        self.model, self.record, self._underway = model, record, None

    def save(self) -> None:
        """Write model and record, if there is something new."""
        if self.record is not self._saved:
            self.write()

    def write(self) -> None:
        """Write model and record."""
        save_model(self.model, self.path, self.record)
        self._saved = self.record
