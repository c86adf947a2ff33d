"""Learners that are killed end in the model of one run; the quick form of an ordeal.

More: ``python -m okspca_lab.ordeals.stream_kills``; results in results/streaming.
"""

import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from okspca_lab.ordeals import redis_server
from okspca_lab.ordeals.stream_kills import Tally, kafka, redis, spark

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")


def assert_clean(tally: Tally) -> None:
    assert tally.failures == []
    assert tally.is_clean, tally


def test_a_consumer_of_redis_is_killed(tmp_path: Path) -> None:
    if find_spec("redis") is None or not redis_server.is_installed():
        pytest.skip("needs okspca[redis] and redis-server")
    tally = redis(6000, 1, 0, tmp_path)
    assert_clean(tally)
    assert tally.kills_after_saving == 1
    assert tally.set_aside == 3


def test_a_member_of_a_kafka_group_is_killed(tmp_path: Path) -> None:
    pytest.importorskip("confluent_kafka", reason="needs okspca[kafka]")
    tally = kafka(4000, 1, 0, tmp_path)
    assert_clean(tally)
    assert tally.kills_after_saving == 1


def test_a_driver_of_spark_is_killed(tmp_path: Path) -> None:
    pytest.importorskip("pyspark", reason="needs okspca[spark]")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java")
    tally = spark(3000, 3, 1, 0, tmp_path)
    assert_clean(tally)
    assert tally.kills_after_saving == tally.blocks_that_came_again == 1


def test_a_tally_is_clean_only_where_all_is_well() -> None:
    assert Tally("spark", 10, rows_learned=10, apart=1e-13).is_clean
    assert not Tally("spark", 10, rows_learned=9).is_clean
    assert not Tally("spark", 10, rows_learned=10, apart=1e-11).is_clean
    assert not Tally("spark", 10, rows_learned=10, failures=["it failed"]).is_clean
