"""Compile everything ahead: small models go through every path that kernels lie on.

Machine code depends on the types of the arrays, not on their sizes.  So models of a few features
that learn a few rows, through the same methods a user calls, leave in the cache what any model
needs later.
"""

import copy
import itertools
import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from okspca.cli.progress import progress
from okspca.errors import MergeError, RankWarning
from okspca.estimators import OKSPCA
from okspca.features import IdentityMap
from okspca.numerics import caching
from okspca.numerics.announcing import ANNOUNCER, unannounced
from okspca.numerics.helpers import HELPERS
from okspca.numerics.routes import compile_ahead, missing, routes
from okspca.services import BY_NAME

N_INPUTS, N_FEATURES, N_ROWS, BLOCK = 3, 144, 160, 80
#: Repeated so often, the rows make a block that is long even where the stream is cut.
LONG = 10
TASKS = ("two classes", "classes", "response", "responses")
FRONT_ENDS: dict[str, dict[str, Any]] = {
    "causal": {},
    "frozen": {"standardize": "frozen"},
    "none": {"standardize": None},
    "identity maps": {"input_map": IdentityMap(N_INPUTS)},
    "uncompressed": {"compress": False},
    "median": {"bandwidth": "median", "target_bandwidth": "median"},
    "fading": {"forgetting": 0.99, "align": True},
    "whitened": {"objective": "whitened"},
    "single precision": {},
    "whitened, single precision": {"objective": "whitened"},
}


@dataclass(frozen=True)
class Warmed:
    """What warming did.

    Attributes
    ----------
    compiled : int
        Kernels that were compiled; those found in the cache do not count.
    folder : Path or None
        The cache; None where no place for one can be written.
    n_bytes : int
        Its size.
    removed : tuple of Path
        Caches of other versions that were deleted.
    """

    compiled: int
    folder: Path | None
    n_bytes: int
    removed: tuple[Path, ...]


def cases() -> list[tuple[str, str, str]]:
    """List task, solver and front end of the models: each solver, then each front end.

    Examples
    --------
    >>> ("classes", "exact", "frozen") in cases()
    True
    """
    by_solver = [
        (task, solver, "causal")
        for task, solver in itertools.product(TASKS, BY_NAME)
        if _suits(task, solver)
    ]
    others = [name for name in FRONT_ENDS if name != "causal"]
    by_front_end = [(task, "exact", name) for task, name in itertools.product(TASKS[1:], others)]
    return by_solver + by_front_end


def warm(done: Callable[[str], object] = lambda name: None, *, keep: bool = False) -> Warmed:
    """Compile and cache every kernel; report each case that is ``done``.

    Unless they are to be kept, caches that other versions left beside the present one are deleted.
    """
    folder = caching.FOLDER
    before = ANNOUNCER.compiled if folder is None else n_kernels(folder)
    if folder is not None and any(missing(route, folder) for route in routes()):
        HELPERS.work(folder, f"{__name__}:assist")
    for task, solver, front_end in cases():
        exercise(task, solver, front_end)
        done(f"{task}, {solver}, {front_end}")
    HELPERS.stop()
    if folder is None:
        return Warmed(ANNOUNCER.compiled - before, None, 0, ())
    compiled = n_kernels(folder) - before
    removed = () if keep else tuple(remove_others(folder))
    return Warmed(compiled, folder, size_of(folder), removed)


def assist() -> None:
    """Do the same in a helper process, from the other end."""
    for route in routes():
        compile_ahead(route)
    for case in reversed(cases()):
        exercise(*case)


def n_kernels(folder: Path) -> int:
    """Kernels in a cache, counted once for all types taken together."""
    return sum(1 for _ in folder.rglob("*.nbc"))


def run(console: Console, *, keep: bool = False) -> Warmed:
    """Warm with a bar on the console, and say what was done and where the cache is."""
    console.print("Compiling kernels: a minute or two the first time, later read from disk.")
    with unannounced(), progress(console) as bar:
        task = bar.add_task("", total=len(cases()))
        warmed = warm(lambda name: bar.update(task, advance=1, description=name), keep=keep)
    console.print(explained(warmed), markup=False, highlight=False, soft_wrap=True)
    return warmed


