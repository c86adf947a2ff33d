"""The centred moment against the raw recursion of the paper and a direct double loop."""

import numpy as np
import pytest
from numpy.random import RandomState
from numpy.typing import NDArray

from okspca.errors import MergeError
from okspca.moments import CrossMoment, TargetCompression
from tests.reference.moments import RawMoment, centred_sum, forgetting_weights, weighted_centred

Array = NDArray[np.float64]


def rows(n: int = 40, D: int = 5, width: int = 3, seed: int = 0) -> tuple[Array, Array, Array]:
    random = RandomState(seed)
    return (
        random.normal(size=(n, D)) + 2.0,
        random.normal(size=(n, width)) - 1.0,
        random.uniform(0.2, 2.0, n),
    )


def test_equals_the_raw_recursion_after_every_row() -> None:
    Phi, Psi, _ = rows()
    moment, raw = CrossMoment(5, 3), RawMoment(5, 3)
    for phi, psi in zip(Phi, Psi, strict=True):
        moment.add_one(moment.encode(phi[np.newaxis], psi[np.newaxis], np.ones(1)))
        raw.update(phi, psi)
        np.testing.assert_allclose(moment.matrix(), raw.centred(), atol=1e-13)
        np.testing.assert_allclose(moment.bessel(), raw.bessel(), atol=1e-12)
        np.testing.assert_allclose(moment.means()[0], raw.mu_phi, atol=1e-13)
        np.testing.assert_allclose(moment.means()[1], raw.mu_psi, atol=1e-13)
    np.testing.assert_allclose(moment.matrix(), centred_sum(list(Phi), list(Psi)), atol=1e-13)


@pytest.mark.parametrize("forgetting", [1.0, 0.9])
@pytest.mark.parametrize("cuts", [[40], [1] * 40, [7, 20, 13], [39, 1]])
def test_weights_and_forgetting_equal_explicit_weights(forgetting: float, cuts: list[int]) -> None:
    Phi, Psi, weights = rows()
    moment, start = CrossMoment(5, 3, forgetting=forgetting), 0
    for size in cuts:
        block = slice(start, start + size)
        moment.update(Phi[block], Psi[block], weights[block])
        start += size
    faded = weights * np.asarray(forgetting_weights(40, forgetting))
    expected = weighted_centred(list(Phi), list(Psi), faded)
    np.testing.assert_allclose(moment.matrix(), expected, atol=1e-13)
    assert moment.weight == pytest.approx(faded.sum(), rel=1e-13)
    factor = faded.sum() / (faded.sum() - 1.0)
    np.testing.assert_allclose(moment.bessel(), expected * factor, atol=1e-12)


def test_the_reported_change_is_what_happened_to_the_sums() -> None:
    Phi, Psi, weights = rows()
    moment = CrossMoment(5, 3, forgetting=0.8)
    for i in range(10):
        before = moment.arrays.sums.copy()
        change = moment.add_one(moment.encode(Phi[i : i + 1], Psi[i : i + 1], weights[i : i + 1]))
        expected = 0.8 * before + change.scale * np.outer(change.right, change.left)
        np.testing.assert_allclose(moment.arrays.sums, expected, atol=1e-14)


def test_large_offsets_do_not_cancel() -> None:
    Phi, Psi, _ = rows(500)
    moment = CrossMoment(5, 3)
    moment.update(Phi + 1e8, Psi + 1e8, np.ones(500))
    np.testing.assert_allclose(moment.matrix(), centred_sum(list(Phi), list(Psi)), atol=1e-6)
    raw = np.mean((Phi + 1e8)[:, :, None] * (Psi + 1e8)[:, None, :], axis=0)
    naive = raw - np.outer((Phi + 1e8).mean(0), (Psi + 1e8).mean(0))
    assert np.abs(naive - moment.matrix()).max() > 0.1


def scalar_features(y: Array, D: int = 64) -> Array:
    random = RandomState(4)
    W, b = random.normal(size=D), random.uniform(0, 2 * np.pi, D)
    return np.sqrt(2.0 / D) * np.cos(np.outer(y, W) + b)


