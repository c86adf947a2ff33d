"""Dask on a real cluster of processes: exact, lazy, and indifferent to the death of a worker."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from okspca import OKSPCA, DataError

pytest.importorskip("dask.dataframe", reason="needs okspca[dask]")
pytest.importorskip("distributed", reason="needs okspca[dask]")
import dask.array as da
import dask.dataframe as dd
import pandas as pd

from distributed import Client, LocalCluster
from okspca.distributed.dask import fit, transform

# Closing a cluster and killing a worker leave sockets to be collected, and tasks that complain.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning:distributed"),
    pytest.mark.filterwarnings("ignore::UserWarning:distributed"),
]
SETTINGS: dict[str, Any] = {"n_random_features": 32, "random_state": 0}


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, processes=True
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


def rows(n: int = 3000) -> tuple[Any, Any]:
    random = np.random.RandomState(0)
    X = random.normal(size=(n, 4)) * [1.0, 10.0, 0.1, 3.0] + [0.0, 50.0, -1.0, 0.0]
    return X, np.sin(X[:, 0]) + 0.01 * (X[:, 1] - 50.0) ** 2


def alone(X: Any, y: Any, **settings: Any) -> OKSPCA:
    return OKSPCA(2, standardize="frozen", **{**SETTINGS, **settings}).fit(X, y)


def assert_same(found: OKSPCA, wanted: OKSPCA) -> None:
    assert found.n_samples_seen_ == wanted.n_samples_seen_
    C = wanted.moment_.matrix()
    distance = np.linalg.norm(found.moment_.matrix() - C)
    assert distance <= 1e-12 * np.linalg.norm(C)


@pytest.mark.parametrize("chunks", [70, 1000, 3000])
def test_arrays_equal_one_frozen_run(client: Any, chunks: int) -> None:
    X, y = rows()
    blocks = da.from_array(X, chunks=(chunks, 2))
    model = fit(blocks, da.from_array(y, chunks=777), model=OKSPCA(2, **SETTINGS))
    assert_same(model, alone(X, y))
    Z = transform(model, blocks)
    assert Z.chunks == (blocks.chunks[0], (2,))
    np.testing.assert_allclose(Z.compute(), model.transform(X), atol=1e-12)


def test_frames_with_labels_equal_one_frozen_run(client: Any) -> None:
    X, y = rows()
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"], index=np.arange(3000) + 10)
    labels = np.where(y > 1.0, "high", np.where(y > 0.0, "middle", "low"))
    parts = dd.from_pandas(frame.assign(label=labels, weight=1.0), npartitions=5)
    model = fit(parts, "label", model=OKSPCA(2, **SETTINGS), sample_weight="weight")
    assert model.classes_.tolist() == ["high", "low", "middle"]
    assert model.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    assert_same(model, alone(frame, labels))
    embedded = transform(model, parts).compute()
    assert list(embedded.columns) == ["okspca0", "okspca1"]
    assert embedded.index.equals(frame.index)
    np.testing.assert_allclose(embedded, model.transform(frame), atol=1e-12)


def test_a_pilot_saves_the_first_pass(client: Any) -> None:
    X, y = rows()
    pilot = X[:600], y[:600]
    model = fit(da.from_array(X, chunks=500), da.from_array(y), model=OKSPCA(2, **SETTINGS),
                pilot=pilot)  # fmt: skip
    wanted = OKSPCA(2, standardize="frozen", **SETTINGS).fit(*pilot)
    wanted.partial_fit(X[600:], y[600:])
    assert_same(model, wanted)


@pytest.mark.parametrize("chunks", [100, 600])
def test_the_median_of_distances_is_that_of_the_first_rows(client: Any, chunks: int) -> None:
    X, y = rows()
    settings = {**SETTINGS, "bandwidth": "median"}
    model = fit(da.from_array(X, chunks=chunks), da.from_array(y), model=OKSPCA(2, **settings))
    assert_same(model, alone(X, y, bandwidth="median"))


def test_first_rows_may_lie_behind_an_empty_partition_and_rows_of_no_weight(client: Any) -> None:
    X, y = rows(1500)
    medians: dict[str, Any] = {"bandwidth": "median", "target_bandwidth": "median"}
    weight = np.where(np.arange(1500) % 3 == 0, 0.0, 2.0)
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"]).assign(y=y, weight=weight)
    parts = dd.from_pandas(frame, npartitions=5)
    some = parts.map_partitions(lambda part: part[part.index >= 400])
    assert some.map_partitions(len).compute().tolist()[:2] == [0, 200]
    model = OKSPCA(2, **SETTINGS, **medians)
    wanted = OKSPCA(2, standardize="frozen", **SETTINGS, **medians)
    wanted.fit(frame[["a", "b", "c", "d"]][400:], y[400:], sample_weight=weight[400:])
    assert_same(fit(some, "y", model=model, sample_weight="weight"), wanted)


def test_wrong_input_says_what_is_wrong(client: Any) -> None:
    X, y = rows(100)
    frame = dd.from_pandas(pd.DataFrame(X, columns=list("abcd")), npartitions=2)
    with pytest.raises(DataError, match="no column 'price'; the columns are a, b, c, d"):
        fit(frame, "price")
    with pytest.raises(DataError, match="100 rows, but the target or weights 99"):
        fit(da.from_array(X), da.from_array(y[:99]))
    with pytest.raises(ValueError, match="solver='adam' follows one stream"):
        fit(da.from_array(X), da.from_array(y), model=OKSPCA(solver="adam"))
    with pytest.raises(DataError, match="NaN at row 3"):
        fit(da.from_array(np.where(X[3, 1] == X, np.nan, X)), da.from_array(y))


def kill_once(X: Any, marker: str, block_info: Any = None) -> Any:
    """Pass a chunk on; the first worker that gets the marked chunk in the second pass dies."""
    if block_info and block_info[0]["chunk-location"][0] == 4:
        try:
            Path(marker).mkdir()
        except FileExistsError:
            if not Path(marker, "dead").exists():
                Path(marker, "dead").mkdir()
                os.kill(os.getpid(), signal.SIGKILL)
    return X


def test_a_worker_killed_in_the_middle_changes_nothing(client: Any, tmp_path: Path) -> None:
    X, y = rows()
    blocks = da.from_array(X, chunks=(300, 4))
    undisturbed = fit(blocks, da.from_array(y, chunks=300), model=OKSPCA(2, **SETTINGS))
    marker = str(tmp_path / "killed")
    deadly = blocks.map_blocks(kill_once, marker, dtype=float, meta=np.empty((0, 0)))
    before = set(client.run(os.getpid).values())
    model = fit(deadly, da.from_array(y, chunks=300), model=OKSPCA(2, **SETTINGS))
    assert Path(marker, "dead").exists()
    client.wait_for_workers(2)
    assert set(client.run(os.getpid).values()) != before
    assert model.to_bytes() == undisturbed.to_bytes()


@pytest.mark.parametrize("missing", ["impute", "skip"])
def test_frames_that_lack_values_equal_one_run(client: Any, missing: str) -> None:
    X, y = rows()
    X[np.random.RandomState(1).rand(*X.shape) < 0.1] = np.nan
    frame = pd.DataFrame(X, columns=list("abcd")).assign(y=y)
    frame.loc[7, "y"] = np.nan
    model = OKSPCA(2, missing=missing, **SETTINGS)
    found = fit(dd.from_pandas(frame, npartitions=5), "y", model=model)
    wanted = alone(frame[list("abcd")], frame["y"], missing=missing)
    assert_same(found, wanted)
    assert found.n_rows_skipped_ == wanted.n_rows_skipped_ > 0
    with pytest.raises(DataError, match=r"column '[abcd]'"):
        fit(dd.from_pandas(frame, npartitions=5), "y", model=OKSPCA(2, **SETTINGS))
