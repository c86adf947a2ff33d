"""An answer about one row is the answer to a block of one, whatever the model is made of."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.random import RandomState
from scipy.sparse import csr_array
from sklearn.exceptions import NotFittedError

from okspca import OKSPCA, DataError, NotReadyError, OKSPCAClassifier, OKSPCARegressor
from okspca.features import FourierMap, IdentityMap
from okspca.pipeline import one_row
from okspca.standardize import NoStandardizer
from tests.contracts.fingerprint import state_of
from tests.threads.meeting import answers_of

N, D = 160, 4
X = RandomState(0).normal(size=(N, D)) * [1.0, 50.0, 0.01, 1.0] + [0.0, 9.0, 0.0, -3.0]
NUMBER = np.sin(X[:, 0]) + (X[:, 3] + 3.0) ** 2
NUMBERS = np.column_stack([NUMBER, X[:, 1]])
LABELS = np.array(["low", "middle", "high"])[np.digitize(NUMBER, [0.5, 1.5])]
SMALL: dict[str, Any] = {"n_random_features": 24, "random_state": 0}
HEAD: dict[str, Any] = {**SMALL, "frequencies": "drawn"}
#: By name: a model with plain rows, and its target.
PLAIN: dict[str, tuple[Any, Any]] = {
    "causal": (OKSPCA(2, **SMALL), NUMBER),
    "frozen": (OKSPCA(2, standardize="frozen", **SMALL), NUMBER),
    "none": (OKSPCA(2, standardize=None, **SMALL), LABELS),
    "window": (OKSPCA(2, window=32, **SMALL), NUMBER),
    "forgetting": (OKSPCA(2, forgetting=0.99, **SMALL), NUMBER),
    "paper's floor": (OKSPCA(2, variance_floor="paper", **SMALL), NUMBER),
    "laplacian": (OKSPCA(2, kernel="laplacian", **SMALL), NUMBER),
    "matern52": (OKSPCA(2, kernel="matern52", **SMALL), LABELS),
    "orthogonal": (OKSPCA(2, sampling="orthogonal", **SMALL), NUMBER),
    "wide": (OKSPCA(3, n_random_features=600, random_state=0), NUMBER),
    "whitened": (OKSPCA(2, objective="whitened", **SMALL), LABELS),
    "aligned": (OKSPCA(2, align=True, **SMALL), LABELS),
    "adam": (OKSPCA(2, solver="adam", **SMALL), NUMBER),
    "regressor": (OKSPCARegressor(**HEAD), NUMBER),
    "several outputs": (OKSPCARegressor(**HEAD), NUMBERS),
    "classifier": (OKSPCAClassifier(**HEAD), LABELS),
    "two classes": (OKSPCAClassifier(**HEAD), (NUMBER > 1.0)),
    "unseen missing": (OKSPCA(2, missing="impute", **SMALL), NUMBER),
    "rows skipped": (OKSPCAClassifier(missing="skip", **HEAD), LABELS),
}
#: The same, for models that one compiled call cannot serve.
OTHERS: dict[str, tuple[Any, Any]] = {
    "identity": (OKSPCA(2, input_map=IdentityMap(D), **SMALL), NUMBER),
    "indicators": (OKSPCA(2, missing="impute", missing_indicators=True, **SMALL), NUMBER),
}
QUESTIONS = ("transform", "predict", "predict_proba")


def learned(model: Any, y: Any) -> Any:
    """The model after all rows; a frozen standardiser takes a first pass."""
    twin = model.__class__(**model.get_params())
    return twin.fit(X, y) if model.standardize == "frozen" else twin.partial_fit(X, y)


def same_as_blocks(model: Any, rows: Any, singles: Any, *, exactly: bool = True) -> None:
    """Every answer about single rows is that to all of them in a block."""
    asked = 0
    for question in QUESTIONS:
        if hasattr(model, question):
            block = getattr(model, question)(rows)
            one = [getattr(model, f"{question}_one")(x) for x in singles]
            if exactly or question == "predict":
                np.testing.assert_array_equal(np.array(one), block)
            else:
                np.testing.assert_allclose(np.array(one), block, rtol=1e-12)
            asked += 1
    assert asked


@pytest.mark.parametrize("name", PLAIN)
def test_plain_rows_are_answered_as_blocks_are(name: str) -> None:
    model = learned(*PLAIN[name])
    answer = model.ready().read(one_row.row_embedding)
    assert answer.n_inputs == D
    same_as_blocks(model, X, X)
    same_as_blocks(model, X[:9], X[:9].tolist())


@pytest.mark.parametrize("name", OTHERS)
def test_rows_of_other_models_are_answered_as_blocks_are(name: str) -> None:
    same_as_blocks(learned(*OTHERS[name]), X, X)


def test_rows_of_a_sparse_model_are_answered_as_blocks_are() -> None:
    rows = X * (X > 0.0)
    model = OKSPCAClassifier(**HEAD).partial_fit(csr_array(rows), LABELS)
    same_as_blocks(model, rows, rows)


@pytest.mark.parametrize("missing", ["skip", "impute"])
@pytest.mark.parametrize("indicators", [False, True])
def test_missing_values_are_what_they_are_in_blocks(missing: str, indicators: bool) -> None:
    gaps = np.where(RandomState(1).uniform(size=X.shape) < 0.1, np.nan, X)
    for head, y in ((OKSPCARegressor, NUMBER), (OKSPCAClassifier, LABELS)):
        model = head(missing=missing, missing_indicators=indicators, **HEAD)
        model.partial_fit(gaps, y)
        some = gaps[:40]
        whole = some if missing == "impute" else some[~np.isnan(some).any(axis=1)]
        same_as_blocks(model, whole, whole)
        marked = np.array([[1.0, 2.0, np.nan, 0.0]])
        rows: list[Any] = [marked[0], [1.0, 2.0, None, 0.0], np.ma.masked_invalid(marked[0])]
        for row in rows:
            np.testing.assert_array_equal(model.transform_one(row), model.transform(marked)[0])
    if missing == "skip":
        assert np.isnan(model.predict_proba_one(marked[0])).all()
        with pytest.raises(DataError, match=r"^x lacks a value, and no label stands for that"):
            model.predict_one(marked[0])


def test_text_is_taken_by_name_and_in_order() -> None:
    frame = pd.DataFrame(X[:, :2], columns=["a", "b"])
    frame["c"] = np.where(X[:, 3] > -3.0, "red", "blue")
    model = OKSPCAClassifier(categories="one-hot", **HEAD).fit(frame, LABELS)
    records: Any = frame[:20].to_dict("records")
    same_as_blocks(model, frame[:20], records)
    same_as_blocks(model, frame[:20], [list(row.values()) for row in records])
    with pytest.raises(DataError, match="x has no value for the column 'c'"):
        model.predict_one({"a": 1.0, "b": 2.0})


def test_numbers_that_stand_for_categories_are_encoded() -> None:
    """With one indicator for them, a row has as many inputs as it has columns."""
    frame = pd.DataFrame(X[:, :2], columns=["a", "b"])
    frame["c"] = pd.Categorical(np.where(X[:, 3] > -3.0, 5, 2))
    model = OKSPCARegressor(categories="one-hot", max_categories=1, **HEAD).fit(frame, NUMBER)
    assert len(model.input_names_) == 3
    same_as_blocks(model, frame[:20], frame[:20].to_numpy(dtype=object).tolist())


def test_classes_come_out_as_they_are_stored() -> None:
    for y in (LABELS, (NUMBER > 1.0), (NUMBER > 1.0).astype(int) + 7):
        model = OKSPCAClassifier(**HEAD).partial_fit(X, y)
        found = model.predict_one(X[0])
        assert type(found) in (str, bool, int)
        assert found == model.predict(X[:1])[0]
    declared = OKSPCAClassifier(**HEAD).partial_fit(X, LABELS, classes=[*np.unique(LABELS), "none"])
    assert declared.classes_.tolist()[-1] == "none"
    same_as_blocks(declared, X, X)
    assert declared.predict_proba_one(X[0])[-1] == 0.0


@pytest.mark.parametrize(
    ("x", "words"),
    [
        ([0.0, np.nan, 0.0, 0.0], "x contains NaN at row 0, column {}; fill or drop"),
        (np.array([0.0, 0.0, np.inf, 0.0]), r"x contains inf \(infinity\) at row 0, column {}"),
        (np.array([0.0, 0.0, 0.0, 1e200]), r"x contains 1e\+200 at row 0, column {}"),
        ([0.0, None, 0.0, 0.0], "x contains None at row 0, column 1"),
        ([0.0, 0.0, 0.0], "x has 3 values, but the model learned 4"),
        (np.zeros(5), "x has 5 values, but the model learned 4"),
        (np.zeros((1, 4)), r"{} takes a one-dimensional x, not one of shape \(1, 4\)"),
        ([[0.0, 0.0, 0.0, 0.0]], r"{} takes a one-dimensional x, not one of shape \(1, 4\)"),
        (3.0, r"{} takes a one-dimensional x, not one of shape \(\)"),
        (["a", "b", "c", "d"], "x must hold numbers"),
        (np.zeros(4) * 1j, "x must hold numbers"),
        ({"a": 1.0}, "x must hold numbers"),
    ],
)
@pytest.mark.parametrize("names", [None, list("abcd")])
def test_a_row_is_refused_in_the_words_of_learn_one(x: Any, words: str, names: Any) -> None:
    rows = X if names is None else pd.DataFrame(X, columns=names)
    model = OKSPCAClassifier(**HEAD).partial_fit(rows, LABELS)
    before = model.to_bytes()
    place = next((i for i, v in enumerate(np.ravel(x)) if not _is_small(v)), 0)
    column = repr(names[place]) if names else str(place)
    for caller in ("learn_one", "transform_one", "predict_one", "predict_proba_one"):
        extra = ("low",) if caller == "learn_one" else ()
        with pytest.raises(DataError, match=words.format(column if "column" in words else caller)):
            getattr(model, caller)(x, *extra)
    assert model.to_bytes() == before


def _is_small(value: Any) -> bool:
    return not isinstance(value, float) or abs(value) < 1e150


@pytest.mark.parametrize("name", ["causal", "adam", "classifier", "several outputs"])
def test_reading_one_row_never_learns(name: str) -> None:
    model = learned(*PLAIN[name])
    before = model.to_bytes(), state_of(model)
    same_as_blocks(model, X[:3], X[:3])
    assert (model.to_bytes(), state_of(model)) == before


@pytest.mark.parametrize("name", ["causal", "aligned", "regressor", "classifier"])
def test_an_answer_is_never_older_than_the_last_row(name: str) -> None:
    model, y = PLAIN[name]
    model = learned(model, y)
    for row in range(20):
        before = model.transform_one(X[0])
        if row % 2:
            model.learn_one(X[row] * 1.5, y[row].tolist())
        else:
            model.partial_fit(X[row : row + 1] * 1.5, y[row : row + 1])
        assert (model.transform_one(X[0]) != before).any()
        same_as_blocks(model, X[:2], X[:2])


def test_other_models_answer_for_themselves() -> None:
    """Copies, loaded models, and maps that are shared between models."""
    model = learned(*PLAIN["classifier"])
    model.predict_one(X[0])
    twin = OKSPCAClassifier.from_bytes(model.to_bytes())
    np.testing.assert_array_equal(twin.predict_proba_one(X[0]), model.predict_proba_one(X[0]))
    twin.learn_one(X[0], "low")
    assert (twin.predict_proba_one(X[0]) != model.predict_proba_one(X[0])).any()
    shared = FourierMap.sample(D, 24, bandwidth=2.0)
    for scale in (1.0, 3.0):
        other = OKSPCA(2, input_map=shared, input_standardizer=NoStandardizer(), random_state=0)
        other.partial_fit(scale * X, NUMBER)
        same_as_blocks(other, X[:5], X[:5])


def test_an_array_that_is_handed_out_belongs_to_whoever_asked() -> None:
    model = learned(*PLAIN["classifier"])
    for ask in (model.transform_one, model.predict_proba_one):
        first = ask(X[0])
        kept = first.copy()
        first[:] = 7.0
        np.testing.assert_array_equal(ask(X[0]), kept)


@pytest.mark.parametrize("learn_by", ["rows", "blocks"])
@pytest.mark.parametrize("name", ["causal", "classifier"])
def test_one_answer_is_of_one_state_while_another_thread_learns(name: str, learn_by: str) -> None:
    model, y = PLAIN[name]
    model, replay = (learned(model, y) for _ in range(2))
    question = "predict_proba_one" if hasattr(model, "predict_proba_one") else "transform_one"

    def learn(pupil: Any, row: int) -> None:
        if learn_by == "rows":
            pupil.learn_one(X[row] + 1.0, y[row].tolist())
        else:
            pupil.partial_fit(X[row : row + 3] + 1.0, y[row : row + 3])

    def learn_all() -> None:
        for row in range(0, 60, 3):
            learn(model, row)

    found = answers_of(
        learn_all,
        lambda: getattr(model, question)(X[0]).tobytes(),
    )
    expected = {getattr(replay, question)(X[0]).tobytes()}
    for row in range(0, 60, 3):
        learn(replay, row)
        expected.add(getattr(replay, question)(X[0]).tobytes())
    assert found
    assert set(found) <= expected


def test_nothing_is_answered_before_rows_were_learned() -> None:
    model = OKSPCAClassifier(**HEAD)
    for ask in (model.transform_one, model.predict_one, model.predict_proba_one):
        with pytest.raises(NotFittedError):
            ask(X[0])
    waiting = OKSPCA(2, bandwidth="median", **SMALL).partial_fit(X, NUMBER)
    with pytest.raises(NotReadyError, match="of the 512 rows"):
        waiting.transform_one(X[0])
