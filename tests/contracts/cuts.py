"""Random models, streams and ways to cut them: whatever the cut, the result is the same.

Where rows are folded into the moment at fixed row numbers (the whitened objective and the
predictors), "the same" means every bit.  Elsewhere it means 1e-12 for the sums, and as much of the
answers as the gaps of the moment determine.

``python -m tests.contracts.cuts --cuts 2000`` tries so many and writes a tally.
"""

import argparse
import json
import warnings
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.random import RandomState
from scipy.sparse import csr_array

from okspca import OKSPCA, OKSPCAClassifier, OKSPCARegressor
from okspca.features import FourierMap, IdentityMap
from okspca.standardize import CausalStandardizer
from tests.contracts.closeness import (
    assert_close,
    assert_same_basis,
    assert_same_embedding,
    assert_same_standardizers,
    noise_of,
    tolerance_for,
)
from tests.contracts.fingerprint import fingerprint

TASKS = ("scalar", "two-output", "classes")
SHAPES = ("plain", "offset", "idle start", "sorted", "heavy tail", "small units", "late class")


class Trial(NamedTuple):
    """One model, its rows, and where they are cut."""

    seed: int
    kind: type[OKSPCA]
    settings: dict[str, Any]
    X: Any
    y: Any
    weights: Any
    places: list[int]

    @property
    def is_folded(self) -> bool:
        """Whether all bits must agree."""
        return self.kind is not OKSPCA or self.settings.get("objective") == "whitened"

    def __repr__(self) -> str:
        """What it takes to make it again."""
        return f"Trial(seed={self.seed}, {self.kind.__name__}, {self.settings}, {self.places})"


def trial(seed: int) -> Trial:
    """Draw a trial; the same one for the same seed."""
    random = RandomState(seed)
    kind: type[OKSPCA] = (OKSPCA, OKSPCA, OKSPCARegressor, OKSPCAClassifier)[random.randint(4)]
    tasks = {"OKSPCARegressor": TASKS[:2], "OKSPCAClassifier": TASKS[2:]}.get(kind.__name__, TASKS)
    task = tasks[random.randint(len(tasks))]
    settings: dict[str, Any] = {
        "n_components": int(random.randint(1, 4)),
        "n_random_features": int(random.choice([8, 24, 40])),
        "random_state": seed,
        "ridge": ("auto", "auto", 1e-3)[random.randint(3)],
    }
    chosen = _options(random, kind, task)
    settings.update(chosen)
    n = int(random.randint(520, 700)) if chosen.get("frequencies") else int(random.randint(20, 420))
    X, y = _stream(random, n, task)
    if kind is OKSPCA and random.rand() < 0.1:
        settings["input_map"] = IdentityMap(X.shape[1])
        settings["n_components"] = min(settings["n_components"], X.shape[1])
        settings.pop("frequencies", None)
    elif kind is OKSPCA and random.rand() < 0.1 and not chosen:
        X = csr_array(np.where(np.abs(X) > 0.5, X, 0.0))
    weights = random.choice([0.25, 1.0, 3.0], size=n) if random.rand() < 0.3 else np.ones(n)
    places = sorted({0, n, *random.randint(1, n, size=random.randint(1, 9)).tolist()})
    return Trial(seed, kind, settings, X, y, weights, places)


def _options(random: RandomState, kind: type[OKSPCA], task: str) -> dict[str, Any]:
    """Draw settings that may change how rows are kept."""
    found: dict[str, Any] = {}
    if kind is OKSPCA:
        found["objective"] = ("covariance", "whitened", "whitened")[random.randint(3)]
        if task != "classes":
            found["target_features"] = ("fourier", "fourier", "chebyshev", "raw")[random.randint(4)]
            # So few that a response soon needs more than half of them: compression is given up.
            found["n_target_features"] = int(random.choice([12, 32, 64]))
        found["align"] = bool(random.rand() < 0.3)
    if kind is not OKSPCARegressor and task == "classes" and found.get("objective") != "covariance":
        weightings = ("squared", "proportional", "balanced")
        found["class_weighting"] = weightings[random.randint(3)]
    memory = random.randint(6)
    if memory == 0:
        found["forgetting"] = float(random.choice([0.9, 0.99]))
    elif memory == 1 and kind is OKSPCA:
        found["window"] = int(random.choice([20, 64, 200]))
    elif memory == 2:
        found["stability"] = 4
    elif memory == 3:
        found["frequencies"] = ("scaled", "mixed", "trained")[random.randint(3)]
    return found


