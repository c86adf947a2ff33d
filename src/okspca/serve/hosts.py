"""All models of a service, by name; each lives in a folder of its own."""

import re
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from okspca.errors import StateError
from okspca.serve.creating import begun, removed
from okspca.serve.hosted import JOURNAL_FOLDER, Hosted
from okspca.serve.learner import MODEL_FILE
from okspca.serve.lock import FolderLock
from okspca.serve.recorder import Settle
from okspca.serve.refusals import conflict, malformed, unknown, unwritten
from okspca.serve.settings import Settings
from okspca.state.streams import StreamRecord

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")


class Hosts:
    """The models; every one that has a folder is opened.

    Parameters
    ----------
    settings : Settings
        Where they are, and what is allowed.
    settle : callable
        Takes tickets and outcomes from other threads.
    """

    def __init__(self, settings: Settings, settle: Settle) -> None:
        self.settings, self._settle = settings, settle
        self._models: dict[str, Hosted] = {}
        self._changing = threading.Lock()
        #: Told of models that come.
        self.met: list[Callable[[Hosted], None]] = []
        settings.folder.mkdir(parents=True, exist_ok=True)
        self._lock = FolderLock(settings.folder)

    def open(self) -> None:
        """Open every model, and replay what its journal has.

        Raises
        ------
        StateError
            Another service has the folder, or a model cannot be opened: then none is served, since
            whoever sends it rows would take it for one that never was.
        """
        self._lock.take()
        for path in sorted(self.settings.folder.iterdir()):
            if path.name.endswith((".new", ".gone")) and path.name.startswith("."):
                shutil.rmtree(path)
            elif NAME.fullmatch(path.name) and _is_model(path):
                self._add(self._opened(path))

    def _opened(self, path: Path) -> Hosted:
        """Open a model, or say which one cannot be opened."""
        try:
            return Hosted(path, self.settings, self._settle)
        except (OSError, ValueError) as failure:
            message = f"The model {path.name} cannot be opened: {_why(failure)}"
            raise StateError(message) from failure

    def __iter__(self) -> Iterator[Hosted]:
        """All models."""
        return iter(list(self._models.values()))

    def find(self, name: str) -> Hosted:
        """A model, or a refusal."""
        found = self._models.get(name)
        if found is None:
            message = "There is no model of this name."
            raise unknown(message)
        return found

    def create(self, name: str, model: Any, record: StreamRecord) -> Hosted:
        """Make a model."""
        if not NAME.fullmatch(name):
            message = "A name consists of letters, digits, _ and -, at most 64, the first no sign."
            raise malformed(message)
        with self._changing:
            self._check_new(name)
            folder = self.settings.folder / name
            try:
                begun(folder, model, record)
                return self._add(Hosted(folder, self.settings, self._settle))
            except Exception as failure:
                # A name is not taken by what cannot be served.
                shutil.rmtree(folder, ignore_errors=True)
                if isinstance(failure, OSError | StateError):
                    raise unwritten(failure, "the model cannot be written") from failure
                raise

    def remove(self, name: str) -> None:
        """Stop a model and remove its folder."""
        with self._changing:
            hosted = self.find(name)
            del self._models[name]
            hosted.end()
            removed(hosted.folder)

    def end(self) -> None:
        """End all models, at the same time."""
        threads = [threading.Thread(target=hosted.end) for hosted in self]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self._lock.give_back()

    @property
    def troubles(self) -> dict[str, str]:
        """Why models do not do all they should, by name."""
        return {hosted.name: hosted.trouble for hosted in self if hosted.trouble}

    def statuses(self) -> list[dict[str, Any]]:
        """How all models stand."""
        return [hosted.status() for hosted in self]

    def _check_new(self, name: str) -> None:
        """Refuse a model that is there, or one too many."""
        if name in self._models or (self.settings.folder / name).exists():
            message = "There is a model of this name already."
            raise conflict(message)
        if len(self._models) >= self.settings.max_models:
            message = f"There are {self.settings.max_models} models already; remove one first."
            raise conflict(message)

    def _add(self, hosted: Hosted) -> Hosted:
        """Let a model begin, and tell of it."""
        for told in self.met:
            told(hosted)
        hosted.start()
        self._models[hosted.name] = hosted
        return hosted


def _is_model(path: Path) -> bool:
    """Whether a folder is that of a model, even if its model is missing."""
    return (path / MODEL_FILE).exists() or (path / JOURNAL_FOLDER).exists()


def _why(failure: OSError | ValueError) -> str:
    """What is wrong, and with which file."""
    if isinstance(failure, OSError) and failure.filename:
        return f"{failure.filename}: {failure.strerror}."
    return str(failure)
