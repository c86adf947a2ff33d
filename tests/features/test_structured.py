"""Frequencies by signs and Hadamard transforms: the kernel they name, and what they are made of."""

import pickle
from typing import Any

import numpy as np
import pytest
from numpy.random import RandomState
from scipy.sparse import csr_array
from sklearn.gaussian_process.kernels import RBF

from okspca import OKSPCA
from okspca.errors import StateError
from okspca.features import CosineMap, FourierMap, StructuredMap
from okspca.features.attribution import contributions, derivatives, normal_slopes
from okspca.features.fourier import KERNELS
from okspca.features.structured import padded
from okspca.numerics.arrays import Floats
from okspca.numerics.hadamard import hadamard_in_place
from okspca.state.fields import Sink, Source
from okspca.state.front_ends import MAPS
from tests.features.test_fourier import EXACT, Z
from tests.reference.features import fourier
from tests.reference.structured import frequencies, hadamard

#: Fewer features than a block has; a block; several blocks, the last one cut; one input.
SHAPES = ((3, 5), (3, 64), (100, 300), (1, 70), (64, 64), (65, 129))
PARTS = ("signs", "lengths", "phases", "scales")
#: How the map of seed 9 begins.
SIGNS = [[-1, 1, -1, -1, -1, -1], [1, -1, -1, -1, -1, -1], [1, 1, -1, -1, 1, 1]]
LENGTHS = [8.690111706593799, 8.574514412157715]
PHASES = [2.551347559490101, 1.980648102030834]


def drawn(n_inputs: int, n_features: int, seed: int = 0) -> StructuredMap:
    scales = RandomState(seed + 1).uniform(0.5, 2.0, n_inputs)
    return StructuredMap.sample(n_inputs, n_features, bandwidth=2.0, seed=seed).rescaled(scales)


def dense(phi: StructuredMap) -> FourierMap:
    """The same map with its frequencies written out by the reference."""
    return FourierMap(frequencies(phi.signs, phi.lengths, phi.scales), phi.phases)


@pytest.mark.parametrize("n", [1, 2, 4, 8, 16, 64, 512, 1024, 4096])
def test_the_transform_is_a_product_with_the_matrix(n: int) -> None:
    x = RandomState(n).normal(size=n)
    expected = hadamard(n) @ x
    hadamard_in_place(x)
    np.testing.assert_allclose(x, expected, rtol=0, atol=1e-13 * n)


@pytest.mark.parametrize(("d", "D"), SHAPES)
def test_features_and_both_products_equal_the_reference(d: int, D: int) -> None:
    phi = drawn(d, D)
    W, random = frequencies(phi.signs, phi.lengths, phi.scales), RandomState(3)
    rows, V = random.normal(size=(7, d)), random.normal(size=(5, D))
    close: dict[str, Any] = {"rtol": 0.0, "atol": 1e-11}
    expected = [fourier(row, W, phi.phases) for row in rows]
    np.testing.assert_allclose(phi.transform(rows), expected, **close)
    np.testing.assert_allclose(phi.project(rows), rows @ W.T, **close)
    np.testing.assert_allclose(phi.backproject(V), V @ W, **close)
    np.testing.assert_allclose(phi.frequencies(slice(1, D, 2)), W[1::2], **close)


def test_rows_have_the_same_bits_in_any_company() -> None:
    """One by one, in reverse, from memory of another layout, and sparse."""
    phi, rows = drawn(100, 300), RandomState(0).normal(size=(9, 100)) ** 3
    rows[np.abs(rows) < 0.5] = 0.0
    whole = phi.transform(rows)
    assert np.array_equal(np.concatenate([phi.transform(row[np.newaxis]) for row in rows]), whole)
    assert np.array_equal(phi.transform(rows[::-1])[::-1], whole)
    assert np.array_equal(phi.transform(np.asfortranarray(rows)), whole)
    assert np.array_equal(phi.transform(csr_array(rows)), whole)


def test_long_sparse_blocks_are_mapped_piece_by_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("okspca.features.structured.DENSE_AT_ONCE", 250)
    phi, rows = drawn(100, 30), RandomState(0).normal(size=(7, 100))
    assert np.array_equal(phi.project(csr_array(rows)), phi.project(rows))


@pytest.mark.slow
@pytest.mark.parametrize("kernel", [kernel for kernel in KERNELS if kernel != "laplacian"])
def test_inner_products_approximate_the_kernel(kernel: str) -> None:
    phi = StructuredMap.sample(3, 60_000, bandwidth=1.7, kernel=kernel, seed=1)
    features = phi.transform(Z)
    assert np.abs(features @ features.T - EXACT[kernel]).max() < 0.02


@pytest.mark.parametrize("n_features", [16, 100])
def test_few_features_approximate_the_kernel_on_average(n_features: int) -> None:
    """The rows that are taken of a block stand for all of them, and err less than plain ones."""
    rows = RandomState(0).normal(size=(20, 100))
    kernel = RBF(10.0)(rows)

    def moments(kind: type[StructuredMap] | type[FourierMap]) -> tuple[Floats, float]:
        mean, error = np.zeros_like(kernel), 0.0
        for seed in range(400):
            phi = kind.sample(100, n_features, bandwidth=10.0, seed=seed)
            found = phi.transform(rows) @ phi.transform(rows).T
            mean, error = mean + found / 400, error + float(((found - kernel) ** 2).mean()) / 400
        return mean, error

    mean, error = moments(StructuredMap)
    # A standard error of an entry is at most 1 / sqrt(400 D): below 0.0125 and 0.005.
    assert np.abs(mean - kernel).max() < 4.5 / np.sqrt(400 * n_features)
    assert error < 1.02 * moments(FourierMap)[1]


