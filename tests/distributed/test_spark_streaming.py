"""Structured Streaming in local mode: each batch once, rows in a stated order, embeddings."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from okspca import OKSPCA, DataError

pytest.importorskip("pyspark", reason="needs okspca[spark]")
from okspca.distributed import following
from okspca.distributed.spark import transform
from okspca.distributed.spark_streaming import StreamLearner
from okspca_lab.studies.distributed.engines import local_session

pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning:pyspark"),
]
SCHEMA = "time long, a double, b double, y double, label string, weight double"
FILES, ROWS = 4, 60
SETTINGS: dict[str, Any] = {"n_random_features": 16, "random_state": 0}


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java")
    session = local_session()
    yield session
    session.stop()


def frame() -> pd.DataFrame:
    random = np.random.RandomState(0)
    X = random.normal(size=(FILES * ROWS, 2)) * [1.0, 10.0] + [0.0, 50.0]
    y = np.sin(X[:, 0]) + 0.01 * (X[:, 1] - 50.0) ** 2
    label = np.where(y > 0.5, "high", "low")
    time = np.repeat(np.arange(len(y) // 2), 2)  # by twos at the same time
    weight = np.tile([0.5, 2.0, 0.0], len(y) // 3)
    return pd.DataFrame(
        {"time": time, "a": X[:, 0], "b": X[:, 1], "y": y, "label": label, "weight": weight}
    ).sort_values(["time", "a"], ignore_index=True)


def write(folder: Path) -> pd.DataFrame:
    """Files of rows in disorder; the order that learning has to find is returned."""
    rows = frame()
    (folder / "rows").mkdir()
    for number in range(FILES):
        part = rows.iloc[number * ROWS : (number + 1) * ROWS].sample(frac=1.0, random_state=number)
        part.to_parquet(folder / "rows" / f"{number}.parquet", index=False)
    return rows


def learner(path: Path, **changes: Any) -> StreamLearner:
    settings: dict[str, Any] = {
        "columns": ["a", "b"],
        "target": "y",
        "query": "sales",
        "order_by": "time",
        **changes,
    }
    model = settings.pop("model", OKSPCA(2, task="regression", **SETTINGS))
    return StreamLearner(path, model, **settings)


def stream(
    session: Any, folder: Path, handle: Callable[[Any, int], None], checkpoint: str = "checkpoint"
) -> None:
    """Stream all files that are not yet behind a checkpoint, one in each batch."""
    rows = session.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
    query = rows.parquet(str(folder / "rows")).writeStream.queryName("sales")
    query = query.foreachBatch(handle).option("checkpointLocation", str(folder / checkpoint))
    query.trigger(availableNow=True).start().awaitTermination()


def assert_same(found: OKSPCA, wanted: OKSPCA) -> None:
    assert found.n_samples_seen_ == wanted.n_samples_seen_
    C = wanted.moment_.matrix()
    assert np.linalg.norm(found.moment_.matrix() - C) <= 1e-12 * np.linalg.norm(C)


def in_order(rows: pd.DataFrame, target: str = "y", **settings: Any) -> OKSPCA:
    model = OKSPCA(2, **SETTINGS)
    return model.partial_fit(rows[["a", "b"]].to_numpy(), rows[target].to_numpy(), **settings)


def test_a_stream_that_fails_and_goes_on_equals_one_run(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows, path, seen = write(tmp_path), tmp_path / "m.okspca", []

    def handle(batch: Any, number: int) -> None:
        found = learner(path)  # as a driver that starts again makes it
        seen.append((number, found.record.rows_read))
        if len(seen) == 2:  # neither learned nor told
            raise RuntimeError("before learning")
        if len(seen) == 3:
            with monkeypatch.context() as broken:
                broken.setattr(following, "save_model", fail)
                found(batch, number)
        found(batch, number)
        if len(seen) == 4:  # learned and saved, not told
            raise RuntimeError("after saving")

    for _ in range(3):
        with pytest.raises(Exception, match=r"learning|saving|power"):
            stream(spark, tmp_path, handle)
    stream(spark, tmp_path, handle)
    expected = [(0, 0), (1, 60), (1, 60), (1, 60), (1, 120), (2, 120), (3, 180)]
    assert seen == expected
    found = learner(path)
    assert_same(found.model, in_order(rows))
    assert (found.record.rows_read, found.next_batch) == (len(rows), FILES)

    with pytest.raises(Exception, match=r"has learned from the checkpoint of query .*release"):
        stream(spark, tmp_path, learner(path), "another")
    found.release()
    assert learner(path).next_batch is None
    stream(spark, tmp_path, learner(path), "a third")
    assert learner(path).model.n_samples_seen_ == 2 * len(rows)

    with pytest.raises(DataError, match="belongs to other topics, columns or another target"):
        learner(path, query="another")


def fail(*_: Any) -> None:
    raise OSError("the power went")


def test_batches_that_do_not_follow_are_refused(spark: Any, tmp_path: Path) -> None:
    data = spark.createDataFrame(frame().head(6))
    found = learner(tmp_path / "m.okspca")
    with pytest.raises(DataError, match=r"Batch 2 came, but .*m.okspca awaits batch 0;"):
        found(data, 2)
    assert not found.record.rows_read
    found(data, 0)
    found(data.limit(0), 1)  # a batch may be empty
    assert (found.next_batch, found.model.n_samples_seen_) == (2, 6)
    found(data, 0)  # it came before
    assert (found.next_batch, found.model.n_samples_seen_) == (2, 6)
    with pytest.raises(DataError, match=r"Batch 3 came, but .* awaits batch 2; .* release"):
        learner(found._follower.path)(data, 3)
    found.release()
    found(data, 7)
    assert (found.next_batch, found.model.n_samples_seen_) == (8, 12)


def test_labels_weights_and_missing_columns(spark: Any, tmp_path: Path) -> None:
    rows = frame()
    data = spark.createDataFrame(rows.sample(frac=1.0, random_state=0)).repartition(3)
    model = OKSPCA(2, task="classification", **SETTINGS)
    options: dict[str, Any] = {"target": "label", "sample_weight": "weight", "model": model}
    found = learner(tmp_path / "m.okspca", **options)
    found(data, 0)
    assert found.model.classes_.tolist() == ["high", "low"]
    assert_same(found.model, in_order(rows, "label", sample_weight=rows["weight"].to_numpy()))
    for changes in ({"target": "none"}, {"columns": ["a", "none"]}, {"order_by": ["none"]}):
        with pytest.raises(DataError, match="no column 'none'; the columns are time, a, b"):
            learner(tmp_path / "other.okspca", **changes)(data, 0)


def test_without_an_order_a_frozen_moment_is_the_same_sum(spark: Any, tmp_path: Path) -> None:
    rows = frame()
    model = OKSPCA(2, task="regression", standardize=None, **SETTINGS)
    found = learner(tmp_path / "m.okspca", model=model, order_by=())
    for number in range(2):
        found(spark.createDataFrame(rows.iloc[number::2]).repartition(3), number)
    alone = OKSPCA(2, standardize=None, **SETTINGS)
    alone.partial_fit(rows[["a", "b"]].to_numpy(), rows["y"].to_numpy())
    assert_same(found.model, alone)


def test_an_embedding_streams(spark: Any, tmp_path: Path) -> None:
    rows = write(tmp_path)
    model = in_order(rows)
    source = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
    embedded = transform(model, source.parquet(str(tmp_path / "rows")), columns=["a", "b"])
    assert embedded.isStreaming
    query = embedded.writeStream.format("memory").queryName("embedded")
    query.trigger(availableNow=True).start().awaitTermination()
    found = spark.table("embedded").toPandas()
    assert len(found) == len(rows)
    Z = model.transform(found[["a", "b"]].to_numpy())
    np.testing.assert_allclose(found[["okspca0", "okspca1"]], Z, atol=1e-12)
