"""A server as a process of its own, which can be stopped and started again on the same port.

To run the browser tests against another server, change `command`; it must show three models as
`tests.serve.stand_in` does: "plant" (a monitored regressor with three components and a column with
the name `HOSTILE`, off from time to time), "grades" (four classes) and "line" (one component).
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping

from tests.serve.browser import fetch, free_port, until


def command(port: int, tokens: Mapping[str, str]) -> list[str]:
    """How the server is started."""
    options = ["--port", str(port), "--tokens", json.dumps(tokens)]
    return [sys.executable, "-m", "tests.serve.stand_in", *options]


class Serving:
    """A server that runs until it is stopped."""

    def __init__(self, tokens: Mapping[str, str] | None = None) -> None:
        self.port, self.tokens = free_port(), tokens or {}
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it and wait until it answers."""
        self.process = subprocess.Popen(command(self.port, self.tokens), cwd=os.getcwd())
        until(self._is_up, "the server")

    def stop(self) -> None:
        """Stop it, however busy it is."""
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(10.0)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def delete(self, model: str) -> None:
        """Delete a model, where no token is asked for."""
        fetch(f"{self.url}/models/{model}", method="DELETE")

    def _is_up(self) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, "the server ended by itself"
        try:
            return fetch(f"{self.url}/healthz") is not None
        except OSError:
            return False
