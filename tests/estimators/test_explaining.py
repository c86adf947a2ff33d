"""Explanations: contributions add up, closed forms agree with rows, and nothing shown raises."""

import numpy as np
import pandas as pd
import pytest
from numpy.random import RandomState
from scipy.sparse import csr_matrix

from okspca import OKSPCA
from okspca.errors import DataError
from okspca.features import FeatureMap, FourierMap, IdentityMap
from okspca.features.attribution import contributions, derivatives, normal_slopes, slopes_over
from okspca.standardize import CausalStandardizer


@pytest.fixture(scope="module")
def rows() -> np.ndarray:
    return RandomState(0).normal(size=(800, 4)) * [1.0, 5.0, 0.1, 2.0] + [0.0, 3.0, -1.0, 9.0]


@pytest.fixture(scope="module")
def model(rows: np.ndarray) -> OKSPCA:
    y = np.sin(rows[:, 0]) + 0.2 * rows[:, 1]
    return OKSPCA(3, n_random_features=48, random_state=0).fit(rows, y)


def mean_of(model: OKSPCA) -> np.ndarray:
    standardizer = model.input_standardizer_
    assert isinstance(standardizer, CausalStandardizer)
    return standardizer.mean


@pytest.mark.parametrize("kind", ["fourier", "identity"])
def test_derivatives_are_those_of_the_map(kind: str) -> None:
    random = RandomState(1)
    maps = {"fourier": FourierMap.sample(3, 16, bandwidth=1.3, seed=0), "identity": IdentityMap(3)}
    phi = maps[kind]
    U, S, step = random.normal(size=(phi.n_features, 2)), random.normal(size=(5, 3)), 1e-6
    found = derivatives(phi, U, S)
    for i, e in enumerate(np.eye(3) * step):
        slope = (phi.transform(S + e) - phi.transform(S - e)) @ U / (2.0 * step)
        np.testing.assert_allclose(found[:, :, i].T, slope, atol=1e-7)


@pytest.mark.parametrize("distance", [0.0, 1e-9, 1.0, 50.0])
def test_contributions_are_integrated_gradients(distance: float) -> None:
    random = RandomState(2)
    phi, U = FourierMap.sample(3, 16, bandwidth=1.3, seed=0), random.normal(size=(16, 2))
    base = random.normal(size=3)
    S = base + distance * random.normal(size=(4, 3))
    found = contributions(phi, U, S, base)
    ends = (phi.transform(S) - phi.transform(base[np.newaxis])) @ U
    np.testing.assert_allclose(found.sum(axis=2), ends, atol=1e-13)
    # The same integral by the midpoint rule.
    n = 4000
    for row, s in enumerate(S):
        way = base + (np.arange(n)[:, np.newaxis] + 0.5) / n * (s - base)
        mean = derivatives(phi, U, way).mean(axis=1)
        np.testing.assert_allclose(found[row], mean * (s - base), atol=1e-3 * max(distance, 1e-9))


def test_rows_are_explained_as_they_are_embedded(model: OKSPCA, rows: np.ndarray) -> None:
    found = model.explain_rows(rows[:20])
    np.testing.assert_allclose(found.values, model.transform(rows[:20]), atol=1e-14)
    mean = mean_of(model)
    np.testing.assert_allclose(found.base, model.transform(mean[np.newaxis])[0], atol=1e-12)
    np.testing.assert_allclose(found.contributions.sum(axis=2), found.values - found.base)


def test_an_input_at_its_mean_adds_nothing(model: OKSPCA, rows: np.ndarray) -> None:
    row = rows[:1].copy()
    row[0, 2] = mean_of(model)[2]
    found = model.explain_rows(row).contributions[0]
    assert np.all(found[:, 2] == 0.0)
    assert np.any(found[:, 0] != 0.0)


def test_shares_find_the_inputs_that_matter(model: OKSPCA, rows: np.ndarray) -> None:
    found = model.explain(rows)
    np.testing.assert_allclose(found.shares.sum(axis=1), 1.0)
    assert found.shares[0, [0, 1]].sum() > 0.8


