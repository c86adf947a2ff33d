"""What a model has learned is one record: absent before the first row, replaced as a whole."""

import copy
import pickle
import pickletools
from typing import Any

import numpy as np
import pytest
from numpy.random import RandomState
from sklearn.base import clone

from okspca import OKSPCA, DataError, StateError
from okspca.estimators import OKSPCAClassifier, OKSPCARegressor
from okspca.estimators.learned import Columns

X = RandomState(0).normal(size=(60, 3))
FITTED = ("n_features_in_", "n_samples_seen_", "task_", "input_map_", "components_", "moment_")


def small(**options: Any) -> OKSPCA:
    return OKSPCA(1, n_random_features=8, random_state=0, **options)


def test_nothing_is_known_before_the_first_row() -> None:
    model = small()
    assert model.learned is None
    assert "_learned" not in vars(model)
    for name in (*FITTED, "feature_names_in_", "classes_", "relevance_"):
        assert not hasattr(model, name)


def test_a_fitted_model_has_its_parameters_and_the_record() -> None:
    model = small().fit(X, X[:, 0])
    assert set(vars(model)) == {*model.get_params(), "_learned"}
    assert model.learned is not None
    assert model.learned.columns == Columns(3, None)
    assert model.learned.pipeline is model.ready()
    for name in FITTED:
        assert hasattr(model, name)
    assert clone(model).learned is None


def test_fitting_anew_replaces_the_record_and_a_failure_keeps_it() -> None:
    model = small().fit(X, X[:, 0])
    before = model.learned
    with pytest.raises(DataError):
        model.fit(np.full((4, 2), np.nan), np.zeros(4))
    assert model.learned is before
    model.fit(X[:, :2], X[:, 0] > 0)
    assert model.learned is not before
    assert (model.n_features_in_, model.task_) == (2, "classification")


def test_search_and_score_are_in_the_record() -> None:
    model = OKSPCARegressor(1, n_random_features=8, frequencies="scaled", prequential=True)
    model.partial_fit(X, X[:, 0])
    assert model.learned is not None
    assert model.learned.score is None
    model.partial_fit(X, X[:, 0])
    assert model.learned.score is not None
    assert model.learned.search is not None
    assert model.learned.search.n_held == 120
    held_back = small(bandwidth="median").partial_fit(X, X[:, 0])
    assert held_back.learned is not None
    assert held_back.learned.search is None
    assert held_back.learned.n_rows == 60


def test_the_number_of_groups_is_a_parameter_like_any_other() -> None:
    model = small(stability=8).fit(X, X[:, 0])
    assert model.stability == model.get_params()["stability"] == 8
    assert model.set_params(stability=4).stability == 4


@pytest.mark.parametrize("kind", [OKSPCA, OKSPCARegressor, OKSPCAClassifier])
def test_an_attribute_of_your_own_is_not_lost_silently_in_a_file(kind: type[OKSPCA]) -> None:
    model = kind().set_output(transform="pandas")
    model.to_bytes()
    model.note = "mine"
    with pytest.raises(StateError, match="attribute note has no form on disk"):
        model.to_bytes()


def old_pickle(state: dict[str, Any]) -> bytes:
    """A pickle as earlier versions wrote it: the record was another class, of three parts."""
    data = pickle.dumps(small(), protocol=2)
    (start,) = [place for op, _, place in pickletools.genops(data) if op.name == "EMPTY_DICT"][:1]
    record = b"cokspca.estimators.learned\nLearned\nNNN\x87\x81"
    parameters = pickle.dumps(state, protocol=2)[2:-1]
    entry = b"(X\x08\x00\x00\x00_learned" + record + b"u"
    return data[:start] + parameters + entry + b"b."


def test_a_pickle_of_an_earlier_version_is_refused_with_a_way_out() -> None:
    old = old_pickle({**small().get_params(), "n_features_in_": 3})
    with pytest.raises(StateError, match=r"made by an earlier version .* use save"):
        pickle.loads(old)


def test_a_pickle_of_this_version_and_a_copy_are_the_model() -> None:
    model = small().fit(X, X[:, 0])
    for twin in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), copy.copy(model)):
        assert twin.to_bytes() == model.to_bytes()
