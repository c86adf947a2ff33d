"""The library's arithmetic is its own and runs on one thread: no pool of a library decides a bit.

Other libraries' products and factorisations start threads from a certain size on, wait for them,
and round by how many there are.  Where one is left, ``ALLOWED`` says why that does no harm.
"""

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import okspca

SOURCE = Path(okspca.__file__).parent
PRODUCTS = {"dot", "matmul", "einsum", "vdot", "tensordot", "inner", "linalg"}
SPARSE = "a product with sparse rows, which SciPy computes itself"
SMALL = "matrices as wide as there are components: too small for threads"
LENGTHS = "lengths of single rows or columns, which NumPy computes itself"
OUTSIDE = "not on the way from rows to answers"
#: By file and what is used there: why.
ALLOWED = {
    "cli/advice.py": {"@": OUTSIDE},
    "comparators/ccipca.py": {"@": OUTSIDE, "np.linalg": LENGTHS},
    "comparators/cipls.py": {"@": OUTSIDE, "np.linalg": LENGTHS},
    "comparators/one_vs_rest.py": {"@": OUTSIDE},
    "datasets/spherical.py": {
        "@": OUTSIDE,
        "np.dot": OUTSIDE,
        "np.einsum": OUTSIDE,
        "np.linalg": OUTSIDE,
    },
    "diagnostics/bounds.py": {"np.linalg": LENGTHS},
    "estimators/drifting.py": {"np.linalg": LENGTHS},
    "estimators/explaining.py": {"np.linalg": LENGTHS},
    "estimators/fitted.py": {"np.linalg": LENGTHS},
    "features/attribution.py": {"@": "a few vectors"},
    "features/fourier.py": {"@": SPARSE, "np.linalg": LENGTHS},
    "files/readouts.py": {
        "np.linalg": LENGTHS,
        "scipy.linalg": "PCA of the inputs where a fit is evaluated, and small matrices",
    },
    "numerics/leading.py": {
        "np.linalg": "where the compiled routes decline",
    },
    "numerics/matrix.py": {"np.matmul": "where compilation is switched off"},
    "numerics/tile.py": {"np.matmul": "where compilation is switched off"},
    "numerics/orthonormal.py": {
        "np.linalg": "where maps are drawn and proofs are refined",
    },
    "numerics/sparse.py": {"@": SPARSE},
    "numerics/subspace.py": {"@": SMALL, "np.linalg": SMALL},
    "numerics/thin_svd.py": {"np.linalg": "for more than MOST rows and columns, a fixed rule"},
    "numerics/whitening.py": {"np.linalg": SMALL},
    "pipeline/answers.py": {"np.linalg": LENGTHS},
    "report/second_axis.py": {"@": OUTSIDE, "np.linalg": OUTSIDE},
    "services/gradient.py": {"np.linalg": "diagnostics that are asked for"},
}


