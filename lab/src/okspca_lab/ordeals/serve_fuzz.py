"""Feed `okspca serve` with bad requests: ``python -m okspca_lab.ordeals.serve_fuzz``.

A service of its own is started, with tokens and small limits, and sent requests that are made from
a seed and their numbers: ``--only NUMBER`` sends the same one again.  What must hold:

- the process lives, and writes no traceback;
- every whole request is answered, none of them with a status of 500 or above (`/readyz` may say
  503), and every refusal is JSON with one sentence ``error`` that names no file;
- whoever has no token is answered 401 (or 400, 403, 421: not even asked who they are) by all but
  health and the login page;
- after every thousand requests rows are learned and asked about, and each model has learned as many
  rows as were acknowledged;
- from the first tenth of the requests to the last, memory grows by no more than ``MOST_GROWTH``,
  and neither files nor threads grow in number.
"""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer

from okspca import outputs
from okspca_lab.ordeals.any_http import PATIENCE, Client, Reply
from okspca_lab.ordeals.serve_requests import JSON, OPEN, TOKENS, Head, Shot, Shots

MOST_GROWTH = 48 << 20
WORKERS, PROBE_EVERY = 8, 1000
#: What somebody without a token may be told of what is not open.
UNKNOWN = (400, 401, 403, 421)
SMALL = {"n_random_features": 8, "frequencies": "drawn"}
MODELS: dict[str, dict[str, Any]] = {
    "plant": {"kind": "regressor", "settings": SMALL, "columns": ["flow", "level"]},
    "labels": {"kind": "classifier", "settings": {**SMALL, "stability": 4}},
    "open": {
        "kind": "reducer",
        "settings": {"n_random_features": 8, "task": "regression", "missing": "impute"},
        "monitor": True,
    },
}
PROBES: dict[str, Any] = {
    "plant": {"x": [0.5, 1.5], "y": 1.0},
    "labels": {"x": [0.5, 1.5], "y": "up"},
    "open": {"x": [0.5, 1.5], "y": 1.0},
}
SETTINGS = f"""
max_body_bytes = 300000
max_waiting_bytes = 4000000
max_journal_bytes = 20000000
segment_bytes = 1000000
max_rows_per_request = 1000
max_columns = 500
max_models = 12
max_sources = 100
max_pending = 200
max_set_aside = 100
max_classes = 20
checkpoint_seconds = 5.0
allowed_hosts = ["localhost"]

[tokens]
ask = ["{TOKENS["ask"]}"]
learn = ["{TOKENS["learn"]}"]
admin = ["{TOKENS["admin"]}"]
"""


@dataclass(frozen=True)
class Size:
    """How large a process is."""

    resident: int
    files: int
    threads: int


@dataclass
class Tally:
    """What became of the requests.

    Examples
    --------
    >>> Tally(failures=["request 7 (login): status 500"]).is_clean
    False
    """

    requests: int = 0
    probes: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    statuses: Counter[int] = field(default_factory=Counter)
    learned: Counter[str] = field(default_factory=Counter)
    set_aside: Counter[str] = field(default_factory=Counter)
    models_made: int = 0
    sizes: list[Size] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    @property
    def is_clean(self) -> bool:
        """Whether all held."""
        return not self.failures


