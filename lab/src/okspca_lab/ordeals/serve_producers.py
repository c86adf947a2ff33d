"""What `serve_kills.py` sends: requests with numbers, each sent until it is acknowledged.

Every row tells who sent it, in its last column: source, request and place as one exact number.  So
the journal shows for each row whether it was lost or counted twice.
"""

import asyncio
import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from urllib.parse import quote

import numpy as np
import pyarrow as pa
from numpy.random import RandomState

from okspca_lab.ordeals.raw_http import Answer, Connection, connected, request

HOST = "127.0.0.1"
COLUMNS = ("u", "v", "w", "sent")
JSON, ARROW = "application/json", "application/vnd.apache.arrow.stream"
#: Who sends what: rows of each kind of body, or rows that are labelled later.
BY_JSON, BY_NAMES, BY_ARROW, BY_LABELS = "json", "names", "arrow", "labels"
MODELS: dict[str, dict[str, Any]] = {
    "plant": {"kind": "regressor", "settings": {"n_random_features": 32, "pilot_rows": 600}},
    "grades": {"kind": "classifier", "settings": {"n_random_features": 32}},
    "line": {
        "kind": "reducer",
        "settings": {"task": "regression", "preset": "paper", "n_random_features": 32},
        "monitor": True,
    },
}
PRODUCERS = (
    *(("plant", ways) for ways in (BY_JSON, BY_ARROW, BY_LABELS)),
    *(("grades", ways) for ways in (BY_NAMES, BY_ARROW, BY_LABELS)),
    *(("line", ways) for ways in (BY_JSON, BY_ARROW)),
)
#: Bits of the place of a row in its request, of the request in its source, of the source.
OF_ROWS, OF_REQUESTS, OF_SOURCES = 12, 20, 4
#: One request of so many has a row that cannot be learned; one of so many is long.
SPOILED, LONG = 8, 40
#: One of so many waits until its rows are learned.
PATIENT = 7
FEW_ROWS, MANY_ROWS = 60, 3000
#: Answers after which the same request is sent again.
LATER = (429, 503, 507)
PATIENCE, PAUSE = 60.0, 0.05


@dataclass
class Account:
    """What the producers of a run know.

    Examples
    --------
    >>> Account().failures
    []
    """

    #: Of each model: numbers of rows that were acknowledged, to be learned.
    rows: dict[str, list[int]] = field(default_factory=lambda: {name: [] for name in MODELS})
    #: Of each model: source, request and place of rows that were set aside.
    aside: dict[str, list[tuple[str, int, int]]] = field(
        default_factory=lambda: {name: [] for name in MODELS}
    )
    #: Of each model and source: how many requests were acknowledged.
    taken: dict[str, dict[str, int]] = field(default_factory=lambda: {name: {} for name in MODELS})
    counts: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)


class Block(NamedTuple):
    """The rows of one request."""

    X: Any
    y: Any
    sent: list[int]
    #: Place of the row that cannot be learned; None where all can.
    spoiled: int | None


def block(model: str, place: int, number: int, seed: int) -> Block:
    """Make the rows of a request; the same for the same numbers.

    Examples
    --------
    >>> found = block("plant", 0, 3, 0)
    >>> bool((found.X[:, -1] * 2 ** (OF_ROWS + OF_REQUESTS + OF_SOURCES) == found.sent).all())
    True
    """
    random = RandomState([seed, sorted(MODELS).index(model), place, number])
    n = random.randint(1, MANY_ROWS if random.randint(LONG) == 0 else FEW_ROWS)
    X = random.normal(size=(n, len(COLUMNS)))
    first = (place << OF_REQUESTS | number) << OF_ROWS
    sent = list(range(first, first + n))
    X[:, -1] = np.array(sent) / 2 ** (OF_ROWS + OF_REQUESTS + OF_SOURCES)
    y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2]
    if model == "grades":
        y = np.array(["low", "medium", "high"])[np.digitize(y, [-0.5, 0.5])]
    return Block(X, y, sent, int(random.randint(n)) if random.randint(SPOILED) == 0 else None)


def body(block: Block, ways: str, source: str = "", number: int = 0) -> bytes:
    """Write a block as a request brings it, the spoiled row with it."""
    xs, ys = block.X.tolist(), block.y.tolist()
    if ways == BY_LABELS:
        if block.spoiled is not None:
            ys[block.spoiled] = None
        labels = [{"id": f"{source}/{number}/{row}", "y": y} for row, y in enumerate(ys)]
        return json.dumps({"labels": labels}).encode()
    if block.spoiled is not None:
        xs[block.spoiled][1] = None
    if ways == BY_ARROW:
        values = np.array(xs, dtype=np.float64)  # what is missing becomes NaN
        columns = dict(zip(COLUMNS, map(pa.array, values.T), strict=True))
        table = pa.table({**columns, "y": pa.array(ys)})
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        return bytes(sink.getvalue().to_pybytes())
    if ways == BY_NAMES:
        xs = [dict(zip(COLUMNS, x, strict=True)) for x in xs]
    return json.dumps({"rows": [{"x": x, "y": y} for x, y in zip(xs, ys, strict=True)]}).encode()


