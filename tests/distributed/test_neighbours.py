"""okspca beside the libraries people use it with: all in one process, imported first or last.

Numba's cache is empty at the start, so that everybody's kernels are compiled beside ours.
"""

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

NEEDED = {"umap": "neighbours", "river": "river", "distributed": "dask", "pyspark": "spark"}
MISSING = [extra for module, extra in NEEDED.items() if find_spec(module) is None]
pytestmark = [
    pytest.mark.skipif(bool(MISSING), reason=f"needs okspca[{','.join(MISSING)}]"),
    pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs Java"),
]
IMPORT_OKSPCA = """
from okspca import OKSPCA
from okspca.distributed import dask as on_dask, river as on_river, spark as on_spark
"""
IMPORT_OTHERS = """
import dask.array as da
import numba
import umap
from pyspark.sql import SparkSession
from river import preprocessing
"""
USE_OKSPCA = """
import numpy as np
import pandas as pd
X = np.random.RandomState(0).normal(size=(120, 3))
y = X[:, 0] ** 2
SETTINGS = {"n_random_features": 16, "standardize": None, "random_state": 0}
alone = OKSPCA(1, **SETTINGS).fit(X, y).learn_one(X[0], y[0])
print(alone.singular_values_.tobytes().hex())
"""
USE_ALL = """
exec("def of_no_module(x): return x + 1.0", made := {})
print("numba", numba.njit(made["of_no_module"])(1.0))

def same(model):
    wanted = OKSPCA(1, **SETTINGS).fit(X, y).moment_.matrix()
    return bool(np.abs(model.moment_.matrix() - wanted).max() < 1e-12)

near = umap.UMAP(n_neighbors=5, n_epochs=5, random_state=0).fit(X)
print("umap", near.transform(X[:7]).shape)

pipeline = preprocessing.StandardScaler() | on_river.RiverOKSPCA(1, n_random_features=16, seed=0)
for row, value in zip(X, y):
    x = dict(enumerate(row))
    pipeline.learn_one(x, float(value))
print("river", len(pipeline.transform_one(x)))

chunks = da.from_array(X, chunks=(60, 3)), da.from_array(y, chunks=60)
print("dask", same(on_dask.fit(*chunks, model=OKSPCA(1, **SETTINGS))))

session = (SparkSession.builder.master("local[1]").config("spark.ui.enabled", False)
           .config("spark.sql.shuffle.partitions", 1).getOrCreate())
frame = session.createDataFrame(pd.DataFrame(X, columns=list("abc")).assign(y=y))
print("spark", same(on_spark.fit(frame, "y", model=OKSPCA(1, **SETTINGS))))
session.stop()
"""


def run(code: str, cache: Path) -> list[str]:
    variables = {"NUMBA_CACHE_DIR": str(cache), "PYSPARK_PYTHON": sys.executable}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.splitlines()


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("machine-code")


@pytest.mark.parametrize("okspca_is", ["first", "last"])
def test_all_run_in_one_process(okspca_is: str, cache: Path) -> None:
    imports = (
        IMPORT_OKSPCA + USE_OKSPCA + IMPORT_OTHERS
        if okspca_is == "first"
        else IMPORT_OTHERS + IMPORT_OKSPCA + USE_OKSPCA
    )
    bits, *others = run(imports + USE_ALL, cache)
    assert others == ["numba 2.0", "umap (7, 2)", "river 1", "dask True", "spark True"]
    assert run(IMPORT_OKSPCA + USE_OKSPCA, cache) == [bits]
