"""Load a service: ``python -m okspca_lab.ordeals.serve_load --seconds 600``.

The server is a process of its own, and so is the load, both on this machine and over the loopback.
``arrow``: connections that send blocks of 1,024 rows of 30 numbers, as fast as they are
acknowledged, to a model with 256 features.  ``json``: 64 connections that are kept alive, one
source each, a row in every request, each with its number.  In both, eight readers ask for 50
embeddings of one row a second each.

What counts is rows *learned*, which the model tells at the end: as many as were acknowledged, each
of them durable, none twice.  Memory is looked at every second.
"""

import asyncio
import json
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pyarrow as pa
import typer

from okspca import outputs
from okspca.report.provenance import provenance
from okspca_lab.ordeals.raw_http import Connection, connected, request
from okspca_lab.ordeals.serve_process import ServeProcess, serving

N_INPUTS, N_FEATURES, BLOCK_ROWS = 30, 256, 1024
ARROW = "application/vnd.apache.arrow.stream"
#: Connections that send, by kind of load.
SENDERS = {"arrow": 3, "json": 64}
N_READERS, READS_PER_SECOND = 8, 50.0
#: Bodies that each sender has ready, so that making them costs nothing while it counts.
N_BODIES = 64
MODELS: dict[str, dict[str, Any]] = {
    "covariance": {"kind": "reducer", "settings": {"task": "regression", "preset": "paper"}},
    "whitened": {
        "kind": "reducer",
        "settings": {"task": "regression", "frequencies": "drawn"},
    },
    "regressor": {"kind": "regressor", "settings": {"frequencies": "drawn"}},
}


@dataclass
class Load:
    """What a load did.

    Examples
    --------
    >>> Load("json", "covariance", seconds=2.0, rows=8).rows_per_second
    4.0
    """

    kind: str
    model: str
    seconds: float = 0.0
    rows: int = 0
    rows_in_model: int = 0
    told_to_wait: int = 0
    reads: int = 0
    read_ms: dict[str, float] = field(default_factory=dict)
    memory_mib: dict[str, float] = field(default_factory=dict)

    @property
    def rows_per_second(self) -> float:
        """Rows acknowledged a second, which are those learned."""
        return self.rows / self.seconds

    @property
    def is_clean(self) -> bool:
        """Whether every row that was acknowledged is in the model, once."""
        return self.rows == self.rows_in_model


class Loading:
    """A load on a server, while it lasts."""

    def __init__(self, server: ServeProcess, load: Load, seconds: float, rate: float) -> None:
        self.server, self.load, self.seconds = server, load, seconds
        #: Requests a second that each sender may send; 0 for as many as it can.
        self.rate = rate / SENDERS[load.kind]
        self.latencies: list[float] = []
        self.memory: list[int] = []
        self.end = 0.0

    async def run(self) -> None:
        """Send, read and look at the memory until the time is up."""
        begun = time.perf_counter()
        self.end = begun + self.seconds
        senders = [self._send(number) for number in range(SENDERS[self.load.kind])]
        readers = [self._read(number) for number in range(N_READERS)]
        await asyncio.gather(*senders, *readers, self._look())
        self.load.seconds = time.perf_counter() - begun

    async def _send(self, number: int) -> None:
        """Send rows, each request with its number, until the time is up."""
        connection = await connected("127.0.0.1", self.server.port)
        made, n_rows, kind = list(bodies(self.load.kind, number)), 1, "application/json"
        if self.load.kind == "arrow":
            n_rows, kind = BLOCK_ROWS, ARROW
        sequence, due = 1, time.perf_counter()
        while time.perf_counter() < self.end:
            path = f"/models/load/learn?source=s{number}&sequence={sequence}"
            body = made[sequence % len(made)]
            if await self._sent(connection, request("POST", path, body, kind)):
                sequence += 1
                self.load.rows += n_rows
            if self.rate:
                due += 1.0 / self.rate
                await asyncio.sleep(max(due - time.perf_counter(), 0.0))
        connection.close()

    async def _sent(self, connection: Connection, message: bytes) -> bool:
        """Send one request; False if it must be sent again."""
        answer = await connection.ask(message)
        if answer.status == 429:
            self.load.told_to_wait += 1
            await asyncio.sleep(0.05)
            return False
        if answer.status != 200:
            failed = f"{answer.status}: {answer.body[:300]!r}"
            raise RuntimeError(failed)
        return True

    async def _read(self, number: int) -> None:
        """Ask for embeddings at an even pace; a late answer does not hold up the next question."""
        connection = await connected("127.0.0.1", self.server.port)
        rows = np.random.default_rng(1000 + number).normal(size=(50, N_INPUTS))
        path = "/models/load/transform"
        made = [request("POST", path, json.dumps({"x": x}).encode()) for x in rows.tolist()]
        due, place = time.perf_counter(), 0
        while due < self.end:
            await asyncio.sleep(max(due - time.perf_counter(), 0.0))
            answer = await connection.ask(made[place % len(made)])
            if answer.status == 200:
                # From when it was due: waiting behind a late answer counts.
                self.latencies.append(time.perf_counter() - due)
            due, place = due + 1.0 / READS_PER_SECOND, place + 1
        connection.close()

    async def _look(self) -> None:
        """Look at the memory of the server once a second."""
        while time.perf_counter() < self.end:
            self.memory.append(self.server.memory)
            await asyncio.sleep(1.0)


