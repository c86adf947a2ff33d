"""The learner of logs with confluent-kafka and a broker: places, blocks, groups that rebalance."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("confluent_kafka", reason="needs okspca[kafka]")
from confluent_kafka import Consumer, TopicPartition

from okspca import OKSPCA, DataError
from okspca.distributed.kafka import LogLearner, merge_files
from okspca_lab.ordeals import kafka_broker

PARTITIONS, MESSAGES = 3, 40
SETTINGS: dict[str, Any] = {"columns": ["a", "b"], "target": "y", "block_rows": 16}


@pytest.fixture(scope="module")
def broker() -> Iterator[tuple[str, Any]]:
    with kafka_broker.running() as running:
        yield running


def model() -> OKSPCA:
    return OKSPCA(1, n_random_features=8, random_state=0, standardize=None, task="regression")


def rows() -> Any:
    return np.random.RandomState(0).normal(size=(PARTITIONS * MESSAGES, 2))


def fill(producer: Any, topic: str) -> None:
    for number, (a, b) in enumerate(rows().tolist()):
        message = json.dumps({"a": a, "b": b, "y": a**2})
        producer.produce(topic, message.encode(), partition=number % PARTITIONS)
    producer.flush()


def consumer(servers: str, group: str, **changes: Any) -> Any:
    settings = {"bootstrap.servers": servers, "group.id": group, "session.timeout.ms": 6000}
    rules = {"enable.auto.commit": False, "auto.offset.reset": "error", "log_level": 2}
    return Consumer({**settings, **rules, **changes})


def assert_whole(merged: OKSPCA) -> None:
    X = rows()
    assert merged.n_samples_seen_ == len(X)
    C = model().partial_fit(X, X[:, 0] ** 2).moment_.matrix()
    assert np.linalg.norm(merged.moment_.matrix() - C) <= 1e-12 * np.linalg.norm(C)


def test_places_are_read_in_blocks_and_again_from_where_the_file_is(
    broker: tuple[str, Any], tmp_path: Path
) -> None:
    servers, producer = broker
    fill(producer, "places")
    places = [("places", partition) for partition in range(PARTITIONS)]
    path, found = tmp_path / "m.okspca", None
    for _ in range(100):
        found = LogLearner(path, model(), places, **SETTINGS)
        reader = consumer(servers, "unused")
        found.attach(reader, TopicPartition)
        assert found.learn_available(reader, timeout=10.0) <= 16
        reader.close()
        if found.record.rows_read == PARTITIONS * MESSAGES:
            break
    assert found is not None
    assert_whole(found.model)


@pytest.mark.parametrize("cooperative", [False, True])
def test_a_group_shares_its_partitions(
    broker: tuple[str, Any], tmp_path: Path, cooperative: bool
) -> None:
    servers, producer = broker
    topic = f"group{cooperative:d}"
    fill(producer, topic)
    strategy = {"partition.assignment.strategy": "cooperative-sticky"} if cooperative else {}
    paths = [tmp_path / "one.okspca", tmp_path / "other.okspca"]
    pairs: list[tuple[LogLearner, Any]] = []
    for path in paths:
        found = LogLearner(path, model(), topics=[topic], **SETTINGS)
        reader = consumer(servers, topic, **strategy)
        found.subscribe(reader, TopicPartition, cooperative=cooperative)
        # The second joins when the first has learned something.
        while not found.learn_available(reader, timeout=0.1) and len(pairs) == 0:
            pass
        pairs.append((found, reader))
    for _ in range(1000):
        for found, reader in pairs:
            found.learn_available(reader, timeout=0.05)
        if sum(found.record.rows_read for found, _ in pairs) == PARTITIONS * MESSAGES:
            break
    for _, reader in pairs:
        reader.close()
    assert_whole(merge_files(OKSPCA, paths))
    # A third one begins where they all ended.
    late = LogLearner(tmp_path / "late.okspca", model(), topics=[topic], **SETTINGS)
    reader = consumer(servers, topic, **strategy)
    late.subscribe(reader, TopicPartition, cooperative=cooperative)
    while len(late.offsets) < PARTITIONS:
        assert late.learn_available(reader, timeout=0.1) == 0
    reader.close()


def test_an_offset_that_another_program_committed_is_refused(
    broker: tuple[str, Any], tmp_path: Path
) -> None:
    servers, producer = broker
    fill(producer, "foreign")
    other = consumer(servers, "foreign")
    other.commit(offsets=[TopicPartition("foreign", 0, 5)], asynchronous=False)
    other.close()
    found = LogLearner(tmp_path / "m.okspca", model(), topics=["foreign"], **SETTINGS)
    reader = consumer(servers, "foreign")
    found.subscribe(reader, TopicPartition)
    with pytest.raises(DataError, match=r"foreign\[0\] was committed by no such learner"):
        until_it_fails(found, reader)
    reader.close()


def until_it_fails(found: LogLearner, reader: Any) -> None:
    while True:
        found.learn_available(reader, timeout=0.1)
