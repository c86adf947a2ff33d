"""One model of a service: its files, the two threads that change it, and what it answers."""

import contextlib
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from okspca.errors import StateError
from okspca.estimators.monitored import Monitored
from okspca.estimators.saving import any_model_from, model_bytes
from okspca.outputs import PARTS, part_of, remove
from okspca.serve.applying import apply
from okspca.serve.creating import KINDS, most_inputs, task_of
from okspca.serve.deciding import FIRST_NUMBER, Change
from okspca.serve.journal import Journal
from okspca.serve.learner import MODEL_FILE, SET_ASIDE_FILE, Learner, Schedule
from okspca.serve.limits import Limits
from okspca.serve.recorder import Asked, Recorder, Settle
from okspca.serve.refusals import broken, busy, no_room
from okspca.serve.rows import Form
from okspca.serve.settings import Settings
from okspca.state.files import read
from okspca.state.streams import StreamRecord

JOURNAL_FOLDER = "journal"


class Hosted:
    """A model that learns and answers; opening it replays what its journal has.

    Parameters
    ----------
    folder : path
        Where it lives; its name is that of the model.
    settings : Settings
        Limits and intervals.
    settle : callable
        Takes tickets and outcomes from other threads.
    """

    def __init__(self, folder: Path, settings: Settings, settle: Settle) -> None:
        self.folder, self.name, self.settings = folder, folder.name, settings
        model, record = _opened(folder)
        self.model, self.target = model, record.target
        self.kind = {name: kind for kind, name in KINDS.items()}[type(model).__name__]
        keep = settings.keep_segments
        self.journal = Journal(
            folder / JOURNAL_FOLDER,
            segment_bytes=settings.segment_bytes,
            most_bytes=settings.max_journal_bytes,
            keep=None if keep is None else keep / self.name,
        )
        self._watchers: list[Callable[[Any, Any, tuple[Monitored, ...]], None]] = []
        self.learner = Learner(
            folder,
            model,
            record,
            self.journal,
            settle,
            self._tell,
            schedule=Schedule(settings.checkpoint_seconds, settings.checkpoint_rows),
            most_set_aside=settings.max_set_aside,
        )
        self.recorder = self._recorder(record, settle)
        self._ended = threading.Event()

    def _recorder(self, record: StreamRecord, settle: Settle) -> Recorder:
        """Replay the journal: decisions now, rows as soon as the learner comes to them."""
        assert record.ledger is not None
        ledger, columns = record.ledger.twin(), record.columns
        for number, entry in self.journal.replay(after=ledger.applied):
            apply(ledger, number, entry)
            columns = entry.columns or columns
            self.learner.put(number, entry, [])
        #: What is replayed at the start; the model is ready once it is learned.
        self.replayed_until = ledger.applied
        limits = Limits(
            self.settings.max_sources, self.settings.max_pending, self.settings.max_classes
        )
        return Recorder(
            ledger,
            columns,
            task_of(self.model),
            self.journal,
            self.learner.put,
            settle,
            limits=limits,
            pending_seconds=self.settings.pending_seconds,
        )

    def start(self) -> None:
        """Begin to learn."""
        self.learner.start()
        self.recorder.start()

    def end(self) -> None:
        """Decide about what has come, learn it, write a checkpoint."""
        if self._ended.is_set():
            return
        self._ended.set()
        self.recorder.end()
        self.learner.end()
        self.journal.close()

    def watch(self, told: Callable[[Any, Any, tuple[Monitored, ...]], None]) -> None:
        """Let somebody be told of every block that is learned."""
        self._watchers.append(told)

    @property
    def form(self) -> Form:
        """What its rows look like."""
        settings, recorder = self.settings, self.recorder
        return Form(
            recorder.task,
            recorder.columns,
            recorder.ledger.n_inputs,
            self.target,
            self.model.missing != "raise",
            settings.max_rows_per_request,
            min(settings.max_columns, most_inputs(self.model)),
        )

    @property
    def trouble(self) -> str:
        """Why it does not do all it should; empty where it does."""
        if self.learner.ledger.applied < self.replayed_until and not self.learner.trouble:
            return "It learns again what the journal has."
        return self.learner.trouble or self.recorder.trouble or self.learner.hindrance

    def ask(self, change: Change, ticket: Any, *, waits_for_learner: bool = False) -> None:
        """Ask for a change; the outcome comes to the ticket."""
        if self.learner.trouble:
            raise broken(self.learner.trouble)
        if self.journal.is_full and self.learner.hindrance:
            message = f"The journal is full. {self.learner.hindrance}"
            raise no_room(message)
        if self.learner.bytes_waiting > self.settings.max_waiting_bytes or self.journal.is_full:
            message = "Rows come faster than they can be learned."
            raise busy(message)
        self.recorder.ask(Asked(change, ticket, waits_for_learner))

    def next_number(self, source: str) -> int:
        """The next sequence number of a source."""
        return self.recorder.ledger.sources.get(source, FIRST_NUMBER)

    def state(self) -> bytes:
        """The model as a file for others: what the service keeps beside it stays here."""
        return model_bytes(self.model, self.learner.record._replace(ledger=None))

    def set_aside(self) -> bytes:
        """Rows that were set aside, one object a line."""
        return self.learner.set_aside.text().encode()

    def status(self) -> dict[str, Any]:
        """How it stands."""
        ledger, model = self.recorder.ledger, self.model
        rows = 0 if model.learned is None else model.learned.n_rows
        found: dict[str, Any] = {
            "name": self.name,
            "kind": self.kind,
            "task": self.recorder.task,
            "rows": rows,
            "rows_waiting": self.learner.rows_waiting,
            "rows_set_aside": ledger.n_set_aside + self.learner.ledger.n_failed,
            "columns": list(self.recorder.columns),
            "target": self.target,
            "n_inputs": ledger.n_inputs,
            "n_components": None,
            "classes": list(ledger.labels),
            "pending": len(ledger.pending),
            "expired": ledger.n_expired,
            "evicted": ledger.n_evicted,
            "labelled": ledger.n_labelled,
            "sources": len(ledger.sources),
            "score": None,
            "pilot_rows_left": None,
            "rows_since_checkpoint": self.learner.rows_since_checkpoint,
            "journal_bytes": self.journal.n_bytes,
            "trouble": self.trouble,
            "settings": self._settings(),
        }
        for name in ("n_components", "pilot_rows_left"):
            with contextlib.suppress(AttributeError, ValueError):
                found[name] = getattr(model, f"{name}_")
        with contextlib.suppress(AttributeError, ValueError):
            found["score"] = {
                "measure": "accuracy" if self.kind == "classifier" else "R²",
                "running": finite(model.prequential_score_),
            }
        return found

    def _settings(self) -> dict[str, Any]:
        """Settings that differ from those of a new model, where JSON can say them."""
        default = type(self.model)()
        pairs = self.model.get_params(deep=False).items()
        return {
            name: value
            for name, value in pairs
            if value != getattr(default, name) and isinstance(value, bool | int | float | str)
        }

    def _tell(self, X: Any, targets: Any, found: tuple[Monitored, ...]) -> None:
        """Tell of a block that was learned."""
        for told in self._watchers:
            told(X, targets, found)


def _opened(folder: Path) -> tuple[Any, StreamRecord]:
    """Read the checkpoint of a model; what a killed process left beside it goes."""
    path = folder / MODEL_FILE
    for name in (MODEL_FILE, SET_ASIDE_FILE):
        for part in folder.glob(f"{part_of(folder / name)}*"):
            if part.suffix in PARTS:
                remove(part)
    try:
        model, record = any_model_from(read(path))
    except StateError as failure:
        message = f"{path} cannot be loaded: {failure}"
        raise StateError(message) from failure
    if record is None or record.ledger is None or type(model).__name__ not in KINDS.values():
        message = f"{path} was not written by a service; create the model from it by PUT."
        raise StateError(message)
    return model, record


def finite(value: float) -> float | None:
    """A number of JSON."""
    return float(value) if abs(value) < float("inf") else None
