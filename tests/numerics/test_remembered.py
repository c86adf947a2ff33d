"""Arrays that are remembered: the ones used last, never more than the bound."""

import threading
from collections.abc import Callable

import numpy as np

from okspca.numerics.remembered import Arrays, Remembered


def numbers(n: int, value: float = 0.0) -> Callable[[], Arrays]:
    return lambda: (np.full(n, value), np.full(n, value))


def test_the_ones_used_last_are_kept_up_to_the_bound() -> None:
    known = Remembered(most_bytes=3 * 160)
    first = known.get("a", numbers(10))
    for key in ("b", "c"):
        known.get(key, numbers(10))
    assert known.get("a", numbers(10)) is first
    known.get("d", numbers(10))
    assert known.keys() == ["c", "a", "d"]
    known.get("wide", numbers(20))
    assert known.keys() == ["d", "wide"]
    assert known.n_bytes == 160 + 320


def test_one_that_is_larger_than_the_bound_is_kept_alone() -> None:
    known = Remembered(most_bytes=100)
    known.get("small", numbers(1))
    large = known.get("large", numbers(1000))
    assert known.get("large", numbers(1000)) is large
    assert known.keys() == ["large"]
    known.get("small", numbers(1))
    assert (known.keys(), known.n_bytes) == (["small"], 16)


def test_threads_share_it() -> None:
    known, wrong = Remembered(most_bytes=1000), []

    def ask(seed: int) -> None:
        for key in np.random.RandomState(seed).randint(20, size=500).tolist():
            if known.get(key, numbers(key + 1, key))[1].tolist() != [key] * (key + 1):
                wrong.append(key)

    threads = [threading.Thread(target=ask, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    held = known.keys()
    assert known.n_bytes == sum(2 * 8 * (int(str(key)) + 1) for key in held) <= 1000
