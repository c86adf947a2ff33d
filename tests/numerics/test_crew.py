"""Threads among which work is shared out: all of it is done, in ranges that fit, and ended."""

import threading
import time
from collections.abc import Iterator

import pytest

from okspca.numerics import crew
from okspca.numerics.cores import one_core
from okspca.numerics.crew import n_threads, share_out, threads, work_ahead

ENOUGH = 100.0 * crew.LEAST


@pytest.fixture(autouse=True)
def any_number_of_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crew, "allowed", lambda n: n)


def shared_ranges(
    n: int, size: int, operations: float = ENOUGH, *, step: int = 1, triangle: bool = False
) -> list[tuple[int, int]]:
    found = []
    with threads(size):
        share_out(
            lambda start, stop: found.append((start, stop)),
            n,
            operations,
            step=step,
            triangle=triangle,
        )
    return sorted(found)


@pytest.mark.parametrize("n", [0, 1, 5, 24, 61, 256])
@pytest.mark.parametrize("size", [1, 2, 3, 7])
@pytest.mark.parametrize("step", [1, 24])
@pytest.mark.parametrize("triangle", [False, True])
def test_ranges_make_up_the_whole(n: int, size: int, step: int, triangle: bool) -> None:
    ranges = shared_ranges(n, size, step=step, triangle=triangle)
    assert [i for start, stop in ranges for i in range(start, stop)] == list(range(n))
    assert len(ranges) <= size
    assert all(start % step == 0 for start, _ in ranges)


def test_a_triangle_is_cut_where_its_halves_are_alike() -> None:
    (_, cut), _ = shared_ranges(1000, 2, triangle=True)
    assert abs(cut**2 - 1000**2 / 2) < 1000


def test_little_work_is_not_handed_over() -> None:
    assert shared_ranges(64, 4, 1.9 * crew.LEAST) == [(0, 64)]
    assert len(shared_ranges(64, 4, 3.0 * crew.LEAST)) == 3


def test_other_threads_take_part_and_are_gone_afterwards() -> None:
    names, before = set(), threading.active_count()
    both = threading.Barrier(2)

    def work(start: int, stop: int) -> None:
        both.wait(10.0)
        names.add(threading.current_thread().name)
        # What is shared out already is not shared out again.
        assert n_threads() == 1

    with threads(2):
        assert n_threads() == 2
        share_out(work, 2, ENOUGH)
    assert len(names) == 2
    assert threading.active_count() == before
    assert n_threads() == 1


@pytest.mark.parametrize("culprit", [0, 1])
@pytest.mark.parametrize("failure", [ValueError, KeyboardInterrupt])
def test_an_error_is_raised_once_nobody_is_at_work(
    culprit: int, failure: type[BaseException]
) -> None:
    ended = []

    def work(start: int, stop: int) -> None:
        if start == culprit:
            raise failure
        time.sleep(0.05)
        ended.append(start)

    with threads(2):
        with pytest.raises(failure):
            share_out(work, 2, ENOUGH)
        assert ended == [1 - culprit]


@pytest.mark.parametrize("size", [1, 2, 4])
def test_items_are_taken_in_their_order_whoever_works_on_them(size: int) -> None:
    taken = []

    def work(item: int) -> int:
        time.sleep(0.002 * (item % 3))
        return item**2

    def take(found: int) -> bool:
        taken.append(found)
        return True

    with threads(size):
        assert work_ahead(work, range(20), take) == 20
    assert taken == [item**2 for item in range(20)]


@pytest.mark.parametrize("size", [1, 2, 4])
def test_nobody_is_at_work_after_a_no(size: int) -> None:
    begun, ended = [], []

    def work(item: int) -> int:
        begun.append(item)
        time.sleep(0.01)
        ended.append(item)
        return item

    with threads(size):
        assert work_ahead(work, range(50), lambda found: found < 3) == 3
        assert sorted(begun) == sorted(ended)
        assert len(ended) < 50


@pytest.mark.parametrize("where", ["items", "work", "take"])
def test_errors_end_working_ahead(where: str) -> None:
    at_work = []

    def items() -> Iterator[int]:
        yield from range(4)
        if where == "items":
            raise ValueError(where)

    def work(item: int) -> int:
        at_work.append(item)
        time.sleep(0.01)
        at_work.remove(item)
        if where == "work":
            raise ValueError(where)
        return item

    def take(item: int) -> bool:
        if where == "take":
            raise ValueError(where)
        return True

    with threads(3):
        with pytest.raises(ValueError, match=where):
            work_ahead(work, items(), take)
        assert not at_work


@pytest.mark.parametrize("size", [2, 3])
def test_the_first_error_is_told_even_if_a_later_one_is_met_before(size: int) -> None:
    def work(item: int) -> int:
        # All but the first are met while the first is at work elsewhere.
        time.sleep(0.2 if item == 0 else 0.0)
        message = f"item {item}"
        raise ValueError(message)

    with threads(size), pytest.raises(ValueError, match="item 0"):
        work_ahead(work, range(6), lambda found: True)


def test_one_core_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    with one_core(), threads(8):
        assert n_threads() == 1
