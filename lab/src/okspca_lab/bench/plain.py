"""What a person gets who sets nothing: `okspca bench --cases default`.

Everything runs in processes of its own, so that nothing is left over from another measurement:

* five pieces of work (:mod:`okspca_lab.bench.plain_work`), in turns without any variable that sets
  numbers of threads and with all of them set to one;
* the README's example as a new user runs it, with an empty cache of machine code: from the start of
  the process to its end;
* the same with a filled cache, in turns with a process that only imports what okspca stands on;
* all that is due at row 4,096, where features are learned (:mod:`okspca_lab.bench.pilot_work`),
  beside one pass of a neural network, on one thread.

The caches, of machine code and of byte code, are temporary folders; the byte code of every package
is there before anything is timed, as after an installation.
"""

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from okspca.report.tables import Table
from okspca_lab.bench.pilot_work import N_ROWS as PILOT_ROWS
from okspca_lab.bench.plain_work import README_ROWS

EXAMPLE = """\
import numpy as np
from okspca import OKSPCA

X = np.random.default_rng(0).normal(size=(5000, 20))
y = np.sin(X[:, 0]) + X[:, 1] ** 2
model = OKSPCA(n_components=2, preset="predictive", random_state=0)
for block in np.array_split(np.arange(5000), 50):
    model.partial_fit(X[block], y[block])
print(model.transform(X[:3]))  # coordinates of rows, old or new
print(model.basis().certificate)  # what is proven about them
"""
PAPER_EXAMPLE = EXAMPLE.replace('preset="predictive", ', "")
ALL_BITS = "\nprint(model.transform(X).tobytes().hex(), model.basis().vectors.tobytes().hex())\n"
BARE = "import numpy, scipy.linalg, numba, sklearn.base"
#: Variables by which the libraries below okspca are told how many threads to use.
THREAD_VARIABLES = (
    "OPENBLAS_NUM_THREADS",
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "GOTO_NUM_THREADS",
)
PLAIN, ONE_THREAD = "no variable set", "one thread set"
#: What is claimed: pieces of work and bounds on their time without variables ÷ with one thread.
TITLES = {
    "readme": "README example, after imports",
    "fit": "fit, 20,000 × 20, a number as target",
    "blocks": "the same in blocks of 100",
    "classifier": "classifier (whitened), 20,000 × 20",
    "grid": "GridSearchCV(n_jobs=2), 12 cells × 3 folds",
}
BOUNDS = {"readme": 1.2, "fit": 1.2, "blocks": 1.2, "classifier": 1.2, "grid": 1.5}
SECOND = {
    "second process": "second process ÷ bare imports",
    "second process, paper": "the same with the paper's target",
}
FIRST_SECONDS, SECOND_RATIO, PILOT_SECONDS = 15.0, 1.3, 6.0
N_ROWS, QUICK_ROWS = 20_000, 400
#: A process that takes longer is ended, and counts as having taken so long.
MOST_SECONDS = 900.0


@dataclass(frozen=True)
class PlainTime:
    """One measurement: what, under which circumstances, in which repetition, and its seconds."""

    case: str
    setting: str
    repetition: int
    seconds: float
    digest: str = ""


def thread_settings() -> str:
    """Say which variables that set numbers of threads this process was given.

    Examples
    --------
    >>> thread_settings().startswith("Thread variables: ")
    True
    """
    given = [f"{name}={os.environ[name]}" for name in THREAD_VARIABLES if name in os.environ]
    return f"Thread variables: {', '.join(given) or 'none set'}"


def measure_plain(
    repeats: int, *, quick: bool, done: Callable[[str], object] = lambda what: None
) -> list[PlainTime]:
    """Measure everything; a quick run shows that it works, with the usual caches."""
    with _caches(quick=quick) as caches:
        if quick:
            found = _race_threads(1, QUICK_ROWS, done, together=True)
            found += _second_processes(1, done, QUICK_ROWS)
            return [*found, *_pilots(1, QUICK_ROWS, done)]
        for code in (EXAMPLE, PAPER_EXAMPLE):
            _run([sys.executable, "-c", code], PLAIN)
        found = _second_processes(repeats, done)
        found += _first_answers(repeats, caches, done)
        # Machine code for all of the work, before any of it is timed.
        _run(_work(list(TITLES), QUICK_ROWS), PLAIN)
        _pilots(1, QUICK_ROWS, done)
        found += _pilots(repeats, PILOT_ROWS, done)
        return [*found, *_race_threads(repeats, N_ROWS, done)]


