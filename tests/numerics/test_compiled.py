"""A bound kernel serves every number it is given, and meets only arrays that it was made for."""

import copy
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from okspca import OKSPCA
from okspca.numerics.arrays import Floats
from okspca.numerics.compiled import BoundKernel, compiled
from okspca.services import BY_NAME, Exact, WarmBlock


@compiled
def scaled(array: Floats, numbers: tuple[int, float], negative: bool) -> float:
    count, factor = numbers
    total = 0.0
    for i in range(array.shape[0]):
        total += array[i]
    return (-1.0 if negative else 1.0) * count * factor * total


@pytest.mark.parametrize("first", [np.uint8(2), np.int16(2), 2], ids=["uint8", "int16", "int"])
def test_the_first_number_does_not_decide_what_later_ones_may_be(first: Any) -> None:
    kernel, array = BoundKernel(scaled), np.ones(3)
    assert kernel.code(array, (first, np.float32(0.5)), np.bool_(False)) == 3.0
    assert kernel.code(array, (300, 0.1), True) == scaled(array, (300, 0.1), True)
    assert kernel.code(array, (np.int64(70_000), 1.0), False) == 210_000.0


def test_a_read_only_array_comes_first_and_a_writable_one_later() -> None:
    array = np.ones(3)
    array.flags.writeable = False
    kernel = BoundKernel(scaled)
    assert kernel.code(array, (1, 1.0), False) == kernel.code(np.ones(3), (1, 1.0), False) == 3.0


def test_an_array_of_another_order_binds_nothing() -> None:
    kernel = BoundKernel(scaled)
    with pytest.raises(TypeError, match="C order"):
        kernel.code(np.ones(6)[::2], (1, 1.0), False)
    assert kernel.code(np.ones(3), (1, 1.0), False) == 3.0


def bound_kernels() -> Iterator[BoundKernel[Any]]:
    for name, module in list(sys.modules.items()):
        if name.startswith("okspca."):
            yield from (part for part in vars(module).values() if isinstance(part, BoundKernel))


def arrays_of(argument: Any) -> Iterator[np.ndarray[Any, Any]]:
    if isinstance(argument, np.ndarray):
        yield argument
    elif isinstance(argument, tuple):
        for part in argument:
            yield from arrays_of(part)


def checking(code: Callable[..., Any], met: list[str]) -> Callable[..., Any]:
    def checked(*arguments: Any) -> Any:
        for array in arrays_of(arguments):
            assert array.flags.c_contiguous
            assert array.dtype in (np.float64, np.int64)
        met.append("a call")
        return code(*arguments)

    return checked


def targets(X: Floats) -> dict[str, Any]:
    return {
        "labels": np.where(X[:, 0] > 0.0, "a", "b"),
        "number": X[:, 0] ** 2,
        "numbers": np.column_stack([X[:, 0], np.sin(X[:, 1])]),
    }


@pytest.mark.parametrize("kind", ["labels", "number", "numbers"])
@pytest.mark.parametrize("name", [*BY_NAME, "wide"])
def test_only_plain_arrays_reach_a_bound_kernel(
    name: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name in ("binary", "contrast") and kind != "labels":
        pytest.skip("this service takes other targets")
    solver: Any = Exact(block=WarmBlock(n_guards=1)) if name == "wide" else name
    X = np.random.RandomState(0).normal(size=(300, 4))
    y = targets(X)[kind]
    met: list[str] = []
    for kernel in bound_kernels():
        monkeypatch.setattr(kernel, "code", checking(kernel.code, met))
    made = OKSPCA(1, n_random_features=48, solver=solver, standardize=None, random_state=0)
    model = made.fit(np.asfortranarray(X[:100]), y[:100])
    for again in (model, OKSPCA.from_bytes(model.to_bytes()), copy.deepcopy(model)):
        again.learn_one(X[100], y[100])
        again.partial_fit(X[101:201][::2], y[101:201][::2])
        again.basis(), again.basis(certify=False)
        if name not in ("adam", "projected-gradient"):
            again.merge(copy.deepcopy(model), distinct=True).basis()
    if name not in ("exact-snapshot", "exact-each", "cached", "binary", "contrast"):
        assert met
