"""Sparse rows at the door: wrong indices never get in, and every sound form means the same."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from scipy.sparse import bsr_array, coo_array, csc_array, csr_array, lil_array

from okspca import OKSPCA, DataError, OKSPCARegressor
from okspca.distributed import Survey, identity
from okspca.distributed.states import first_rows
from okspca.numerics.sparse import fault

N, D = 40, 7
Y = np.random.RandomState(1).normal(size=N)


def dense() -> Any:
    random = np.random.RandomState(0)
    return random.normal(size=(N, D)) * (random.rand(N, D) < 0.4)


def model(**settings: Any) -> OKSPCA:
    return OKSPCA(1, n_random_features=16, random_state=0, **settings)


def changed(X: Any, name: str, change: Callable[[Any], Any]) -> Any:
    """Replace one of the arrays of a sound matrix, behind SciPy's back."""
    setattr(X, name, change(getattr(X, name).copy()))
    return X


def at(place: int, value: int) -> Callable[[Any], Any]:
    def put(array: Any) -> Any:
        array[place] = value
        return array

    return put


def wide_indices(X: Any) -> Any:
    made = csr_array(X)
    made.indices, made.indptr = made.indices.astype(np.int64), made.indptr.astype(np.int64)
    return made


def spoiled() -> dict[str, tuple[Any, str]]:
    X = dense()
    last = int(csr_array(X).indptr[-1])
    made = {
        "far": (changed(csr_array(X), "indices", at(-1, 10**9)), f"row {N - 1} has an entry in"),
        "beside": (changed(csr_array(X), "indices", at(0, D)), f"row 0 has an entry in column {D}"),
        "negative": (
            changed(csr_array(X), "indices", at(0, -1)),
            "row 0 has an entry in",
        ),
        "late": (changed(csr_array(X), "indptr", at(0, 2)), "row 0 begins at entry 2"),
        "back": (changed(csr_array(X), "indptr", at(3, 0)), "row 2 is from entry"),
        "beyond": (changed(csr_array(X), "indptr", at(-1, 10**8)), f"row {N - 1} is from entry"),
        "few": (changed(csr_array(X), "indptr", lambda a: a[:-1]), "pointers"),
        "many": (changed(csr_array(X), "data", lambda a: a[:-1]), f"{last - 1} values but"),
        "halves": (changed(csr_array(X), "indices", lambda a: a + 0.5), "not whole numbers"),
        "csc": (changed(csc_array(X), "indices", at(0, N)), f"column 0 has an entry in row {N}"),
        "coo row": (_coo(X, (at(0, N), None)), f"entry 0 is at row {N}, column"),
        "coo column": (_coo(X, (None, at(0, -3))), "column -3, but"),
        "bsr": (changed(bsr_array(X, blocksize=(4, 7)), "indices", at(0, 1)), "column 1, but"),
        "lil": (_lil(X), f"row 2 has an entry in column {D + 4}"),
    }
    wide = changed(wide_indices(X), "indices", at(-1, 2**40))
    made["int64"] = wide, f"row {N - 1} has an entry in column {2**40}"
    return made


def _coo(X: Any, changes: tuple[Any, Any]) -> Any:
    made = coo_array(X)
    made.coords = tuple(
        coordinate if change is None else change(coordinate.copy())
        for coordinate, change in zip(made.coords, changes, strict=True)
    )
    return made


def _lil(X: Any) -> Any:
    made = lil_array(X)
    made.rows[2], made.data[2] = [0, D + 4], [1.0, 2.0]
    return made


SPOILED = spoiled()


@pytest.mark.parametrize("name", SPOILED)
def test_a_wrong_index_is_refused_at_every_door(name: str) -> None:
    X, told = SPOILED[name]
    sparse = csr_array(dense())
    learned, predictor = model().fit(sparse, Y), OKSPCARegressor(1, n_random_features=16)
    predictor.fit(sparse, Y)
    before = learned.to_bytes()
    survey = Survey(model()).add(sparse, Y)
    seen = survey.to_bytes()
    doors: dict[str, Callable[[], object]] = {
        "fit": lambda: model().fit(X, Y),
        "first block": lambda: model().partial_fit(X, Y),
        "held back": lambda: model(bandwidth="median").partial_fit(X, Y),
        "later block": lambda: learned.partial_fit(X, Y),
        "weighted": lambda: learned.partial_fit(X, Y, sample_weight=np.arange(float(N))),
        "transform": lambda: learned.transform(X),
        "predict": lambda: predictor.predict(X),
        "survey": lambda: survey.add(X, Y),
        "first rows": lambda: first_rows([(X, Y)]),
        "pilot": lambda: identity(model(bandwidth="median"), survey, pilot=(X, Y)),
    }
    for act in doors.values():
        with pytest.raises(DataError, match="X cannot be read") as caught:
            act()
        assert told in str(caught.value)
    assert learned.to_bytes() == before
    assert survey.to_bytes() == seen


