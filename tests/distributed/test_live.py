"""Real producer processes: a merge of snapshots is the model of exactly the rows they count."""

import functools
import multiprocessing
from typing import Any

import numpy as np
import pytest

from okspca import OKSPCA, NotReadyError
from okspca.datasets import response_surface
from okspca.distributed import Survey, identity
from okspca.distributed.live import Coordinator, Producer

KEY, BLOCK = b"a key of this test", 32


def block(producer: int, number: int) -> tuple[Any, Any]:
    return response_surface(BLOCK, n_inputs=5, seed=10_000 * producer + number)


@functools.cache
def start() -> bytes:
    model = OKSPCA(2, n_random_features=16, random_state=0)
    return identity(model, Survey(model).add(*response_surface(500, 5))).to_bytes()


def produce(number: int, state: bytes, addresses: Any, stop: Any) -> None:
    """Learn block after block until told to stop."""
    with Producer(OKSPCA.from_bytes(state), KEY) as producer:
        addresses.put((number, producer.address))
        count = 0
        while not stop.is_set():
            producer.learn(*block(number, count))
            count += 1


@pytest.mark.slow
def test_snapshots_of_processes_that_keep_learning_are_exact() -> None:
    context = multiprocessing.get_context("spawn")
    addresses, stop = context.Queue(), context.Event()
    processes = [
        context.Process(target=produce, args=(number, start(), addresses, stop))
        for number in range(3)
    ]
    for process in processes:
        process.start()
    try:
        found = dict(addresses.get(timeout=300) for _ in processes)
        with Coordinator(OKSPCA, [found[number] for number in range(3)], KEY) as coordinator:
            seen = [coordinator.snapshots()]
            while len(seen) < 3 or min(s.n_samples_seen_ for s in seen[-1]) < 3 * BLOCK:
                seen = [*seen[-2:], coordinator.snapshots()]
            merged = coordinator.merged()
            last = [OKSPCA.from_bytes(state) for state in coordinator._last if state is not None]
    finally:
        stop.set()
        for process in processes:
            process.join(60)
    assert [process.exitcode for process in processes] == [0, 0, 0]
    counts = [[state.n_samples_seen_ for state in states] for states in (*seen, last)]
    assert np.all(np.diff(counts, axis=0) >= 0)
    assert all(count % BLOCK == 0 for count in counts[-1])
    assert merged.n_samples_seen_ == sum(counts[-1])
    alone = OKSPCA.from_bytes(start())
    for number, count in enumerate(counts[-1]):
        for place in range(count // BLOCK):
            alone.partial_fit(*block(number, place))
    C = alone.moment_.matrix()
    assert np.linalg.norm(merged.moment_.matrix() - C) <= 1e-12 * np.linalg.norm(C)


def test_a_producer_that_is_gone_is_named_or_stands_by_its_last_snapshot() -> None:
    first, second = (Producer(OKSPCA.from_bytes(start()), KEY) for _ in range(2))
    for number, producer in enumerate((first, second)):
        producer.learn(*block(number, 0))
    with first, Coordinator(OKSPCA, [first.address, second.address], KEY) as coordinator:
        assert coordinator.merged().n_samples_seen_ == 2 * BLOCK
        second.close()
        first.learn(*block(0, 1))
        with pytest.raises(NotReadyError, match=f"{second.address[1]} does not answer"):
            coordinator.merged()
        assert coordinator.merged(allow_stale=True).n_samples_seen_ == 3 * BLOCK


def test_after_a_failure_answers_are_those_to_the_present_request() -> None:
    gone, here = (Producer(OKSPCA.from_bytes(start()), KEY) for _ in range(2))
    with here, Coordinator(OKSPCA, [gone.address, here.address], KEY) as coordinator:
        coordinator.snapshots()
        gone.close()
        for count in range(1, 4):
            here.learn(*block(1, count))
            with pytest.raises(NotReadyError, match="does not answer"):
                coordinator.snapshots()
        here.learn(*block(1, 4))
        assert coordinator.merged(allow_stale=True).n_samples_seen_ == 4 * BLOCK


def interrupt(*_: Any) -> None:
    raise KeyboardInterrupt


def test_after_an_interruption_answers_are_those_to_the_present_request(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first, second = (Producer(OKSPCA.from_bytes(start()), KEY) for _ in range(2))
    addresses = [first.address, second.address]
    with first, second, Coordinator(OKSPCA, addresses, KEY) as coordinator:
        for count in range(2):
            with monkeypatch.context() as context:
                context.setattr(coordinator._connections[count], "recv_bytes", interrupt)
                with pytest.raises(KeyboardInterrupt):
                    coordinator.snapshots()
            first.learn(*block(0, count))
            assert coordinator.merged().n_samples_seen_ == (count + 1) * BLOCK


def test_a_caller_without_the_key_is_turned_away() -> None:
    with Producer(OKSPCA.from_bytes(start()), KEY) as producer:
        with pytest.raises(multiprocessing.AuthenticationError):
            Coordinator(OKSPCA, [producer.address], b"another key")
        with Coordinator(OKSPCA, [producer.address], KEY) as coordinator:
            assert coordinator.merged().n_samples_seen_ == 0