def explained(warmed: Warmed) -> str:
    """Say what was done.

    Examples
    --------
    >>> print(explained(Warmed(3, Path("cache"), 2_500_000, ())))
    3 kernels were compiled.
    The cache is cache (2.5 MB).
    """
    lines = [
        f"{warmed.compiled} kernels were compiled."
        if warmed.compiled
        else "Nothing had to be compiled."
    ]
    if warmed.folder is not None:
        lines.append(f"The cache is {warmed.folder} ({warmed.n_bytes / 1e6:.1f} MB).")
    lines.extend(f"Deleted the cache of another version: {path}" for path in warmed.removed)
    return "\n".join(lines)


def exercise(task: str, solver: str, front_end: str) -> None:
    """Take one small model through everything it can do."""
    X, y = _stream(task)
    X = X.astype(np.float32) if front_end.endswith("single precision") else X
    model = _model(task, solver, front_end)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankWarning)
        model.fit(X[:BLOCK], y[:BLOCK]).basis()
        for i in range(BLOCK, N_ROWS):
            model.learn_one(X[i], y[i])
        model.partial_fit(X[:1], y[:1]).basis(kind="maintained")
        model.partial_fit(X[:2], y[:2], sample_weight=[1.0, 2.0]).basis()
        if (solver, front_end) == ("exact", "causal"):
            for rows, targets in zip(layouts(X), layouts(y), strict=True):
                model.partial_fit(rows, targets).transform(rows)
            model.partial_fit(np.repeat(X, LONG, axis=0), np.repeat(y, LONG, axis=0))
        _read(mapped(model), X)
        _read(model, X)
        with suppress(MergeError):  # trackers cannot be merged
            _read(model.merge(copy.deepcopy(model), distinct=True), X)


def layouts(array: NDArray[Any]) -> list[NDArray[Any]]:
    """Return an array in the ways memory can hold it; each is a type of its own to a kernel."""
    spaced = np.repeat(array, 2, axis=0)[::2]
    kinds = [array.copy(), np.asfortranarray(array), spaced]
    for kind in kinds[:]:
        kinds.append(kind.view())
        kinds[-1].flags.writeable = False
    return kinds


def mapped(model: OKSPCA) -> OKSPCA:
    """Return the model as joblib hands it to its workers: with arrays that cannot be written."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        joblib.dump(model, path)
        return joblib.load(path, mmap_mode="r")


def _read(model: OKSPCA, X: NDArray[Any]) -> None:
    """Ask a model all there is to ask."""
    model.transform(X)
    model.basis()
    model.diagnose()


def remove_others(folder: Path) -> Iterator[Path]:
    """Delete the caches of other versions beside a folder: folders with our prefix, nothing else.

    A link is left alone, and so is what cannot be deleted.
    """
    for other in sorted(folder.parent.glob(f"{caching.PREFIX}*")):
        if other.name == folder.name or other.is_symlink() or not other.is_dir():
            continue
        shutil.rmtree(other, ignore_errors=True)
        if not other.exists():
            yield other


def size_of(folder: Path) -> int:
    """Bytes in the files of a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _suits(task: str, solver: str) -> bool:
    """Whether a solver takes such targets."""
    return {"binary": task == "two classes", "contrast": "classes" in task}.get(solver, True)


def _stream(task: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """Draw a few rows."""
    random = np.random.RandomState(0)
    X = random.standard_normal((N_ROWS, N_INPUTS))
    if task == "two classes":
        return X, (X[:, 0] > 0.0).astype(np.int64)
    if task == "classes":
        return X, np.digitize(X[:, 0], [-0.5, 0.5])
    return X, X[:, 0] ** 2 if task == "response" else X[:, :2] ** 2


def _model(task: str, solver: str, front_end: str) -> OKSPCA:
    """Make a model whose moment is wide where there are several outputs."""
    settings = FRONT_ENDS[front_end]
    if "input_map" in settings and task.startswith("response"):
        settings = {**settings, "target_map": IdentityMap(1 if task == "response" else 2)}
    n_components = 1 if task == "two classes" else 2
    return OKSPCA(
        n_components, n_random_features=N_FEATURES, solver=solver, random_state=0, **settings
    )
