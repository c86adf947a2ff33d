"""A real server in this process, on a free port, and plain requests to it."""

import contextlib
import http.client
import json
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from okspca.serve.running import server_of
from okspca.serve.service import Service
from okspca.serve.settings import Settings

PATIENCE = 60.0
PLANT = {
    "kind": "regressor",
    "settings": {"n_random_features": 32, "frequencies": "drawn"},
    "columns": ["flow", "level"],
}


class Answer(NamedTuple):
    """What a server answered."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Live:
    """A server that runs."""

    def __init__(self, port: int, service: Service, connections: set[Any]) -> None:
        self.port, self.service, self.connections = port, service, connections
        self.token = ""

    def ask(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> Answer:
        """One request on a connection of its own; a body that is no text or bytes goes as JSON."""
        sent = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
            sent["Content-Type"] = "application/json"
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        with contextlib.closing(connection):
            connection.request(method, path, body, {**sent, **(headers or {})})
            response = connection.getresponse()
            told = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, told, response.read())

    def learned(self, rows: Any, model: str = "plant") -> Answer:
        """Learn rows and wait until they are in the model."""
        return self.ask("POST", f"/models/{model}/learn?wait=learned", rows)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def running(folder: Path, **settings: Any) -> Iterator[Live]:
    """Run a server while the block is worked through."""
    port = free_port()
    begun: list[Service] = []
    told = Settings(folder=folder, port=port, **settings)
    server = server_of(told, begun.append)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    deadline = time.monotonic() + PATIENCE
    while not server.started:
        assert thread.is_alive(), "the server ended at once"
        assert time.monotonic() < deadline, "the server did not begin"
        time.sleep(0.01)
    try:
        yield Live(port, begun[0], server.server_state.connections)
    finally:
        server.should_exit = True
        thread.join(PATIENCE)
        assert not thread.is_alive()


def plant_rows(n: int, seed: int = 0) -> dict[str, Any]:
    """Rows of the model "plant"."""
    X = np.random.default_rng(seed).normal(size=(n, 2))
    return {"rows": [{"x": x, "y": y} for x, y in zip(X.tolist(), X[:, 0].tolist(), strict=True)]}