@pytest.mark.parametrize("phi", [FourierMap.sample(3, 600, bandwidth=2.0, seed=0), IdentityMap(3)])
def test_normal_inputs_need_no_rows(phi: FeatureMap) -> None:
    random = RandomState(3)
    U = random.normal(size=(phi.n_features, 2))
    expected, found = slopes_over(phi, U, random.normal(size=(40_000, 3))), normal_slopes(phi, U)
    np.testing.assert_allclose(found.squares, expected.squares, rtol=0.03)
    np.testing.assert_allclose(found.variances, expected.variances, rtol=0.03)


def test_names_are_those_of_frames(rows: np.ndarray) -> None:
    frame = pd.DataFrame(rows, columns=["a", "b", "c", "d"])
    fitted = OKSPCA(1, n_random_features=16, random_state=0).fit(frame, rows[:, 0])
    found = fitted.explain(frame)
    assert (found.inputs, found.components) == (("a", "b", "c", "d"), ("okspca0",))
    assert "a " in str(found)


def test_sparse_rows_are_explained_from_a_row_of_zeros() -> None:
    X = csr_matrix(RandomState(0).poisson(0.5, size=(300, 5)).astype(float))
    fitted = OKSPCA(1, n_random_features=16, task="regression", random_state=0)
    fitted.fit(X, X.toarray()[:, 0])
    found = fitted.explain_rows(X[:3])
    np.testing.assert_allclose(found.contributions.sum(axis=2), found.values - found.base)
    assert fitted.explain(X).shares[0].argmax() == 0
    with pytest.raises(DataError, match="give rows"):
        fitted.explain()


def test_a_model_without_a_target_has_no_shares(rows: np.ndarray) -> None:
    fitted = OKSPCA(1, n_random_features=16, random_state=0).fit(rows, np.zeros(len(rows)))
    assert not fitted.explain(rows).shares.any()
    assert not fitted.explain_rows(rows[:2]).contributions.any()
    assert "0.0 %" in str(fitted.explain())


def test_unknown_maps_are_named(rows: np.ndarray) -> None:
    class Squares(FeatureMap):
        n_inputs, n_features = 4, 4

        def transform(self, Z: np.ndarray) -> np.ndarray:
            return Z**2

        def equals(self, other: FeatureMap) -> bool:
            return isinstance(other, Squares)

    fitted = OKSPCA(1, input_map=Squares(), random_state=0).fit(rows, rows[:, 0])
    with pytest.raises(DataError, match="derivative of a Squares"):
        fitted.explain(rows)


def test_everything_shows_itself_in_a_notebook(rows: np.ndarray) -> None:
    fitted = OKSPCA(2, n_random_features=16, stability=4, random_state=0).fit(rows, rows[:, 0])
    basis = fitted.basis()
    assert basis.certificate is not None
    shown = fitted.explain(rows), fitted.explain_rows(rows[:2]), basis, basis.certificate
    for thing in (*shown, fitted.estimate_stability()):
        assert thing._repr_html_().startswith("<table>")
    page = fitted._repr_mimebundle_()["text/html"]
    assert "800 rows learned, rank 2: captures at least" in page
    assert "learned" not in OKSPCA(2)._repr_mimebundle_()["text/html"].split("</body>")[-1]


@pytest.mark.parametrize("target", ["constant", "held back", "nothing"])
def test_no_state_of_a_model_fails_to_show(target: str, rows: np.ndarray) -> None:
    bandwidth = "median" if target == "held back" else 1.0
    fitted = OKSPCA(2, n_random_features=16, bandwidth=bandwidth, random_state=0)
    if target != "nothing":
        fitted.partial_fit(rows[:100], np.zeros(100))
        assert "<table>" in fitted.basis()._repr_html_()
    assert "<p>" in fitted._repr_html_() or target == "nothing"


def test_names_in_html_are_escaped(rows: np.ndarray) -> None:
    frame = pd.DataFrame(rows, columns=["<b>", "b", "c", "d"])
    fitted = OKSPCA(1, n_random_features=16, random_state=0).fit(frame, rows[:, 0])
    assert "<b>" not in fitted.explain(frame)._repr_html_()
    assert "&lt;b&gt;" in fitted.explain(frame)._repr_html_()
