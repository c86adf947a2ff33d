"""A Kafka broker of one's own: the one that librdkafka brings for tests, here and in memory.

It speaks Kafka's protocol to any client, deals out partitions to the members of groups and keeps
their offsets, but holds only about five megabytes of each partition.
"""

import contextlib
from collections.abc import Iterator
from importlib import import_module
from typing import Any


@contextlib.contextmanager
def running() -> Iterator[tuple[str, Any]]:
    """Start a broker; give its address, for ``bootstrap.servers``, and a producer of it."""
    producer = import_module("confluent_kafka").Producer(
        {
            "bootstrap.servers": "none",  # it takes the place of any other
            "test.mock.num.brokers": 1,
            "log_level": 3,
        }
    )
    brokers = producer.list_topics(timeout=60).brokers.values()
    yield ",".join(f"{broker.host}:{broker.port}" for broker in brokers), producer
    producer.flush()