def with_duplicates(X: Any) -> Any:
    """Every entry in two halves, in the order of a shuffle."""
    coo = coo_array(X)
    order = np.random.RandomState(0).permutation(2 * coo.nnz)
    rows, columns = np.tile(coo.row, 2)[order], np.tile(coo.col, 2)[order]
    order = np.argsort(rows, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=N))])
    values = np.tile(0.5 * coo.data, 2)
    values = values[np.random.RandomState(0).permutation(2 * coo.nnz)][order]
    return csr_array((values, columns[order], starts), shape=X.shape)


def with_room(X: Any) -> Any:
    """Arrays longer than what the rows use; what is there is no number."""
    made = csr_array(X)
    made.data = np.concatenate([made.data, [np.nan, np.inf]])
    made.indices = np.concatenate([made.indices, np.array([-5, 10**6], made.indices.dtype)])
    return made


def unsorted(X: Any) -> Any:
    made = csr_array(X)
    for start, stop in zip(made.indptr, made.indptr[1:], strict=False):
        made.indices[start:stop] = made.indices[start:stop][::-1].copy()
        made.data[start:stop] = made.data[start:stop][::-1].copy()
    return made


def in_format(name: str, X: Any) -> Any:
    return csr_array(X).asformat(name)


FORMATS = ("csc", "coo", "bsr", "lil", "dok", "dia")
FORMS: dict[str, Callable[[Any], Any]] = {
    **{name: partial(in_format, name) for name in FORMATS},
    "duplicates": with_duplicates,
    "room": with_room,
    "unsorted": unsorted,
    "int64": wide_indices,
}


@pytest.mark.parametrize("standardize", ["causal", "frozen", None])
@pytest.mark.parametrize("form", FORMS)
def test_every_sound_form_means_the_same(form: str, standardize: Any) -> None:
    plain, other = csr_array(dense()), FORMS[form](dense())
    kept = [array.copy() for array in _arrays(other)]
    assert fault(other) is None
    settings: dict[str, Any] = {"standardize": standardize}
    wanted, found = model(**settings).fit(plain, Y), model(**settings).fit(other, Y)
    np.testing.assert_allclose(found.transform(other), wanted.transform(plain), atol=1e-12)
    assert found.moment_.matrix().tobytes() == wanted.moment_.matrix().tobytes()
    # What is the caller's stays as it was.
    for before, after in zip(kept, _arrays(other), strict=True):
        np.testing.assert_array_equal(before, after)


def _arrays(X: Any) -> list[Any]:
    names = ("data", "indices", "indptr")
    return [getattr(X, name) for name in names if isinstance(getattr(X, name, None), np.ndarray)]


def test_entries_of_one_place_are_added_as_numbers_not_in_their_own_width() -> None:
    row = np.arange(N, dtype=np.int8)
    values = np.concatenate([row + 90, row + 90]).astype(np.int8)
    starts = np.arange(0, 2 * N + 1, 2)
    columns = np.zeros(2 * N, dtype=np.int32)
    narrow = csr_array((values, columns, starts), shape=(N, D))
    wide = csr_array((values.astype(np.float64), columns, starts), shape=(N, D))
    found, wanted = (model().fit(X, Y).moment_.matrix() for X in (narrow, wide))
    np.testing.assert_array_equal(found, wanted)


def test_no_rows_and_empty_rows_are_sound() -> None:
    assert fault(csr_array((0, D))) is None
    assert fault(csr_array((N, D))) is None
    assert fault(coo_array((N, D))) is None
    assert fault(lil_array((N, D))) is None
