"""Rows of float32 first: features in single precision from then on, kept, told, never mixed."""

import copy
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.random import RandomState
from safetensors.numpy import load
from scipy.sparse import csr_matrix

from okspca import OKSPCA, DataError, MergeError, OKSPCAClassifier, OKSPCARegressor, StateError
from okspca.distributed import Survey, identity, learn, merge_states, survey_of
from okspca.estimators.learned import SEARCH
from okspca.estimators.map_search import MapSearch
from okspca.estimators.precision import precision_of
from okspca.features import FourierMap, IdentityMap, SingleFourierMap
from okspca.features.single import in_double
from okspca_lab.ordeals.mutations import assembled, header_of
from tests.contracts.fingerprint import state_of

X = RandomState(0).normal(size=(300, 5)).astype(np.float32)
WIDE = X.astype(np.float64)
Y = np.sin(WIDE[:, 0]) + WIDE[:, 1] ** 2
LABELS = np.digitize(Y, [0.3, 1.2])
TARGETS = pytest.mark.parametrize("y", [Y, LABELS], ids=["number", "label"])
OBJECTIVES = pytest.mark.parametrize("objective", ["covariance", "whitened"])


def learned(*blocks: Any, **settings: Any) -> OKSPCA:
    model = OKSPCA(2, **{"n_random_features": 40, "random_state": 0, **settings})
    for rows, y in blocks:
        model.partial_fit(rows, y)
    return model


def search_of(model: OKSPCA) -> MapSearch:
    assert model.learned is not None
    assert model.learned.search is not None
    return model.learned.search


@pytest.mark.parametrize(
    ("rows", "precision"),
    [
        (X, "float32"),
        (WIDE, "float64"),
        (X.astype(np.float16), "float64"),
        (X.tolist(), "float64"),
        (X.astype(">f4"), "float64"),
        (pd.DataFrame(X), "float32"),
        (pd.DataFrame(X).astype("Float32"), "float32"),
        (pd.DataFrame(X).astype("float32[pyarrow]"), "float32"),
        (pd.DataFrame(X).astype({4: "float64"}), "float64"),
        (pd.DataFrame(X).astype({4: "int32"}), "float64"),
        (pd.DataFrame(WIDE), "float64"),
        (csr_matrix(X), "float64"),
    ],
)
def test_the_dtype_of_the_first_rows_decides(rows: Any, precision: str) -> None:
    assert precision_of(OKSPCA(), rows) == precision
    model = OKSPCA(1, n_random_features=8, random_state=0)
    model.partial_fit(rows, LABELS)
    assert model.precision_ == model.input_map_.precision == precision


def test_columns_of_text_do_not_count() -> None:
    frame = pd.DataFrame(X, columns=list("abcde")).assign(word=np.where(X[:, 0] > 0, "a", "b"))
    model = OKSPCA(1, n_random_features=8, categories="one-hot", random_state=0)
    assert precision_of(model, frame) == "float32"
    assert precision_of(model, frame[["word"]]) == "float64"
    model.partial_fit(frame, LABELS)
    assert model.precision_ == "float32"  # while rows are held back, too
    assert model.fit(frame, LABELS).input_map_.precision == "float32"


def test_frames_of_polars_and_arrow_tell_too() -> None:
    polars, pyarrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    names = list("abcde")
    for made, precision in ((X, "float32"), (WIDE, "float64")):
        assert precision_of(OKSPCA(), polars.DataFrame(made, schema=names)) == precision
        table = pyarrow.table({name: made[:, i] for i, name in enumerate(names)})
        assert precision_of(OKSPCA(), table) == precision
    mixed = polars.DataFrame(X, schema=names).with_columns(word=polars.lit("a"))
    assert precision_of(OKSPCA(), mixed) == "float32"


