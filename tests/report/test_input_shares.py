"""How much each input counts for a basis."""

import numpy as np
import pandas as pd
from numpy.random import RandomState

from okspca import OKSPCA
from okspca.report.input_shares import relevance


def test_relevance_is_the_derivative() -> None:
    """Against differences of embeddings of rows that were moved a little."""
    X = RandomState(1).normal(size=(400, 3)) * [1.0, 10.0, 0.1]
    model = OKSPCA(2, n_random_features=32, random_state=0).fit(X, np.sin(X[:, 0]) + X[:, 1])
    scale = np.asarray(model.input_standardizer_.scale())  # type: ignore[attr-defined]
    expected = np.empty((2, 3))
    for i in range(3):
        step = np.zeros(3)
        step[i] = 1e-5 * scale[i]
        slope = (
            np.asarray(model.transform(X + step)) - np.asarray(model.transform(X - step))
        ) / 2e-5
        expected[:, i] = np.sqrt((slope**2).mean(axis=0)) / np.asarray(model.transform(X)).std(
            axis=0
        )
    np.testing.assert_allclose(relevance(model, X), expected, rtol=1e-6)


def test_relevance_of_a_model_given_a_data_frame() -> None:
    X = RandomState(1).normal(size=(400, 3))
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = OKSPCA(2, n_random_features=32, random_state=0).fit(frame, X[:, 0])
    plain = OKSPCA(2, n_random_features=32, random_state=0).fit(X, X[:, 0])
    np.testing.assert_array_equal(relevance(model, frame), relevance(plain, X))
    frame.loc[3, "b"] = np.nan
    filled = model.set_params(missing="impute")
    assert np.isfinite(relevance(filled, frame)).all()


def test_an_input_that_never_varies_moves_nothing() -> None:
    X = RandomState(0).normal(size=(600, 3))
    X[:, 2] = 5.0
    model = OKSPCA(1, random_state=0).fit(X, X[:, 1])
    found = relevance(model, X)[0]
    assert found[2] == 0.0
    assert found[1] > 0.1
