"""Reading ahead hands everything on, in order: rows, errors, and the wish to stop."""

import threading
from collections.abc import Iterator

import pytest

from okspca.files.reading_ahead import read_ahead


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
    """As on Ctrl-C when a pipe says nothing."""
    silence = threading.Event()

    def items() -> Iterator[int]:
        yield 1
        silence.wait()

    wanted = threading.Event()
    arriving = read_ahead(items(), wanted.is_set)
    assert next(arriving) == 1
    wanted.set()
    assert list(arriving) == []
    silence.set()


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
