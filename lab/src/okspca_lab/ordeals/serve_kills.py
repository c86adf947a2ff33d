"""Kill `okspca serve` under load: ``python -m okspca_lab.ordeals.serve_kills --kills 200``.

Producers send numbered requests to models of every kind, rows in JSON and Arrow, some of them bad,
and rows that are labelled later.  Each request is sent until it is acknowledged, however often the
connection is lost.  The service gets SIGKILL again and again: at a random moment of its start,
while it learns again what its journal has, under load, while the journal grows, while a checkpoint
is written; and is started again with other intervals of its checkpoints.  A killed process hardly
ever leaves half an entry, so after some kills a part of one is added, as a power cut would leave
it.  In the end `serve_judging.py` compares what is on the disk with one run that nobody
interrupted.

The kills are spread over runs, each of which begins anew.  Every run is written down when it has
ended, and a command that is given again goes on after it.
"""

import asyncio
import contextlib
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import IO, Annotated, Any

import typer

from okspca import outputs
from okspca.serve.hosted import JOURNAL_FOLDER
from okspca.serve.learner import MODEL_FILE
from okspca_lab.ordeals.serve_judging import faults, remains, segments, tear
from okspca_lab.ordeals.serve_producers import COLUMNS, HOST, MODELS, PRODUCERS, Account, Producer

ROWS, TALLY = "kills.jsonl", "kills.json"
PATIENCE, TICK = 120.0, 0.002
#: Seconds between checkpoints, and bytes of a segment, of which each start takes one.
CHECKPOINTS, SEGMENTS = (0.02, 0.2, 1e6), (4_000, 50_000, 500_000)
#: Longest time under load before a kill, and after a moment that was aimed at, in seconds.
LONGEST_LOAD, LONGEST_DELAY = 1.5, 0.004
#: How often a part of an entry is added.
TORN = 0.25
#: What a service does when it dies.
STARTING, REPLAYING, SERVING = "starting", "replaying", "serving"


class Server:
    """The process that is killed.

    Parameters
    ----------
    folder : path
        Where models, kept segments and the log are.
    random : Random
        Chooses its settings.

    Examples
    --------
    >>> Server(Path("run"), Random(0)).models.name
    'models'
    """

    def __init__(self, folder: Path, random: Random) -> None:
        self.models, self.kept, self.log = folder / "models", folder / "kept", folder / "log.txt"
        self.random, self.port = random, free_port()
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, without waiting until it listens."""
        told = {
            "folder": self.models,
            "port": self.port,
            "keep-segments": self.kept,
            "segment-bytes": self.random.choice(SEGMENTS),
            "checkpoint-seconds": self.random.choice(CHECKPOINTS),
            "max-set-aside": 1_000_000,
            "log-level": "warning",
        }
        words = [str(word) for name, value in told.items() for word in (f"--{name}", value)]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "okspca", "serve", *words], stdout=log, stderr=log
            )

    def phase(self) -> str:
        """What it does now."""
        try:
            status, _ = self.ask("GET", "/readyz")
        except OSError:
            return STARTING
        return SERVING if status == 200 else REPLAYING

    def wait_until_ready(self) -> None:
        """Wait until everything of its journal is learned."""
        deadline = time.monotonic() + PATIENCE
        while self.phase() != SERVING:
            self.check()
            assert time.monotonic() < deadline, "the service does not become ready"
            time.sleep(0.02)

    def check(self) -> None:
        """Raise where it has ended by itself."""
        assert self.process is not None
        code = self.process.poll()
        assert code is None, f"the service ended by itself, with code {code}"

    def ask(self, method: str, path: str, body: Any = None) -> tuple[int, bytes]:
        """One request, on a connection of its own."""
        connection = http.client.HTTPConnection(HOST, self.port, timeout=PATIENCE)
        sent = None if body is None else json.dumps(body).encode()
        typed = {} if body is None else {"Content-Type": "application/json"}
        with contextlib.closing(connection):
            try:
                connection.request(method, path, sent, typed)
                response = connection.getresponse()
                return response.status, response.read()
            except http.client.HTTPException as failure:
                raise ConnectionResetError(str(failure)) from failure

    def ends_by(self, what: signal.Signals) -> int:
        """Send a signal and wait for the end."""
        assert self.process is not None
        self.process.send_signal(what)
        return self.process.wait(PATIENCE)


def free_port() -> int:
    """A port on which nobody listens."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


