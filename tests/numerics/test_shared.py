"""Shared kernels: one piece of machine code, found by new and by cached callers alike."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from okspca.numerics.arrays import Floats
from okspca.numerics.compiled import compiled
from okspca.numerics.shared import count, number, read_matrix, shared


@shared(number, read_matrix, count)
def entry(A: Floats, i: int) -> float:
    if i >= A.shape[0]:
        raise IndexError("no such row")
    return A[i, 0]


@compiled
def entries(A: Floats) -> float:
    return entry(A, 1) + 10.0 * entry(A.T, 1)


@compiled
def beyond(A: Floats) -> float:
    return entry(A, 7)


def test_one_signature_serves_all_layouts() -> None:
    A = np.arange(6.0).reshape(2, 3)
    assert entries(A) == entry(A, 1) + 10.0 * entry(A.T, 1) == 13.0
    assert entries(A[:, ::2]) == 23.0
    A.flags.writeable = False
    assert entries(A) == 13.0


def test_exceptions_reach_the_caller() -> None:
    with pytest.raises(IndexError, match="no such row"):
        entry(np.ones((2, 2)), 2)
    with pytest.raises(IndexError, match="no such row"):
        beyond(np.ones((2, 2)))


@shared(number, number)
def unprepared(x: float) -> float:
    return x


@compiled
def asks(x: float) -> float:
    return unprepared(x)


def test_a_kernel_that_cannot_be_prepared_gives_no_number(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(self: object) -> None:
        raise MemoryError

    with monkeypatch.context() as patched:
        patched.setattr(type(unprepared), "prepare", fail)
        patched.setattr(sys, "unraisablehook", lambda _: None)
        with pytest.raises(RuntimeError, match="could not be prepared"):
            asks(1.0)
    assert asks(2.0) == 2.0
    assert capsys.readouterr().err == ""


@shared(number, number)
def interrupted(x: float) -> float:
    return x


@compiled
def asks_deeper(x: float) -> float:
    return interrupted(x)


@compiled
def asks_for_it(x: float) -> float:
    return asks_deeper(x) + 1.0


def test_an_interrupt_while_a_kernel_is_prepared_is_an_interrupt(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def press(self: object) -> None:
        signal.raise_signal(signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with monkeypatch.context() as patched:
            patched.setattr(type(interrupted), "prepare", press)
            for _ in range(2):
                with pytest.raises(KeyboardInterrupt):
                    asks_for_it(1.0)
    finally:
        signal.signal(signal.SIGINT, before)
    assert asks_for_it(2.0) == 3.0


PROGRAM = """
import numpy as np
from okspca.numerics.matrix import product
from okspca.numerics.announcing import ANNOUNCER
A = np.arange(12.0).reshape(3, 4)
print(product(A, A.T).tolist(), ANNOUNCER.compiled)
"""


@pytest.mark.slow
def test_a_second_process_compiles_nothing(tmp_path: Path) -> None:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    lines = [
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env=environment,
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for _ in range(2)
    ]
    first, second = (line.rsplit(" ", 1) for line in lines)
    assert first[0] == second[0]
    assert int(first[1]) > int(second[1]) == 0


ONE = """
from okspca.numerics.shared import number, shared
@shared(number, number)
def {name}(x):
    return x + {adds}
"""
CALLER = """
from one import one
from two import two
from okspca.numerics.compiled import compiled
@compiled
def both(x):
    return one(x) + two(x)
"""


@pytest.mark.slow
def test_the_order_of_imports_does_not_matter_to_cached_code(tmp_path: Path) -> None:
    for name, adds in (("one", "1.0"), ("two", "2.0")):
        (tmp_path / f"{name}.py").write_text(ONE.format(name=name, adds=adds))
    (tmp_path / "caller.py").write_text(CALLER)
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    for order in ("import one, two", "import two, one"):
        program = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n{order}\nimport caller"
        found = subprocess.run(
            [sys.executable, "-c", f"{program}\nprint(caller.both(1.0))"],
            env=environment,
            check=True,
            capture_output=True,
            text=True,
        )
        assert found.stdout == "5.0\n"


WITHOUT = """
import numpy as np
from okspca.numerics.matrix import gram, product
from okspca.numerics.sums import distance
A = np.arange(6.0).reshape(2, 3)
print(product(A, A.T)[1, 1], gram(A)[2, 2], distance(A, A + 2.0)**2 < 24.1)
"""


def test_compilation_switched_off() -> None:
    found = subprocess.run(
        [sys.executable, "-c", WITHOUT],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        check=True,
        capture_output=True,
        text=True,
    )
    assert found.stdout.split() == ["50.0", "29.0", "True"]