@pytest.mark.parametrize(
    "settings",
    [{"sampling": "structured"}, {"input_map": IdentityMap(5)}],
    ids=["structured", "identity"],
)
def test_other_maps_stay_double_and_merge_as_before(settings: dict[str, Any]) -> None:
    single, double = (learned((rows, LABELS), **settings) for rows in (X, WIDE))
    assert single.precision_ == "float64"
    assert state_of(single) == state_of(double)
    single.merge(learned((WIDE[:50] + 1.0, LABELS[:50]), **settings))


def test_a_ready_made_map_is_taken_in_the_precision_of_the_rows() -> None:
    double = FourierMap.sample(5, 40, bandwidth=2.0, seed=1)
    model = learned((X, LABELS), input_map=double)
    assert isinstance(model.input_map_, SingleFourierMap)
    assert in_double(model.input_map_).equals(double)
    assert learned((WIDE, LABELS), input_map=double).input_map_ is double
    assert learned((WIDE, LABELS), input_map=model.input_map_).precision_ == "float32"


@TARGETS
@OBJECTIVES
def test_later_rows_change_nothing_about_it(y: Any, objective: str) -> None:
    settings = {"objective": objective}
    single = learned((X[:50], y[:50]), (WIDE[50:], y[50:]), **settings)
    assert state_of(single) == state_of(learned((X[:50], y[:50]), (X[50:], y[50:]), **settings))
    assert single.precision_ == "float32"
    double = learned((WIDE[:50], y[:50]), (X[50:], y[50:]), **settings)
    assert state_of(double) == state_of(learned((WIDE, y), **settings)) or objective == "covariance"
    assert double.precision_ == "float64"
    np.testing.assert_array_equal(single.transform(X), single.transform(WIDE))


@TARGETS
@OBJECTIVES
def test_rows_and_blocks_agree_as_doubles_do(y: Any, objective: str) -> None:
    """Features have the same bits; only sums differ, by the rounding of doubles."""
    block = learned((X, y), objective=objective)
    rows = learned(objective=objective)
    for x, target in zip(X, y.tolist(), strict=True):
        rows.learn_one(x, target)
    assert rows.precision_ == "float32"
    for side in ("mean", "variance", "counts"):
        one, two = (getattr(m.input_standardizer_, side) for m in (rows, block))
        np.testing.assert_array_equal(one, two)
    found, expected = rows.moment_.matrix(), block.moment_.matrix()
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13)


