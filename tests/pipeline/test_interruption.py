"""Learning that is interrupted, by a row or by Ctrl-C, leaves one whole state."""

from typing import Any

import numpy as np
import pytest
from numpy.random import RandomState
from numpy.typing import NDArray

from okspca import OKSPCA, NumericalError
from okspca.features import FourierMap
from okspca.moments import SubMoments
from okspca.numerics.arrays import Floats
from okspca.pipeline.fast_row import FastRow

Array = NDArray[np.float64]
X = RandomState(0).normal(size=(300, 5))
Y = np.sin(X[:, 0]) + X[:, 1] ** 2


def rows(n: int = 1500, seed: int = 0) -> tuple[Floats, Floats]:
    X = RandomState(seed).normal(size=(n, 3))
    return X, np.sin(2.0 * X[:, 0]) + 0.5 * X[:, 1]


class Fragile(FourierMap):
    """A map that fails on demand."""

    failure: BaseException | None = None

    def transform(self, Z: Array) -> Array:
        if self.failure is not None and Z.shape[0] < 1024:
            raise self.failure
        return super().transform(Z)


class Poisonous(FourierMap):
    """A map that gives what is not a number for large rows."""

    def transform(self, Z: Array) -> Array:
        features = super().transform(Z)
        features[np.abs(Z[:, 0]) > 100.0] = np.nan
        return features


@pytest.mark.parametrize("solver", ["exact", "adam", "cached", "warm-block"])
@pytest.mark.parametrize("failure", [KeyboardInterrupt(), RuntimeError("broken")])
def test_an_interrupted_block_changes_nothing(solver: str, failure: BaseException) -> None:
    fragile = Fragile(*(lambda m: (m.weights, m.phases))(FourierMap.sample(5, 16, bandwidth=2.0)))
    models = [
        OKSPCA(2, solver=solver, input_map=fragile, align=True, random_state=0).partial_fit(X, Y)
        for _ in range(2)
    ]
    large_X, large_Y = np.tile(X, (5, 1)), np.tile(Y, 5)
    fragile.failure = failure
    with pytest.raises(type(failure)):
        models[0].partial_fit(large_X, large_Y)  # breaks in its second chunk
    fragile.failure = None
    assert models[0].n_samples_seen_ == 300
    for model in models:
        model.partial_fit(X[:50], Y[:50])
    np.testing.assert_array_equal(models[0].moment_.matrix(), models[1].moment_.matrix())
    np.testing.assert_array_equal(models[0].transform(X), models[1].transform(X))


def test_features_that_are_not_finite_never_reach_the_moment() -> None:
    poisonous = Poisonous(
        *(lambda m: (m.weights, m.phases))(FourierMap.sample(5, 16, bandwidth=2.0))
    )
    model = OKSPCA(2, input_map=poisonous, standardize=None, random_state=0).partial_fit(X, Y)
    before = model.moment_.matrix()
    bad = X.copy()
    bad[7, 0] = 1e6
    with pytest.raises(NumericalError, match="input features of observation 308"):
        model.partial_fit(bad, Y)
    np.testing.assert_array_equal(model.moment_.matrix(), before)


@pytest.mark.parametrize("moment", ["kernel", "groups"])
def test_ctrl_c_within_a_row_leaves_all_counts_alike(
    monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    X, y = rows(300)
    model = OKSPCA(1, n_random_features=16, stability=4, random_state=0)
    model.partial_fit(X[:200], y[:200]).learn_one(X[200], float(y[200]))
    pipeline: Any = model.ready()
    fast_row = pipeline._fast_row
    assert isinstance(fast_row, FastRow)
    kernel = fast_row.kernel

    def interrupted(*arguments: Any) -> int:
        kernel(*arguments)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        if moment == "kernel":
            patch.setattr(fast_row, "kernel", interrupted)
        else:
            add = SubMoments.add_one
            calls: list[int] = []

            def once(self: SubMoments, *arguments: Any) -> None:
                calls.append(1)
                if len(calls) == 1:
                    raise KeyboardInterrupt
                add(self, *arguments)

            patch.setattr(SubMoments, "add_one", once)
        with pytest.raises(KeyboardInterrupt):
            model.learn_one(X[201], float(y[201]))
    state = pipeline.state
    assert state.rows == state.moment.rows == state.sub_moments.rows == 202
    assert OKSPCA.from_bytes(model.to_bytes()).n_samples_seen_ == 202


def test_ctrl_c_before_the_table_is_renewed_adds_no_direction_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, y = rows(120)
    y[60] = 40.0  # far from all before: a new target direction
    model, calm = (OKSPCA(1, n_random_features=64, random_state=0) for _ in range(2))

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    for i, x in enumerate(X):
        calm.learn_one(x, float(y[i]))
        if i == 60:
            with monkeypatch.context() as patch:
                patch.setattr(FastRow, "renew", interrupt)
                with pytest.raises(KeyboardInterrupt):
                    model.learn_one(x, float(y[i]))
        model.learn_one(x, float(y[i]))
    assert model.n_samples_seen_ == model.moment_.rows == 120
    assert model.moment_.width == calm.moment_.width
    np.testing.assert_allclose(model.moment_.matrix(), calm.moment_.matrix(), rtol=0, atol=1e-12)
