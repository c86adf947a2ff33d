"""A Redis server of one's own: on a free port of this machine, in memory, gone at the end."""

import contextlib
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from importlib import import_module
from typing import Any

ATTEMPTS = 5
#: Seconds to wait for a server, far more than it takes.
PATIENCE = 60.0


def is_installed() -> bool:
    """Whether there is a server to start."""
    return shutil.which("redis-server") is not None


@contextlib.contextmanager
def running() -> Iterator[Any]:
    """Start a server, and give a client of it.

    Yields
    ------
    redis.Redis
        Its connection names the port: ``client.get_connection_kwargs()["port"]``.
    """
    if not is_installed():
        message = "redis-server is not installed; on Debian: apt-get install redis-server"
        raise ValueError(message)
    with tempfile.TemporaryDirectory() as folder:
        server, client = _started(folder)
        try:
            yield client
        finally:
            client.close()
            server.terminate()
            server.wait()


def _started(folder: str) -> tuple[subprocess.Popen[bytes], Any]:
    """Start a server; a port that somebody takes meanwhile is tried no more."""
    Redis = import_module("redis").Redis
    for _ in range(ATTEMPTS):
        port = _free_port()
        words = ["--port", str(port), "--bind", "127.0.0.1", "--dir", folder]
        keeps_nothing = ["--save", "", "--appendonly", "no"]
        server = subprocess.Popen(
            ["redis-server", *words, *keeps_nothing],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        client = Redis("127.0.0.1", port)
        # Another server on that port would answer as well.
        if _answers(server, client) and client.info("server")["process_id"] == server.pid:
            return server, client
        client.close()
        server.kill()
        server.wait()
    message = f"redis-server did not start in {ATTEMPTS} attempts"
    raise RuntimeError(message)


def _answers(server: subprocess.Popen[bytes], client: Any) -> bool:
    """Wait until a server answers, or has ended."""
    refused = import_module("redis").exceptions.ConnectionError
    end = time.monotonic() + PATIENCE
    while server.poll() is None and time.monotonic() < end:
        with contextlib.suppress(refused):
            return bool(client.ping())
        time.sleep(0.01)
    return False


def _free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