class Killer:
    """The one who kills and starts again.

    Parameters
    ----------
    server : Server
        The service, which runs and is ready.
    random : Random
        Chooses the moments.

    Examples
    --------
    >>> sorted(Killer(Server(Path("run"), Random(0)), Random(0)).aims)
    ['checkpoint', 'clock', 'journal', 'replay', 'start']
    """

    def __init__(self, server: Server, random: Random) -> None:
        self.server, self.random = server, random
        self.deaths: list[dict[str, Any]] = []
        self.aims: dict[str, Callable[[], None]] = {
            "start": self._await_start,
            "replay": self._await_replay,
            "clock": self._await_load,
            "journal": self._await_entry,
            "checkpoint": self._await_checkpoint,
        }
        #: How long a service takes until it is ready.
        self.usual = 3.0

    def kill_once(self) -> None:
        """Wait for a moment, kill, note what was left, and start again."""
        aim = self.random.choice(sorted(self.aims))
        self.aims[aim]()
        phase = self.server.phase() if aim in ("start", "replay") else SERVING
        self.server.check()
        self.server.ends_by(signal.SIGKILL)
        left = [remains(self.server.models / name) for name in MODELS]
        death = {
            "aim": aim,
            "phase": phase,
            "parts": sum(each.part for each in left),
            "old_segments": sum(each.old_segments for each in left),
            "torn_bytes": sum(each.torn_bytes for each in left),
            "entries": sum(each.entries for each in left),
        }
        if self.random.random() < TORN:
            name = self.random.choice(sorted(MODELS))
            death["added_bytes"] = tear(self.server.models / name, self.random)
        self.deaths.append(death)
        self.server.start()

    def _await_start(self) -> None:
        """Any time from the start of the process on."""
        time.sleep(self.random.uniform(0.0, 1.2 * self.usual))

    def _await_replay(self) -> None:
        """While it listens, and learns what its journal has."""
        while self.server.phase() == STARTING:
            self.server.check()
            time.sleep(TICK)
        time.sleep(self.random.uniform(0.0, 0.1))

    def _await_load(self) -> None:
        """Some time under load."""
        began = time.monotonic()
        self.server.wait_until_ready()
        self.usual = 0.5 * (self.usual + time.monotonic() - began)
        time.sleep(self.random.uniform(0.0, LONGEST_LOAD))

    def _await_entry(self) -> None:
        """Just when the journal grows."""
        self._await_load()
        folder = self.server.models / self.random.choice(sorted(MODELS)) / JOURNAL_FOLDER
        before = _length(folder)
        self._await(lambda: _length(folder) != before)

    def _await_checkpoint(self) -> None:
        """While a checkpoint is written, or just after."""
        self._await_load()
        model = self.random.choice(sorted(MODELS))
        folder = self.server.models / model
        # Nobody waits for the answer.
        asked = f"POST /models/{model}/checkpoint HTTP/1.1\r\nhost: {HOST}\r\ncontent-length: 0"
        with socket.create_connection((HOST, self.server.port)) as connection:
            connection.sendall(f"{asked}\r\n\r\n".encode())
            before = (folder / MODEL_FILE).stat().st_ino
            self._await(lambda: _is_written(folder, before))

    def _await(self, is_time: Callable[[], bool]) -> None:
        """Look without a pause, but not for ever; then a moment more."""
        deadline = time.monotonic() + 2.0
        while not is_time() and time.monotonic() < deadline:
            continue
        time.sleep(self.random.uniform(0.0, LONGEST_DELAY) if self.random.random() < 0.5 else 0.0)


def _length(folder: Path) -> tuple[str, int]:
    """Name and length of the last segment."""
    paths = segments(folder)
    with contextlib.suppress(OSError, IndexError):
        return paths[-1].name, paths[-1].stat().st_size
    return "", 0


def _is_written(folder: Path, before: int) -> bool:
    """Whether a checkpoint is being written, or was."""
    names = os.listdir(folder)
    is_new = (folder / MODEL_FILE).stat().st_ino != before
    return is_new or any(name.endswith(".part") and MODEL_FILE in name for name in names)


async def suffer(killer: Killer, kills: int, seed: int, account: Account) -> None:
    """Let producers send while the service is killed, and until all they sent is acknowledged."""
    ending = asyncio.Event()
    sources = [
        Producer(account, killer.server.port, model, ways, place, seed=seed)
        for place, (model, ways) in enumerate(PRODUCERS)
    ]
    tasks = [asyncio.create_task(source.run(ending)) for source in sources]
    try:
        for _ in range(kills):
            await asyncio.to_thread(killer.kill_once)
            if account.failures:
                break
        await asyncio.to_thread(killer.server.wait_until_ready)
        ending.set()
        async with asyncio.timeout(PATIENCE):
            await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()


def begin(server: Server, folder: Path) -> None:
    """Start the service, make its models, and keep them as they begin."""
    server.start()
    server.wait_until_ready()
    for name, asked in MODELS.items():
        status, told = server.ask("PUT", f"/models/{name}", {**asked, "columns": list(COLUMNS)})
        assert status == 201, told
        shutil.copy(server.models / name / MODEL_FILE, folder / f"{name}.okspca")


def finish(server: Server) -> None:
    """Let the service learn everything, and end as it should."""
    server.wait_until_ready()
    code = server.ends_by(signal.SIGTERM)
    assert code in (0, -signal.SIGTERM), f"the service ended with code {code}"


