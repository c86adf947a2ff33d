"""Reading ahead hands everything on, in order: rows, errors, and the wish to stop."""

import threading
from collections.abc import Iterator

import pytest

from okspca.files.reading_ahead import Nothing, read_ahead, read_as_it_comes


def test_everything_arrives_in_order() -> None:
    assert list(read_ahead(iter(range(1000)), depth=3)) == list(range(1000))


def test_no_more_than_the_depth_is_read_ahead() -> None:
    taken, most = 0, 0

    def items() -> Iterator[int]:
        nonlocal most
        for number in range(200):
            most = max(most, number - taken)
            yield number

    for _ in read_ahead(items(), depth=2):
        taken += 1
    # Two wait in the queue, one in the reader's hands, one in ours.
    assert most <= 4


def test_an_error_arrives_after_what_was_read_before_it() -> None:
    def items() -> Iterator[int]:
        yield 1
        raise ValueError("broken")

    arriving = read_ahead(items())
    assert next(arriving) == 1
    with pytest.raises(ValueError, match="broken"):
        next(arriving)


def test_it_gives_up_while_the_reader_waits() -> None:
    """As on Ctrl-C when a pipe says nothing; the thread is released and joined."""
    silence = threading.Event()

    def items() -> Iterator[int]:
        yield 1
        silence.wait()

    wanted = threading.Event()
    arriving = read_ahead(items(), wanted.is_set, release=silence.set)
    assert next(arriving) == 1
    wanted.set()
    assert list(arriving) == []
    assert "okspca reader" not in {thread.name for thread in threading.enumerate()}


@pytest.mark.parametrize("depth", [1, 4])
def test_no_thread_is_left_when_nobody_listens(depth: int) -> None:
    arriving = read_ahead(iter(range(10**9)), depth=depth)
    assert next(arriving) == 0
    arriving.close()
    assert "okspca reader" not in {thread.name for thread in threading.enumerate()}


def test_silence_is_told() -> None:
    """So that a checkpoint can be written while a pipe says nothing."""
    silence = threading.Event()

    def items() -> Iterator[int]:
        yield 1
        silence.wait()
        yield 2

    arriving = read_as_it_comes(items())
    assert next(arriving) == 1
    assert isinstance(next(arriving), Nothing)
    silence.set()
    assert [item for item in arriving if not isinstance(item, Nothing)] == [2]


def test_the_reader_stops_when_nobody_listens() -> None:
    ended = threading.Event()

    def items() -> Iterator[int]:
        try:
            yield from range(10**9)
        finally:
            ended.set()

    for _ in read_ahead(items(), depth=1):
        break
    assert ended.wait(timeout=60.0)
