"""Arrays reached by their address, and arrays that leave a kernel read-only."""

import numpy as np
import pytest

from okspca.numerics.addresses import matrix_at, read_only, table_of, vector_at
from okspca.numerics.arrays import Floats, Integers
from okspca.numerics.compiled import compiled


@compiled
def scale_in_place(table: Integers, factor: float) -> float:
    vector, matrix = vector_at(table, 0), matrix_at(table, 1)
    total = 0.0
    for i in range(matrix.shape[0]):
        for j in range(matrix.shape[1]):
            matrix[i, j] *= factor
            total += matrix[i, j] * vector[j]
    return total


@compiled
def counted(n: int) -> Floats:
    out = np.empty(n)
    for i in range(n):
        out[i] = i
    return read_only(out)


def test_a_kernel_changes_the_very_arrays() -> None:
    vector, matrix = np.array([1.0, -2.0, 3.0]), np.arange(6.0).reshape(2, 3)
    expected = 2.0 * matrix
    assert scale_in_place(table_of([vector, matrix]), 2.0) == (expected @ vector).sum()
    assert matrix.tolist() == expected.tolist()


def test_without_compiling_it_is_the_same_memory() -> None:
    vector, matrix = np.zeros(3), np.zeros((2, 3))
    table = table_of([vector, matrix])
    vector_at(table, 0)[1] = 5.0
    matrix_at(table, 1)[1, 2] = 7.0
    assert vector.tolist() == [0.0, 5.0, 0.0]
    assert matrix[1].tolist() == [0.0, 0.0, 7.0]


def test_empty_arrays_have_their_shape() -> None:
    table = table_of([np.empty(0), np.empty((0, 4))])
    assert vector_at(table, 0).shape == (0,)
    assert matrix_at(table, 1).shape == (0, 4)
    assert scale_in_place(table, 1.0) == 0.0


@pytest.mark.parametrize(
    "array",
    [np.zeros((4, 4))[:, ::2], np.zeros(4, dtype=np.float32), np.zeros((2, 3)).T],
    ids=["strided", "another type", "turned"],
)
def test_only_plain_arrays_are_listed(array: Floats) -> None:
    with pytest.raises(ValueError, match="plain, writable"):
        table_of([array])


def test_read_only_arrays_are_not_listed() -> None:
    with pytest.raises(ValueError, match="writable"):
        table_of([read_only(np.zeros(3))])


def test_what_leaves_a_kernel_read_only_cannot_be_changed_and_stays() -> None:
    kept = [counted(1000) for _ in range(50)]
    assert all(array.tolist() == list(range(1000)) for array in kept)
    with pytest.raises(ValueError, match="read-only"):
        kept[0][0] = 1.0
