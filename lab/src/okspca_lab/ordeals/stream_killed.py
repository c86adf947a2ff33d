"""The processes that `stream_kills.py` kills: learners of a stream, which tell how far they are.

After every block a line goes to standard output: ``@``, the rows learned, and whether the block had
come before.  With ``dies_at`` above zero the process kills itself, and the engine that belongs to
it, once so many rows are saved and before the engine is told.
"""

import os
import signal
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from okspca.estimators import OKSPCA
from okspca_lab.studies.distributed.engines import engine, local_session
from okspca_lab.studies.distributed.stream import N_INPUTS

COLUMNS = [f"x{number}" for number in range(N_INPUTS)]
STREAM, SPARK, REDIS, KAFKA = "rows", "spark", "redis", "kafka"
#: Messages of brokers are texts, so fewer inputs.
N_FIELDS, BROKER_BLOCK = 4, 1000
#: Milliseconds until a group takes a silent member for dead.
SESSION = 6000


def model(engine_name: str) -> OKSPCA:
    """Where all runs begin; causal standardisers where the order of rows is known to the end."""
    features = 256 if engine_name == SPARK else 64
    found = OKSPCA(4, task="regression", n_random_features=features, random_state=0)
    return found.set_params(standardize=None) if engine_name == KAFKA else found


def tell(learner: Any, before: int, dies_at: int) -> None:
    """Say how far a learner is, and die if it is time."""
    after = learner.record.rows_read
    print(f"@ {after} {'again' if after == before else 'new'}", flush=True)
    if 0 < dies_at <= after:
        os.killpg(0, signal.SIGKILL)


def follow_spark(path: Path, folder: Path, dies_at: int) -> None:
    """Learn files of a folder, one in each batch, until all are learned."""
    streaming = engine("spark_streaming")
    learner = streaming.StreamLearner(
        path, model(SPARK), columns=COLUMNS, target="y", query=STREAM, order_by="row"
    )

    def learn(batch: Any, number: int) -> None:
        before = learner.record.rows_read
        learner(batch, number)
        tell(learner, before, dies_at)

    session = local_session()
    schema = ", ".join(f"{name} double" for name in [*COLUMNS, "y"]) + ", row long"
    rows = session.readStream.schema(schema).option("maxFilesPerTrigger", 1)
    query = rows.parquet(str(folder / "rows")).writeStream.queryName(STREAM).foreachBatch(learn)
    query = query.option("checkpointLocation", str(folder / "checkpoint"))
    query.trigger(availableNow=True).start().awaitTermination()
    session.stop()


def follow_redis(path: Path, port: int, total: int, dies_at: int) -> None:
    """Learn a stream of Redis until so many rows are learned."""
    client = import_module("redis").Redis("127.0.0.1", port)
    learner = engine("redis_streams").RedisLearner(
        path,
        model(REDIS),
        [STREAM],
        columns=COLUMNS[:N_FIELDS],
        target="y",
        block_rows=BROKER_BLOCK,
        on_error="set-aside",
    )
    while learner.record.rows_read < total:
        before = learner.record.rows_read
        if learner.learn_available(client):
            tell(learner, before, dies_at)


def follow_kafka(path: Path, servers: str, total: int, dies_at: int) -> None:
    """Learn a topic as a member of a group, until so many messages are learned."""
    client = import_module("confluent_kafka")
    learner = engine("kafka").LogLearner(
        path,
        model(KAFKA),
        topics=[STREAM],
        columns=COLUMNS[:N_FIELDS],
        target="y",
        block_rows=BROKER_BLOCK,
    )

    class Mortal(client.Consumer):  # type: ignore[name-defined, misc]
        """Dies when a block is saved and not yet committed."""

        def commit(self, *words: Any, **options: Any) -> Any:
            if 0 < dies_at <= learner.record.rows_read:
                os.killpg(0, signal.SIGKILL)
            return super().commit(*words, **options)

    settings = {"bootstrap.servers": servers, "group.id": "g", "session.timeout.ms": SESSION}
    rules = {"enable.auto.commit": False, "auto.offset.reset": "error"}
    consumer = Mortal({**settings, **rules})
    learner.subscribe(consumer, client.TopicPartition)
    while learner.record.rows_read < total:
        before = learner.record.rows_read
        if learner.learn_available(consumer):
            tell(learner, before, 0)
    consumer.close()


def main(words: list[str]) -> None:
    """Be the learner that the words say."""
    kind, path, dies_at, *rest = words
    if kind == SPARK:
        follow_spark(Path(path), Path(rest[0]), int(dies_at))
    elif kind == KAFKA:
        follow_kafka(Path(path), rest[0], int(rest[1]), int(dies_at))
    else:
        follow_redis(Path(path), int(rest[0]), int(rest[1]), int(dies_at))


if __name__ == "__main__":
    main(sys.argv[1:])
