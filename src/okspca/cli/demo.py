"""A first look: one stream, two solvers, and what is proven and measured about each.

The stream is that of a machine with twenty readings, two of which tell how it runs.  At first it
runs low or high; shortly before the end a fault turns up, which one reading cannot tell from
running high.  The exact solver and the paper's Adam tracker learn the same blocks; at every
checkpoint each is asked for a basis with its certificate, and its true error is measured against a
full factorisation of the same moment.  The exact one shows the fault at once; the tracker has not
turned to it yet, though it was degrees from exact before.
"""

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from rich.box import SIMPLE_HEAD
from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from sklearn.neighbors import NearestCentroid

from okspca.estimators import OKSPCA
from okspca.numerics.arrays import Floats

CLASSES = ("low", "high", "fault")
N_CLASSES = len(CLASSES)
N_INPUTS = 20
N_FEATURES = 512
#: Where the classes lie in the two inputs that tell them apart.
CENTRES = np.array([[-3.0, 0.0], [3.0, 0.0], [3.0, 4.0]])
FAULT = N_CLASSES - 1
#: The fault is in the last rows only, and in a third of them.
LATE_ROWS, FAULT_SHARE = 30, 1.0 / 3.0
HELD_OUT = 2000
CHECKPOINTS = 40
FIRST_CHECKPOINT = 10
LARGEST_BLOCK = 1000
BAR_WIDTH = 72

Labels = NDArray[np.int64]


@dataclass(frozen=True)
class Checkpoint:
    """One request on the way: what was delivered, what is proven, what was measured.

    Attributes
    ----------
    rows : int
        Rows learned.
    objective : float
        Sum of the squared singular values along the delivered basis.
    rho_lower, angle_upper : float or None
        Proven share of the best objective, proven angle to the exact subspace; None where nothing
        is proven.
    angle : float or None
        Measured largest angle to the exact subspace in degrees; None where it is undefined.
    rank, age : int
        Columns delivered, and rows since they were built.
    microseconds : float
        Mean time per row so far, for learning and for the requests.
    """

    rows: int
    objective: float
    rho_lower: float | None
    angle_upper: float | None
    angle: float | None
    rank: int
    age: int
    microseconds: float


@dataclass
class Contender:
    """A solver on its way through the stream."""

    name: str
    model: OKSPCA
    seconds: float = 0.0
    history: list[Checkpoint] = field(default_factory=list)

    @classmethod
    def of(cls, solver: str, seed: int) -> "Contender":
        """Start a solver; equal seeds give all solvers the same random features."""
        model = OKSPCA(2, n_random_features=N_FEATURES, solver=solver, random_state=seed)
        return cls(solver, model)

    def learn(self, X: Floats, y: Labels) -> None:
        """Learn a block, ask for a basis, then measure its error off the clock."""
        start = time.perf_counter()
        basis = self.model.partial_fit(X, y).basis()
        self.seconds += time.perf_counter() - start
        rows = int(self.model.n_samples_seen_)
        proven = basis.certificate
        measured = self.model.diagnose().extracted
        self.history.append(
            Checkpoint(
                rows,
                float(np.sum(basis.singular_values**2)),
                None if proven is None else proven.rho_lower,
                None if proven is None else proven.angle_upper,
                None if measured is None else measured.max_angle,
                basis.rank,
                basis.age,
                1e6 * self.seconds / rows,
            )
        )


@dataclass(frozen=True)
class DemoResult:
    """Everything that the summary and the picture show.

    Attributes
    ----------
    contenders : list of Contender
        The solvers with their histories, the exact one first.
    embeddings : list of ndarray
        Held-out rows in the coordinates of each.
    labels : ndarray
        Their classes.
    accuracies : list of float
        Share of them that lies nearest to the centre of its own class, for each solver.
    found : list of float
        The same share of those with the fault.
    attainable : float
        The share of all where the deciding inputs are known and used directly.
    """

    contenders: list[Contender]
    embeddings: list[Floats]
    labels: Labels
    accuracies: list[float]
    found: list[float]
    attainable: float