def bodies(kind: str, number: int) -> Iterator[bytes]:
    """Rows ready to be sent."""
    random = np.random.default_rng(number)
    for _ in range(N_BODIES if kind == "json" else 4):
        X = random.normal(size=(BLOCK_ROWS if kind == "arrow" else 1, N_INPUTS))
        y = np.sin(X[:, 0]) + X[:, 1] ** 2
        if kind == "json":
            yield json.dumps({"x": X[0].tolist(), "y": float(y[0])}).encode()
        else:
            yield arrow_stream(X, y)


def arrow_stream(X: Any, y: Any) -> bytes:
    """Rows as an Arrow stream."""
    table = pa.table({**{f"x{i}": x for i, x in enumerate(X.T)}, "y": y})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    data: bytes = sink.getvalue().to_pybytes()
    return data


def loaded(kind: str, model: str, seconds: float, rate: float = 0.0) -> Load:
    """Load a fresh server for so long."""
    load = Load(kind, model)
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder)) as server:
        settings = {**MODELS[model]["settings"], "n_random_features": N_FEATURES}
        asked = {**MODELS[model], "settings": settings}
        columns = [f"x{i}" for i in range(N_INPUTS)]
        server.ask("PUT", "/models/load", {**asked, "columns": columns})
        warm = {"rows": [{"x": [float(i)] * N_INPUTS, "y": float(i % 7)} for i in range(64)]}
        server.ask("POST", "/models/load/learn?wait=learned", warm)
        server.ask("POST", "/models/load/transform", {"x": [0.0] * N_INPUTS})
        loading = Loading(server, load, seconds, rate)
        asyncio.run(loading.run())
        # The last rows are learned before this answer comes.
        server.ask("POST", "/models/load/checkpoint")
        server.ask("POST", "/models/load/learn?wait=learned", {"rows": warm["rows"][:1]})
        load.rows_in_model = server.ask("GET", "/models/load")[1]["rows"] - 65
    _describe(loading)
    return load


def _describe(loading: Loading) -> None:
    """Sum up times and memory."""
    load, ordered = loading.load, sorted(loading.latencies)
    load.reads = len(ordered)
    shares = {"p50": 0.5, "p99": 0.99, "p999": 0.999, "most": 1.0}
    load.read_ms = {
        name: round(1e3 * ordered[int(share * (len(ordered) - 1))], 3)
        for name, share in shares.items()
    }
    half = loading.memory[len(loading.memory) // 2 :]
    n = max(len(half) // 10, 1)
    first, last = float(np.mean(half[:n])), float(np.mean(half[-n:]))
    sizes = {"half-way": first, "end": last, "most": float(max(loading.memory))}
    load.memory_mib = {name: round(size / 2**20, 1) for name, size in sizes.items()}


def main(
    seconds: Annotated[float, typer.Option(min=1, help="How long each load lasts.")] = 600.0,
    kind: Annotated[list[str] | None, typer.Option(help="arrow or json; both by default.")] = None,
    model: Annotated[
        list[str] | None, typer.Option(help="covariance, whitened, regressor; the first.")
    ] = None,
    rate: Annotated[
        float, typer.Option(min=0, help="Requests a second, all senders together; 0: all they can.")
    ] = 0.0,
    out: Annotated[Path, typer.Option(help="Where rows go.")] = Path("results/serving/load.json"),
) -> None:
    """Load a service, and write down what it did."""
    outputs.check(out, outputs.TEXT)
    known = json.loads(out.read_text()) if out.exists() else {"loads": []}
    for one in kind or list(SENDERS):
        for name in model or ["covariance"]:
            load = loaded(one, name, seconds, rate)
            row = {**asdict(load), "rate": rate, "rows_per_second": load.rows_per_second}
            same = ("kind", "model", "rate")
            known["loads"] = [
                old for old in known["loads"] if any(old[key] != row[key] for key in same)
            ]
            known["loads"].append({**row, "is_clean": load.is_clean})
            known["made"] = provenance("python -m okspca_lab.ordeals.serve_load", jobs=1)
            out.parent.mkdir(parents=True, exist_ok=True)
            outputs.write(out, json.dumps(known, indent=1) + "\n", outputs.TEXT)
            print(json.dumps(row), flush=True)


if __name__ == "__main__":
    typer.run(main)
