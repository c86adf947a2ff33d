"""One thread that learns and four that ask, taking turns as often as Python allows."""

import sys
import threading
from collections.abc import Callable
from typing import Any

READERS = 4


def answers_of(learn: Callable[[], None], ask: Callable[[], Any]) -> list[Any]:
    """Let four readers ask while one thread learns; raise what any of them raised."""
    answers: list[Any] = []
    failures: list[BaseException] = []
    done = threading.Event()

    def guarded(work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as failure:
            failures.append(failure)

    def read() -> None:
        while not done.is_set():
            answers.append(ask())

    def write() -> None:
        try:
            learn()
        finally:
            done.set()

    threads = [threading.Thread(target=guarded, args=(read,)) for _ in range(READERS)]
    threads.append(threading.Thread(target=guarded, args=(write,)))
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)  # threads take turns often, so that they meet in odd places
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    if failures:
        raise failures[0]
    return answers
