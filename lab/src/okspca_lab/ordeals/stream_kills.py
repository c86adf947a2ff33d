"""Kill learners of streams: ``python -m okspca_lab.ordeals.stream_kills spark --rows 1000000``.

A process follows a stream, is killed with SIGKILL (with the engine that belongs to it: the driver
of Spark and its Java), is started again, and so on, until all rows are learned.  Half of the kills
come at a random moment after a random row.  The others come just after a block was saved and before
the engine was told, which is when the block comes again.  In the end the model must be that of one
sequential run, to 1e-12 of the moment, and must have counted every row once.

``spark``: Parquet files, one in each micro-batch, rows in disorder within each; ``redis``: a server
of its own, a producer that goes on while learners die, and entries that cannot be learned among the
rest, which must all be in the file of those that were set aside, once; ``kafka``: the broker that
the client's own tests use, which keeps little, and a consumer group, whose members are killed
before they commit, so that the next one has to take a block back.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import IO, Annotated, Any

import numpy as np
import pyarrow as pa
import typer
from numpy.random import RandomState
from pyarrow import parquet

from okspca import outputs
from okspca.estimators import OKSPCA
from okspca.estimators.saving import load_model
from okspca_lab.ordeals import kafka_broker, redis_server
from okspca_lab.ordeals.stream_killed import COLUMNS, KAFKA, N_FIELDS, REDIS, SPARK, STREAM, model
from okspca_lab.studies.distributed.stream import apart, rows

#: Relative distance of the moments that is allowed.
TOLERANCE = 1e-12
#: Every so many entries of Redis, one that cannot be learned.
SPOILED = 1999
#: A kill by the clock comes within this time, in seconds, after a block.
LONGEST_DELAY = 0.5
Words = Callable[[Path, int], list[str]]


@dataclass
class Tally:
    """What became of a stream.

    Examples
    --------
    >>> Tally("spark", 1000, rows_learned=1000).is_clean
    True
    """

    engine: str
    rows: int
    rows_learned: int = 0
    apart: float = 0.0
    kills_by_clock: int = 0
    kills_after_saving: int = 0
    blocks: int = 0
    blocks_that_came_again: int = 0
    set_aside: int = 0
    failures: list[str] = field(default_factory=list)

    @property
    def is_clean(self) -> bool:
        """Whether the model is that of one run which nobody killed."""
        whole = self.rows_learned == self.rows and self.apart <= TOLERANCE
        return whole and not self.failures


def chase(tally: Tally, words: Words, path: Path, kills: int, random: Random) -> None:
    """Start, kill and start again; the last process is let through to its end."""
    places = sorted(random.randrange(tally.rows) for _ in range(kills))
    for number, place in enumerate(places):
        by_clock = (kills - number) % 2 == 0  # the last kill comes after a block was saved
        with started(words(path, 0 if by_clock else max(1, place))) as process:
            _watch(tally, process, place if by_clock else tally.rows, random)
            code = process.wait()
        if code == -signal.SIGKILL:
            tally.kills_by_clock += by_clock
            tally.kills_after_saving += not by_clock
        elif code:
            tally.failures.append(f"process {number} ended with code {code}")
    with started(words(path, 0)) as process:
        _watch(tally, process, tally.rows, random)
        if process.wait():
            tally.failures.append("the last process failed")


@contextmanager
def started(words: list[str]) -> Iterator["subprocess.Popen[str]"]:
    """Start a learner in a group of processes of its own, which ends with it."""
    command = [sys.executable, "-m", "okspca_lab.ordeals.stream_killed", *words]
    with tempfile.TemporaryFile("w+") as said:
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=said, text=True, start_new_session=True
        )
        try:
            yield process
        finally:
            _kill_group(process)
            process.wait()
            assert process.stdout is not None
            process.stdout.close()
            if process.returncode not in (0, -signal.SIGKILL):
                said.seek(0)
                print(said.read()[-3000:], file=sys.stderr)


def _watch(tally: Tally, process: "subprocess.Popen[str]", place: int, random: Random) -> None:
    """Follow what a process tells; some time after it has got past a row, kill it."""
    output: IO[str] | None = process.stdout
    assert output is not None
    for line in output:
        if line.startswith("@"):
            _, learned, how = line.split()
            tally.blocks += 1
            tally.blocks_that_came_again += how == "again"
            if place < int(learned) < tally.rows:
                time.sleep(random.uniform(0.0, LONGEST_DELAY))
                _kill_group(process)


def _kill_group(process: "subprocess.Popen[str]") -> None:
    """Kill a process that was started here and all that it started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def judge(tally: Tally, path: Path, wanted: OKSPCA) -> None:
    """Compare the model in a file with one sequential run."""
    found, _ = load_model(OKSPCA, path)
    tally.rows_learned = found.n_samples_seen_
    tally.apart = apart(found, wanted)
    if found.n_samples_seen_ != wanted.n_samples_seen_:
        tally.failures.append(f"{found.n_samples_seen_:,} rows were learned")