RESPONSES = {
    "normal": RandomState(1).normal(size=400),
    "outliers": np.where(RandomState(2).uniform(size=400) < 0.02, 50.0, 1.0)
    * RandomState(1).normal(size=400),
    "level shift": RandomState(1).normal(size=400) + 20.0 * (np.arange(400) > 200),
    "lognormal": np.exp(1.5 * RandomState(1).normal(size=400)),
    "two values": RandomState(1).choice([0.0, 1.0], 400),
}


@pytest.mark.parametrize("kind", RESPONSES)
@pytest.mark.parametrize("cuts", [[400], [1] * 400, [100, 300]])
def test_compression_is_lossless(kind: str, cuts: list[int]) -> None:
    D = 64
    Psi = scalar_features(RESPONSES[kind], D)
    Phi = RandomState(0).normal(size=(400, 6)) + 5.0 * Psi[:, :6]
    plain = CrossMoment(6, D)
    plain.update(Phi, Psi, np.ones(400))
    packed, start = CrossMoment(6, D, compression=TargetCompression(D)), 0
    for size in cuts:
        block = slice(start, start + size)
        packed.update(Phi[block], Psi[block], np.ones(size))
        start += size
    np.testing.assert_allclose(packed.matrix(), plain.matrix(), atol=1e-13)
    np.testing.assert_allclose(packed.means()[1], plain.means()[1], atol=1e-13)
    sigma = np.linalg.svd(packed.scaled().Ct, compute_uv=False) * packed.scaled().scale
    expected = np.linalg.svd(plain.matrix(), compute_uv=False)
    np.testing.assert_allclose(np.pad(sigma, (0, 6))[:6], expected[:6], atol=1e-13)
    if kind == "two values":
        assert packed.width == 2
    if kind == "normal":
        assert packed.width <= D // 2


def test_the_dropped_part_is_bounded_by_what_the_target_says() -> None:
    D = 64
    Psi = scalar_features(RESPONSES["normal"], D)
    Phi = RandomState(0).normal(size=(400, 6)) + 5.0 * Psi[:, :6]
    coarse = CrossMoment(6, D, compression=TargetCompression(D, tolerance=1e-3))
    plain = CrossMoment(6, D)
    for moment in (coarse, plain):
        moment.update(Phi, Psi, np.ones(400))
    scaled = coarse.scaled()
    error = np.linalg.norm(coarse.matrix() - plain.matrix())
    assert 1e-8 < error <= scaled.dropped * scaled.scale


def test_vector_targets_give_up_compression() -> None:
    D = 16
    Psi = RandomState(0).normal(size=(50, D))
    moment = CrossMoment(4, D, compression=TargetCompression(D))
    plain = CrossMoment(4, D)
    for i in range(0, 50, 5):
        for each in (moment, plain):
            each.update(Psi[i : i + 5, :4], Psi[i : i + 5], np.ones(5))
    assert moment.compression is None
    assert moment.width == D
    np.testing.assert_allclose(moment.matrix(), plain.matrix(), atol=1e-13)


@pytest.mark.parametrize("mine", [True, False])
@pytest.mark.parametrize("theirs", [True, False])
def test_merge_of_compressed_and_plain_moments(mine: bool, theirs: bool) -> None:
    D = 64
    Psi = scalar_features(RESPONSES["level shift"], D)
    Phi = RandomState(0).normal(size=(400, 6)) + 5.0 * Psi[:, :6]
    whole = CrossMoment(6, D)
    whole.update(Phi, Psi, np.ones(400))
    parts = []
    for packed, block in ((mine, slice(0, 210)), (theirs, slice(210, 400))):
        part = CrossMoment(6, D, compression=TargetCompression(D) if packed else None)
        part.update(Phi[block], Psi[block], np.ones(len(Phi[block])))
        parts.append(part)
    parts[0].merge(parts[1])
    np.testing.assert_allclose(parts[0].matrix(), whole.matrix(), atol=1e-13)
    assert parts[0].rows == 400


