"""The workloads are those of the paper's table, and their schedules mean what they say."""

import numpy as np
import pytest

from okspca_lab.studies.workloads import (
    PROJECTED_GRADIENT_STEPS,
    REGIMES,
    SCHEDULES,
    Regime,
    Schedule,
    derived_seed,
    draw_maps,
    hashed,
    stream,
)

MASK = 2**64 - 1


def plain_mix(z: int) -> int:
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & MASK
    return z ^ (z >> 31)


def plain_hash(seed: int, index: int) -> int:
    return plain_mix((plain_mix(seed) + 0x9E3779B97F4A7C15 * index) & MASK)


def test_the_regimes_are_those_of_the_paper() -> None:
    table = {
        name: (r.n_inputs, r.n_input_features, r.n_target_features, r.n_components, r.n_rows)
        for name, r in REGIMES.items()
    }
    assert table == {
        "C2": (20, 64, 2, 1, 4096),
        "C4": (64, 256, 4, 3, 4096),
        "C11": (48, 256, 11, 10, 4096),
        "R128": (10, 128, 128, 4, 4096),
        "R256": (64, 256, 256, 8, 2048),
    }
    assert [r.n_classes for r in REGIMES.values()] == [2, 4, 11, None, None]
    assert set(PROJECTED_GRADIENT_STEPS) == set(REGIMES)


def test_labels_need_one_target_feature_per_class() -> None:
    with pytest.raises(ValueError, match="n_target_features=5"):
        Regime("wrong", 3, 8, 5, 1, 10, 4)


@pytest.mark.parametrize("name", REGIMES)
def test_stream_and_maps_follow_from_the_seed(name: str) -> None:
    regime = REGIMES[name]
    X, y = stream(regime, 6200, 40)
    assert X.shape == (40, regime.n_inputs)
    assert (y.dtype.kind == "i") == (regime.n_classes is not None)
    again, other = stream(regime, 6200, 40), stream(regime, 6201, 40)
    np.testing.assert_array_equal(X, again[0])
    np.testing.assert_array_equal(y, again[1])
    assert not np.array_equal(X, other[0])
    maps, same, different = (draw_maps(regime, seed) for seed in (6200, 6200, 6201))
    assert maps.input_map.equals(same.input_map)
    assert not maps.input_map.equals(different.input_map)
    assert (maps.target_map is None) == (regime.n_classes is not None)
    gram = maps.initial_basis.T @ maps.initial_basis
    np.testing.assert_allclose(gram, np.eye(regime.n_components), atol=1e-14)


def test_a_stream_has_its_full_length_by_default() -> None:
    assert stream(REGIMES["R128"], 0)[0].shape == (4096, 10)


def test_parts_share_no_seed() -> None:
    seeds = {derived_seed(seed, part) for seed in range(6200, 6205) for part in range(4)}
    assert len(seeds) == 20
    assert all(0 <= seed < 2**32 for seed in seeds)


@pytest.mark.parametrize("seed", [0, 1, 6200, 2**63 + 5])
def test_the_hash_is_the_documented_one(seed: int) -> None:
    indices = np.array([0, 1, 2, 77, 2**40])
    assert hashed(seed, indices).tolist() == [plain_hash(seed, int(i)) for i in indices]


def test_the_hash_of_seed_zero_is_the_published_generator() -> None:
    # The first outputs of SplitMix64 started at zero.
    published = [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F, 0xF88BB8A8724C81EC]
    assert hashed(0, np.arange(1, 5)).tolist() == published


@pytest.mark.parametrize("every", [1, 10, 100, 1000])
@pytest.mark.parametrize("n_rows", [1, 99, 1000, 2048])
def test_periodic_requests_and_the_end(every: int, n_rows: int) -> None:
    found = SCHEDULES[f"every-{every}"].requests(n_rows, seed=3)
    assert found.tolist() == sorted({*range(every, n_rows + 1, every), n_rows})


@pytest.mark.parametrize("seed", [6200, 6201])
def test_random_requests(seed: int) -> None:
    found = SCHEDULES["bernoulli"].requests(50_000, seed).tolist()
    threshold = int(0.01 * 2**64)
    wanted = {i for i in range(1, 50_001) if plain_hash(seed, i) < threshold}
    assert found == sorted(wanted | {50_000})
    assert 400 < len(found) < 600


def test_a_longer_stream_keeps_the_random_requests_of_a_shorter_one() -> None:
    bernoulli = SCHEDULES["bernoulli"]
    short, long = bernoulli.requests(1000, 1).tolist(), bernoulli.requests(2000, 1).tolist()
    assert set(short) - {1000} == {i for i in long if i < 1000}


def test_probability_one_requests_everything() -> None:
    assert Schedule("all", probability=1.0).requests(5, 0).tolist() == [1, 2, 3, 4, 5]


def test_a_schedule_is_one_rule() -> None:
    with pytest.raises(ValueError, match="either every or probability"):
        Schedule("none")
    with pytest.raises(ValueError, match="either every or probability"):
        Schedule("both", every=2, probability=0.5)