def uses(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """What a file uses of libraries that have threads, and in which line."""
    for node in ast.walk(tree):
        match node:
            case ast.BinOp(op=ast.MatMult()) | ast.AugAssign(op=ast.MatMult()):
                yield "@", node.lineno
            case ast.Attribute(value=ast.Name(id="np"), attr=name) if name in PRODUCTS:
                yield f"np.{name}", node.lineno
            case ast.Attribute(attr="dot"):
                yield ".dot", node.lineno
            case ast.ImportFrom(module=str(module)) if module.startswith("scipy.linalg"):
                yield "scipy.linalg", node.lineno
            case ast.ImportFrom(module="numpy" | "numpy.linalg"):
                yield "from numpy", node.lineno


def test_products_of_other_libraries_are_counted_and_explained() -> None:
    found: dict[str, set[str]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        name = path.relative_to(SOURCE).as_posix()
        for what, line in uses(ast.parse(path.read_text())):
            found.setdefault(name, set()).add(what)
            assert what in ALLOWED.get(name, {}), f"{name}:{line} uses {what}"
    # What is no longer used is no longer allowed.
    assert {name: set(reasons) for name, reasons in ALLOWED.items()} == found


def test_nobody_limits_the_threads_of_the_process() -> None:
    for path in SOURCE.rglob("*.py"):
        text = path.read_text()
        assert "threadpool_limits" not in text, path
        # What limits there are may be read in one place.
        assert ("threadpoolctl" in text) == (path.name == "cores.py"), path
        # Elsewhere a limit is one of Spark's, of rows.
        if path.name == "cores.py":
            assert ".limit(" not in text
            assert ".wrap(" not in text


LEARNING = """
import sys, warnings
import numpy as np
from pathlib import Path
from okspca import OKSPCA, OKSPCAClassifier
from okspca.estimators.saving import model_bytes
from okspca.files.fitting import Block, learn
from okspca.state.evaluations import Evaluation
from okspca.state.streams import StreamRecord
warnings.simplefilter("ignore")
random = np.random.RandomState(0)
X = random.normal(size=(1100, 12))
y = np.sin(X[:, 0]) + X[:, 1] ** 2 + 0.1 * random.normal(size=1100)
labels = (X[:, 0] * X[:, 1] > 0).astype(int) + 2 * (X[:, 2] > 0.5)
models = {
    "covariance": (OKSPCA(3, random_state=0), y),
    "whitened": (OKSPCA(3, objective="whitened", random_state=0), y),
    "classes": (OKSPCAClassifier(2, random_state=0), labels),
}
mixture = np.sin((X * random.normal(size=12)).sum(axis=1) / 2.0)
few = dict(n_random_features=48, pilot_rows=600, random_state=0)
models["mixed"] = OKSPCA(2, frequencies="mixed", **few), mixture
models["trained"] = OKSPCA(2, objective="whitened", frequencies="trained", **few), mixture
for name in ("mixed", "trained"):
    model, target = models[name]
    rung = model.partial_fit(X[:600], target[:600]).ready().state.companions["search"].place.rung
    assert rung == name, rung
folder = Path(sys.argv[1])
for name, (model, target) in models.items():
    for start in range(0, 1100, 500):
        model.partial_fit(X[start : start + 500], target[start : start + 500])
    model.save(folder / f"{name}.okspca")
    answers = [model.transform(X[:400])]
    if hasattr(model, "predict"):
        answers.append(model.predict_proba(X[:400]))
    (folder / f"{name}.answers").write_bytes(b"".join(a.tobytes() for a in answers))
columns = tuple("abcdefghijkl")
for name, target in (("number", y), ("class", labels)):
    model = OKSPCA(3, n_random_features=400, objective="whitened", random_state=0)
    record = StreamRecord(("r",), "y", columns, "raise", evaluation=Evaluation.start(400, 12))
    for start in range(0, 1000, 500):
        part = X[start : start + 500], target[start : start + 500]
        record = learn(model, record, Block(*part, np.ones(500, dtype=bool), None))
    (folder / f"evaluated-{name}").write_bytes(model_bytes(model, record))
"""


def learned(folder: Path, **variables: str) -> dict[str, bytes]:
    """Saved models and their answers, from a process with these variables."""
    folder.mkdir()
    environment = {
        name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")
    }
    subprocess.run(
        [sys.executable, "-c", LEARNING, str(folder)], env={**environment, **variables}, check=True
    )
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.fixture(scope="module")
def on_one_thread(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What a process learns that has one thread and the usual cache."""
    folder = tmp_path_factory.mktemp("learned") / "one"
    return learned(folder, OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")


def test_the_number_of_threads_decides_no_bit(
    on_one_thread: dict[str, bytes], tmp_path: Path
) -> None:
    one = on_one_thread
    four = learned(tmp_path / "four", OPENBLAS_NUM_THREADS="4", OMP_NUM_THREADS="4")
    assert len(one) == 12
    assert [name for name in one if one[name] != four[name]] == []


@pytest.mark.slow
def test_new_and_cached_kernels_give_the_same_bits(
    on_one_thread: dict[str, bytes], tmp_path: Path
) -> None:
    """Machine code made here and now, and what was found in the usual cache."""
    cache = tmp_path / "cache"
    cold = learned(tmp_path / "cold", NUMBA_CACHE_DIR=str(cache))
    assert any(cache.rglob("*.nbc"))
    assert [name for name in cold if cold[name] != on_one_thread[name]] == []
