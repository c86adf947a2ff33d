"""Missing values that are not NaN: each is refused where it is, at every door."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.random import RandomState
from scipy.sparse import csr_array

from okspca import OKSPCA, DataError, NotReadyError, OKSPCAClassifier, OKSPCARegressor
from okspca.comparators import CIPLS, OneVsRestReducer
from okspca.distributed.frames import block_of
from okspca.distributed.named import NamedFeatures
from tests.contracts.fingerprint import state_of

X = RandomState(0).normal(size=(20, 2))
Y = X[:, 0] + 1.0
LABELS = (X[:, 1] > 0.0).astype(int)
SMALL: dict[str, Any] = {"n_components": 1, "n_random_features": 8, "random_state": 0}


@cache
def fitted(kind: type) -> Any:
    """A model that has learned; what it refuses leaves it as it is."""
    if kind in (OKSPCAClassifier, OneVsRestReducer):
        return (kind() if kind is OneVsRestReducer else kind(**SMALL)).fit(X, LABELS)
    return kind(**SMALL).fit(X, Y)


def masked(array: Any, *place: Any) -> Any:
    mask = np.zeros(array.shape, dtype=bool)
    mask[place] = True
    return np.ma.array(array, mask=mask)


def holding(array: Any, *place_and_value: Any) -> Any:
    """The array as one of objects, with one of them replaced."""
    *place, value = place_and_value
    objects = array.astype(object)
    objects[tuple(place)] = value
    return objects


def dates(shape: tuple[int, ...], kind: str, *place: Any) -> Any:
    array = np.arange(np.prod(shape)).reshape(shape).astype(kind)
    array[place] = "NaT"
    return array


MARKS = (None, pd.NaT, pd.NA, np.datetime64("NaT"), np.timedelta64("NaT"), np.ma.masked)
TABLES: dict[str, Any] = {
    "mask": masked(X, 3, 1),
    "mask of integers": masked((9 * X).astype(int), 3, 1),
    "rows with masks": list(masked(X, 3, 1)),
    "dates": dates((20, 2), "datetime64[s]", 3, 1),
    "durations": dates((20, 2), "timedelta64[ms]", 3, 1),
    "frame of dates": pd.DataFrame(dates((20, 2), "datetime64[ns]", 3, 1)),
    "mixed frame": pd.DataFrame({"a": X[:, 0], "b": dates((20,), "datetime64[ns]", 3)}),
    "nullable frame": pd.DataFrame(
        {"a": X[:, 0], "b": pd.array([None if i == 3 else i for i in range(20)], dtype="Int64")}
    ),
    "polars": pl.DataFrame({"a": X[:, 0], "b": [None if i == 3 else i for i in range(20)]}),
    "polars dates": pl.DataFrame(dates((20, 2), "datetime64[us]", 3, 1)),
    **{f"object {mark!r}": holding(X, 3, 1, mark) for mark in MARKS},
    **{f"list {mark!r}": holding(X, 3, 1, mark).tolist() for mark in MARKS},
}


@pytest.mark.filterwarnings("ignore:Warning. converting a masked element:UserWarning")
@pytest.mark.filterwarnings("ignore:X has feature names:UserWarning")
@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
@pytest.mark.parametrize(
    "door",
    [
        lambda bad: OKSPCA(**SMALL).fit(bad, Y),
        lambda bad: fitted(OKSPCA).partial_fit(bad, Y),
        lambda bad: fitted(OKSPCA).transform(bad),
        lambda bad: fitted(OKSPCARegressor).predict(bad),
        lambda bad: fitted(OKSPCAClassifier).predict_proba(bad),
        lambda bad: CIPLS(1).fit(bad, Y),
        lambda bad: OneVsRestReducer().fit(bad, LABELS),
        lambda bad: fitted(OneVsRestReducer).transform(bad),
    ],
    ids=["fit", "partial_fit", "transform", "predict", "proba", "cipls", "ovr", "ovr transform"],
)
def test_inputs_that_are_missing_are_refused_by_row_and_column(
    table: Any, door: Callable[[Any], Any]
) -> None:
    with pytest.raises(DataError, match=r"row 3, column (1|'b'|'column_1')"):
        door(table)


@pytest.mark.filterwarnings("ignore:Warning. converting a masked element:UserWarning")
@pytest.mark.parametrize("kind", ["mask", "dates", "durations", "mark"])
@pytest.mark.parametrize("is_known", [False, True])
def test_one_row_with_something_missing_is_refused(kind: str, is_known: bool) -> None:
    model = OKSPCA(**SMALL)
    if is_known:
        model.fit(X, Y).learn_one(X[0], Y[0])  # the fast row path is open
    before = state_of(model)
    rows = {
        "mask": [TABLES["mask"][3], np.ma.array([1, 2], mask=[False, True])],
        "dates": [TABLES["dates"][3]],
        "durations": [TABLES["durations"][3]],
        "mark": [row for mark in MARKS for row in ([1.0, mark], holding(X[3], 1, mark))],
    }[kind]
    for row in rows:
        with pytest.raises(DataError, match="row 0, column 1"):
            model.learn_one(row, 1.0)
    assert state_of(model) == before


@pytest.mark.parametrize(
    "value", [*MARKS, np.ma.array(1.0, mask=True), np.float64("nan")], ids=repr
)
@pytest.mark.parametrize("task", ["regression", "classification"])
def test_one_target_that_is_missing_is_refused(value: Any, task: str) -> None:
    model = OKSPCA(**SMALL, task=task).fit(X, Y if task == "regression" else LABELS)
    with pytest.raises(DataError, match="row 0"):
        model.learn_one(X[0], value)
    assert model.n_samples_seen_ == 20


RESPONSES: dict[str, Any] = {
    "mask": masked(Y, 3),
    "dates": dates((20,), "datetime64[D]", 3),
    "durations": dates((20,), "timedelta64[s]", 3),
    "series": pd.Series(pd.array([None if i == 3 else i / 2 for i in range(20)], dtype="Float64")),
    **{f"object {mark!r}": holding(Y, 3, mark) for mark in MARKS},
}


@pytest.mark.filterwarnings("ignore:Warning. converting a masked element:UserWarning")
@pytest.mark.parametrize("y", RESPONSES.values(), ids=RESPONSES)
@pytest.mark.parametrize("model", [OKSPCA(**SMALL), OKSPCARegressor(**SMALL), CIPLS(1)])
def test_responses_and_weights_that_are_missing_are_refused(y: Any, model: Any) -> None:
    with pytest.raises(DataError, match=r"y contains .* at row 3"):
        model.fit(X, y)
    if isinstance(model, OKSPCA):
        with pytest.raises(DataError, match=r"sample_weight contains .* at row 3"):
            model.fit(X, Y, sample_weight=y)


def test_one_of_several_responses_is_masked() -> None:
    with pytest.raises(DataError, match="y contains a masked value at row 3, column 1"):
        OKSPCA(**SMALL).fit(X, masked(np.column_stack([Y, Y]), 3, 1))


TEXTS = np.where(LABELS, "left", "right")
CLASSES: dict[str, Any] = {
    "mask": masked(LABELS, 3),
    "mask of texts": masked(TEXTS, 3),
    "series": pd.Series(pd.array([None if i == 3 else i % 2 for i in range(20)], dtype="Int64")),
    "categories": pd.Series(pd.Categorical([None if i == 3 else i % 2 for i in range(20)])),
    "strings": pd.Series([None if i == 3 else str(i % 2) for i in range(20)], dtype="string"),
    "texts": holding(TEXTS, 3, float("nan")),
    **{f"object {mark!r}": holding(LABELS, 3, mark) for mark in MARKS},
}


@pytest.mark.parametrize("y", CLASSES.values(), ids=CLASSES)
@pytest.mark.parametrize(
    "model",
    [OKSPCA(**SMALL, task="classification"), OKSPCAClassifier(**SMALL), OneVsRestReducer()],
)
def test_labels_that_are_missing_are_refused(y: Any, model: Any) -> None:
    with pytest.raises(DataError, match=r"y contains .* at row 3"):
        model.fit(X, y)


def test_a_mask_that_hides_nothing_changes_nothing() -> None:
    plain, with_mask = (
        OKSPCA(**SMALL).fit(X, Y),
        OKSPCA(**SMALL).fit(np.ma.array(X), np.ma.array(Y)),
    )
    with_mask.learn_one(np.ma.array(X[0]), Y[0])
    assert state_of(with_mask) == state_of(plain.learn_one(X[0], Y[0]))


def test_a_mask_on_stored_values_is_seen() -> None:
    rows = csr_array(X)
    rows.data = masked(rows.data, 7)
    with pytest.raises(DataError, match="masked value at row 3, column 1"):
        OKSPCA(**SMALL).fit(rows, Y)


def test_frames_are_refused_before_they_become_a_matrix() -> None:
    frame = pd.DataFrame({"a": X[:, 0], "b": dates((20,), "datetime64[ns]", 3), "y": Y})
    with pytest.raises(DataError, match="Column 'b' contains NaT at row 3"):
        block_of(frame, "y")


@pytest.mark.parametrize("mark", MARKS[:-1], ids=repr)
def test_a_named_feature_that_is_missing_is_absent(mark: Any) -> None:
    features = NamedFeatures(8, 1.0, 0)
    features.learn_names(["a", "b"])
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": pd.Series([3.0, mark], dtype=object)})
    wanted = [[0.0, 1.0, 3.0], [0.0, 2.0, np.nan]]
    assert np.array_equal(features.frame_rows(frame), wanted, equal_nan=True)
    named = features.rows([{"a": 1.0, "b": 3.0}, {"a": 2.0, "b": mark}])
    assert np.array_equal(named, wanted, equal_nan=True)


NUMBERS = {name: table for name, table in TABLES.items() if "dates" not in name}


@pytest.mark.filterwarnings("ignore:Warning. converting a masked element:UserWarning")
@pytest.mark.parametrize("name", [name for name in NUMBERS if name not in ("durations",)])
@pytest.mark.parametrize("missing", ["skip", "impute"])
def test_marks_of_all_kinds_are_skipped_and_filled(name: str, missing: str) -> None:
    model = OKSPCA(**SMALL, missing=missing).fit(TABLES[name], Y)
    assert model.n_rows_skipped_ == (1 if missing == "skip" else 0)
    assert model.n_values_imputed_ == (0 if missing == "skip" else 1)
    Z = model.transform(TABLES[name])
    assert np.isnan(Z[3]).all() == (missing == "skip")
    assert np.isfinite(np.delete(Z, 3, axis=0)).all()


@pytest.mark.filterwarnings("ignore:Warning. converting a masked element:UserWarning")
@pytest.mark.parametrize("missing", ["skip", "impute"])
@pytest.mark.parametrize("mark", [*MARKS, np.float64("nan")], ids=repr)
def test_rows_without_a_target_are_left_out(mark: Any, missing: str) -> None:
    kept = np.delete(np.arange(20), 3)
    for y in (holding(Y, 3, mark), holding(np.array(list("ab") * 10), 3, mark)):
        model = OKSPCA(**SMALL, missing=missing).fit(X, y)
        whole = np.array(y[kept].tolist())
        expected = OKSPCA(**SMALL).fit(X[kept], whole)
        assert model.n_rows_skipped_ == 1
        np.testing.assert_array_equal(model.moment_.matrix(), expected.moment_.matrix())
        model.learn_one(X[0], mark)
        assert (model.n_rows_skipped_, model.n_samples_seen_) == (2, 19)


def test_classes_of_skipped_rows_are_not_known() -> None:
    gappy = X.copy()
    gappy[3, 0] = np.nan
    labels = LABELS.astype(str)
    labels[3] = "rare"
    model = OKSPCAClassifier(**SMALL, missing="skip").fit(gappy, labels)
    assert model.classes_.tolist() == ["0", "1"]
    with pytest.raises(DataError, match="Row 3"):
        model.predict(gappy)
    assert np.isnan(model.predict_proba(gappy)[3]).all()
    assert np.isfinite(model.predict_proba(gappy)[4:]).all()


def test_only_incomplete_rows_leave_a_model_that_can_be_saved() -> None:
    model = OKSPCA(**SMALL, missing="skip").partial_fit([[np.nan, 1.0]], [1.0])
    again = OKSPCA.from_bytes(model.to_bytes())
    assert (again.n_rows_skipped_, again.n_samples_seen_) == (1, 0)
    with pytest.raises(NotReadyError, match="lacked a value"):
        again.transform(X)
    again.partial_fit(X, Y)
    np.testing.assert_array_equal(again.transform(X), OKSPCA(**SMALL).fit(X, Y).transform(X))
    with pytest.raises(DataError, match="Each of the 1 rows"):
        OKSPCA(**SMALL, missing="skip").fit([[np.nan, 1.0]], [1.0])


def test_a_policy_that_comes_later_knows_the_means() -> None:
    model = OKSPCA(**SMALL).fit(X, Y).set_params(missing="impute")
    there = np.array([[X[:, 0].mean(), 1.0]])
    np.testing.assert_allclose(model.transform([[np.nan, 1.0]]), model.transform(there), atol=1e-14)
    model.partial_fit([[np.nan, 1.0]], [2.0])
    assert model.n_values_imputed_ == 1


@pytest.mark.parametrize("missing", ["raise", "skip", "impute"])
def test_infinity_is_never_missing(missing: str) -> None:
    frame = pd.DataFrame(X, columns=["height", "width"])
    frame.loc[4, "width"] = np.inf
    model = OKSPCA(**SMALL, missing=missing)
    with pytest.raises(DataError, match=r"inf.*row 4, column 'width'"):
        model.fit(frame, Y)
    with pytest.raises(DataError, match=r"y contains inf .*row 2"):
        model.fit(X, np.where(np.arange(20) == 2, np.inf, Y))
    with pytest.raises(DataError, match=r"inf.*column 1"):
        model.fit(X, Y).learn_one([1.0, -np.inf], 1.0)


def test_indicators_have_names() -> None:
    frame = pd.DataFrame(X, columns=["height", "width"])
    model = OKSPCA(**SMALL, missing="impute", missing_indicators=True).fit(frame, Y)
    assert model.input_names_ == ["height", "width", "height is missing", "width is missing"]
    assert model.n_features_in_ == 2
    assert model.input_map_.n_inputs == 4
    with pytest.raises(DataError, match="missing_indicators"):
        OKSPCA(**SMALL, missing="impute", missing_indicators=True).fit(csr_array(X), Y)


def test_nulls_of_arrow_are_missing() -> None:
    table = pa.table({"a": [1.0, None, 3.0], "b": [1, 2, 4]})
    model = OKSPCA(**SMALL, missing="skip").fit(table, Y[:3])
    assert (model.n_rows_skipped_, model.input_names_) == (1, ["a", "b"])
    filling = OKSPCA(**SMALL, missing="impute").fit(table, Y[:3])
    assert filling.complete_rows(table).tolist() == [[1.0, 1.0], [2.0, 2.0], [3.0, 4.0]]
    with pytest.raises(DataError, match=r"at row 1, column 'a'"):
        OKSPCA(**SMALL).fit(table, Y[:3])


def test_explanations_know_the_inputs_that_were_added() -> None:
    frame = pd.DataFrame(np.where(X > 1.0, np.nan, X), columns=["a", "b"])
    model = OKSPCA(**SMALL, missing="impute", missing_indicators=True).fit(frame, Y)
    for found in (model.explain(), model.explain(frame), model.explain_rows(frame)):
        assert list(found.inputs) == ["a", "b", "a is missing", "b is missing"]
    assert np.isfinite(model.explain(frame).shares).all()