def run(rows: int, seed: int, console: Console) -> DemoResult:
    """Stream the data through both solvers, showing the progress and then a summary.

    Parameters
    ----------
    rows : int
        Length of the stream.
    seed : int
        Seed of the stream and of the random features.
    console : Console
        Where to show it.

    Examples
    --------
    >>> import io
    >>> quiet = Console(file=io.StringIO())
    >>> result = run(rows=200, seed=0, console=quiet)
    >>> [contender.name for contender in result.contenders]
    ['exact', 'adam']
    """
    X, y = machine(rows, seed)
    n_faults = int((y == FAULT).sum())
    console.print(
        f"{rows:,} rows of a machine with {N_INPUTS} readings: 2 of them tell how it runs, "
        f"{N_INPUTS - 2} are noise.\n"
        f"It runs low or high, and {n_faults} of the last {late_rows(rows)} rows show a fault.\n"
        "Two solvers look for the 2 coordinates that tell most about low, high and fault."
    )
    compile_kernels(X, y, console)
    contenders = [Contender.of("exact", seed), Contender.of("adam", seed)]
    stream(X, y, contenders, console)
    result = evaluate(contenders, seed)
    console.print("", summary(result), explanation(result), sep="\n")
    return result


def machine(n: int, seed: int) -> tuple[Floats, Labels]:
    """Draw the stream: low or high, and late faults.

    Examples
    --------
    >>> X, y = machine(1000, 0)
    >>> X.shape, set(y[:970].tolist()), set(y[970:].tolist())
    ((1000, 20), {0, 1}, {0, 1, 2})
    """
    random = RandomState(seed)
    y = random.randint(0, FAULT, n)
    is_late = np.arange(n) >= n - late_rows(n)
    y[is_late & (random.uniform(size=n) < FAULT_SHARE)] = FAULT
    return _readings(y, random), y


