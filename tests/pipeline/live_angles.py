"""Whitened answers between folds against a solve of the same sums, over as many rows as asked.

Run as ``python -m tests.pipeline.live_angles --rows 100000 --out results/certificates/live.json``:
rows are learned one by one with 256 features of 30 inputs, for a number and for four classes, with
and without forgetting.  At random rows the answer that a program gets is compared with that of a
factorisation of the same sums with the same ridge by SciPy, and with what was proven about it.
"""

import argparse
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import RandomState
from scipy.linalg import eigh, subspace_angles

from okspca import OKSPCA
from okspca.moments import WhitenedMoment
from okspca.numerics.arrays import Floats
from okspca.pipeline.learning import settled
from tests.diagnostics.whitened_cases import stored_numbers

N_INPUTS, N_FEATURES = 30, 256
KINDS: dict[str, dict[str, Any]] = {
    "a number": {"n_components": 2, "task": "regression"},
    "four classes": {"n_components": 3, "task": "classification"},
}


@dataclass
class Tally:
    """What was found for one kind of target."""

    target: str
    forgetting: float
    rows: int
    answers: int = 0
    largest_angle: float = 0.0
    loosest_proof: float = 0.0
    without_proof: int = 0
    untrue: int = 0


def solved(model: OKSPCA) -> tuple[Floats, Floats]:
    """Weights of the leading directions by SciPy, and the matrix that they are orthonormal in."""
    moment = settled(model.ready().state).moment
    assert isinstance(moment, WhitenedMoment)
    stored = stored_numbers(moment)
    left, right = stored.left, stored.right
    S = np.triu(stored.squares) + np.triu(stored.squares, 1).T
    N = S / np.outer(left, left) / stored.weight + stored.shift * np.eye(len(S))
    T = (stored.sums / right[:, None] / left).T / stored.weight
    k = model.n_components_
    _, V = eigh(T @ T.T, N, subset_by_index=(len(S) - k, len(S) - 1))
    return V, N


def angle_between(model: OKSPCA) -> float:
    """Largest angle in degrees, in the coordinates in which the covariance is the identity."""
    V, N = solved(model)
    W = model.components_.T
    half = np.linalg.cholesky(N).T
    return float(np.degrees(subspace_angles(half @ W, half @ V).max()))


def watched(target: str, forgetting: float, n_rows: int, n_answers: int, seed: int) -> Tally:
    """Learn row by row, and compare answers at random rows."""
    random = RandomState(seed)
    model = OKSPCA(
        **KINDS[target],
        objective="whitened",
        n_random_features=N_FEATURES,
        forgetting=forgetting,
        random_state=seed,
    )
    X = random.normal(size=(n_rows, N_INPUTS))
    y: Any = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * random.normal(size=n_rows)
    if target != "a number":
        y = np.digitize(y, [-0.7, 0.2, 0.9])
    tally = Tally(target, forgetting, n_rows)
    places = set(random.choice(np.arange(N_FEATURES, n_rows), n_answers, replace=False).tolist())
    for row, (x, value) in enumerate(zip(X, y.tolist(), strict=True)):
        model.learn_one(x, value)
        if row in places:
            _compare(model, tally)
    return tally


def _compare(model: OKSPCA, tally: Tally) -> None:
    """Compare one answer."""
    proven = model.basis().certificate
    assert proven is not None
    angle = angle_between(model)
    tally.answers += 1
    tally.largest_angle = max(tally.largest_angle, angle)
    if proven.angle_upper is None:
        tally.without_proof += 1
    else:
        tally.loosest_proof = max(tally.loosest_proof, proven.angle_upper)
        # The reference has the rounding of its own factorisation.
        tally.untrue += angle > proven.angle_upper + 1e-9


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--answers", type=int, default=1000)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    found = [
        watched(target, forgetting, given.rows, given.answers, seed=seed)
        for seed, (target, forgetting) in enumerate(
            (target, forgetting) for target in KINDS for forgetting in (1.0, 0.9999, 0.999)
        )
    ]
    command = f"python -m tests.pipeline.live_angles --rows {given.rows} --answers {given.answers}"
    told = {"command": command, "features": N_FEATURES, "found": [asdict(one) for one in found]}
    print(json.dumps(told, indent=1))
    if given.out is not None:
        given.out.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