def spark(n: int, files: int, kills: int, seed: int, folder: Path) -> Tally:
    """Let Spark stream files to a learner whose driver is killed."""
    tally, wanted = Tally(SPARK, n), model(SPARK)
    size = -(-n // files)
    (folder / "rows").mkdir()
    for number, begin in enumerate(range(0, n, size)):
        X, y = rows(begin, min(begin + size, n))
        wanted.partial_fit(X, y)
        order = RandomState(number).permutation(len(y))
        table = pa.table({**dict(zip(COLUMNS, X.T, strict=True)), "y": y})
        table = table.append_column("row", pa.array(np.arange(begin, begin + len(y))))
        path = folder / "rows" / f"{number:05d}.parquet"
        parquet.write_table(table.take(pa.array(order)), path)
        os.utime(path, (number, number))  # Spark takes older files first
    out = folder / "model.okspca"
    chase(
        tally,
        lambda path, dies_at: [SPARK, str(path), str(dies_at), str(folder)],
        out,
        kills,
        Random(seed),
    )
    judge(tally, out, wanted)
    return tally


def redis(n: int, kills: int, seed: int, folder: Path) -> Tally:
    """Let learners of a Redis stream be killed while a producer goes on."""
    X, y = rows(0, n)
    X = np.ascontiguousarray(X[:, :N_FIELDS])
    spoiled = len(range(SPOILED - 1, n, SPOILED))
    tally, out = Tally(REDIS, n), folder / "model.okspca"
    with redis_server.running() as client:
        port = client.get_connection_kwargs()["port"]
        producer = threading.Thread(target=_produce, args=(client, X, y))
        producer.start()
        last = str(n + spoiled)
        chase(
            tally,
            lambda path, dies_at: [REDIS, str(path), str(dies_at), str(port), last],
            out,
            kills,
            Random(seed),
        )
        producer.join()
    judge(tally, out, model(REDIS).partial_fit(X, y))
    _judge_set_aside(tally, out, spoiled)
    return tally


def kafka(n: int, kills: int, seed: int, folder: Path) -> Tally:
    """Let members of a consumer group be killed."""
    X, y = rows(0, n)
    X = np.ascontiguousarray(X[:, :N_FIELDS])
    tally, out = Tally(KAFKA, n), folder / "model.okspca"
    with kafka_broker.running() as (servers, producer):
        for number, (x, value) in enumerate(zip(X.tolist(), y.tolist(), strict=True)):
            message = json.dumps({**dict(zip(COLUMNS, x, strict=False)), "y": value})
            producer.produce(STREAM, message.encode(), partition=number % 2)
        producer.flush()
        chase(
            tally,
            lambda path, dies_at: [KAFKA, str(path), str(dies_at), servers, str(n)],
            out,
            kills,
            Random(seed),
        )
    judge(tally, out, model(KAFKA).partial_fit(X, y))
    return tally


def _produce(client: Any, X: Any, y: Any) -> None:
    """Add rows to the stream, and now and then an entry that cannot be learned."""
    for begin in range(0, len(y), 1000):
        with client.pipeline(transaction=False) as together:
            for number in range(begin, min(begin + 1000, len(y))):
                # The shortest text of a number is read back as that number.
                fields: dict[str, Any] = dict(zip(COLUMNS, X[number].tolist(), strict=False))
                together.xadd(STREAM, {**fields, "y": float(y[number])})
                if number % SPOILED == SPOILED - 1:
                    together.xadd(STREAM, {**fields, "y": f"spoiled {number}"})
            together.execute()


def _judge_set_aside(tally: Tally, out: Path, spoiled: int) -> None:
    """See that every spoiled entry was set aside, once, and counted."""
    beside = out.with_name(out.name + ".set-aside.ndjson")
    lines = [json.loads(line) for line in beside.read_text().splitlines()] if spoiled else []
    values = [line["value"]["y"] for line in lines]
    _, record = load_model(OKSPCA, out)
    tally.set_aside = len(lines)
    counted = 0 if record is None else record.rows_skipped
    if sorted(set(values)) != sorted(values) or len(values) != spoiled or counted != spoiled:
        tally.failures.append(f"{len(values)} lines, {counted} counted, {spoiled} spoiled")


def main(
    engine: Annotated[str, typer.Argument(help="spark, redis or kafka.")],
    n: Annotated[int, typer.Option("--rows", min=1, help="Rows of the stream.")] = 20_000,
    kills: Annotated[int, typer.Option(min=0, help="How many processes to kill.")] = 4,
    files: Annotated[int, typer.Option(min=1, help="Micro-batches of Spark.")] = 20,
    seed: Annotated[int, typer.Option(help="Seed of the moments.")] = 0,
    out: Annotated[Path | None, typer.Option(help="Write the tally to this JSON file.")] = None,
) -> None:
    """Kill learners of a stream and see that they end in the model of one sequential run."""
    work: dict[str, Callable[[Path], Tally]] = {
        SPARK: lambda folder: spark(n, files, kills, seed, folder),
        REDIS: lambda folder: redis(n, kills, seed, folder),
        KAFKA: lambda folder: kafka(n, kills, seed, folder),
    }
    if engine not in work:
        message = f"engine={engine!r}, but it must be one of {', '.join(work)}."
        raise typer.BadParameter(message)
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as name:
        tally = work[engine](Path(name))
    for line in tally.failures:
        print(line, file=sys.stderr)
    killed = tally.kills_by_clock + tally.kills_after_saving
    print(f"{killed} kills, {tally.rows_learned:,} of {n:,} rows, {tally.apart:.1e} apart.")
    if out is not None:
        batches = f" --files {files}" if engine == SPARK else ""
        summary = {
            "command": f"python -m okspca_lab.ordeals.stream_kills {engine} --rows {n}"
            f" --kills {kills}{batches} --seed {seed}",
            **vars(tally),
            "seconds": round(time.perf_counter() - start),
        }
        out.parent.mkdir(parents=True, exist_ok=True)
        outputs.write(out, json.dumps(summary, indent=2) + "\n")
    raise typer.Exit(0 if tally.is_clean else 1)


if __name__ == "__main__":
    typer.run(main)
