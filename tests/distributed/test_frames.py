"""Frames of pandas, polars and Arrow, and OKSPCA in other people's scikit-learn pipelines."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from okspca import OKSPCA, DataError
from okspca.distributed.frames import block_of, with_embedding

pytestmark = pytest.mark.filterwarnings("ignore::okspca.RankWarning")
SETTINGS: dict[str, Any] = {"n_random_features": 32, "random_state": 0}


def columns(n: int = 300) -> dict[str, Any]:
    X = np.random.RandomState(0).normal(size=(n, 3))
    y = np.sin(X[:, 0]) + X[:, 1] ** 2
    return {"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "y": y}


FRAMES = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "arrow": pa.table,
    "batch": pa.RecordBatch.from_pydict,
    "chunked": lambda data: pa.concat_tables(
        [pa.table({k: v[s] for k, v in data.items()}) for s in (slice(100), slice(100, None))]
    ),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_every_kind_of_frame_gives_the_same_rows(kind: str) -> None:
    data = columns()
    X = np.column_stack([data[name] for name in "abc"])
    frame = FRAMES[kind](data)
    inputs, target = block_of(frame, "y")
    np.testing.assert_array_equal(inputs, X)
    np.testing.assert_array_equal(target, data["y"])
    model = OKSPCA(2, **SETTINGS).fit(inputs, target)
    found = with_embedding(model, frame, columns=["a", "b", "c"])
    assert type(found) is type(frame)
    Z = np.column_stack([np.asarray(found[f"okspca{number}"]) for number in range(2)])
    np.testing.assert_allclose(Z, model.transform(X), atol=1e-12)
    with pytest.raises(DataError, match="already has a column 'okspca0'"):
        with_embedding(model, found, columns=["a", "b", "c"])
    with pytest.raises(DataError, match="no column 'price'"):
        block_of(frame, "price")


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow", "chunked"])
def test_models_take_frames_and_know_their_columns(kind: str) -> None:
    data = columns()
    frame = FRAMES[kind]({name: data[name] for name in "abc"})
    model = OKSPCA(2, **SETTINGS).fit(frame, data["y"])
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    plain = OKSPCA(2, **SETTINGS).fit(np.column_stack([data[n] for n in "abc"]), data["y"])
    np.testing.assert_array_equal(np.asarray(model.transform(frame)), plain.transform(
        np.column_stack([data[n] for n in "abc"])))  # fmt: skip
    found = with_embedding(model, FRAMES[kind](data))
    np.testing.assert_allclose(np.asarray(found["okspca1"]), model.transform(frame)[:, 1])
    with pytest.raises(ValueError, match="feature names"):
        model.transform(FRAMES[kind]({name: data[name] for name in "bac"}))


def test_a_column_is_a_view_where_its_layout_allows() -> None:
    data = columns()
    for kind in ("pandas", "polars", "arrow"):
        target = block_of(FRAMES[kind](data), "y")[1]
        assert not target.flags.owndata


def mixed(n: int = 240) -> tuple[pd.DataFrame, Any]:
    frame = pd.DataFrame(columns(n)).drop(columns="y")
    frame["colour"] = np.where(np.arange(n) % 3, "red", "blue")
    labels = np.where(frame["a"] + (frame["colour"] == "red") > 0.5, "yes", "no")
    return frame, labels


@pytest.mark.parametrize("output", ["default", "pandas", "polars"])
def test_one_step_among_the_columns_of_a_frame(output: str) -> None:
    frame, labels = mixed()
    steps = make_column_transformer(
        (OKSPCA(2, **SETTINGS), ["a", "b", "c"]),
        (OneHotEncoder(sparse_output=False), ["colour"]),
        verbose_feature_names_out=False,
    ).set_output(transform=output)
    found = steps.fit_transform(frame, labels)
    names = list(steps.get_feature_names_out())
    assert names == ["okspca0", "okspca1", "colour_blue", "colour_red"]
    if output != "default":
        assert list(found.columns) == names
    alone = OKSPCA(2, **SETTINGS).fit(frame[["a", "b", "c"]], labels)
    np.testing.assert_allclose(np.asarray(found)[:, :2], alone.transform(frame[["a", "b", "c"]]))


@pytest.mark.slow
def test_search_and_prediction_across_folds_with_frames() -> None:
    frame, labels = mixed()
    inputs = ColumnTransformer(
        [("numbers", StandardScaler(), ["a", "b", "c"]), ("words", OneHotEncoder(), ["colour"])]
    )
    steps = make_pipeline(inputs, OKSPCA(**SETTINGS), LogisticRegression())
    search = GridSearchCV(
        steps,
        {"okspca__n_components": [1, 2], "okspca__objective": ["covariance", "whitened"]},
        cv=3,
    ).fit(frame, labels)
    assert search.best_score_ > 0.8
    predicted = cross_val_predict(search.best_estimator_, frame, labels, cv=3)
    assert np.mean(predicted == labels) > 0.8


def test_polars_frames_in_a_regression_across_folds() -> None:
    data = columns()
    frame = pl.DataFrame({name: data[name] for name in "abc"})
    steps = make_pipeline(OKSPCA(4, objective="whitened", **SETTINGS), Ridge(1e-3))
    predicted = cross_val_predict(steps, frame, data["y"], cv=3)
    assert np.corrcoef(predicted, data["y"])[0, 1] > 0.8


def test_sparse_rows_in_a_pipeline() -> None:
    frame, labels = mixed()
    words = OneHotEncoder().fit_transform(frame[["colour"]].assign(k=np.arange(240) % 40))
    assert words.format == "csr"
    steps = make_pipeline(OKSPCA(1, **SETTINGS), LogisticRegression())
    assert cross_val_predict(steps, words, labels, cv=3).shape == labels.shape
