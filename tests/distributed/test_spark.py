"""Spark in local mode: exact, lazy, and without RDDs."""

import inspect
import shutil
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest

from okspca import OKSPCA, DataError

pytest.importorskip("pyspark", reason="needs okspca[spark]")
from okspca.distributed import spark as engine
from okspca.distributed.spark import fit, transform
from okspca_lab.studies.distributed.engines import local_session

pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning:pyspark"),
]
SETTINGS: dict[str, Any] = {"n_random_features": 32, "random_state": 0}


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java")
    session = local_session()
    yield session
    session.stop()


def frame(n: int = 1500) -> pd.DataFrame:
    random = np.random.RandomState(0)
    X = random.normal(size=(n, 3)) * [1.0, 10.0, 0.1] + [0.0, 50.0, -1.0]
    y = np.sin(X[:, 0]) + 0.01 * (X[:, 1] - 50.0) ** 2
    labels = np.where(y > 1.0, "high", np.where(y > 0.0, "middle", "low"))
    return pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "y": y, "label": labels})


def assert_same(found: OKSPCA, wanted: OKSPCA) -> None:
    assert found.n_samples_seen_ == wanted.n_samples_seen_
    C = wanted.moment_.matrix()
    assert np.linalg.norm(found.moment_.matrix() - C) <= 1e-12 * np.linalg.norm(C)


def test_a_bandwidth_does_not_look_at_rows_of_no_weight(spark: Any) -> None:
    rows = frame()[["a", "b", "c", "y"]]
    rows["weight"] = np.where(np.arange(len(rows)) % 3 == 0, 0.0, 2.0)
    settings: dict[str, Any] = {**SETTINGS, "bandwidth": "median"}
    data = spark.createDataFrame(rows).coalesce(1)
    model = fit(data, "y", model=OKSPCA(2, **settings), sample_weight="weight")
    wanted = OKSPCA(2, standardize="frozen", **settings)
    wanted.fit(rows[["a", "b", "c"]].to_numpy(), rows["y"], sample_weight=rows["weight"])
    assert_same(model, wanted)


@pytest.mark.parametrize(("partitions", "fan_in"), [(1, 8), (5, 2)])
def test_a_frame_equals_one_frozen_run(spark: Any, partitions: int, fan_in: int) -> None:
    rows = frame()
    data = spark.createDataFrame(rows[["a", "b", "y", "c"]]).repartition(partitions)
    model = fit(data, "y", model=OKSPCA(2, **SETTINGS), fan_in=fan_in)
    inputs = rows[["a", "b", "c"]].to_numpy()
    assert_same(model, OKSPCA(2, standardize="frozen", **SETTINGS).fit(inputs, rows["y"]))
    embedded = transform(model, data, columns=["a", "b", "c"])
    assert embedded.columns == ["a", "b", "y", "c", "okspca0", "okspca1"]
    found = embedded.toPandas()
    Z = model.transform(found[["a", "b", "c"]].to_numpy())
    np.testing.assert_allclose(found[["okspca0", "okspca1"]], Z, atol=1e-12)


def test_labels_weights_and_a_pilot(spark: Any) -> None:
    rows = frame().assign(weight=np.tile([0.5, 2.0, 0.0], 500)).drop(columns="y")
    data = spark.createDataFrame(rows).repartition(3)
    inputs, labels = rows[["a", "b", "c"]].to_numpy(), rows["label"].to_numpy()
    model = fit(data, "label", model=OKSPCA(2, **SETTINGS), sample_weight="weight")
    assert model.classes_.tolist() == ["high", "low", "middle"]
    alone = OKSPCA(2, standardize="frozen", **SETTINGS)
    assert_same(model, alone.fit(inputs, labels, sample_weight=rows["weight"]))
    pilot = inputs[:600], labels[:600]
    model = fit(data.drop("weight"), "label", model=OKSPCA(2, **SETTINGS), pilot=pilot)
    alone = OKSPCA(2, standardize="frozen", **SETTINGS).fit(*pilot)
    assert_same(model, alone.partial_fit(inputs[600:], labels[600:]))


def test_wrong_input_says_what_is_wrong(spark: Any) -> None:
    data = spark.createDataFrame(frame(20)[["a", "y"]])
    with pytest.raises(DataError, match="no column 'price'; the columns are a, y"):
        fit(data, "price")
    with pytest.raises(DataError, match="no input column beside 'y'"):
        fit(data.select("y"), "y")
    with pytest.raises(DataError, match="no rows"):
        fit(data.where("a > 1000"), "y")
    with pytest.raises(Exception, match="NaN at row"):
        fit(spark.createDataFrame(frame(20)[["a", "y"]].replace(frame(20)["a"][3], np.nan)), "y")
    model = fit(data, "y", model=OKSPCA(1, **SETTINGS))
    with pytest.raises(DataError, match="already has a column 'okspca0'"):
        transform(model, data.withColumnRenamed("y", "okspca0"))


def test_no_rdds_are_used() -> None:
    source = inspect.getsource(engine)
    assert ".rdd" not in source
    assert "sparkContext" not in source
