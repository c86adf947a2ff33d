"""How rows are dealt to groups, and that groups fade and merge as the rule says."""

import numpy as np
import pytest
from numpy.random import RandomState

from okspca import OKSPCA, DataError, MergeError
from okspca.datasets import spherical_pairs
from okspca.estimators.saving import model_bytes, model_from
from okspca.features import IdentityMap
from okspca.moments import CrossMoment, SubMoments
from okspca.moments.dealing import SEED, Dealing
from okspca.numerics.arrays import Floats
from okspca.numerics.subspace import projector_distance
from tests.reference.stability import groups_of_rows, moment, weights_of

G = 8
RULES = (None, 7)
C = np.vstack([np.diag([0.7, 0.6, 0.3]), np.zeros((7, 3))])


def rows(n: int, seed: int = 0) -> tuple[Floats, Floats]:
    random = RandomState(seed)
    X = random.normal(size=(n, 3))
    return X, X[:, :2] + random.normal(size=(n, 2))


def filled(
    X: Floats, Y: Floats, *, seed: int | None, forgetting: float = 1.0, step: int = 1000
) -> tuple[SubMoments, CrossMoment]:
    """Groups, and the moment of all rows, learned in blocks."""
    main = CrossMoment(3, 2, forgetting=forgetting)
    groups = SubMoments(4, main, seed)
    for start in range(0, len(X), step):
        block = slice(start, start + step)
        encoded = main.encode(X[block], Y[block], np.ones(len(X[block])))
        main.add(encoded)
        groups.add(encoded, start)
    return groups, main


def joined(first: SubMoments, second: SubMoments, clocks: tuple[int, int]) -> SubMoments:
    first.merge(second.groups, second.dealing, clocks)
    return first


@pytest.mark.parametrize("n_groups", [4, 8, 64])
@pytest.mark.parametrize("seed", [0, SEED, 2**53])
def test_rows_are_dealt_as_the_reference_deals_them(n_groups: int, seed: int) -> None:
    dealing = Dealing(n_groups, seed)
    n = 70 * n_groups + 3
    wanted = groups_of_rows(n, n_groups, seed)
    assert dealing.groups(0, n).tolist() == wanted
    assert [dealing.group(row) for row in range(n)] == wanted
    assert dealing.groups(n - 80, 80).tolist() == wanted[-80:]


def test_every_group_gets_every_phase_of_a_period() -> None:
    """And as often: a seeded order must not prefer a place."""
    groups = Dealing(G).groups(0, 800 * G).reshape(-1, G)
    counts = np.array([np.bincount(column, minlength=G) for column in groups.T])
    assert counts.sum(axis=0).tolist() == [800] * G
    assert np.all(np.abs(counts - 100) < 45)


@pytest.mark.parametrize("seed", RULES)
@pytest.mark.parametrize("clock", range(12))
def test_the_last_row_of_each_group(seed: int | None, clock: int) -> None:
    groups = Dealing(4, seed).groups(0, 12)[:clock].tolist()
    for group, last in enumerate(Dealing(4, seed).last_rows(clock)):
        own = [row for row in range(clock) if groups[row] == group]
        assert last == own[-1] if own else last < 0


@pytest.mark.parametrize("seed", RULES)
@pytest.mark.parametrize("step", [1, 5, 1000])
@pytest.mark.parametrize("n", [21, 22, 24])
def test_groups_that_forget_are_weighted_moments_of_their_rows(
    seed: int | None, step: int, n: int
) -> None:
    X, Y = rows(n)
    found = filled(X, Y, seed=seed, forgetting=0.9, step=step)[0].arrays(n)
    weights, numbers = weights_of(n, 0.9), Dealing(4, seed).groups(0, n)
    for group in range(4):
        own = numbers == group
        assert found.weights[group] == pytest.approx(weights[own].sum())
        wanted = moment(X[own], Y[own], weights[own])
        np.testing.assert_allclose(found.sums[group].T / found.weights[group], wanted, rtol=1e-9)


