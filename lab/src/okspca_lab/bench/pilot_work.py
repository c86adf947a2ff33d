"""What is due at row 4,096, beside a pass of a neural network, as a program of its own.

A classifier of 48 inputs has learned all rows but one; the last one makes it climb the whole
ladder of input maps and learn the rows again.  Beside that, scikit-learn's perceptron of equal
width passes once over the same rows, in its own blocks of 200.  Both on one core, in turns; the
seconds are printed as JSON.
"""

import json
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.neural_network import MLPClassifier

from okspca import OKSPCA

N_ROWS, N_INPUTS, N_FEATURES, N_CLASSES = 4096, 48, 256, 11
BLOCK = 200


def rows(n_rows: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Draw rows whose class is the largest of eleven curved functions of mixtures of inputs."""
    random = np.random.default_rng(0)
    X = random.normal(size=(n_rows, N_INPUTS))
    mixtures = random.normal(size=(N_INPUTS, N_CLASSES)) / np.sqrt(N_INPUTS)
    return X, np.sin(2.0 * X @ mixtures + np.arange(N_CLASSES)).argmax(axis=1)


def pilot(n_rows: int) -> Callable[[], Any]:
    """Learn all rows but the last; return what learns that one."""
    X, y = rows(n_rows)
    settings: dict[str, Any] = {"n_random_features": N_FEATURES, "pilot_rows": n_rows}
    model = OKSPCA(N_CLASSES - 1, preset="predictive", random_state=0, **settings)
    model.partial_fit(X[:-1], y[:-1], classes=range(N_CLASSES))
    return lambda: model.partial_fit(X[-1:], y[-1:])


def network(n_rows: int) -> Callable[[], Any]:
    """Return what passes once over the rows."""
    X, y = rows(n_rows)
    model = MLPClassifier((N_FEATURES,), random_state=0)
    starts = range(0, n_rows, BLOCK)
    classes = np.arange(N_CLASSES)
    return lambda: [
        model.partial_fit(X[start : start + BLOCK], y[start : start + BLOCK], classes=classes)
        for start in starts
    ]


WORK = {"pilot": pilot, "network": network}


def main(n_rows: int) -> None:
    """Do both pieces of work, on a few rows off the clock first, and print how long each took."""
    seconds = {}
    for name, prepare in WORK.items():
        prepare(BLOCK)()
        work = prepare(n_rows)
        start = time.perf_counter()
        work()
        seconds[name] = time.perf_counter() - start
    print(json.dumps(seconds))


if __name__ == "__main__":
    main(int(sys.argv[1]))