class Serving:
    """A service as a process of its own.

    Parameters
    ----------
    folder : path
        Where it keeps everything.
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self.log = folder, folder / "log.txt"
        self.port = _free_port()
        config = folder / "serve.toml"
        config.write_text(f'folder = "models"\nport = {self.port}\n{SETTINGS}')
        command = [sys.executable, "-m", "okspca", "serve", "--config", str(config)]
        with self.log.open("wb") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log)

    @property
    def is_alive(self) -> bool:
        """Whether the process lives."""
        return self._process.poll() is None

    @property
    def size(self) -> Size:
        """How large it is now."""
        place = Path(f"/proc/{self._process.pid}")
        status = (place / "status").read_text()
        resident = int(status.partition("VmRSS:")[2].split()[0]) << 10
        return Size(resident, *(len(os.listdir(place / name)) for name in ("fd", "task")))

    @property
    def said(self) -> str:
        """What it wrote."""
        return self.log.read_text(errors="replace")

    def end(self) -> int:
        """Ask it to end, and wait."""
        self._process.terminate()
        try:
            return self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()


def _free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def served(folder: Path) -> Iterator[Serving]:
    """Let a service run meanwhile."""
    serving = Serving(folder)
    try:
        yield serving
    finally:
        serving.end()


class Ordeal:
    """The requests, and what is made of the answers.

    Parameters
    ----------
    serving : Serving
        Who is asked.
    seed : int
        What requests are made from.
    """

    def __init__(self, serving: Serving, seed: int) -> None:
        self.serving, self.shots, self.tally = serving, Shots(seed), Tally()
        self._clients = [Client(serving.port) for _ in range(WORKERS)]

    async def begin(self) -> None:
        """Wait until it answers, and make the models."""
        deadline = time.monotonic() + PATIENCE
        while not await self._is_up():
            if time.monotonic() > deadline or not self.serving.is_alive:
                raise RuntimeError(self.serving.said[-2000:])
            await asyncio.sleep(0.1)
        for name, asked in MODELS.items():
            await self._told("PUT", f"/models/{name}", asked)
        await self._probe(0)

    async def send(self, numbers: Sequence[int]) -> None:
        """Send requests, several at once, and look at everything when they are answered."""
        waiting = iter(numbers)

        async def work(client: Client) -> None:
            for number in waiting:
                await self._try(client, number)

        await asyncio.gather(*map(work, self._clients))
        await self._probe(numbers[-1])

    async def end(self) -> None:
        """Hang up."""
        for client in self._clients:
            client.close()
        await asyncio.sleep(0.1)

    async def _try(self, client: Client, number: int) -> None:
        """Send one request."""
        shot = self.shots.shot(number)
        self.tally.requests += 1
        self.tally.kinds[shot.kind] += 1
        try:
            if shot.is_due:
                await self._heard(client, number, shot)
            else:
                self._glanced(number, shot, await client.glance(shot.data))
        except Exception as failure:
            self._failed(number, shot, f"no answer ({type(failure).__name__}: {failure})")

    async def _heard(self, client: Client, number: int, shot: Shot) -> None:
        """Send a whole request and judge its answer."""
        reply = await client.ask(shot.data, is_head=shot.is_head)
        self.tally.statuses[reply.status] += 1
        for wrong in faults(shot, reply, str(self.serving.folder)):
            self._failed(number, shot, wrong)
        if shot.counts and reply.status == 200:
            found = reply.json()
            self.tally.learned[shot.counts] += found["learned"]
            self.tally.set_aside[shot.counts] += found["set_aside"]
        if shot.made and reply.status == 201:
            await self._tried_model(client, number, shot)

    async def _tried_model(self, client: Client, number: int, shot: Shot) -> None:
        """Use a model that was made, and remove it."""
        self.tally.models_made += 1
        if shot.kind.startswith("state") and shot.kind != "state: whole":
            self._failed(number, shot, "a spoiled file was taken for a model")
        path, row = f"/models/{shot.made}", json.dumps({"x": [0.5, 1.5], "y": 1.0}).encode()
        uses = (
            Head("POST", f"{path}/learn", "admin", "wait=learned").sent(row, JSON),
            Head("GET", path, "admin").sent(),
            Head("POST", f"{path}/transform", "admin").sent(b'{"x": [0.5, 1.5]}', JSON),
            Head("DELETE", path, "admin").sent(),
        )
        for use in uses:
            reply = await client.ask(use)
            for wrong in faults(shot._replace(role="admin"), reply, str(self.serving.folder)):
                self._failed(number, shot, f"used: {wrong}")

    def _glanced(self, number: int, shot: Shot, data: bytes) -> None:
        """Judge what came back to something that is no request."""
        if data and not data.startswith(b"HTTP/1."):
            self._failed(number, shot, f"an answer of another kind: {data[:60]!r}")
        status = data[9:12].decode(errors="replace") if data else "0"
        self.tally.statuses[int(status) if status.isdigit() else -1] += 1
        if status.startswith("5"):
            self._failed(number, shot, f"status {status}")

    async def _probe(self, number: int) -> None:
        """See that the service works, and has learned what it acknowledged."""
        self.tally.probes += 1
        for name, row in PROBES.items():
            answer = await self._told("POST", f"/models/{name}/learn?wait=learned", row)
            self.tally.learned[name] += answer.get("learned", 0)
            asked = {"x": row["x"]}
            if "embedding" not in await self._told("POST", f"/models/{name}/transform", asked):
                self.tally.failures.append(f"probe after {number}: {name} does not transform")
            await self._count(number, name)
        self.tally.sizes.append(self.serving.size)

    async def _count(self, number: int, name: str) -> None:
        """See that a model has learned as many rows as were acknowledged."""
        status = await self._told("GET", f"/models/{name}")
        failed = status["rows_set_aside"] - self.tally.set_aside[name]
        found = status["rows"] + status["rows_waiting"] + failed
        if found != self.tally.learned[name] or status["trouble"]:
            told = f"{found} rows of {self.tally.learned[name]}, trouble: {status['trouble']!r}"
            self.tally.failures.append(f"probe after {number}: {name} has {told}")

    async def _told(self, method: str, path: str, body: Any = None) -> dict[str, Any]:
        """Ask for something that must work."""
        place, _, query = path.partition("?")
        data = b"" if body is None else json.dumps(body).encode()
        reply = await self._clients[0].ask(Head(method, place, "admin", query).sent(data, JSON))
        if reply.status not in (200, 201):
            told = f"{method} {path}: {reply.status} {reply.body[:200]!r}"
            self.tally.failures.append(f"probe: {told}")
            return dict.fromkeys(("rows", "rows_waiting", "rows_set_aside"), 0) | {"trouble": "?"}
        found: dict[str, Any] = reply.json()
        return found

    async def _is_up(self) -> bool:
        """Whether it answers."""
        try:
            return (await self._clients[0].ask(Head("GET", "/healthz").sent())).status == 200
        except OSError:
            return False

    def _failed(self, number: int, shot: Shot, wrong: str) -> None:
        """Note a failure."""
        self.tally.failures.append(f"request {number} ({shot.kind}): {wrong}")


def faults(shot: Shot, reply: Reply, folder: str) -> Iterator[str]:
    """What is wrong with an answer.

    Examples
    --------
    >>> list(faults(Shot("asked", b"", "ask"), Reply(500, "text/plain", b"oh"), "/srv"))
    ['status 500', "a refusal that is no JSON: b'oh'"]
    """
    if reply.status >= 500 and (shot.path, reply.status) != ("/readyz", 503):
        yield f"status {reply.status}"
    is_open = any(shot.path == p or (p[-1] == "/" and shot.path.startswith(p)) for p in OPEN)
    is_sent_on = (shot.path, reply.status) == ("/", 303)
    if not shot.role and not is_open and reply.status not in UNKNOWN and not is_sent_on:
        yield f"status {reply.status} without a token"
    if reply.status < 400 or shot.is_head:
        return
    try:
        sentence = reply.json()["error"] if shot.path != "/readyz" or reply.status != 503 else "."
    except (ValueError, KeyError, TypeError):
        yield f"a refusal that is no JSON: {reply.body[:100]!r}"
        return
    if not isinstance(sentence, str) or not 0 < len(sentence) < 1000 or "\n" in sentence:
        yield f"an error that is no sentence: {sentence!r:.300}"
    elif folder in sentence or "Traceback" in sentence or len(reply.body) > 4000:
        yield f"an error that tells too much: {reply.body[:300]!r}"


def run(numbers: Sequence[int], folder: Path, seed: int = 0) -> Tally:
    """Send requests by their numbers to a service of its own."""
    with served(folder) as serving:
        ordeal = Ordeal(serving, seed)
        asyncio.run(_sent(ordeal, numbers))
        tally = ordeal.tally
        if not serving.is_alive:
            tally.failures.append("the process ended")
        elif serving.end() not in (0, -signal.SIGTERM):
            tally.failures.append("the process did not end well")
        if "Traceback" in serving.said:
            tally.failures.append(f"a traceback: {serving.said.partition('Traceback')[2][:3000]}")
    tally.failures += grown(tally.sizes)
    return tally


async def _sent(ordeal: Ordeal, numbers: Sequence[int]) -> None:
    """Send them in portions."""
    await ordeal.begin()
    for at in range(0, len(numbers), PROBE_EVERY):
        if ordeal.serving.is_alive:
            await ordeal.send(numbers[at : at + PROBE_EVERY])
    await ordeal.end()


def grown(sizes: Sequence[Size]) -> list[str]:
    """What became larger from the first tenth to the end.

    Examples
    --------
    >>> grown([Size(1 << 20, 9, 9)] * 19 + [Size(1 << 20, 30, 9)])
    ['files grew from 9 to 30']
    """
    if len(sizes) < 10:
        return []
    first, last = sizes[len(sizes) // 10], sizes[-1]
    found = []
    for name, allowed in (("resident", MOST_GROWTH), ("files", 2), ("threads", 2)):
        before, after = getattr(first, name), getattr(last, name)
        if after > before + allowed:
            found.append(f"{name} grew from {before} to {after}")
    return found


def summary_of(tally: Tally, command: str) -> dict[str, Any]:
    """The tally as JSON."""
    tenth, last = tally.sizes[len(tally.sizes) // 10], tally.sizes[-1]
    return {
        "command": command,
        "requests": tally.requests,
        "kinds": dict(sorted(tally.kinds.items())),
        "statuses": {str(status): n for status, n in sorted(tally.statuses.items())},
        "status_0": "not a whole request, and no answer within 20 ms",
        "probes": tally.probes,
        "rows_acknowledged": dict(tally.learned),
        "rows_set_aside": dict(tally.set_aside),
        "models_made_and_removed": tally.models_made,
        "after_a_tenth": asdict(tenth),
        "at_the_end": asdict(last),
        "largest_resident": max(size.resident for size in tally.sizes),
        "allowed_growth": MOST_GROWTH,
        "failures": tally.failures,
    }


def main(
    requests: Annotated[int, typer.Option(min=1, help="How many requests to send.")] = 2_000,
    seed: Annotated[int, typer.Option(help="What they are made from.")] = 0,
    only: Annotated[int | None, typer.Option(help="Send only the one of this number.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write the tally to this JSON file.")] = None,
) -> None:
    """Send bad requests to a service and see that it stays as it was."""
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        numbers = range(requests) if only is None else range(only, only + 1)
        tally = run(numbers, Path(folder), seed)
    for line in tally.failures[:40]:
        print(line, file=sys.stderr)
    seconds = time.perf_counter() - start
    print(f"{tally.requests} requests in {seconds:.0f} s, {len(tally.failures)} failures.")
    print(f"At the beginning {tally.sizes[0]}, at the end {tally.sizes[-1]}.")
    if out is not None:
        command = f"python -m okspca_lab.ordeals.serve_fuzz --requests {requests} --seed {seed}"
        out.parent.mkdir(parents=True, exist_ok=True)
        outputs.write(out, json.dumps(summary_of(tally, command), indent=2) + "\n")
    raise typer.Exit(0 if tally.is_clean else 1)


if __name__ == "__main__":
    typer.run(main)