def _stream(random: RandomState, n: int, task: str) -> tuple[Any, Any]:
    """Draw rows of some awkward shape."""
    shape = SHAPES[random.randint(len(SHAPES))]
    X = random.normal(size=(n, int(random.randint(1, 5))))
    f = np.sin(X[:, 0]) + 0.3 * random.normal(size=n)
    if shape == "sorted":
        order = np.argsort(f)
        X, f = X[order], f[order]
    if shape == "heavy tail":
        f = f * random.pareto(1.0, size=n) * 3.0
    if shape == "idle start":
        f[: n // 4] *= 1e-6
    if task == "classes":
        labels = np.digitize(f, [-0.5, 0.4])
        if shape == "late class":
            labels[3 * n // 4 :: 3] = 3
        return X, labels
    y = f if task == "scalar" else np.column_stack([f, f**2 - X[:, -1]])
    if shape == "offset":
        X, y = X + 1e3, y + 1e4
    if shape == "small units":
        X, y = X * 1e-6, y * 1e-9
    return X, y


def transports(one: Trial) -> Iterator[OKSPCA]:
    """Models that learned the rows at once, as cut, one at a time, and by turns."""
    whole, singly = [0, one.places[-1]], [0, 1, one.places[-1]]
    for places, is_single in (
        (whole, lambda turn: False),
        (one.places, lambda turn: False),
        (singly, lambda turn: turn > 0),
        (one.places, lambda turn: turn % 2 == 1),
    ):
        model = one.kind(**one.settings)
        for turn, (start, stop) in enumerate(pairwise(places)):
            learn = _learn_singly if is_single(turn) else _learn_block
            learn(model, one, slice(start, stop))
        yield model


def _learn_block(model: OKSPCA, one: Trial, rows: slice) -> None:
    """Learn rows by one call."""
    model.partial_fit(one.X[rows], one.y[rows], sample_weight=one.weights[rows])


def _learn_singly(model: OKSPCA, one: Trial, rows: slice) -> None:
    """Learn rows one by one, by the fast path where there is one for them."""
    for i in range(rows.start, rows.stop):
        if isinstance(one.X, np.ndarray) and one.weights[i] == 1.0:
            model.learn_one(one.X[i], one.y[i] if one.y.ndim == 2 else one.y[i].item())
        else:
            _learn_block(model, one, slice(i, i + 1))


def difference(one: Trial) -> str | None:
    """What differs between two cuts of the same rows; None where nothing does."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        first, *others = transports(one)
        for other in others:
            try:
                _compare(one, first, other)
            except AssertionError as failure:
                return f"{one}: {str(failure).splitlines()[0] if str(failure) else failure!r}"
    return None


def _compare(one: Trial, a: OKSPCA, b: OKSPCA) -> None:
    """Raise where two models differ."""
    assert_same_standardizers(a, b)
    probe = one.X[:5]
    if one.is_folded:
        for name in ("moment_", "components_", "input_map_"):
            same = fingerprint(getattr(a, name)) == fingerprint(getattr(b, name))
            assert same, f"{name} differs"
        assert a.transform(probe).tobytes() == b.transform(probe).tobytes(), "transform differs"
        if hasattr(a, "predict"):
            same = fingerprint(a.predict(probe)) == fingerprint(b.predict(probe))
            assert same, "predict differs"
        assert a.basis().certificate == b.basis().certificate, "certificate differs"
        return
    noise = noise_of(b) + _phase_noise(one, b)
    C = b.moment_.matrix()
    assert_close(a.moment_.matrix(), C, noise)
    tolerance = tolerance_for(C, max(b.basis().rank, 1), noise)
    assert_same_basis(a.basis(), b.basis(), tolerance)
    if not one.settings.get("align"):
        assert_same_embedding(a.transform(probe), b.transform(probe), tolerance)


def _phase_noise(one: Trial, model: OKSPCA) -> float:
    """What rounding of the phases ``w z`` may do to the moment.

    A row that comes after an idle start can be a million standard deviations out; the phases of its
    features then carry a million rounding errors, in whatever order they are added up.
    """
    reach = 0.0
    sides = ((one.X, model.input_map_), (one.y, model.target_map_))
    for rows, feature_map in sides:
        if isinstance(feature_map, FourierMap) and isinstance(rows, np.ndarray):
            Z = rows.reshape(len(rows), -1)
            Z = CausalStandardizer(Z.shape[1]).scan(np.ascontiguousarray(Z), one.weights)
            reach = max(reach, float(np.abs(Z).max() * np.abs(feature_map.weights).max()))
    return 4.0 * float(np.finfo(np.float64).eps) * reach


def main() -> None:
    """Try many cuts and write how many differed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cuts", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0, help="seed of the first trial")
    parser.add_argument("--out", type=Path, default=None, help="folder of the tally")
    arguments = parser.parse_args()
    differing, folded, tried, seed = [], 0, 0, arguments.first
    while tried < arguments.cuts:
        one = trial(seed)
        found = difference(one)
        seed, tried, folded = seed + 1, tried + 3, folded + 3 * one.is_folded
        if found is not None:
            differing.append(found)
            print(found, flush=True)
    tally = {"cuts": tried, "compared bit for bit": folded, "differing": differing}
    print(json.dumps(tally, indent=1))
    if arguments.out is not None:
        arguments.out.mkdir(parents=True, exist_ok=True)
        (arguments.out / "cuts.json").write_text(json.dumps(tally, indent=1) + "\n")


if __name__ == "__main__":
    main()
