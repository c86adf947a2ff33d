"""Sparse rows: scaled as dense rows would be, never centred, never filled."""

import re
import tracemalloc
from typing import Any

import numpy as np
import pytest
from numpy.random import RandomState
from scipy.sparse import csr_array, csr_matrix
from sklearn.preprocessing import StandardScaler

from okspca import OKSPCA, DataError, MergeError, StateError
from okspca.distributed import Survey, identity, learn, merge_states
from okspca.numerics.sparse import pair_distances
from okspca.standardize import NoStandardizer
from okspca.standardize.sparse import SparseStandardizer, freeze
from tests.contracts.fingerprint import state_of


def rows(n: int = 300, d: int = 12, seed: int = 0) -> tuple[Any, Any]:
    random = RandomState(seed)
    dense = random.normal(size=(n, d)) * random.lognormal(size=d) + 1.0
    dense[random.uniform(size=(n, d)) < 0.7] = 0.0
    dense[:, 3] = 0.0
    return csr_array(dense), np.sin(dense[:, 0]) + dense[:, 1]


def scaled_by_the_past(X: Any) -> Any:
    """A plain loop: divide by the standard deviation of the rows before, from the third row on."""
    Z = X.copy()
    for i in range(2, len(X)):
        deviation = X[:i].std(axis=0)
        Z[i] = X[i] / np.where(deviation > 1e-14 * np.abs(X[:i].mean(axis=0)), deviation, 1.0)
    return Z


def test_rows_are_scaled_by_the_rows_before_them() -> None:
    X, _ = rows()
    found = SparseStandardizer(X.shape[1]).scan(X, np.ones(X.shape[0]))
    assert found.nnz == X.nnz
    np.testing.assert_allclose(found.toarray(), scaled_by_the_past(X.toarray()), rtol=1e-12)


def test_the_scale_is_that_of_scikit_learn() -> None:
    X, _ = rows()
    weights = RandomState(1).choice([0.5, 1.0, 3.0], size=X.shape[0])
    standardizer = SparseStandardizer(X.shape[1])
    standardizer.scan(X, weights)
    scaler = StandardScaler(with_mean=False).fit(X, sample_weight=weights)
    np.testing.assert_allclose(standardizer.scale(), scaler.scale_, rtol=1e-12)
    np.testing.assert_allclose(
        standardizer.transform(X).toarray(), scaler.transform(X).toarray(), rtol=1e-12
    )
    frozen: Any = freeze(standardizer).transform(X)
    np.testing.assert_allclose(frozen.toarray(), X.toarray() / scaler.scale_)


def test_blocks_are_transport_and_halves_merge() -> None:
    X, _ = rows()
    ones = np.ones(X.shape[0])
    whole, cut, half = (SparseStandardizer(X.shape[1]) for _ in range(3))
    whole.scan(X, ones)
    for start in range(0, 300, 7):
        cut.scan(X[start : start + 7], ones[start : start + 7])
    assert np.array_equal(whole.scale(), cut.scale())
    first = SparseStandardizer(X.shape[1])
    first.scan(X[:120], ones[:120])
    half.scan(X[120:], ones[120:])
    first.merge(half)
    np.testing.assert_allclose(first.scale(), whole.scale(), rtol=1e-13)
    assert first.rows == 300
    with pytest.raises(MergeError, match="variance rule"):
        first.merge(SparseStandardizer(12, whole.rule._replace(absolute=1.0)))


@pytest.mark.parametrize("kind", [csr_array, csr_matrix], ids=["array", "matrix"])
@pytest.mark.parametrize("mode", ["causal", "frozen", None])
def test_a_model_of_sparse_rows_is_that_of_scaled_dense_rows(kind: Any, mode: str | None) -> None:
    X, y = rows()
    settings: dict[str, Any] = {"n_random_features": 32, "random_state": 0}
    model = OKSPCA(2, standardize=mode, **settings).fit(kind(X), y)
    dense = X.toarray()
    if mode == "causal":
        dense = scaled_by_the_past(dense)
    elif mode == "frozen":
        dense = StandardScaler(with_mean=False).fit_transform(dense)
    targets = mode if mode == "frozen" else "causal" if mode else None
    plain = OKSPCA(2, standardize=targets, input_standardizer=NoStandardizer(), **settings)
    plain.fit(dense, y)
    C = plain.moment_.matrix()
    assert np.linalg.norm(model.moment_.matrix() - C) <= 1e-11 * np.linalg.norm(C)
    last = StandardScaler(with_mean=False).fit(X).transform(X[:9]) if mode else X[:9]
    np.testing.assert_allclose(model.transform(kind(X[:9])), plain.transform(last.toarray()),
                               atol=1e-9)  # fmt: skip
    np.testing.assert_allclose(model.transform(X[:9].toarray()), model.transform(X[:9]), atol=1e-12)


