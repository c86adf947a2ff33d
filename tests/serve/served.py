"""`okspca serve` as a process of its own, which can be killed and started again."""

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.serve.live import PATIENCE, PLANT, Answer, Live, free_port

#: By which the superuser writes and reads whatever the permissions are.
PRIVILEGES, DROP = (1, 2), 24


class Process(Live):
    """The command, its log beside the folder."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        super().__init__(free_port(), None, set())  # type: ignore[arg-type]
        self.folder, self.settings = folder, settings
        self.log = folder.with_name(f"{folder.name}-{self.port}.log")
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        told = {"folder": self.folder, "port": self.port, "log_level": "warning", **self.settings}
        words = [
            str(word)
            for name, value in told.items()
            for word in (f"--{name.replace('_', '-')}", value)
        ]
        with self.log.open("wb") as log:
            command = [sys.executable, "-m", "okspca", "serve", *words]
            # One that obeys permissions like everybody else.
            self.process = subprocess.Popen(command, stdout=log, stderr=log, preexec_fn=_obey)

    def up(self) -> None:
        """Start it and wait until it is ready."""
        self.start()
        self.until(lambda: self.reasons() == {})

    def until(self, holds: Any) -> None:
        """Wait until something holds."""
        deadline = time.monotonic() + PATIENCE
        while not holds():
            assert self.process is not None
            assert self.process.poll() is None, self.log.read_text()
            assert time.monotonic() < deadline, "it does not come to that"
            time.sleep(0.05)

    def reasons(self) -> dict[str, str] | None:
        """Why it is not ready; None where it does not listen."""
        try:
            found = self.ask("GET", "/readyz").json
        except OSError:
            return None
        return dict(found.get("reasons", {}))

    def ends_by(self, what: signal.Signals) -> int:
        assert self.process is not None
        self.process.send_signal(what)
        return self.process.wait(PATIENCE)

    def refuses_to_start(self) -> str:
        """What it says instead; it must be one sentence."""
        self.start()
        assert self.process is not None
        assert self.process.wait(PATIENCE) == 1
        lines = [line for line in self.log.read_text().splitlines() if " WARNING " not in line]
        said = [line for line in lines if "uvicorn" not in line]
        assert len(said) == 1, self.log.read_text()
        return said[0]

    def create(self, name: str = "plant") -> None:
        assert self.ask("PUT", f"/models/{name}", PLANT).status == 201

    def learn(self, number: int, n: int = 1, source: str = "a") -> Answer:
        """Send the request of a number: rows that all differ."""
        rows = [{"x": [number + 0.001 * i, 1.0 / number], "y": 0.5 * number} for i in range(n)]
        path = f"/models/plant/learn?source={source}&sequence={number}"
        return self.ask("POST", path, {"rows": rows})

    def next_number(self) -> int:
        return int(self.ask("GET", "/models/plant/sources/a").json["next"])

    def rows(self) -> int:
        return int(self.ask("GET", "/models/plant").json["rows"])


@contextlib.contextmanager
def process(folder: Path, **settings: Any) -> Iterator[Process]:
    """A service that is killed in the end, if it still runs."""
    found = Process(folder, **settings)
    try:
        yield found
    finally:
        if found.process is not None and found.process.poll() is None:
            found.ends_by(signal.SIGKILL)


def _obey() -> None:
    """Give up the privileges of the superuser about files."""
    if os.geteuid() == 0:
        for privilege in PRIVILEGES:
            ctypes.CDLL(None).prctl(DROP, privilege, 0, 0, 0)
