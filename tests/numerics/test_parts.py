"""Helpers are compiled inside the kernels that call them, once, and as themselves for Python."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import numba
import numpy as np
import pytest
from llvmlite.binding import parse_assembly, parse_bitcode

from okspca.numerics import parts
from okspca.numerics.arrays import Floats
from okspca.numerics.compiled import compiled, reordered
from okspca.numerics.leading import gram_leading
from okspca.numerics.parts import KernelDispatcher, names_of

if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
    pytest.skip("nothing is compiled", allow_module_level=True)


@reordered
def total(row: Floats) -> float:
    result = 0.0
    for i in range(row.shape[0]):
        result += row[i]
    return result


@compiled
def checked(matrix: Floats, i: int) -> float:
    if i >= matrix.shape[0]:
        raise IndexError("There is no such row.")
    return total(matrix[i])


@compiled
def totals(matrix: Floats) -> Floats:
    out = np.empty(matrix.shape[0])
    for i in range(matrix.shape[0]):
        out[i] = checked(matrix, i)
    return out


@compiled
def only_called_by_kernels(x: float) -> float:
    return x + x


@compiled
def four_times(x: float) -> float:
    return only_called_by_kernels(only_called_by_kernels(x))


@compiled
def total_past_the_end(matrix: Floats) -> float:
    return checked(matrix, matrix.shape[0])


def test_helpers_are_part_of_their_callers_and_have_no_machine_code() -> None:
    assert four_times(2.0) == 8.0
    whole, part = cast(Any, four_times), cast(Any, only_called_by_kernels)
    assert isinstance(cast(object, part.dispatcher), KernelDispatcher)
    # Loaded from the cache, a kernel does not even look at its helpers.
    assert (len(whole.overloads), len(part.overloads)) == (1, 0)
    assert len(part.dispatcher.callee.overloads) <= 1


def test_a_helper_is_a_kernel_of_its_own_where_python_calls_it() -> None:
    matrix = np.arange(6.0).reshape(2, 3)
    assert checked(matrix, 1) == totals(matrix)[1]


def test_an_error_in_a_helper_reaches_python() -> None:
    with pytest.raises(IndexError, match="no such row"):
        total_past_the_end(np.ones((2, 3)))


def test_no_kernel_can_use_the_copy_of_a_helper_that_another_has() -> None:
    totals(np.ones((2, 3)))
    (result,) = cast(Any, totals).overloads.values()
    functions = [f for f in result.library.get_defined_functions() if "total" in f.name]
    shared = {f.name for f in functions if f.linkage.name != "internal"}
    own = result.fndesc
    assert shared <= {own.llvm_func_name, own.llvm_cpython_wrapper_name}


def test_what_is_kept_beside_machine_code_is_the_names_of_its_functions() -> None:
    module = parse_assembly(
        "define double @kernel(double %x) { ret double %x }\n"
        "define internal double @helper(double %x) { ret double %x }\n"
        "declare double @elsewhere(double)\n@cell = global i64 3"
    )
    kept = parse_bitcode(names_of(module))
    assert [each.name for each in kept.functions if not each.is_declaration] == ["kernel"]
    assert not list(kept.global_variables)
    assert "llvm.trap" in str(kept)


#: Computes with kernels that have helpers, in a process for which Numba's ways have changed.
CHANGED = """
from okspca.numerics import parts
def gone(*_): raise AttributeError
parts.Part.finalize = gone
import numpy as np
from okspca.numerics.leading import gram_leading
Ct = np.random.default_rng(0).normal(size=(5, 8))
found, sigma, rows, _ = gram_leading(Ct, 2)
assert found and parts._WAY.is_plain
print(sigma.tobytes().hex(), rows.tobytes().hex())
"""


@pytest.mark.slow
def test_another_version_of_numba_compiles_plainly_and_computes_the_same(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", CHANGED],
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    there = [np.frombuffer(bytes.fromhex(word)) for word in done.stdout.split()]
    found, sigma, rows, _ = gram_leading(np.random.default_rng(0).normal(size=(5, 8)), 2)
    assert found
    assert not parts._WAY.is_plain
    np.testing.assert_allclose(there[0], sigma, rtol=1e-9)
    np.testing.assert_allclose(there[1], rows.ravel(), rtol=1e-9, atol=1e-12)


def test_a_kernel_that_numba_cannot_compile_is_its_own_fault() -> None:
    with pytest.raises(numba.TypingError):
        total("text")  # type: ignore[arg-type]
    assert not parts._WAY.is_plain
