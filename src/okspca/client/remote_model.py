"""One model of a service, with the words that models of okspca are spoken to."""

import json
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any, NamedTuple

from okspca.client.download import model_of, size_of_models
from okspca.client.events import EVENTS, Event, follow
from okspca.client.requests import ADMIN, ARROW, LEARN, NDJSON, OCTETS, Request
from okspca.client.rows import Names, Rows, is_single
from okspca.client.sending import Sender
from okspca.client.sequence import Sequence as Numbered
from okspca.client.sequence import unnumbered

TARGET = "y"


class Learned(NamedTuple):
    """What became of rows.

    Attributes
    ----------
    learned, set_aside : int
        How many are in the model's journal, and how many could not be learned.
    repeated : bool
        Whether the service had them already, from a request whose answer was lost; the numbers
        then say nothing.

    Examples
    --------
    >>> Learned(3, 0, False).learned
    3
    """

    learned: int
    set_aside: int
    repeated: bool


class RemoteModel:
    """A model that a service keeps; made by :meth:`Client.model`.

    Rows are arrays, lists, dictionaries, or frames of pandas or polars, whose column names are
    sent; NaN stands for a missing value.  Many of them go as Arrow if pyarrow is installed.

    Parameters
    ----------
    sender : Sender
        Who sends.
    name : str
        Name of the model.
    sequence : Numbered, optional
        Numbers of the source that teaches.
    """

    def __init__(self, sender: Sender, name: str, sequence: Numbered | None) -> None:
        self.name, self._sender, self._sequence = name, sender, sequence
        self._names: Names | None = None

    def __repr__(self) -> str:
        """Address and name."""
        return f"RemoteModel({self._sender.url!r}, {self.name!r})"

    def learn(
        self, X: Any, y: Any = None, *, wait: bool = False, set_aside: bool = False
    ) -> Learned:
        """Teach rows; when this returns they are safe, and the model learns them next.

        Parameters
        ----------
        X, y : array-like
            Inputs and targets; ``y`` may be left out where X is a table of Arrow that holds it.
        wait : bool
            Return only when the model has learned them.
        set_aside : bool
            Set rows aside that cannot be learned, instead of refusing all of them.

        Raises
        ------
        ServiceError
            Nothing was learned.
        UndecidedError
            They were sent, but whether they were learned is not known; with a source, call again
            with the same rows.
        """
        return self._teach("learn", *self._encoded(Rows.of(X, y)), wait, set_aside)

    def learn_one(self, x: Any, y: Any, *, wait: bool = False, set_aside: bool = False) -> Learned:
        """Teach one row."""
        return self._teach("learn", *self._encoded(Rows.of([x], [y])), wait, set_aside)

    def label(self, id: Any, y: Any, *, wait: bool = False, set_aside: bool = False) -> Learned:
        """Tell the target of a row that :meth:`predict` has stored, or of a list of them."""
        pairs = [(id, y)] if isinstance(id, str) else list(zip(id, y, strict=True))
        found = Rows([()] * len(pairs), [y for _, y in pairs], [name for name, _ in pairs]).json()
        told = [{"id": row["id"], "y": row["y"]} for row in found]
        body = json.dumps(told[0] if isinstance(id, str) else {"labels": told}).encode()
        return self._teach("label", "application/json", body, wait, set_aside)

    def predict(self, X: Any, ids: Sequence[str] | None = None, *, as_arrow: bool = False) -> Any:
        """Predictions, one per row; with ``ids`` the rows are stored until they are labelled."""
        role = {} if ids is None else {"role": LEARN}
        told = self._asked("predict", Rows.of(X, None, ids), as_arrow=as_arrow, **role)
        return told if as_arrow else told["predictions"]

    def predict_proba(self, X: Any) -> list[list[float]]:
        """Probabilities of the classes, in the order of ``status()["classes"]``."""
        told = self._asked("predict", Rows.of(X))
        if told.get("probabilities") is None:
            message = f"Model {self.name!r} tells no probabilities; a classifier does."
            raise ValueError(message)
        found: list[list[float]] = told["probabilities"]
        return found

    def transform(self, X: Any, *, as_arrow: bool = False) -> Any:
        """Embedded rows."""
        told = self._asked("transform", Rows.of(X), as_arrow=as_arrow)
        return told if as_arrow else told["embedding"]

    def explain(self, x: Any) -> dict[str, Any]:
        """What the inputs contribute, for one row or several."""
        found: dict[str, Any] = self._asked("explain", Rows.of([x] if is_single(x) else x))
        return found

    def monitor(self, X: Any) -> dict[str, Any]:
        """T², SPE, limits and alarms of rows."""
        found: dict[str, Any] = self._asked("monitor", Rows.of(X))
        return found

    def basis(self, *, vectors: bool = False) -> dict[str, Any]:
        """Rank, status, age, singular values and certificate."""
        return self._sender.told(self._get("basis").asking(vectors="true" if vectors else None))

    def stability(self) -> dict[str, Any]:
        """How well the directions are reproduced."""
        return self._sender.told(self._get("stability"))

    def drift(self) -> dict[str, Any]:
        """Alarms of the live monitor so far."""
        return self._sender.told(self._get("drift"))

    def status(self) -> dict[str, Any]:
        """Kind, rows, columns, classes, score and so on."""
        return self._sender.told(self._get())

    def state(self) -> bytes:
        """The model as a file, for ``OKSPCA.from_bytes`` and `okspca merge`."""
        request = self._get("state")._replace(role=ADMIN, accept=OCTETS)
        most, look = size_of_models()
        return self._sender.ask(request, most=most, look=look).body

    def load(self) -> Any:
        """The model itself, as it is now: an OKSPCA or one of the heads."""
        return model_of(self.state())[0]

    def set_aside(self) -> list[dict[str, Any]]:
        """Rows that could not be learned, with the reasons."""
        request = self._get("set-aside")._replace(role=LEARN, accept=NDJSON)
        return [json.loads(line) for line in self._sender.ask(request).body.splitlines() if line]

    def events(self) -> Iterator[Event]:
        """What happens to the model, until it is gone; lost connections are made again."""
        return follow(self._sender, self._get("events")._replace(accept=EVENTS))

    def checkpoint(self) -> dict[str, Any]:
        """Let the service write the model to its disk now."""
        return self._sender.told(self._admin("POST", "checkpoint"))

    def relearn(self) -> dict[str, Any]:
        """Begin a fresh pilot: the features are learned again from the rows to come."""
        return self._sender.told(self._admin("POST", "relearn"), is_safe=False)

    def delete(self) -> None:
        """Stop the model and remove all that the service keeps of it."""
        self._sender.once(self._admin("DELETE"))

    def next_number(self) -> int:
        """The number that the service expects next from our source: one more than it has."""
        if self._sequence is None:
            message = "source=None; give Client a source, whose requests are numbered."
            raise ValueError(message)
        return self._sequence.next_number()

    def _path(self, *parts: str) -> str:
        """Path of something that belongs to the model."""
        return "/".join(["/models", self.name, *parts])

    def _get(self, *parts: str) -> Request:
        """Ask for something."""
        return Request("GET", self._path(*parts))

    def _admin(self, method: str, *parts: str) -> Request:
        """Do something that only an administrator may."""
        return Request(method, self._path(*parts), ADMIN)

    def _encoded(self, rows: Rows) -> tuple[str, bytes]:
        """Kind and body of a request."""
        return rows.encoded(self._known)

    def _known(self) -> Names:
        """Names of the model's columns, asked for once."""
        if self._names is None:
            told = self.status()
            self._names = Names(tuple(told.get("columns") or ()), told.get("target") or TARGET)
        return self._names

    def _teach(self, what: str, kind: str, body: bytes, wait: bool, set_aside: bool) -> Learned:
        """Send what the model learns from."""
        request = Request("POST", self._path(what), LEARN, kind, body).asking(
            wait="learned" if wait else None, on_error="set-aside" if set_aside else None
        )
        numbered = self._sequence
        told = unnumbered(self._sender, request) if numbered is None else numbered.learn(request)
        repeated = bool(told.get("repeated"))
        return Learned(int(told.get("learned", 0)), int(told.get("set_aside", 0)), repeated)

    def _asked(self, what: str, rows: Rows, *, as_arrow: bool = False, **said: str) -> Any:
        """Ask something about rows."""
        request = Request("POST", self._path(what))._replace(**said)  # type: ignore[arg-type]
        kind, body = self._encoded(rows)
        request = request._replace(kind=kind, body=body)
        if not as_arrow:
            return self._sender.told(request)
        answer = self._sender.ask(request._replace(accept=ARROW))
        return import_module("okspca.client.arrow_rows").table(answer.body)
