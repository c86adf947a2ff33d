"""`okspca serve` as a process of its own, on a free port of this machine."""

import contextlib
import http.client
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

#: Seconds to wait for a server; kernels may have to be compiled first.
PATIENCE = 300.0
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


class ServeProcess:
    """A server that runs.

    Parameters
    ----------
    folder : path
        Where its models are.
    options : sequence of str
        Further options of the command.
    """

    def __init__(self, folder: Path, options: Sequence[str] = ()) -> None:
        self.port = free_port()
        words = ["serve", "--folder", str(folder), "--port", str(self.port), *options]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "okspca", *words, "--log-level", "warning"],
            stdout=subprocess.DEVNULL,
        )

    def wait(self) -> None:
        """Wait until it is ready."""
        deadline = time.monotonic() + PATIENCE
        while True:
            with contextlib.suppress(OSError):
                if self.ask("GET", "/readyz")[0] == 200:
                    return
            if self.process.poll() is not None:
                message = f"The server ended with code {self.process.returncode}."
                raise RuntimeError(message)
            if time.monotonic() > deadline:
                message = "The server was not ready in time."
                raise TimeoutError(message)
            time.sleep(0.05)

    def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """One request; status and JSON of the answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        with contextlib.closing(connection):
            data = None if body is None else json.dumps(body).encode()
            typed = {} if data is None else {"Content-Type": "application/json"}
            connection.request(method, path, data, typed)
            response = connection.getresponse()
            return response.status, json.loads(response.read())

    @property
    def memory(self) -> int:
        """Bytes that it has in memory."""
        pages = Path(f"/proc/{self.process.pid}/statm").read_text(encoding="ascii").split()[1]
        return int(pages) * PAGE_BYTES

    def end(self) -> int:
        """Ask it to end, and wait; return its code."""
        self.process.terminate()
        return self.process.wait(PATIENCE)


@contextlib.contextmanager
def serving(folder: Path, options: Sequence[str] = ()) -> Iterator[ServeProcess]:
    """Run a server while the block is worked through."""
    server = ServeProcess(folder, options)
    try:
        server.wait()
        yield server
    finally:
        server.end()


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