def late_rows(n: int) -> int:
    """How many rows at the end may show the fault."""
    return min(LATE_ROWS, n // 2)


def _readings(y: Labels, random: RandomState) -> Floats:
    """Readings of rows of these classes."""
    X: Floats = random.normal(size=(len(y), N_INPUTS))
    X[:, :2] += CENTRES[y]
    return X


def compile_kernels(X: Floats, y: Labels, console: Console) -> None:
    """Make throw-away models learn a few rows, so that no timing contains compilation."""
    console.print("Compiling kernels: up to half a minute the first time, later read from disk.")
    for solver in ("exact", "adam"):
        with console.status(f"compiling for the {solver} solver"):
            Contender.of(solver, 0).learn(X[:50], y[:50])


def stream(X: Floats, y: Labels, contenders: list[Contender], console: Console) -> None:
    """Feed the blocks to every contender in turn, keeping the display up to date."""
    with Live(console=console, auto_refresh=False) as live:
        for rows in blocks(X.shape[0]):
            for contender in contenders:
                contender.learn(X[rows], y[rows])
            live.update(progress(contenders, X.shape[0]), refresh=True)
    # Only on a terminal does the display end its last line.
    if not console.is_terminal:
        console.print()


def blocks(n: int) -> Iterator[slice]:
    """Cut the stream at checkpoints: close together at first, then evenly, and before the fault.

    Examples
    --------
    >>> ends = [rows.stop for rows in blocks(20_000)]
    >>> ends[:3], ends[-3:]
    ([10, 13, 16], [19000, 19970, 20000])
    """
    n_steady = max(CHECKPOINTS // 2, math.ceil(n / LARGEST_BLOCK))
    steady = np.linspace(n / n_steady, n, n_steady)
    early = np.geomspace(FIRST_CHECKPOINT, max(steady[0], FIRST_CHECKPOINT), CHECKPOINTS // 2)
    ends = np.unique(np.concatenate([early, steady, [n - late_rows(n)]]).round().astype(int))
    start = 0
    for end in ends[ends >= FIRST_CHECKPOINT].tolist():
        yield slice(start, end)
        start = end


def evaluate(contenders: list[Contender], seed: int) -> DemoResult:
    """Embed new rows, all classes alike, and sort them by the centres of as many known ones."""
    random = RandomState((seed + 1) % 2**32)
    labels = [random.randint(0, N_CLASSES, HELD_OUT) for _ in range(2)]
    known, new = (_readings(y, random) for y in labels)

    def hits(old: Floats, held_out: Floats) -> NDArray[np.bool_]:
        guess = NearestCentroid().fit(old, labels[0]).predict(held_out)
        return np.asarray(guess == labels[1])

    models = [contender.model for contender in contenders]
    embeddings = [model.transform(new) for model in models]
    sorted_right = [hits(m.transform(known), Z) for m, Z in zip(models, embeddings, strict=True)]
    return DemoResult(
        contenders,
        embeddings,
        labels[1],
        [float(right.mean()) for right in sorted_right],
        [float(right[labels[1] == FAULT].mean()) for right in sorted_right],
        float(hits(known[:, :2], new[:, :2]).mean()),
    )


def progress(contenders: list[Contender], total: int) -> Group:
    """Show one line for each contender and a bar for the stream."""
    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("solver")
    for heading in ("rows", "objective", "proven ρ", "proven angle", "rank", "µs/row"):
        table.add_column(heading, justify="right", no_wrap=True)
    for contender in contenders:
        now = contender.history[-1]
        table.add_row(
            contender.name,
            f"{now.rows:,}",
            f"{now.objective:.6f}",
            at_least(now.rho_lower),
            at_most(now.angle_upper),
            str(now.rank),
            f"{now.microseconds:.0f}",
        )
    bar = Table.grid()
    bar.add_row(ProgressBar(total, contenders[0].history[-1].rows, width=BAR_WIDTH))
    return Group("", bar, table)


def summary(result: DemoResult) -> Table:
    """Set both solvers side by side, as they are after the last row."""
    last = [contender.history[-1] for contender in result.contenders]
    table = Table(title=f"After {last[0].rows:,} rows", title_justify="left", box=SIMPLE_HEAD)
    table.add_column("")
    for contender in result.contenders:
        table.add_column(contender.name, justify="right", no_wrap=True)
    table.add_row("share of the best objective, proven (ρ)", *(at_least(x.rho_lower) for x in last))
    table.add_row("angle to the exact subspace, proven", *(at_most(x.angle_upper) for x in last))
    table.add_row("angle to the exact subspace, measured", *(degrees(x.angle) for x in last))
    table.add_row("rank of the basis", *(str(x.rank) for x in last))
    table.add_row("age of the basis in rows", *(str(x.age) for x in last))
    table.add_row("µs per row, requests included", *(f"{x.microseconds:.0f}" for x in last))
    table.add_row("new rows nearest to their class centre", *map(percent, result.accuracies))
    table.add_row("new faults among them", *map(percent, result.found))
    return table


def explanation(result: DemoResult) -> str:
    """Say how to read the summary."""
    return (
        "Exact subspace: the best one for the rows so far. Proven: a bound that comes with every "
        "basis. Measured: against that subspace itself.\n"
        f"New rows nearest to their class centre: {percent(1 / N_CLASSES)} by chance, "
        f"{percent(result.attainable)} with the two deciding readings known.\n"
        "A tracker takes small steps with every row, and it takes more rows than these to turn to "
        "a new class; an exact solver has turned as soon as the row is learned.\n"
        "Times depend on the machine; they are for information only."
    )


def at_least(bound: float | None) -> str:
    """Write a lower bound with nine decimals, never rounding it up.

    Examples
    --------
    >>> at_least(0.9999999999), at_least(None)
    ('≥ 0.999999999', 'none')
    """
    if bound is None:
        return "none"
    return f"≥ {Decimal(bound).quantize(Decimal('1e-9'), ROUND_FLOOR)}"


def at_most(angle: float | None) -> str:
    """Write an upper bound in degrees with two digits, never rounding it down.

    Examples
    --------
    >>> at_most(1.61), at_most(2.31e-11)
    ('≤ 1.7°', '≤ 2.4e-11°')
    """
    if angle is None:
        return "none"
    return f"≤ {degrees(float(Context(prec=2, rounding=ROUND_CEILING).create_decimal(angle)))}"


def degrees(angle: float | None) -> str:
    """Write an angle with two digits.

    Examples
    --------
    >>> degrees(0.314), degrees(None)
    ('0.31°', 'undefined')
    """
    return "undefined" if angle is None else f"{angle:.2g}°"


def percent(share: float) -> str:
    """Write a share in per cent.

    Examples
    --------
    >>> percent(0.2)
    '20.0 %'
    """
    return f"{100 * share:.1f} %"