def run(kills: int, seed: int, folder: Path) -> dict[str, Any]:
    """One run from the first row to the judgement."""
    account, server = Account(), Server(folder, Random(seed))
    start = time.perf_counter()
    killer = Killer(server, Random(seed))
    try:
        begin(server, folder)
        asyncio.run(suffer(killer, kills, seed, account))
        finish(server)
        for name in MODELS:
            initial, fresh = folder / f"{name}.okspca", folder / "fresh" / name
            kept = server.kept / name
            account.failures += faults(server.models / name, kept, initial, fresh, account)
    except (AssertionError, OSError, ValueError, subprocess.TimeoutExpired) as failure:
        account.failures.append(f"{type(failure).__name__}: {failure}")
    finally:
        if server.process is not None and server.process.poll() is None:
            server.ends_by(signal.SIGKILL)
    if b"Traceback" in server.log.read_bytes():
        account.failures.append("the log holds a traceback")
    return {
        "seed": seed,
        "kills": len(killer.deaths),
        "rows": sum(map(len, account.rows.values())),
        "set_aside": sum(map(len, account.aside.values())),
        **account.counts,
        "deaths": killer.deaths,
        "failures": account.failures,
        "seconds": round(time.perf_counter() - start, 1),
    }


def known(path: Path) -> list[dict[str, Any]]:
    """Runs that were written down before."""
    lines = path.read_text().splitlines() if path.exists() else []
    return [json.loads(line) for line in lines]


def append(file: IO[str], found: dict[str, Any]) -> None:
    """Write a run down."""
    file.write(json.dumps(found) + "\n")
    file.flush()


def summary(command: str, runs: list[dict[str, Any]]) -> dict[str, Any]:
    """The tally of all runs.

    Examples
    --------
    >>> summary("serve_kills", [])["kills"]
    0
    """
    deaths = [death for each in runs for death in each["deaths"]]
    clean = sum(not each["failures"] for each in runs)
    counts: Counter[str] = Counter()
    for each in runs:
        counts.update({name: each[name] for name in each if isinstance(each[name], int)})
    return {
        "command": f"python -m okspca_lab.ordeals.{command}",
        "kills": len(deaths),
        "runs": len(runs),
        "runs equal to an uninterrupted one, bit for bit": clean,
        "aimed at": dict(sorted(Counter(death["aim"] for death in deaths).items())),
        "died while": dict(sorted(Counter(death["phase"] for death in deaths).items())),
        "left a checkpoint in the making": sum(bool(death["parts"]) for death in deaths),
        "left segments that a checkpoint had": sum(bool(death["old_segments"]) for death in deaths),
        "left a torn entry": sum(bool(death["torn_bytes"]) for death in deaths),
        "torn entries added": sum("added_bytes" in death for death in deaths),
        "left entries to replay": sum(bool(death["entries"]) for death in deaths),
        "entries replayed": sum(death["entries"] for death in deaths),
        "requests acknowledged": counts["acknowledged"],
        "acknowledged when they were sent again": counts["repeated"],
        "stored rows that were sent again": counts["stored before"],
        "connections lost before an answer": counts["lost"],
        "connections refused": counts["refused"],
        "rows learned": counts["rows"],
        "rows set aside": counts["set_aside"],
        "failures": [line for each in runs for line in each["failures"]],
        "seconds": round(sum(each["seconds"] for each in runs)),
    }


def main(
    kills: Annotated[int, typer.Option(min=1, help="How many times to kill.")] = 20,
    per_run: Annotated[int, typer.Option(min=1, help="Kills of one run.")] = 20,
    seed: Annotated[int, typer.Option(help="Seed of the moments.")] = 0,
    out: Annotated[Path | None, typer.Option(help="Folder for runs and tally.")] = None,
) -> None:
    """Kill a service under load and see that nothing is lost and nothing counted twice."""
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
    runs = [] if out is None else known(out / ROWS)
    while (done := sum(each["kills"] for each in runs)) < kills:
        folder = Path(tempfile.mkdtemp())
        found = run(min(per_run, kills - done), seed + len(runs), folder)
        runs.append(found)
        told = f"{found['kills']} kills, {found['rows']:,} rows, {found['seconds']:.0f} s"
        print(told, flush=True)
        if out is not None:
            with (out / ROWS).open("a") as file:
                append(file, found)
        if found["failures"]:
            print("\n".join(found["failures"]), f"See {folder}.", sep="\n", file=sys.stderr)
            break
        shutil.rmtree(folder)
    tally = summary(f"serve_kills --kills {kills} --per-run {per_run} --seed {seed}", runs)
    print(json.dumps(tally, indent=2))
    if out is not None:
        outputs.write(out / TALLY, json.dumps(tally, indent=2) + "\n")
    raise typer.Exit(1 if tally["failures"] else 0)


if __name__ == "__main__":
    typer.run(main)
