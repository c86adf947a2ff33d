"""The client: an address, a token, and who we are."""

import json
import os
import re
import ssl
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any, Self
from urllib.parse import quote

from okspca.client.connections import Connections, LostError, NotSentError
from okspca.client.remote_model import RemoteModel
from okspca.client.requests import ADMIN, JSON, OCTETS, Request
from okspca.client.sending import Sender
from okspca.client.sequence import Sequence as Numbered

NAME = re.compile("[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
LONGEST_SOURCE = 128


class Client:
    """A connection to `okspca serve`.

    One client may be used by several threads, each of which gets a connection of its own.  What
    teaches under one source goes one request after the other, since its numbers do: give every
    producer a client with a source of its own.

    Parameters
    ----------
    url : str
        Address of the service.
    token : str, optional
        Who we are to it; it is never shown.
    timeout : float
        Seconds to wait for a connection, and for each piece of an answer.
    retries : int
        How often a request is repeated that can be, after pauses that grow to ten seconds: by
        default for about half a minute.
    source : str, optional
        Name of a producer.  What teaches a model is then numbered, and nothing is learned twice or
        left out, whatever is lost on the way.  Without it, a request that may have arrived is not
        repeated.
    context : ssl.SSLContext, optional
        Whose certificates are trusted; by default, those that the system trusts.
    random_state : int, optional
        Seed of the chance in pauses.

    Examples
    --------
    >>> Client("http://127.0.0.1:8787", "a-token-that-is-secret", source="line-3")
    Client('http://127.0.0.1:8787', source='line-3')
    """

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        timeout: float = 30.0,
        retries: int = 8,
        source: str | None = None,
        context: ssl.SSLContext | None = None,
        random_state: int | None = None,
    ) -> None:
        if not timeout > 0.0:
            message = f"timeout={timeout}; it must be a number of seconds above zero."
            raise ValueError(message)
        if retries < 0:
            message = f"retries={retries}; it must be zero or more."
            raise ValueError(message)
        if source is not None and not (source.isprintable() and 0 < len(source) <= LONGEST_SOURCE):
            message = f"source={source!r}; it must have 1 to {LONGEST_SOURCE} signs that print."
            raise ValueError(message)
        self.source = source
        self._connections = Connections(url, token, timeout, context)
        self._sender = Sender(self._connections, retries, Random(random_state))
        self._models: dict[str, RemoteModel] = {}
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        """Address and source, without the token."""
        return f"Client({self._connections.url!r}, source={self.source!r})"

    def __enter__(self) -> Self:
        """Close the connections at the end of a block."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the connections."""
        self.close()

    def close(self) -> None:
        """Close the connections of all threads."""
        self._connections.close()

    def model(self, name: str) -> RemoteModel:
        """A model of the service, which is asked only when something is asked of the model."""
        _check_name(name)
        with self._lock:
            if name not in self._models:
                self._models[name] = RemoteModel(self._sender, name, self._sequence(name))
            return self._models[name]

    def models(self) -> list[dict[str, Any]]:
        """The status of every model."""
        found: list[dict[str, Any]] = self._sender.told(Request("GET", "/models"))["models"]
        return found

    def create(
        self,
        name: str,
        kind: str,
        *,
        settings: Mapping[str, Any] | None = None,
        columns: Sequence[str] | None = None,
        target: str | None = None,
        monitor: bool | None = None,
    ) -> RemoteModel:
        """Let the service begin a model.

        Parameters
        ----------
        name : str
            What it is called.
        kind : {"classifier", "regressor", "reducer"}
            What it is.
        settings : mapping, optional
            Parameters of the estimator.
        columns, target : sequence of str, str, optional
            Names of inputs and target.
        monitor : bool, optional
            Whether rows are watched as they are learned.
        """
        said: dict[str, Any] = {"kind": kind, "settings": dict(settings or {}), "columns": columns}
        said |= {"target": target, "monitor": monitor}
        told = {key: value for key, value in said.items() if value is not None}
        return self._put(name, JSON, json.dumps(told, default=list).encode())

    def upload(self, name: str, model_or_path: Any) -> RemoteModel:
        """Let the service go on with a model, or with the file of one."""
        if isinstance(model_or_path, str | os.PathLike):
            data = Path(model_or_path).read_bytes()
        else:
            data = model_or_path.to_bytes()
        return self._put(name, OCTETS, data)

    def ready(self) -> bool:
        """Whether the service is there and takes requests; asked once."""
        try:
            answer = self._connections.exchange(Request("GET", "/readyz"))
        except (NotSentError, LostError):
            return False
        return answer.is_good

    def _put(self, name: str, kind: str, body: bytes) -> RemoteModel:
        """Make a model."""
        _check_name(name)
        self._sender.once(Request("PUT", f"/models/{name}", ADMIN, kind, body))
        with self._lock:
            self._models.pop(name, None)  # its numbers begin again
        return self.model(name)

    def _sequence(self, name: str) -> Numbered | None:
        """Numbers of our source at a model."""
        if self.source is None:
            return None
        path = f"/models/{name}/sources/{quote(self.source, safe='')}"
        return Numbered(self._sender, path, self.source)


def _check_name(name: str) -> None:
    """Refuse a name that no model has."""
    if not NAME.fullmatch(name):
        message = (
            f"name={name!r}; models are called by 1 to 64 letters, digits, '-' and '_', "
            "the first of which is a letter or a digit."
        )
        raise ValueError(message)