def test_merge_with_an_empty_moment_is_the_identity() -> None:
    Phi, Psi, weights = rows()
    moment, empty = CrossMoment(5, 3), CrossMoment(5, 3)
    moment.update(Phi, Psi, weights)
    expected = moment.matrix()
    moment.merge(empty)
    np.testing.assert_array_equal(moment.matrix(), expected)
    empty.merge(moment)
    np.testing.assert_array_equal(empty.matrix(), expected)


def test_merge_refuses_what_cannot_be_pooled() -> None:
    Phi, Psi, weights = rows()
    fading, other = CrossMoment(5, 3, forgetting=0.9), CrossMoment(5, 3, forgetting=0.9)
    fading.update(Phi, Psi, weights)
    other.update(Phi[:-1], Psi[:-1], weights[:-1])
    with pytest.raises(MergeError, match="equal clocks"):
        fading.merge(other)
    with pytest.raises(MergeError, match="forgetting factor"):
        fading.merge(CrossMoment(5, 3))


@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e140])
@pytest.mark.parametrize("by_row", [True, False])
def test_rounding_is_no_target_in_any_unit(scale: float, by_row: bool) -> None:
    Phi, _, _ = rows(300)
    moment = CrossMoment(5, 1)
    constant = np.full((300, 1), 0.1)
    step = 1 if by_row else 100
    for i in range(0, 300, step):
        moment.update(Phi[i : i + step] * scale, constant[i : i + step], np.ones(step))
    assert moment.scaled().is_zero
    varied = CrossMoment(5, 1)
    varied.update(Phi * scale, Phi[:, :1], np.ones(300))
    assert not varied.scaled().is_zero


def test_many_late_classes_keep_earlier_columns() -> None:
    random = RandomState(0)
    moment, plain = CrossMoment(3, 0, labels=True), CrossMoment(3, 40, labels=True)
    for c in range(40):
        Phi = random.normal(size=(2, 3))
        indicators = np.zeros((2, 40))
        indicators[:, c] = 1.0
        moment.update(Phi, indicators[:, : c + 1], np.ones(2))
        plain.update(Phi, indicators, np.ones(2))
    np.testing.assert_allclose(moment.matrix(), plain.matrix(), atol=1e-15)
    np.testing.assert_allclose(moment.matrix().sum(axis=1), 0.0, atol=1e-15)


def test_concentrating_keeps_the_target_and_gathers_it_in_few_coordinates() -> None:
    random = RandomState(3)
    z, Phi = random.normal(size=300), random.normal(size=(300, 6))
    Psi = np.cos(np.outer(z, random.normal(size=80)) + random.uniform(0.0, 6.0, 80))
    moment = CrossMoment(6, 80, compression=TargetCompression(80))
    moment.update(Phi, Psi, np.ones(300))
    compression = moment.compression
    assert compression is not None
    before, means = moment.matrix(), moment.means()
    rotation = moment.concentrate()
    assert rotation is not None
    np.testing.assert_allclose(rotation @ rotation.T, np.eye(moment.width), atol=1e-14)
    directions = compression.directions
    np.testing.assert_allclose(directions @ directions.T, np.eye(moment.width), atol=1e-14)
    np.testing.assert_allclose(moment.matrix(), before, atol=1e-15 * 80)
    np.testing.assert_allclose(moment.means()[1], means[1], atol=1e-13)
    norms = np.linalg.norm(moment.arrays.sums, axis=1)
    assert moment.width > 10
    assert norms[6:].max() < 1e-12 * norms[0]
    assert (np.diff(norms[:6]) <= 0.0).all()
    # Rows that come later are learned as if nothing had been turned.
    again = CrossMoment(6, 80, compression=TargetCompression(80))
    again.update(np.vstack([Phi, Phi[::-1] + 1.0]), np.vstack([Psi, Psi]), np.ones(600))
    moment.update(Phi[::-1] + 1.0, Psi, np.ones(300))
    np.testing.assert_allclose(moment.matrix(), again.matrix(), atol=1e-13)


def test_only_compressed_moments_are_concentrated() -> None:
    Phi, Psi, weights = rows()
    moment = CrossMoment(5, 3)
    moment.update(Phi, Psi, weights)
    assert moment.concentrate() is None
    assert CrossMoment(5, 3, compression=TargetCompression(3)).concentrate() is None
