"""Files of every format version ever released are loaded for ever.

The files in `golden/` are never written again.  A new format version adds files of its own, made by
`python -m tests.state.test_golden_files VERSION`, which also notes what they hold.
"""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.random import RandomState

from okspca import OKSPCA
from okspca.numerics.arrays import Floats
from okspca.services import Adam

GOLDEN = Path(__file__).parent / "golden"
FILES = sorted(GOLDEN.glob("*.okspca"))


def rows() -> Floats:
    return np.asarray(RandomState(5).normal(size=(80, 2)))


def models() -> dict[str, OKSPCA]:
    """Small models that use different parts."""
    X = rows()
    labels = np.array(["left", "right", "über"])[np.digitize(X[:, 0], [-0.4, 0.4])]
    small: dict[str, Any] = {"n_random_features": 6, "random_state": 0}
    held_back = OKSPCA(1, bandwidth="median", **small)
    return {
        "exact-scalar": OKSPCA(2, align=True, **small).partial_fit(X, X[:, 0]),
        "cached-labels": OKSPCA(2, stability=4, solver="cached", **small).partial_fit(X, labels),
        "adam-frozen": OKSPCA(1, solver=Adam(), standardize="frozen", **small).fit(X, X),
        "held-back": held_back.partial_fit(X, X[:, 0] > 0),
        "whitened-labels": OKSPCA(2, objective="whitened", **small).partial_fit(X, labels),
        "whitened-window": OKSPCA(
            1, objective="whitened", window=32, target_features="chebyshev", **small
        ).partial_fit(X, X[:, 0]),
        "relevance": OKSPCA(1, frequencies="scaled", **small).partial_fit(X, X[:, 0]),
        "low-rank": OKSPCA(1, frequencies="mixed", **small).partial_fit(X, X[:, 0]),
    }


def notes(model: OKSPCA) -> dict[str, Any]:
    """What a file holds, in numbers that can be read; written by `repr`, so exact."""
    assert model.learned is not None
    if model.learned.pilot is not None:
        return {"rows": model.n_samples_seen_, "pilot": model.learned.pilot.X.tolist()}
    arrays = model.moment_.arrays
    return {
        "rows": model.n_samples_seen_,
        "classes": getattr(model, "classes_", np.zeros(0)).tolist(),
        "sums": arrays.sums.tolist(),
        "totals": arrays.totals.tolist(),
        "embedding": model.transform(rows()[:3]).tolist(),
    }


def test_there_are_golden_files() -> None:
    assert len(FILES) >= 4


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_a_golden_file_holds_what_it_held_when_it_was_written(path: Path) -> None:
    model = OKSPCA.load(path)
    noted = json.loads(path.with_suffix(".json").read_text())
    found = notes(model)
    # The embedding is computed, so its last digits belong to the machine; the rest is stored.
    np.testing.assert_allclose(
        found.pop("embedding", 0.0), noted.pop("embedding", 0.0), rtol=1e-9, atol=1e-12
    )
    assert found == noted
    X = rows()
    is_text = "labels" in path.stem
    y = np.array(["left"] * len(X)) if is_text else X[:, 0] > 0 if "held" in path.stem else X[:, 0]
    model.partial_fit(X, X if "adam" in path.stem else y)
    assert model.n_samples_seen_ == noted["rows"] + len(X)


@pytest.mark.parametrize("version", [1, 2])
def test_sub_moments_of_an_earlier_version_go_on_being_filled_in_turn(version: int) -> None:
    """The wanted distance was computed by the version that wrote the files."""
    X = rows()
    labels = np.array(["left", "right", "über"])[np.digitize(X[:, 1], [-0.4, 0.4])]
    model = OKSPCA.load(GOLDEN / f"v{version}-cached-labels.okspca")
    model.partial_fit(X[:37], labels[:37]).learn_one(X[40], labels[40])
    assert model.estimate_stability().distance == pytest.approx(0.33790085162965, rel=1e-9)


if __name__ == "__main__":
    for name, model in models().items():
        path = GOLDEN / f"v{sys.argv[1]}-{name}.okspca"
        if path.exists():
            continue
        model.save(path)
        path.with_suffix(".json").write_text(json.dumps(notes(model)) + "\n")