def _race_threads(
    repeats: int, n_rows: int, done: Callable[[str], object], *, together: bool = False
) -> list[PlainTime]:
    """Do each piece of work in both environments, in turns."""
    found = []
    for names in [list(TITLES)] if together else [[name] for name in TITLES]:
        for repetition in range(repeats):
            order = (PLAIN, ONE_THREAD) if repetition % 2 == 0 else (ONE_THREAD, PLAIN)
            for setting in order:
                seconds = _seconds_of(names, n_rows, setting)
                found += [PlainTime(name, setting, repetition, seconds[name]) for name in names]
            done(", ".join(names))
    return found


def _seconds_of(names: list[str], n_rows: int, setting: str) -> dict[str, float]:
    """Run pieces of work in a process and read what it measured."""
    taken, output = _run(_work(names, n_rows), setting)
    if output is None:
        return dict.fromkeys(names, taken)
    seconds: dict[str, float] = json.loads(output.splitlines()[-1])
    return seconds


def _first_answers(repeats: int, caches: Path, done: Callable[[str], object]) -> list[PlainTime]:
    """Run the README's example with an empty cache, again and again."""
    found = []
    for repetition in range(repeats):
        with tempfile.TemporaryDirectory(dir=caches) as empty:
            command = [sys.executable, "-c", EXAMPLE + ALL_BITS]
            seconds, output = _run(command, PLAIN, NUMBA_CACHE_DIR=empty)
        found.append(PlainTime("first answer", PLAIN, repetition, seconds, _digest(output)))
        done("first answer")
    return found


def _second_processes(
    repeats: int, done: Callable[[str], object], n_rows: int = README_ROWS
) -> list[PlainTime]:
    """Run the README's example with a filled cache and a process that only imports, in turns."""
    found = []
    codes = {
        "second process": EXAMPLE + ALL_BITS,
        "second process, paper": PAPER_EXAMPLE,
        "bare imports": BARE,
    }
    for repetition in range(repeats):
        for case in list(codes) if repetition % 2 == 0 else reversed(codes):
            code = codes[case].replace(str(README_ROWS), str(n_rows))
            seconds, output = _run([sys.executable, "-c", code], PLAIN)
            found.append(PlainTime(case, PLAIN, repetition, seconds, _digest(output)))
        done("second process")
    return found


def _pilots(repeats: int, n_rows: int, done: Callable[[str], object]) -> list[PlainTime]:
    """Learn features from so many rows, beside a pass of a network over them."""
    found = []
    for repetition in range(repeats):
        command = [sys.executable, "-m", "okspca_lab.bench.pilot_work", str(n_rows)]
        output = _run(command, ONE_THREAD)[1] or "{}"
        seconds: dict[str, float] = json.loads(output.splitlines()[-1])
        found += [PlainTime(case, ONE_THREAD, repetition, seconds[case]) for case in seconds]
        done("pilot")
    return found


def _work(names: list[str], n_rows: int) -> list[str]:
    """The command of a process that does pieces of work."""
    return [sys.executable, "-m", "okspca_lab.bench.plain_work", str(n_rows), *names]