class Producer:
    """One source, which sends its requests in order, each until it is acknowledged.

    Parameters
    ----------
    account : Account
        Where it notes what was acknowledged.
    port : int
        Where the service listens, when it does.
    model, ways : str
        What it sends, and how.
    place : int
        Its place among the sources of the model.
    seed : int
        Seed of the rows.

    Examples
    --------
    >>> Producer(Account(), 8787, "plant", "json", 0, seed=0).source
    'plant-json'
    """

    def __init__(
        self, account: Account, port: int, model: str, ways: str, place: int, *, seed: int
    ) -> None:
        self.account, self.port, self.model, self.ways = account, port, model, ways
        self.place, self.seed, self.source = place, seed, f"{model}-{ways}"
        self._connection: Connection | None = None

    async def run(self, ending: asyncio.Event) -> None:
        """Send requests until it is time to end."""
        number = 1
        try:
            while not ending.is_set():
                await self._send(number)
                number += 1
        except AssertionError as failure:
            self.account.failures.append(f"{self.source}, request {number}: {failure}")
        if self._connection is not None:
            self._connection.close()

    async def _send(self, number: int) -> None:
        """Send one request, and note that it was acknowledged."""
        rows = block(self.model, self.place, number, self.seed)
        if self.ways == BY_LABELS:
            await self._store(rows, number)
        route = "label" if self.ways == BY_LABELS else "learn"
        wait = "learned" if number % PATIENT == 0 else "durable"
        query = f"source={quote(self.source)}&sequence={number}&on_error=set-aside&wait={wait}"
        content = body(rows, self.ways, self.source, number)
        kind = ARROW if self.ways == BY_ARROW else JSON
        path = f"/models/{self.model}/{route}?{query}"
        answer = (await self._taken(request("POST", path, content, kind))).json()
        bad = rows.spoiled is not None
        expected = {"learned": len(rows.sent) - bad, "set_aside": int(bad), "repeated": False}
        if answer["repeated"]:
            self.account.counts["repeated"] += 1
        else:
            assert answer == expected, f"{answer} instead of {expected}"
        self._note(rows, number)

    def _note(self, rows: Block, number: int) -> None:
        """Note what was acknowledged."""
        account = self.account
        account.taken[self.model][self.source] = number
        account.rows[self.model] += [n for row, n in enumerate(rows.sent) if row != rows.spoiled]
        if rows.spoiled is not None:
            account.aside[self.model].append((self.source, number, rows.spoiled))
        account.counts["acknowledged"] += 1

    async def _store(self, rows: Block, number: int) -> None:
        """Ask about rows that wait for their labels from then on."""
        records = [
            {"x": x, "id": f"{self.source}/{number}/{row}"} for row, x in enumerate(rows.X.tolist())
        ]
        asked = json.dumps({"rows": records}).encode()
        path = f"/models/{self.model}/predict"
        while True:
            answer = await self._taken(request("POST", path, asked), 409)
            if answer.status == 200:
                return
            if b"waits already" in answer.body:
                self.account.counts["stored before"] += 1
                return
            await asyncio.sleep(PAUSE)  # the model is not ready to predict

    async def _taken(self, sent: bytes, *others: int) -> Answer:
        """Send until there is an answer that is no "later"; it must be 200, or one of others."""
        while True:
            try:
                answer = await self._ask(sent)
            except (OSError, TimeoutError) as failure:
                is_refused = isinstance(failure, ConnectionRefusedError)
                self.account.counts["refused" if is_refused else "lost"] += 1
                self._connection = None
                await asyncio.sleep(PAUSE)
                continue
            if answer.status not in LATER:
                told = f"{answer.status} {answer.body.decode()}"
                assert answer.status in (200, *others), told
                return answer
            self.account.counts[f"status {answer.status}"] += 1
            await asyncio.sleep(PAUSE)

    async def _ask(self, sent: bytes) -> Answer:
        """Send once."""
        if self._connection is None or not self._connection.is_open:
            self._connection = await connected(HOST, self.port)
        async with asyncio.timeout(PATIENCE):
            return await self._connection.ask(sent)
