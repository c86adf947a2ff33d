"""Random features approximate the kernel they name."""

import numpy as np
import pytest
from numpy.random import RandomState
from sklearn.gaussian_process.kernels import RBF, Matern
from sklearn.metrics.pairwise import laplacian_kernel

from okspca.features import FourierMap, IdentityMap, OneHotMap
from okspca.features.fourier import KERNELS, SAMPLINGS
from tests.reference.features import fourier

Z = RandomState(0).normal(size=(30, 3))
EXACT = {
    "gaussian": RBF(1.7)(Z),
    "laplacian": laplacian_kernel(Z, gamma=1 / 1.7),
    "matern12": Matern(1.7, nu=0.5)(Z),
    "matern32": Matern(1.7, nu=1.5)(Z),
    "matern52": Matern(1.7, nu=2.5)(Z),
}


# The Laplacian kernel is not rotation-invariant; that it is refused is tested below.
APPLICABLE = [(k, s) for k in KERNELS for s in SAMPLINGS if (k, s) != ("laplacian", "orthogonal")]


@pytest.mark.slow
@pytest.mark.parametrize(("kernel", "sampling"), APPLICABLE)
def test_inner_products_approximate_the_kernel(kernel: str, sampling: str) -> None:
    phi = FourierMap.sample(3, 60_000, bandwidth=1.7, kernel=kernel, sampling=sampling, seed=1)
    features = phi.transform(Z)
    # The standard error of one entry is at most 1 / sqrt(60000) = 0.004.
    assert np.abs(features @ features.T - EXACT[kernel]).max() < 0.02


def test_orthogonal_sampling_has_less_error() -> None:
    rows = RandomState(0).normal(size=(30, 16))
    kernel = RBF(4.0)(rows)

    def error(sampling: str) -> float:
        squares = []
        for seed in range(100):
            phi = FourierMap.sample(16, 96, bandwidth=4.0, sampling=sampling, seed=seed)
            features = phi.transform(rows)
            squares.append(np.mean((features @ features.T - kernel) ** 2))
        return float(np.mean(squares))

    assert error("orthogonal") < 0.85 * error("plain")


def test_orthogonal_rows_are_orthogonal_in_blocks() -> None:
    weights = FourierMap.sample(4, 10, bandwidth=1.0, sampling="orthogonal", seed=0).weights
    gram = weights[:4] @ weights[:4].T
    np.testing.assert_allclose(gram - np.diag(np.diag(gram)), 0.0, atol=1e-12)
    assert weights.shape == (10, 4)


def test_transform_equals_the_reference() -> None:
    phi = FourierMap.sample(3, 17, bandwidth=0.4, seed=5)
    expected = [fourier(row, phi.weights, phi.phases) for row in Z]
    np.testing.assert_allclose(phi.transform(Z), expected, rtol=0, atol=1e-14)


def test_same_seed_same_bits_and_norm_bound() -> None:
    one, two = (FourierMap.sample(3, 50, bandwidth=1.0, seed=9) for _ in range(2))
    assert one.equals(two)
    assert not one.equals(FourierMap.sample(3, 50, bandwidth=1.0, seed=10))
    assert not one.equals(IdentityMap(3))
    assert (np.linalg.norm(one.transform(Z), axis=1) <= np.sqrt(2.0)).all()
    assert 0.0 <= one.phases.min() <= one.phases.max() < 2 * np.pi


def test_weights_cannot_be_changed_from_outside() -> None:
    weights = np.ones((4, 2))
    phi = FourierMap(weights, np.zeros(4))
    weights[:] = 7.0
    assert (phi.weights == 1.0).all()
    with pytest.raises(ValueError, match="read-only"):
        phi.weights[0, 0] = 2.0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"kernel": "unheard-of"}, "kernel='unheard-of'"),
        ({"sampling": "sobol"}, "sampling='sobol'"),
        ({"kernel": "laplacian", "sampling": "orthogonal"}, "rotation-invariant"),
    ],
)
def test_unknown_settings_are_named(settings: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        FourierMap.sample(2, 4, bandwidth=1.0, **settings)  # type: ignore[arg-type]


def test_mismatched_phases_are_refused() -> None:
    with pytest.raises(ValueError, match="one phase per feature"):
        FourierMap(np.ones((4, 2)), np.zeros(3))


def test_one_hot_columns_follow_appearance() -> None:
    labels = OneHotMap().with_classes(["b", "a", "b"])
    assert labels.classes == ["b", "a"]
    assert labels.transform(labels.index(["a"])).tolist() == [[0.0, 1.0]]
    assert labels.equals(OneHotMap(["b", "a"]))
    assert not labels.equals(OneHotMap(["a", "b"]))
