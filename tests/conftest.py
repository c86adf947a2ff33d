"""Two tiers: `make check` leaves out what is slow, `make test` runs everything."""

import math
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent
#: Folders and files in which every test is slow; single ones elsewhere are marked where they are.
SLOW = (
    "contracts",
    "threads",
    "cli/test_pipes.py",
    "cli/test_places.py",
    "cli/test_warming.py",
    "cli/test_ways_out.py",
    "distributed/test_dask.py",
    "distributed/test_kafka_client.py",
    "distributed/test_kafka_groups.py",
    "distributed/test_neighbours.py",
    "distributed/test_redis_streams.py",
    "distributed/test_river.py",
    "distributed/test_spark.py",
    "distributed/test_spark_streaming.py",
    "distributed/test_stream_kills.py",
    "lab/studies/distributed",
    "lab/studies/prediction",
    "lab/studies/services/test_incremental.py",
    "lab/studies/services/test_services.py",
    "lab/studies/test_beside.py",
    "lab/studies/test_calibration.py",
    "lab/studies/test_drift.py",
    "lab/studies/test_monitoring.py",
    "lab/studies/test_paper_services.py",
    "lab/studies/test_peers.py",
    "lab/studies/test_population.py",
    "lab/studies/test_precision.py",
    "lab/studies/test_runner.py",
    "lab/studies/test_streams.py",
    "lab/studies/test_workloads.py",
    "lab/test_bench.py",
    "lab/test_killing.py",
    "lab/test_serve_kills.py",
    "lab/test_serve_load.py",
    "lab/test_throughput.py",
    "lab/test_serve_fuzz.py",
    "lab/test_ways_out.py",
    "numerics/test_shared_cache.py",
    "serve/test_connections.py",
    "serve/test_dashboard.py",
    "serve/test_faults.py",
    "serve/test_hostile.py",
    "state/test_absurd_files.py",
    "state/test_spoiled_files.py",
    "test_docs.py",
    "test_importing.py",
    "test_moved.py",
    "test_processes.py",
    "test_reference_agreement.py",
)


def is_slow(path: Path) -> bool:
    """Whether all tests of a file are slow."""
    return any(path.is_relative_to(TESTS / slow) for slow in SLOW)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not even import slow files where slow tests are left out."""
    leaves_out = config.getoption("markexpr") == "not slow"
    return True if leaves_out and is_slow(collection_path) else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of slow files."""
    for item in items:
        if is_slow(item.path):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session", autouse=True)
def _no_word_about_waiting() -> Iterator[None]:
    """Learning features is told of after a second, which on a busy machine is any time."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("okspca.estimators.map_search.PATIENCE", math.inf)
        yield