def test_block_size_saving_and_merging() -> None:
    X, y = rows()
    settings: dict[str, Any] = {"n_random_features": 32, "random_state": 0}
    whole = OKSPCA(2, **settings).partial_fit(X, y)
    cut = OKSPCA(2, **settings)
    for start in range(0, 300, 37):
        cut.partial_fit(X[start : start + 37], y[start : start + 37])
        cut = OKSPCA.from_bytes(cut.to_bytes())
    C = whole.moment_.matrix()
    assert np.linalg.norm(cut.moment_.matrix() - C) <= 1e-12 * np.linalg.norm(C)
    cut.learn_one(X[:1].toarray()[0], float(y[0]))
    assert state_of(OKSPCA.from_bytes(cut.to_bytes())) == state_of(cut)
    assert whole.merge(cut).n_samples_seen_ == 601


def test_shards_of_sparse_rows_equal_one_frozen_run() -> None:
    X, y = rows()
    model = OKSPCA(2, n_random_features=32, bandwidth="median", random_state=0)
    surveys = [Survey(model).add(X[a : a + 100], y[a : a + 100]) for a in (0, 100, 200)]
    survey = surveys[0].merge(surveys[1]).merge(surveys[2])
    survey = Survey.from_bytes(model, survey.to_bytes())
    start = identity(model, survey, pilot=(X, y)).to_bytes()
    states = [learn(OKSPCA, start, [(X[a : a + 100], y[a : a + 100])]) for a in (0, 100, 200)]
    merged = OKSPCA.from_bytes(merge_states(OKSPCA, states))
    alone = OKSPCA(2, n_random_features=32, bandwidth="median", random_state=0,
                   standardize="frozen").fit(X, y)  # fmt: skip
    C = alone.moment_.matrix()
    assert np.linalg.norm(merged.moment_.matrix() - C) <= 1e-12 * np.linalg.norm(C)
    with pytest.raises(MergeError, match="one saw sparse rows"):
        survey.merge(Survey(model).add(X.toarray(), y))
    with pytest.raises(DataError, match="others are not"):
        survey.add(X.toarray(), y)


def test_distances_of_sparse_rows() -> None:
    X, _ = rows(40)
    X = csr_array(np.vstack([X.toarray(), X.toarray()[:3]]))
    found, wanted = pair_distances(X), pair_distances(X.toarray())
    np.testing.assert_allclose(found, wanted, rtol=1e-7)
    assert np.array_equal(found == 0.0, wanted == 0.0)


def test_the_block_is_never_filled() -> None:
    random, shape = RandomState(0), (2000, 100_000)
    places = (random.randint(shape[0], size=20_000), random.randint(shape[1], size=20_000))
    X = csr_array((random.uniform(size=20_000), places), shape=shape)
    y = np.asarray(X.sum(axis=1)).ravel()
    filled = 8 * X.shape[0] * X.shape[1]
    tracemalloc.start()
    try:
        model = OKSPCA(2, n_random_features=8, random_state=0).partial_fit(X, y)
        Z = model.transform(X)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert Z.shape == (2000, 2)
    assert peak < filled / 10


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"frequencies": "scaled"}, "frequencies='scaled'"),
        ({"window": 64}, "window=64"),
        ({"forgetting": 0.9}, "forgetting=0.9"),
    ],
    ids=str,
)
def test_settings_that_would_fill_the_rows_are_refused(settings: Any, told: str) -> None:
    X, y = rows(30)
    with pytest.raises(DataError, match=f"{re.escape(told)} cannot be combined with sparse"):
        OKSPCA(**settings).fit(X, y)


def test_bad_values_and_a_model_that_centres_are_refused() -> None:
    X, y = rows(30)
    spoiled = X.copy()
    spoiled.data[5] = np.nan
    row, column = (int(part[5]) for part in spoiled.nonzero())
    with pytest.raises(DataError, match=f"NaN at row {row}, column {column};"):
        OKSPCA().fit(spoiled, y)
    dense = OKSPCA(n_random_features=8, random_state=0).fit(X.toarray(), y)
    before = dense.to_bytes()
    for act in (lambda: dense.partial_fit(X, y), lambda: dense.transform(X)):
        with pytest.raises(DataError, match="centres its inputs"):
            act()
    assert dense.to_bytes() == before
    held = OKSPCA(bandwidth="median").partial_fit(X, y)
    with pytest.raises(StateError, match="held back"):
        held.to_bytes()
    assert held.partial_fit(*rows(600)).n_samples_seen_ == 630