@TARGETS
def test_single_rows_take_the_fast_path(y: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    model, others = learned((X[:100], y[:100])), []
    admit = OKSPCA._admit_and_take

    def noted(self: Any, *args: Any, **kwargs: Any) -> None:
        others.append(args)
        admit(self, *args, **kwargs)

    monkeypatch.setattr(OKSPCA, "_admit_and_take", noted)
    for x, target in zip(WIDE[100:], y[100:].tolist(), strict=True):
        model.learn_one(x, target)
    # A new direction of the target may send a row there.
    assert (model.n_samples_seen_, len(others) < 5) == (300, True)


@TARGETS
def test_rows_too_far_out_are_learned_with_doubles(y: Any) -> None:
    far = np.vstack([WIDE[:20], 1e9 * WIDE[20:22], WIDE[22:24]])
    block = learned((X[:20], y[:20]), (far[20:], y[20:24]))
    rows = learned((X[:20], y[:20]))
    for x, target in zip(far[20:], y[20:24].tolist(), strict=True):
        rows.learn_one(x, target)
    np.testing.assert_allclose(rows.moment_.matrix(), block.moment_.matrix(), rtol=0, atol=1e-14)
    for x in far:
        np.testing.assert_array_equal(rows.transform_one(1e6 * x), rows.transform([1e6 * x])[0])


@pytest.mark.parametrize("make", [OKSPCARegressor, OKSPCAClassifier])
def test_heads_answer_about_rows_as_about_blocks(make: Any) -> None:
    y = Y if make is OKSPCARegressor else LABELS
    model = make(n_random_features=40, frequencies="drawn", random_state=0).fit(X, y)
    assert model.precision_ == "float32"
    for x in WIDE[:5]:
        np.testing.assert_array_equal(model.transform_one(x), model.transform([x])[0])
        assert model.predict_one(x) == model.predict([x])[0]
    double = make(n_random_features=40, frequencies="drawn", random_state=0).fit(WIDE, y)
    assert abs(double.score(WIDE, y) - model.score(WIDE, y)) < 1e-3
    assert np.abs(double.transform(WIDE) - model.transform(WIDE)).max() > 0.0


@TARGETS
def test_sums_differ_by_the_error_of_features_only(y: Any) -> None:
    single, double = learned((X, y)), learned((WIDE, y))
    D = 40
    error = single.feature_error(X[2:])
    difference = np.linalg.norm(single.moment_.matrix() - double.moment_.matrix())
    # |C - C'| <= (largest difference of a row of features) (root mean square of psi)
    assert 0.0 < difference <= np.sqrt(D) * error.bound * np.sqrt(2.0)
    assert single.moment_.matrix().dtype == np.float64
    certificate = single.basis().certificate
    assert certificate is not None
    assert certificate.rho_lower > 1.0 - 1e-10


def test_the_error_of_features_is_told_apart_from_the_certificate() -> None:
    single, double = learned((X, LABELS)), learned((WIDE, LABELS))
    found = single.feature_error(WIDE[:50])
    Z = single.input_standardizer_.transform(WIDE[:50])
    map_ = single.input_map_
    assert isinstance(map_, SingleFourierMap)
    measured = np.abs(map_.transform(Z) - in_double(map_).transform(Z)).max()
    assert found.largest == measured > 0.0
    assert found.largest < found.of_rows < found.bound == single.feature_error().bound  # type: ignore[operator]
    assert double.feature_error(WIDE[:50]).bound == 0.0
    with pytest.raises(DataError, match="NaN"):
        single.feature_error(np.full((1, 5), np.nan))


def test_mixed_models_do_not_pool() -> None:
    single, double = learned((X, LABELS)), learned((WIDE, LABELS))
    for one, other in ((single, double), (double, single)):
        before = state_of(one)
        with pytest.raises(MergeError, match=r"precision.*float\d\d here.*one dtype"):
            one.merge(other)
        assert state_of(one) == before
    single.merge(learned((X[:100] + 1, LABELS[:100])))
    assert single.precision_ == "float32"


@OBJECTIVES
def test_files_and_copies_keep_it(objective: str, tmp_path: Path) -> None:
    model = learned((X[:200], LABELS[:200]), objective=objective)
    model.save(tmp_path / "model")
    loaded, sent = OKSPCA.load(tmp_path / "model"), OKSPCA.from_bytes(model.to_bytes())
    twins = [loaded, sent, copy.deepcopy(model), pickle.loads(pickle.dumps(model))]
    for twin in twins:
        assert twin.precision_ == "float32"
        assert twin.to_bytes() == model.to_bytes()
    for one in (model, *twins):
        one.partial_fit(WIDE[200:], LABELS[200:])
    assert len({one.to_bytes() for one in (model, *twins)}) == 1


def test_files_of_double_precision_do_not_speak_of_it() -> None:
    assert b"float32" in learned((X, LABELS)).to_bytes()
    assert b"precision" not in learned((WIDE, LABELS)).to_bytes()


def test_a_file_that_says_two_things_is_refused() -> None:
    data = learned((X, LABELS)).to_bytes()
    header = header_of(data)
    header["state"]["fitted"]["pipeline"]["input_map"]["kind"] = "fourier"
    with pytest.raises(StateError, match="precision"):
        OKSPCA.from_bytes(assembled(header, load(data)))


def test_rows_that_are_held_back_remember_it() -> None:
    model = learned((X[:100], LABELS[:100]), bandwidth="median")
    loaded = OKSPCA.from_bytes(model.to_bytes())
    assert loaded.precision_ == "float32"
    more = np.tile(WIDE, (2, 1))
    for one in (model, loaded):
        one.partial_fit(more, np.tile(LABELS, 2))
        assert one.input_map_.precision == "float32"
    assert loaded.to_bytes() == model.to_bytes()


def test_fit_forgets_it() -> None:
    model = learned((X, LABELS))
    assert model.fit(WIDE, LABELS).precision_ == "float64"
    assert (
        model.to_bytes() == OKSPCA.from_bytes(learned(**{}).fit(WIDE, LABELS).to_bytes()).to_bytes()
    )


def test_a_refused_block_decides_nothing() -> None:
    model = learned()
    with pytest.raises(DataError):
        model.partial_fit(np.full((3, 5), np.nan, np.float32), LABELS[:3])
    assert model.partial_fit(WIDE, LABELS).precision_ == "float64"


def test_a_map_that_is_learned_ends_in_single_precision() -> None:
    rows = RandomState(1).normal(size=(700, 4)).astype(np.float32)
    y = rows[:, 0].astype(float) * rows[:, 1]
    model = OKSPCARegressor(n_random_features=32, pilot_rows=600, random_state=0)
    model.fit(rows, y)
    search = search_of(model)
    assert (search.is_final, search.place.rung != "drawn") == (True, True)
    assert isinstance(model.input_map_, SingleFourierMap)
    same = OKSPCARegressor(n_random_features=32, pilot_rows=600, random_state=0)
    double = same.fit(rows.astype(np.float64), y).input_map_
    assert isinstance(double, FourierMap)
    np.testing.assert_array_equal(model.input_map_.weights, double.weights)
    again = model.relearn_features(600)
    assert isinstance(search_of(again).base, SingleFourierMap)
    assert OKSPCARegressor.from_bytes(again.to_bytes()).to_bytes() == again.to_bytes()
    again.partial_fit(rows, -y)
    assert isinstance(again.input_map_, SingleFourierMap)


def test_a_map_that_is_drawn_again_is_single_precision() -> None:
    """As for files that do not tell the map as drawn."""
    model = OKSPCARegressor(n_random_features=8, pilot_rows=100, random_state=0).fit(X, Y)
    state = model.ready().state
    state.companions = {**state.companions, SEARCH: replace(search_of(model), drawn=None)}
    assert search_of(model).base is None
    base = search_of(model.relearn_features(100)).base
    assert isinstance(base, SingleFourierMap)


def test_threads_change_no_bit() -> None:
    rows = np.tile(X, (12, 1))
    y = np.tile(LABELS, 12)
    for objective in ("covariance", "whitened"):
        one, two = (
            learned((rows, y), objective=objective, n_random_features=96, n_threads=n)
            for n in (1, 2)
        )
        np.testing.assert_array_equal(one.moment_.matrix(), two.moment_.matrix())
        np.testing.assert_array_equal(one.transform(rows), two.transform(rows))


def test_shards_have_the_precision_of_the_survey() -> None:
    model = OKSPCA(2, n_random_features=16, random_state=0)
    halves = [[(X[:150], LABELS[:150])], [(X[150:], LABELS[150:])]]
    surveys = [Survey.from_bytes(model, survey_of(model, half)) for half in halves]
    survey = surveys[0].merge(surveys[1])
    start = identity(model, survey)
    assert start.precision_ == "float32"
    states = [learn(OKSPCA, start.to_bytes(), half) for half in halves]
    merged = OKSPCA.from_bytes(merge_states(OKSPCA, states))
    assert merged.precision_ == "float32"
    alone = learned(n_random_features=16, standardize="frozen").fit(X, LABELS)
    np.testing.assert_allclose(merged.moment_.matrix(), alone.moment_.matrix(), rtol=0, atol=1e-13)
    double = Survey(model).add(WIDE, LABELS)
    with pytest.raises(MergeError, match="precision"):
        double.merge(survey)
    assert identity(model, double).precision_ == "float64"
