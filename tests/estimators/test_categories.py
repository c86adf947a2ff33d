"""Text columns of frames: of every library and type, at every door, and on disk."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.random import RandomState
from safetensors.numpy import load
from scipy.sparse import csr_array

from okspca import OKSPCA, DataError, NotReadyError, OKSPCAClassifier, StateError
from okspca.distributed import Survey, identity
from okspca.estimators.categories import CATEGORY_ROWS
from okspca_lab.ordeals.mutations import assembled, header_of

N = 40
RANDOM = RandomState(0)
SIZE = RANDOM.normal(size=N)
COLOUR = np.array(["red", "blue", "green"])[np.arange(N) % 3]
Y = SIZE + (COLOUR == "red")
HOT = np.column_stack([SIZE, *(one == COLOUR for one in ("blue", "green", "red"))])
FRAME = pd.DataFrame({"size": SIZE, "colour": COLOUR})
SMALL: dict[str, Any] = {"n_components": 1, "n_random_features": 8, "random_state": 0}
NAMES = ["size", "colour=blue", "colour=green", "colour=red"]
FRAMES: dict[str, Callable[[], Any]] = {
    "text": lambda: FRAME,
    "objects": lambda: FRAME.astype({"colour": object}),
    "string": lambda: FRAME.astype({"colour": "string"}),
    "category": lambda: FRAME.astype({"colour": "category"}),
    "numbered columns": lambda: FRAME.set_axis([0, 1], axis=1),
    "polars": lambda: pl.DataFrame({"size": SIZE, "colour": COLOUR.tolist()}),
    "polars categories": lambda: pl.DataFrame(
        {"size": SIZE, "colour": pl.Series(COLOUR.tolist(), dtype=pl.Categorical)}
    ),
    "polars enum": lambda: pl.DataFrame(
        {"size": SIZE, "colour": pl.Series(COLOUR.tolist(), dtype=pl.Enum(sorted(set(COLOUR))))}
    ),
    "arrow": lambda: pa.table({"size": SIZE, "colour": COLOUR.tolist()}),
    "arrow dictionary": lambda: pa.table(
        {"size": SIZE, "colour": pa.array(COLOUR.tolist()).dictionary_encode()}
    ),
}


def make(**options: Any) -> OKSPCA:
    return OKSPCA(**{**SMALL, "categories": "one-hot", **options})


@pytest.mark.parametrize("kind", FRAMES)
def test_every_kind_of_text_becomes_indicators(kind: str) -> None:
    frame = FRAMES[kind]()
    model, plain = make().fit(frame, Y), OKSPCA(**SMALL).fit(HOT, Y)
    np.testing.assert_array_equal(model.moment_.matrix(), plain.moment_.matrix())
    np.testing.assert_array_equal(model.transform(frame), plain.transform(HOT))
    named = kind != "numbered columns"
    assert model.input_names_ == (NAMES if named else ["x0", "x1=blue", "x1=green", "x1=red"])
    assert model.n_features_in_ == 2
    assert model.n_unseen_categories_ == {"colour" if named else "x1": 0}


def test_names_are_those_of_inputs_in_every_answer() -> None:
    model = make().fit(FRAME, Y)
    plain = OKSPCA(**SMALL).fit(HOT, Y)
    assert model.feature_names_in_.tolist() == ["size", "colour"]
    assert list(model.explain().inputs) == NAMES
    assert list(model.explain(FRAME).inputs) == NAMES
    np.testing.assert_array_equal(model.explain(FRAME).shares, plain.explain(HOT).shares)
    rows = model.explain_rows(FRAME[:3])
    assert list(rows.inputs) == NAMES
    assert list(model.check_drift(FRAME).inputs) == NAMES
    assert model.complete_rows(FRAME).tolist() == HOT.tolist()


def test_the_most_frequent_values_win_and_ties_go_by_the_alphabet() -> None:
    colour = ["d", "c", "b", "a", "d"]
    model = make(max_categories=3).fit(pd.DataFrame({"colour": colour}), np.arange(5.0))
    assert model.input_names_ == ["colour=a", "colour=b", "colour=d"]
    assert model.n_unseen_categories_ == {"colour": 1}
    new = pd.DataFrame({"colour": ["c", "e"]})
    assert model.complete_rows(new).tolist() == [[0.0] * 3] * 2
    assert model.n_unseen_categories_ == {"colour": 1}  # only rows that are learned count
    model.partial_fit(new, [0.5, 1.5])
    assert model.n_unseen_categories_ == {"colour": 3}


@pytest.mark.parametrize(("missing", "told"), [("raise", "row 0"), ("skip", "Column 'colour'")])
def test_by_default_text_is_refused_and_the_option_named(missing: str, told: str) -> None:
    for frame in (FRAME, FRAMES["polars"](), FRAMES["category"]()):
        with pytest.raises(DataError, match=rf"{told}.*categories='one-hot'") as caught:
            OKSPCA(**SMALL, missing=missing).fit(frame, Y)
        assert "'red'" in str(caught.value)
        assert "'colour'" in str(caught.value)
    with pytest.raises(DataError, match=r"'red' at row 0, column 1, .*; encode it first\.$"):
        make().fit(FRAME.to_numpy(), Y)


def test_arrays_and_numeric_frames_are_untouched() -> None:
    X = RandomState(1).normal(size=(N, 2))
    frame = pd.DataFrame(X, columns=["a", "b"])
    flags = pd.DataFrame({"a": X[:, 0], "b": X[:, 1] > 0.0})
    mixed = frame.astype({"b": object})
    for rows in (X, csr_array(X), frame, flags, mixed, frame.astype({"b": str})):
        model, plain = (each.partial_fit(rows, Y) for each in (make(), OKSPCA(**SMALL)))
        np.testing.assert_array_equal(model.moment_.matrix(), plain.moment_.matrix())
        assert model.n_unseen_categories_ == {}
        assert model.input_names_ == plain.input_names_
        assert OKSPCA.from_bytes(model.to_bytes()).to_bytes() == model.to_bytes()


def test_a_column_is_what_its_first_value_is() -> None:
    late = pd.DataFrame({"a": SIZE[:6], "b": [None, None, None, "u", "v", "u"]}, dtype=object)
    at_once = make(missing="impute").fit(late, Y[:6])
    assert at_once.input_names_ == ["a", "b=u", "b=v"]
    parts = make(missing="impute")
    for row in range(6):
        # An empty column of a block is one of numbers to pandas.
        block = late[row : row + 1].infer_objects()
        parts.partial_fit(block, Y[row : row + 1])
        assert OKSPCA.from_bytes(parts.to_bytes()).to_bytes() == parts.to_bytes()
    waiting = make(missing="impute").partial_fit(late, Y[:6])
    assert parts.to_bytes() == waiting.to_bytes()
    mixed = pd.DataFrame({"a": ["1", "2", "3+"]})
    with pytest.raises(DataError, match=r"Column 'a' of X contains '3\+'.*astype\('category'\)"):
        make(missing="skip").fit(pd.DataFrame({"a": ["1", "2", "3+"], "b": ["x", "y", "z"]}), Y[:3])
    assert make().fit(mixed.astype("category"), Y[:3]).input_names_ == ["a=1", "a=2", "a=3+"]
    dates = FRAME.assign(when=pd.Timestamp("2024-01-01"))
    with pytest.raises(DataError, match="Column 'when' of X holds dates or times"):
        make().fit(dates, Y)


def test_missing_categories_are_missing_values() -> None:
    frame = FRAME.copy()
    frame.loc[3, "colour"] = None
    with pytest.raises(DataError, match="NaN at row 3, column 'colour'"):
        make().fit(frame, Y)
    skipping = make(missing="skip").fit(frame, Y)
    assert (skipping.n_rows_skipped_, skipping.n_samples_seen_) == (1, N - 1)
    assert np.isnan(skipping.transform(frame)).ravel().nonzero()[0].tolist() == [3]
    filling = make(missing="impute", missing_indicators=True).fit(frame, Y)
    assert filling.input_names_ == [*NAMES, "size is missing", "colour is missing"]
    assert filling.n_values_imputed_ == 1
    row = filling.complete_rows(frame)[3]
    shares = HOT[np.arange(N) != 3, 1:].mean(axis=0)
    np.testing.assert_allclose(row, [SIZE[3], *shares, 0.0, 1.0], atol=1e-15)


def test_frozen_standardisers_are_those_of_the_indicators() -> None:
    for bandwidth in ("sqrt-dim", "median"):
        model = make(standardize="frozen", bandwidth=bandwidth).fit(FRAME, Y)
        plain = OKSPCA(**SMALL, standardize="frozen", bandwidth=bandwidth).fit(HOT, Y)
        np.testing.assert_array_equal(model.moment_.matrix(), plain.moment_.matrix())


def test_rows_wait_and_say_what_for() -> None:
    model = make().partial_fit(FRAME, Y)
    told = f"{N} of the {CATEGORY_ROWS} rows in which categories='one-hot'"
    with pytest.raises(NotReadyError, match=told):
        model.transform(FRAME)
    with pytest.raises(AttributeError, match="input_names_"):
        _ = model.input_names_
    assert model.n_samples_seen_ == N
    assert model.n_unseen_categories_ == {}


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("waits", [True, False])
def test_what_does_not_fit_the_columns_is_refused(waits: bool) -> None:
    model = make().partial_fit(FRAME, Y) if waits else make().fit(FRAME, Y)
    before = model.to_bytes()
    renamed = FRAME.rename(columns={"colour": "hue"})
    for X, told in (
        (renamed, "feature names"),
        (FRAME[["colour", "size"]], "feature names"),
        (FRAME[["size"]], "feature names|features"),
        (HOT[:, :2], "X must be a data frame"),
        (csr_array(HOT[:, :2]), "X must be a data frame"),
        (FRAME.assign(size="large"), "Column 'size' of X contains 'large'"),
    ):
        with pytest.raises(DataError, match=told):
            model.partial_fit(X, Y)
    for x, told in (
        (["red"], "1 values"),
        ([1.0, "red", 2.0], "3 values"),
        ({"size": 1.0}, "no value for the column 'colour'"),
        ({"size": 1.0, "colour": "red", "hue": 2}, "'hue'"),
        (["red", 1.0], "Column 'size' of X contains 'red'"),
        ([1.0, None], "NaN at row 0, column 'colour'"),
    ):
        with pytest.raises(DataError, match=told):
            model.learn_one(x, 1.0)  # type: ignore[arg-type]
    assert model.to_bytes() == before


def test_predictions_use_the_vocabulary() -> None:
    labels = np.where(Y > 0.3, "high", "low")
    head = OKSPCAClassifier(n_random_features=16, random_state=0, categories="one-hot")
    plain = OKSPCAClassifier(n_random_features=16, random_state=0).fit(HOT, labels)
    head.fit(FRAME, labels)
    np.testing.assert_array_equal(head.predict_proba(FRAME), plain.predict_proba(HOT))


def test_shards_are_refused_in_a_sentence() -> None:
    survey = Survey(OKSPCA(**SMALL)).add(HOT, Y)
    with pytest.raises(ValueError, match=r"categories='one-hot'.*encode text columns beforehand"):
        identity(make(), survey)


@pytest.mark.parametrize(("name", "value"), [("categories", "codes"), ("max_categories", 0)])
def test_settings_are_checked(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=name):
        make(**{name: value}).fit(FRAME, Y)


def test_files_without_the_parameters_load() -> None:
    model = OKSPCA(**SMALL).fit(HOT, Y)
    header = header_of(model.to_bytes())
    assert "categories" not in header["state"]["parameters"]
    assert "max_categories" not in header["state"]["parameters"]
    assert OKSPCA.from_bytes(model.to_bytes()).categories == "raise"


SPOILED: dict[str, Callable[[dict[str, Any], dict[str, Any]], Any]] = {
    "a code without a value": lambda kept, arrays: arrays["fitted/pilot_inputs"].__setitem__(
        (0, 1), 3.0
    ),
    "half a code": lambda kept, arrays: arrays["fitted/pilot_inputs"].__setitem__((0, 1), 0.5),
    "a value without a row": lambda kept, arrays: kept["values"][0].append("violet"),
    "a value twice": lambda kept, arrays: kept["values"][0].__setitem__(1, "red"),
    "a number as a value": lambda kept, arrays: kept["values"][0].__setitem__(1, 7),
    "values of no column": lambda kept, arrays: kept["values"].append(["a"]),
    "a place outside": lambda kept, arrays: arrays[PLACES].__setitem__((0, 0), 2),
    "a negative place": lambda kept, arrays: arrays[PLACES].__setitem__((0, 0), -1),
    "another kind": lambda kept, arrays: arrays[PLACES].__setitem__((0, 1), 2),
    "a column that is undecided": lambda kept, arrays: arrays[PLACES].__setitem__((0, 1), 0),
    "a count before its time": lambda kept, arrays: arrays[PLACES].__setitem__((0, 2), 1),
}
FITTED: dict[str, Callable[[dict[str, Any], dict[str, Any]], Any]] = {
    "a negative count": lambda kept, arrays: arrays[PLACES].__setitem__((0, 2), -1),
    "one value more": lambda kept, arrays: kept["values"][0].append("violet"),
    "values out of order": lambda kept, arrays: kept["values"][0].reverse(),
}
PLACES = "fitted/preparation/categories/columns"


@pytest.mark.parametrize("what", [*SPOILED, *FITTED])
def test_impossible_vocabularies_are_refused(what: str) -> None:
    model = make().partial_fit(FRAME, Y) if what in SPOILED else make().fit(FRAME, Y)
    header, arrays = header_of(model.to_bytes()), load(model.to_bytes())
    assert OKSPCA.from_bytes(assembled(header, arrays)).to_bytes() == model.to_bytes()
    kept = header["state"]["fitted"]["preparation"]["categories"]
    (SPOILED | FITTED)[what](kept, arrays)
    with pytest.raises(StateError):
        OKSPCA.from_bytes(assembled(header, arrays))
