"""A file with a right digest and absurd numbers is refused; one of extreme data is not."""

import warnings
from itertools import product
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.random import RandomState
from safetensors.numpy import load

from okspca import OKSPCA, RankWarning, StateError
from okspca.errors import NotReadyError
from okspca.estimators.saving import model_bytes, model_from
from okspca.features import FourierMap, IdentityMap
from okspca_lab.ordeals.fuzzing import seeds
from okspca_lab.ordeals.mutations import assembled, fields_of, header_of

FILES = seeds()
ABSURD = (1e300, -1e149, -1.0, 0.0)
#: So many lies about each file are tried, chosen at random but always the same ones.
TRIED = 60
X = RandomState(1).normal(size=(20, 2))


def lies(whole: bytes) -> list[tuple[str, Any]]:
    """Places of a file that hold numbers, each with something absurd to put there."""
    tensors, header = load(whole), header_of(whole)["state"]
    arrays = [n for n, a in sorted(tensors.items()) if a.dtype == np.float64 and a.size]
    places: list[tuple[str, Any]] = [
        ("array", (name, value, all_of_it))
        for name, value, all_of_it in product(arrays, ABSURD, (True, False))
    ]
    fields = [holder[key] for holder, key in fields_of(header)]
    numbers = [i for i, value in enumerate(fields) if type(value) is float]
    counts = [i for i, value in enumerate(fields) if type(value) is int]
    places += [("field", place) for place in product(numbers, ABSURD)]
    return places + [("field", place) for place in product(counts, (0, 10**9, 1 << 52))]


def told(whole: bytes, kind: str, place: Any) -> bytes:
    """Tell one lie, and seal the file again."""
    tensors, header = load(whole), header_of(whole)
    if kind == "array":
        name, value, all_of_it = place
        tensors[name] = np.array(tensors[name])
        tensors[name].ravel()[slice(None) if all_of_it else tensors[name].size // 2] = value
    else:
        holder, key = list(fields_of(header["state"]))[place[0]]
        holder[key] = place[1]
    return assembled(header, tensors)


def rows_for(model: OKSPCA) -> Any:
    """Rows of the kind that a model has learned: numbers, or a data frame with a column of text."""
    if model.categories == "raise":
        return X
    texts = np.array(["u", "v", "w"])[np.digitize(X[:, 1], [-0.4, 0.4])]
    first, second = model.feature_names_in_
    return pd.DataFrame({first: X[:, 0], second: texts})


def use(model: OKSPCA) -> None:
    """Do everything with a model that people do."""
    assert model.learned is not None
    intake, pipeline = model.learned.intake, model.learned.pipeline
    y: Any = X[:, 0] if intake.n_outputs == 1 else X
    if intake.labels is not None:
        y = np.array(["b", "a", "c"])[np.digitize(X[:, 0], [-0.4, 0.4])]
    rows = rows_for(model)
    assert np.isfinite(model.basis().vectors).all()
    if pipeline is not None:
        assert np.isfinite(model.transform(rows)).all()
        model.diagnose()
        model.error_lines()
        try_stability(model)
    model.partial_fit(rows, y)
    for x, target in zip(np.asarray(rows)[:3], y, strict=False):
        model.learn_one(x, target)
    assert np.isfinite(model.basis().vectors).all()
    model_from(OKSPCA, model_bytes(model))


def try_stability(model: OKSPCA) -> None:
    try:
        model.estimate_stability()
    except NotReadyError:
        return


@pytest.mark.filterwarnings("ignore::okspca.RankWarning")
@pytest.mark.parametrize("number", range(len(FILES)))
def test_what_is_loaded_can_be_used(number: int) -> None:
    """Warnings of overflow are errors here."""
    refused, failures = 0, []
    for lie in Random(number).sample(lies(FILES[number]), TRIED):
        try:
            model, _ = model_from(OKSPCA, told(FILES[number], *lie))
        except StateError:
            refused += 1
            continue
        try:
            use(model)
        except Exception as failure:
            failures.append(f"{lie}: {failure!r}")
    assert failures == []
    assert refused > TRIED // 4


def test_the_sentence_names_what_is_absurd() -> None:
    tensors = load(FILES[0])
    name = "fitted/pipeline/input_standardizer/mean"
    tensors[name] = np.full(tensors[name].shape, 1e300)
    with pytest.raises(StateError, match=rf"array {name} holds a value that is impossibly large"):
        model_from(OKSPCA, assembled(header_of(FILES[0]), tensors))
    tensors = load(FILES[0])
    tensors["fitted/pipeline/moment/buffer"] *= 1e9
    with pytest.raises(StateError, match="buffer is 'larger than its totals allow'"):
        model_from(OKSPCA, assembled(header_of(FILES[0]), tensors))


def test_a_compression_consists_of_unit_vectors() -> None:
    """None of the small models above has one."""
    rows = RandomState(0).normal(size=(200, 2))
    whole = model_bytes(OKSPCA(1, n_random_features=64, random_state=0).fit(rows, rows[:, 0]))
    tensors, header = load(whole), header_of(whole)
    tensors["fitted/pipeline/moment/compression/directions"] *= 2.0
    with pytest.raises(StateError, match=r"directions holds a value that is impossibly large"):
        model_from(OKSPCA, assembled(header, tensors))
    header["state"]["fitted"]["pipeline"]["moment"]["compression"]["tolerance"] = 1e300
    with pytest.raises(StateError, match=r"tolerance is 1e\+300, which is not possible"):
        model_from(OKSPCA, assembled(header, load(whole)))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("scale", [1e-150, 1e-20, 1.0, 1e20, 1e60])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"forgetting": 1e-9, "stability": 4},
        {"objective": "whitened"},
        {"objective": "whitened", "window": 32, "target_features": "chebyshev"},
        {"input_map": IdentityMap(3), "target_features": "raw", "objective": "whitened"},
        {"input_map": IdentityMap(3), "standardize": None, "target_features": "raw"},
        {"solver": "adam"},
        {"solver": "cached", "compress": False},
    ],
)
def test_extreme_data_make_files_that_load(options: dict[str, Any], scale: float) -> None:
    rows = RandomState(0).standard_cauchy(size=(200, 3))
    rows[:30, 1] = 0.0
    weights = 10.0 ** RandomState(1).uniform(-20.0, 20.0, size=200)
    model = OKSPCA(1, n_random_features=16, random_state=0, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankWarning)
        for some in (slice(0, 3), slice(3, 150), slice(150, 200)):
            y = rows[some, 0] * scale + 1e3 * scale
            model.partial_fit(rows[some] * scale - scale, y, sample_weight=weights[some])
            data = model_bytes(model)
            assert model_bytes(*model_from(OKSPCA, data)) == data


def test_a_map_holds_numbers() -> None:
    for weights, phases in (([[np.nan]], [0.0]), ([[1e200]], [0.0]), ([[1.0]], [np.inf])):
        with pytest.raises(ValueError, match="give a larger bandwidth"):
            FourierMap(np.array(weights), np.array(phases))