@pytest.mark.parametrize("places", [(13, 6), (8, 8), (3, 2), (0, 7), (7, 0)])
def test_groups_dealt_in_turn_merge_to_those_of_the_one_stream(places: tuple[int, int]) -> None:
    """States of earlier versions do so, and go on doing so."""
    n, m = places
    X, Y = rows(n + m)
    whole = filled(X, Y, seed=None)[0].arrays(n + m)
    first, second = (
        filled(X[part], Y[part], seed=None)[0] for part in (slice(0, n), slice(n, None))
    )
    for found, wanted in zip(joined(first, second, places).arrays(n + m), whole, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("seeds", [(7, 7), (None, 7), (7, None), (7, 9)])
@pytest.mark.parametrize("places", [(13, 6), (8, 8), (3, 2), (15, 15), (0, 7), (7, 0)])
def test_merged_groups_are_dealt_on_without_a_gap(
    seeds: tuple[int | None, int | None], places: tuple[int, int]
) -> None:
    """Whatever the rules of both sides are, the next rows fill up the round that was begun."""
    n, m = places
    X, Y = rows(n + m + 9)
    first, main = filled(X[:n], Y[:n], seed=seeds[0])
    joined(first, filled(X[n : n + m], Y[n : n + m], seed=seeds[1])[0], places)
    for row in range(n + m, n + m + 9):
        counts = [group.rows for group in first.groups]
        assert max(counts) - min(counts) <= 1
        first.add(main.encode(X[row : row + 1], Y[row : row + 1], np.ones(1)), row)
    assert first.rows == n + m + 9


@pytest.mark.parametrize("forgetting", [1.0, 0.9])
def test_an_empty_state_takes_over_the_groups_and_their_rule(forgetting: float) -> None:
    X, Y = rows(11)
    theirs = filled(X, Y, seed=None, forgetting=forgetting)[0]
    wanted = theirs.arrays(11)
    empty = SubMoments(4, CrossMoment(3, 2, forgetting=forgetting))
    merged = joined(empty, theirs, (0, 11))
    back = joined(merged, SubMoments(4, CrossMoment(3, 2, forgetting=forgetting)), (11, 0))
    assert back.seed is None
    for found, known in zip(back.arrays(11), wanted, strict=True):
        assert np.array_equal(found, known)


def linear(forgetting: float = 1.0) -> OKSPCA:
    maps = {"input_map": IdentityMap(10), "target_map": IdentityMap(3)}
    return OKSPCA(2, **maps, standardize=None, stability=G, forgetting=forgetting)  # type: ignore[arg-type]


def in_turn(model: OKSPCA) -> OKSPCA:
    """The model as an earlier version would have saved it: without a seed."""
    groups = model.ready().state.sub_moments
    assert groups is not None
    groups.seed = None
    return model


def test_the_rule_is_part_of_the_file() -> None:
    X, Y = spherical_pairs(60, C, seed=0)
    models = [linear().partial_fit(X[:21], Y[:21]) for _ in range(2)]
    in_turn(models[1])
    for model, seed in zip(models, (SEED, None), strict=True):
        loaded = model_from(OKSPCA, model_bytes(model))[0]
        assert loaded.ready().state.sub_moments.seed == seed
        for one in (model, loaded):
            one.partial_fit(X[21:], Y[21:])
        assert loaded.estimate_stability() == model.estimate_stability()
    assert models[0].estimate_stability() != models[1].estimate_stability()


def test_states_that_forget_pool_only_where_groups_are_equally_old() -> None:
    X, Y = spherical_pairs(60, C, seed=0)
    models = [linear(0.99).partial_fit(X, Y) for _ in range(2)]
    models[0].merge(models[1], distinct=True)
    with pytest.raises(MergeError, match="same version"):
        models[0].merge(in_turn(models[1]))


@pytest.mark.slow
def test_a_period_does_not_show_as_error() -> None:
    """Phases of a period of 8 rows with means of their own: 60 streams and their intervals."""
    means = RandomState(99).normal(size=(G, 10))
    means -= means.mean(axis=0)
    # Population moment: that of the rows plus that of the phases, both through the same slopes.
    truth = np.linalg.svd((np.eye(10) + means.T @ means / G) @ C)[0][:, :2]
    covered = 0
    for seed in range(60):
        random = RandomState(seed)
        X = random.normal(size=(2000, 10)) + np.tile(means, (250, 1))
        Y = X @ C + 0.7 * random.normal(size=(2000, 3))
        model = linear().fit(X, Y)
        interval = model.estimate_stability().interval
        assert interval is not None
        distance = projector_distance(model.basis().vectors, truth)
        covered += interval[0] <= distance <= interval[1]
    assert 48 <= covered <= 60


def test_a_refused_row_does_not_widen_groups() -> None:
    X = RandomState(0).normal(size=(300, 3))
    y = np.sin(2.0 * X[:, 0]) + 0.5 * X[:, 1]
    model = OKSPCA(1, n_random_features=64, stability=8, random_state=0)
    model.partial_fit(X[:200], y[:200]).partial_fit(X[200:203], 30.0 + y[200:203])
    before = model.to_bytes()
    with pytest.raises(DataError):
        model.learn_one(np.array([np.nan, 0.0, 0.0]), 1.0)
    assert model.to_bytes() == before