def _run(command: list[str], setting: str, **variables: str) -> tuple[float, str | None]:
    """Run a process to its end; return its seconds, and its output unless it was ended."""
    kept = {name: value for name, value in os.environ.items() if name not in THREAD_VARIABLES}
    kept.pop("PYTHONDONTWRITEBYTECODE", None)
    threads = {} if setting == PLAIN else dict.fromkeys(THREAD_VARIABLES, "1")
    start = time.perf_counter()
    try:
        ended = subprocess.run(
            command,
            env={**kept, **threads, **variables},
            capture_output=True,
            text=True,
            timeout=MOST_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return MOST_SECONDS, None
    if ended.returncode != 0:
        message = f"A process of the benchmark failed ({setting}): {ended.stderr.strip()[-2000:]}"
        raise RuntimeError(message)
    return time.perf_counter() - start, ended.stdout


@contextmanager
def _caches(*, quick: bool) -> Iterator[Path]:
    """Give the processes temporary caches; a quick run takes those that are there."""
    with tempfile.TemporaryDirectory(prefix="okspca-bench-") as folder:
        names = {} if quick else {"NUMBA_CACHE_DIR": "kernels", "PYTHONPYCACHEPREFIX": "bytes"}
        before = {name: os.environ.get(name) for name in names}
        os.environ.update({name: str(Path(folder, below)) for name, below in names.items()})
        try:
            yield Path(folder)
        finally:
            for name, value in before.items():
                os.environ.pop(name)
                if value is not None:
                    os.environ[name] = value


def _digest(output: str | None) -> str:
    """A short name for what a process printed."""
    return hashlib.sha256((output or "").encode()).hexdigest()[:12]


def plain_table(rows: list[PlainTime]) -> Table:
    """Set what was measured beside the bounds."""
    lines = [
        _line(TITLES[name], _of(rows, name, PLAIN), _of(rows, name, ONE_THREAD), BOUNDS[name])
        for name in TITLES
        if _of(rows, name, PLAIN)
    ]
    bare = _of(rows, "bare imports", PLAIN)
    for case, title in SECOND.items():
        lines.append(_line(title, _of(rows, case, PLAIN), bare, SECOND_RATIO))
    first = _of(rows, "first answer", PLAIN)
    if first:
        title = "first answer, empty cache, s"
        lines.append(_within(title, first, "–", "–", FIRST_SECONDS))
    pilot, network = (_of(rows, case, ONE_THREAD) for case in ("pilot", "network"))
    if pilot:
        title = "all that is due at row 4,096 (D = 256, d = 48), one thread ÷ a pass of a network"
        _, _, other, ratio, *_ = _line(title, pilot, network, 1.0)
        lines.append(_within(title, pilot, other, ratio, PILOT_SECONDS))
    header = ("work", "plain, s", "compared with, s", "ratio, median (min–max)", "must", "verdict")
    return Table("Without any setting", header, lines, note=_note(rows), words=(5,))


def _line(title: str, ours: list[float], other: list[float], bound: float) -> tuple[str, ...]:
    """One ratio: repetition by repetition, as both were measured one after the other."""
    ratios = [a / b for a, b in zip(ours, other, strict=True)]
    verdict = "held" if median(ratios) <= bound else "missed"
    spread = f"{median(ratios):.2f} ({min(ratios):.2f}–{max(ratios):.2f})"
    return title, f"{median(ours):.2f}", f"{median(other):.2f}", spread, f"{bound:g}", verdict


def _within(
    title: str, seconds: list[float], other: str, ratio: str, bound: float
) -> tuple[str, ...]:
    """One time that must be below a number of seconds, each time."""
    verdict = "held" if max(seconds) <= bound else "missed"
    spread = f"{median(seconds):.1f} ({min(seconds):.1f}–{max(seconds):.1f})"
    return title, spread, other, ratio, f"{bound:g} s, each", verdict


def _note(rows: list[PlainTime]) -> str:
    """Say what the columns are, and whether all answers had the same bits."""
    digests = {row.digest for row in rows if row.case in ("first answer", "second process")}
    same = "the same bits" if len(digests) == 1 else f"{len(digests)} DIFFERENT results"
    return (
        "Plain: no variable sets a number of threads. It is compared with a process in which all "
        "of them say one (in the last ratios: with one that only imports NumPy, SciPy's linear "
        "algebra, Numba and scikit-learn's base classes; at row 4,096: with one pass of "
        "scikit-learn's perceptron of 256 units over the same rows). Every process is new; the two "
        f"of a ratio run in turns. Answers from empty and filled caches had {same}. A process "
        f"still at work after {MOST_SECONDS:g} s is ended and counted with that time."
    )


def _of(rows: list[PlainTime], case: str, setting: str) -> list[float]:
    """Seconds of a case in a setting, by repetition."""
    found = [row for row in rows if (row.case, row.setting) == (case, setting)]
    return [row.seconds for row in sorted(found, key=lambda row: row.repetition)]
