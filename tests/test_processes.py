"""Processes that learn side by side, and numbers of threads."""

import multiprocessing
import os
import subprocess
import sys
import warnings
from typing import Any

import joblib
import numba
import numpy as np
import pytest
from threadpoolctl import threadpool_info

from okspca import OKSPCA

SPECTRUM = """
import numpy as np
from okspca import OKSPCA
random = np.random.RandomState(0)
X = random.normal(size=(600, 40))
y = np.column_stack([X[:, 0] ** 2, np.sin(X[:, 1])])
for solver in ("exact", "adam"):
    model = OKSPCA(3, n_random_features=200, solver=solver, random_state=0).fit(X[:500], y[:500])
    for i in range(500, 600):
        model.learn_one(X[i], y[i])
    print(" ".join(value.hex() for value in model.singular_values_))
    P = model.components_.T @ model.components_
    print(" ".join(value.hex() for value in P[:2].ravel()))
"""


def python(code: str, *arguments: str, **variables: str) -> str:
    command = [sys.executable, "-W", "ignore", "-c", code, *arguments]
    environment = {**os.environ, **variables}
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, check=True
    ).stdout


def spectrum(seed: int) -> bytes:
    """Learn a stream and return all bits of the answer."""
    random = np.random.RandomState(seed)
    X = random.normal(size=(150, 4))
    model = OKSPCA(2, n_random_features=32, random_state=seed).fit(X[:100], X[:100, 0] ** 2)
    for x in X[100:]:
        model.learn_one(x, x[0] ** 2)
    return bytes(model.singular_values_.tobytes() + model.components_.tobytes())


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_worker_processes_give_what_the_parent_gives(method: str) -> None:
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"this system cannot {method}")
    with warnings.catch_warnings():
        # Python 3.12 and later warn of forking while threads run, as those of a BLAS may.
        warnings.simplefilter("ignore", DeprecationWarning)
        with multiprocessing.get_context(method).Pool(2) as pool:
            found = pool.map(spectrum, [1, 2])
    assert found == [spectrum(1), spectrum(2)]


def test_joblib_workers_give_what_the_parent_gives() -> None:
    found = joblib.Parallel(n_jobs=2)(joblib.delayed(spectrum)(seed) for seed in (1, 2))
    assert found == [spectrum(1), spectrum(2)]


def test_the_number_of_threads_changes_nothing_beyond_rounding() -> None:
    def learned(threads: str) -> str:
        names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS")
        return python(SPECTRUM, **dict.fromkeys(names, threads))

    one, again, two = learned("1"), learned("1"), learned("2")
    assert one == again
    for a, b in zip(one.splitlines(), two.splitlines(), strict=True):
        x, y = (np.array([float.fromhex(word) for word in line.split()]) for line in (a, b))
        np.testing.assert_allclose(x, y, rtol=0.0, atol=1e-12 * np.abs(x).max())


def test_learning_leaves_the_settings_of_threads_alone() -> None:
    def settings() -> tuple[Any, ...]:
        pools = sorted((pool["filepath"], pool["num_threads"]) for pool in threadpool_info())
        return pools, numba.get_num_threads()

    spectrum(0)
    settings()  # asking loads libraries that then appear in the list
    before = settings()
    spectrum(1)
    assert settings() == before