def test_columns_of_frequencies_are_distributed_as_plain_ones() -> None:
    """Variance and fourth moment of a standard normal, whatever the input; no correlations."""
    phi = StructuredMap.sample(5, 64 * 1500, bandwidth=1.0, seed=2)
    W = phi.project(np.eye(5)).T
    np.testing.assert_allclose(W.T @ W / len(W), np.eye(5), atol=0.02)
    np.testing.assert_allclose((W**4).mean(axis=0), 3.0, atol=0.12)
    # Lengths of normal vectors of 64 numbers: their squares have mean 64 and variance 128.
    assert abs((phi.lengths**2).mean() - 64.0) < 0.2
    assert abs((phi.lengths**2).var() - 128.0) < 3.0


def test_the_seed_decides_everything() -> None:
    one, two = (StructuredMap.sample(3, 50, bandwidth=1.0, seed=9) for _ in range(2))
    assert one.equals(two)
    assert not one.equals(StructuredMap.sample(3, 50, bandwidth=1.0, seed=10))
    assert not one.equals(dense(one))
    assert not one.equals(one.rescaled(np.array([1.0, 2.0, 1.0])))
    assert one.rescaled(np.full(3, 0.5)).equals(StructuredMap.sample(3, 50, bandwidth=2.0, seed=9))
    # Drawn once and kept: what a seed means must never change.
    assert one.signs[0, :, :6].tolist() == SIGNS
    np.testing.assert_allclose(one.lengths[:2], LENGTHS, rtol=1e-15)
    np.testing.assert_allclose(one.phases[:2], PHASES, rtol=1e-15)


@pytest.mark.parametrize("spoiled", [*PARTS, "shape"])
def test_impossible_parts_are_refused(spoiled: str) -> None:
    phi = drawn(3, 5)
    parts = {
        name: np.array(getattr(phi, name)) for name in ("signs", "lengths", "phases", "scales")
    }
    if spoiled == "shape":
        parts["signs"] = parts["signs"][:, :2]
    else:
        parts[spoiled].flat[0] = 0 if spoiled == "signs" else np.inf
    with pytest.raises(ValueError, match="signs" if spoiled == "shape" else spoiled):
        StructuredMap(**parts)


def test_the_laplacian_is_refused() -> None:
    with pytest.raises(ValueError, match="sampling='structured' needs a rotation-invariant"):
        StructuredMap.sample(2, 4, bandwidth=1.0, kernel="laplacian")


def test_derivatives_are_those_of_the_dense_map() -> None:
    phi, random = drawn(70, 90), RandomState(0)
    U, S, base = random.normal(size=(90, 2)), random.normal(size=(4, 70)), np.full(70, 0.3)
    close: dict[str, Any] = {"rtol": 1e-9, "atol": 1e-12}
    written = dense(phi)
    np.testing.assert_allclose(derivatives(phi, U, S), derivatives(written, U, S), **close)
    found, expected = (contributions(one, U, S, base) for one in (phi, written))
    np.testing.assert_allclose(found, expected, **close)
    for slopes, others in zip(normal_slopes(phi, U), normal_slopes(written, U), strict=True):
        np.testing.assert_allclose(slopes, others, **close)


def test_a_file_holds_the_map_and_little_more() -> None:
    phi, sink = StructuredMap.sample(20_000, 1024, bandwidth=100.0, seed=0), Sink()
    MAPS.write(sink, phi)
    content = sink.content()
    assert sum(array.nbytes for array in content.tensors.values()) < 200_000
    assert phi.equals(MAPS.read(Source(content)))
    assert len(pickle.dumps(phi)) < 450_000


def test_a_file_holds_scales_and_several_blocks() -> None:
    phi, sink = drawn(100, 300), Sink()
    MAPS.write(sink, phi)
    assert phi.equals(MAPS.read(Source(sink.content())))


@pytest.mark.parametrize("name", PARTS)
def test_files_with_impossible_maps_are_refused(name: str) -> None:
    sink = Sink()
    MAPS.write(sink, drawn(3, 5))
    content = sink.content()
    content.tensors[name] = content.tensors[name][:0]
    with pytest.raises(StateError):
        MAPS.read(Source(content))


def test_models_say_what_they_cannot_do() -> None:
    X, y = RandomState(0).normal(size=(30, 4)), RandomState(1).normal(size=30)
    for rung in ("mixed", "trained"):
        with pytest.raises(ValueError, match="'drawn' or 'scaled' where sampling='structured'"):
            OKSPCA(1, sampling="structured", frequencies=rung).fit(X, y)
        with pytest.raises(ValueError, match="a FourierMap or None"):
            OKSPCA(1, input_map=drawn(4, 8), frequencies=rung).fit(X, y)


def test_the_model_is_that_of_the_same_frequencies_written_out() -> None:
    """Classes and numbers; the target features are plain ones."""
    X = RandomState(0).normal(size=(200, 70))
    for y in (X[:, 0] * X[:, 1], (X[:, 0] > 0.0).astype(int)):
        model = OKSPCA(1, n_random_features=100, sampling="structured", random_state=3).fit(X, y)
        phi = model.ready().state.input_map
        assert isinstance(phi, StructuredMap)
        plain = OKSPCA(1, n_random_features=100, input_map=dense(phi), random_state=3).fit(X, y)
        assert isinstance(model.ready().state.target_map, CosineMap) == (y.dtype == np.float64)
        np.testing.assert_allclose(model.transform(X), plain.transform(X), atol=1e-9)


def test_padding() -> None:
    assert [padded(d) for d in (1, 64, 65, 20_000, 32_768)] == [64, 64, 128, 32_768, 32_768]
