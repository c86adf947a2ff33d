"""What is measured: cells (a workload with its contenders) and the claims made about them."""

from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from importlib.util import find_spec
from typing import Any

from okspca_lab.studies.workloads import REGIMES, SCHEDULES, Regime, Schedule

WARM_UP = 512
QUICK_WARM_UP, QUICK_ROWS = 40, 24
#: Rows that are timed, and rows of one turn, for each schedule.  A turn is long enough for what the
#: others left in the caches not to matter: a stream is served by one model, not by ten in turns.
SIZES = {
    "every-1": (768, 192),
    "every-10": (800, 200),
    "every-100": (2000, 500),
    "every-1000": (2000, 500),
    "bernoulli": (1500, 500),
}
BLOCK = 1024
#: One dimension at a time is varied around this regime.
CENTRE = Regime("centre", 16, 256, 256, 4, 2048, None)
CURVES: dict[str, tuple[str, tuple[int, ...]]] = {
    "D_x": ("n_input_features", (64, 128, 256, 512, 1024)),
    "D_y": ("n_target_features", (32, 64, 128, 256, 512)),
    "d_x": ("n_inputs", (8, 16, 64, 256)),
    "k": ("n_components", (1, 2, 4, 8)),
    "n": ("", (64, 256, 1024, 4096)),
}
SERVING = (
    "ours",
    "ours-blocks",
    "ours-uncertified",
    "paper-exact",
    "paper-adam",
    "paper-arpack",
    "paper-propack",
    "paper-randomized",
    "sklearn-features",
    "sklearn-pca",
)
#: Each option, set against the plain covariance objective.
OPTIONS = (
    "ours-whitened",
    "ours-relevance",
    "ours-forgetting",
    "ours-window",
    "ours-stability",
    "plain-blocks",
)
#: Answers about one row; scikit-learn's pipeline predicts.
ONE_ROW = (
    "ours-transform-one",
    "ours-predict-one",
    "ours-transform-row",
    "ours-predict-row",
    "sklearn-row",
)
LIVE = Regime("live", 30, 256, 256, 4, 2048, None)
#: Two threads against one; rows come in blocks long enough to be shared out.
THREADS = {
    "covariance": ("ours-two-threads", "plain-blocks"),
    "whitened": ("ours-whitened-two-threads", "plain-whitened"),
}
#: A rival of one cell needs it; without it, there is no such cell.
HAS_RIVER = find_spec("river") is not None
#: What is learned and asked row by row, and by whom.
LIVE_ROWS = ("ours-live", "plain-live")
TEST_THEN_TRAIN = ("ours-test-then-train", "river-forest")
WIDE = Regime("wide", 20_000, 1024, 4, 3, 1024, 4)
#: Features in single precision against double, for so many inputs and features.
PRECISION = Regime("precision", 64, 1024, 4, 3, 1024, 4)
IN_BLOCKS = ("ours-single", "plain-double")
IN_BLOCKS_WHITENED = ("ours-single-whitened", "plain-double-whitened")
SINGLY = ("ours-single-rows", "plain-double-rows")
SCALING = ("ours", "ours-ingest", "paper-exact", "paper-adam", "paper-accumulate")


@dataclass(frozen=True)
class Cell:
    """One workload, and who takes part in it.

    Attributes
    ----------
    name : str
        Group and details, separated by slashes.
    regime : Regime
        Dimensions.
    schedule : Schedule or None
        When a basis is requested; None for never.
    contenders : tuple of str
        Names of entries.
    warm_up, rows, turn : int
        Rows learned off the clock, rows timed, rows of one turn.
    compares_spans : bool
        Compare the maintained bases of the two Adam trackers before the race.
    n_threads : int
        What contenders are limited to; those that are not asked for threads use one all the same.
    curve, value : str, int
        Which curve this is a point of, and where.
    """

    name: str
    regime: Regime
    schedule: Schedule | None
    contenders: tuple[str, ...]
    warm_up: int
    rows: int
    turn: int
    compares_spans: bool = False
    n_threads: int = 1
    curve: str = ""
    value: int = 0

    def quick(self) -> "Cell":
        """Return a cell so small that it only shows that everything runs."""
        rows = min(self.rows, QUICK_ROWS)
        warm_up, turn = min(self.warm_up, QUICK_WARM_UP), min(self.turn, rows // 3)
        return replace(self, warm_up=warm_up, rows=rows, turn=turn)


@dataclass(frozen=True)
class Claim:
    """A ratio that must not be exceeded, and one to aim at.

    Attributes
    ----------
    title : str
        The work, in words.
    cell, ours, other : str
        Where to find it: ``ours`` divided by ``other``.
    must, aim : float
        Bounds on the median ratio.
    is_basis : bool
        Whether the answers are bases, which must be exact; others are judged where they are made.
    """

    title: str
    cell: str
    ours: str
    other: str
    must: float
    aim: float
    is_basis: bool = True


def _one_row_claims() -> tuple[Claim, ...]:
    """Bounds on what a live program asks for."""
    other, found = "sklearn-row", []
    for what, cell in (("a number", "one-row/number"), ("classes", "one-row/classes")):
        for call in ("transform", "predict"):
            title = f"{call}_one, model of {what} ÷ scikit-learn's pipeline, predict of one row"
            found.append(Claim(title, cell, f"ours-{call}-one", other, 0.1, 0.02, is_basis=False))
    return tuple(found)


def _live_claims() -> tuple[Claim, ...]:
    """Bounds on what whitened models cost that learn and answer row by row."""
    whitened, learn = "ours-live", "learn_one, whitened ÷ covariance"
    found = (
        (f"{learn}, a number", "live/number/never", LIVE_ROWS, 4.0, 2.0),
        (f"{learn}, four classes", "live/classes/never", LIVE_ROWS, 8.0, 4.0),
        (
            "R256, whitened, every observation ÷ paper's Adam",
            "live/R256/every-1",
            (whitened, "paper-adam"),
            0.2,
            0.1,
        ),
        (
            "D = 1024, whitened, every observation ÷ a solve from scratch",
            "live/D1024/every-1",
            (whitened, "plain-scratch"),
            0.05,
            0.02,
        ),
        (
            "test, then train ÷ river's adaptive forest of ten",
            "live/test-then-train",
            TEST_THEN_TRAIN,
            0.25,
            0.1,
        ),
        (
            "R256, blocks of 1024, whitened ÷ covariance",
            "options/R256",
            ("ours-whitened", "plain-blocks"),
            1.5,
            1.2,
        ),
        (
            "20,000 columns, structured map ÷ dense map",
            "wide/20000",
            ("ours-structured", "plain-dense"),
            0.2,
            0.1,
        ),
    )
    return tuple(
        Claim(title, cell, *who, must, aim, is_basis=False)
        for title, cell, who, must, aim in found
        if HAS_RIVER or who != TEST_THEN_TRAIN
    )


EXACT, ADAM = "paper-exact", "paper-adam"
CLAIMS = (
    Claim(
        "R256, every observation ÷ paper's exact", "serve/R256/every-1", "ours", EXACT, 0.008, 0.003
    ),
    Claim("R256, every observation ÷ paper's Adam", "serve/R256/every-1", "ours", ADAM, 0.11, 0.04),
    Claim(
        "R128, every observation ÷ paper's exact", "serve/R128/every-1", "ours", EXACT, 0.03, 0.012
    ),
    Claim("R128, every observation ÷ paper's Adam", "serve/R128/every-1", "ours", ADAM, 0.16, 0.06),
    Claim("C2, every observation ÷ paper's exact", "serve/C2/every-1", "ours", EXACT, 0.09, 0.05),
    Claim("C4, every observation ÷ paper's exact", "serve/C4/every-1", "ours", EXACT, 0.2, 0.1),
    Claim("C11, every observation ÷ paper's exact", "serve/C11/every-1", "ours", EXACT, 0.3, 0.12),
    Claim(
        "R256, every 100, rows between requests as blocks ÷ paper's exact",
        "serve/R256/every-100",
        "ours-blocks",
        EXACT,
        0.05,
        0.02,
    ),
    Claim(
        "R256, learning blocks of 1024 ÷ scikit-learn's features of the inputs",
        "ingest/R256",
        "ours-blocks",
        "sklearn-transform",
        1.0,
        0.5,
    ),
    Claim(
        "R256, blocks of 8192, two threads ÷ one",
        "threads/R256/covariance",
        *THREADS["covariance"],
        0.625,
        0.55,
    ),
    Claim(
        "C4, blocks of 8192, two threads ÷ one",
        "threads/C4/covariance",
        *THREADS["covariance"],
        0.625,
        0.55,
    ),
    Claim(
        "R256, our Adam ÷ paper's Adam, every observation",
        "adam/R256/every-1",
        "ours-adam",
        ADAM,
        0.25,
        0.08,
    ),
    Claim(
        "256 × 256 moment, warm block's request ÷ PROPACK",
        "factor/256x256",
        "ours-warm-request",
        "propack",
        0.5,
        0.2,
    ),
    Claim(
        "64 inputs, 1,024 features, four classes, blocks of 1024, float32 ÷ float64",
        "precision/classes",
        *IN_BLOCKS,
        0.625,
        0.5,
        is_basis=False,
    ),
    *_one_row_claims(),
    *_live_claims(),
)


def all_cells() -> list[Cell]:
    """Return every cell, in the order of the report."""
    return [*_serving(), *_special(), *_live(), *_precision(), *_threads(), *_scaling()]


def chosen_cells(patterns: list[str], *, quick: bool) -> list[Cell]:
    """Return the cells that match a pattern; ``must`` stands for those that claims are made about.

    Examples
    --------
    >>> [cell.name for cell in chosen_cells(["serve/C2/*0"], quick=True)]
    ['serve/C2/every-10', 'serve/C2/every-100', 'serve/C2/every-1000']
    """
    claimed = {claim.cell for claim in CLAIMS}
    found = [
        cell
        for cell in all_cells()
        if not patterns
        or any(fnmatchcase(cell.name, pattern) for pattern in patterns)
        or ("must" in patterns and cell.name in claimed)
    ]
    if not found:
        names = ", ".join(cell.name for cell in all_cells())
        message = f"No case matches {' '.join(patterns)}; these exist: {names}."
        raise ValueError(message)
    return [cell.quick() for cell in found] if quick else found


def _serving() -> list[Cell]:
    """Every regime with every schedule."""
    cells = []
    for regime in REGIMES.values():
        for name, (rows, turn) in SIZES.items():
            where = f"serve/{regime.name}/{name}"
            schedule = SCHEDULES[name]
            cells.append(Cell(where, regime, schedule, SERVING, WARM_UP, rows, turn))
    return cells


def _special() -> list[Cell]:
    """Learning without requests, the trackers, and a factorisation of a wide moment."""
    wide, each = REGIMES["R256"], SCHEDULES["every-1"]
    learners = ("ours-blocks", "sklearn-transform", "sklearn-features", "sklearn-pca")
    solvers = ("ours-warm", "ours-warm-request", "propack", "arpack", "randomized", "full-svd")
    trackers = ("ours-adam", "ours-adam-blocks", "paper-adam")
    return [
        Cell("ingest/R256", wide, None, (*learners, "paper-accumulate"), BLOCK, 8 * BLOCK, BLOCK),
        Cell("options/R256", wide, None, OPTIONS, BLOCK, 8 * BLOCK, BLOCK),
        Cell("row/R256", wide, None, ("ours", "paper-accumulate"), WARM_UP, 1000, 50),
        Cell("adam/R256/every-1", wide, each, trackers[::2], WARM_UP, 400, 100, True),
        Cell("adam/R256/never", wide, None, trackers, WARM_UP, 512, 64),
        Cell("factor/256x256", wide, each, solvers, WARM_UP, 96, 32),
        Cell("one-row/number", LIVE, None, ONE_ROW, BLOCK, 600, 100),
        Cell(
            "one-row/classes",
            replace(LIVE, n_classes=4, n_target_features=4),
            None,
            (*ONE_ROW[:2], "ours-proba-one", *ONE_ROW[2:]),
            BLOCK,
            600,
            100,
        ),
    ]


def _live() -> list[Cell]:
    """Learning and asking row by row, whitened; a forest where river is installed; wide rows."""
    each, classes = SCHEDULES["every-1"], replace(LIVE, n_classes=4, n_target_features=4)
    wide = replace(classes, n_input_features=1024)
    asked = ("ours-live", "paper-adam"), ("ours-live", "plain-scratch")
    rows = 8 * WARM_UP
    cells = [
        Cell("live/number/never", LIVE, None, LIVE_ROWS, WARM_UP, rows, WARM_UP),
        Cell("live/classes/never", classes, None, LIVE_ROWS, WARM_UP, rows, WARM_UP),
        Cell("live/R256/every-1", REGIMES["R256"], each, asked[0], WARM_UP, 768, 192),
        Cell("live/D1024/every-1", wide, each, asked[1], 2 * WARM_UP, 96, 16),
        Cell("wide/20000", WIDE, None, ("ours-structured", "plain-dense"), 256, 768, 256),
    ]
    if HAS_RIVER:
        cells.append(
            Cell("live/test-then-train", classes, None, TEST_THEN_TRAIN, 2 * WARM_UP, 512, 64)
        )
    return cells


def _precision() -> list[Cell]:
    """Features in single precision and in double: kinds of target, both objectives, single rows."""
    number = replace(PRECISION, n_classes=None)
    eleven = replace(PRECISION, n_classes=11, n_target_features=11)
    cells = [
        ("classes", PRECISION, IN_BLOCKS),
        ("eleven-classes", eleven, IN_BLOCKS),
        ("number", number, IN_BLOCKS),
        ("whitened-classes", PRECISION, IN_BLOCKS_WHITENED),
        ("whitened-number", number, IN_BLOCKS_WHITENED),
    ]
    found = [
        Cell(f"precision/{name}", regime, None, who, BLOCK, 8 * BLOCK, BLOCK)
        for name, regime, who in cells
    ]
    rows = Cell("precision/rows", PRECISION, None, SINGLY, WARM_UP, 4 * WARM_UP, WARM_UP)
    return [*found, rows]


def _threads() -> list[Cell]:
    """Learning long blocks with two threads."""
    turn = 8 * BLOCK
    return [
        Cell(f"threads/{name}/{kind}", REGIMES[name], None, who, BLOCK, 4 * turn, turn, n_threads=2)
        for name in ("R256", "C4")
        for kind, who in THREADS.items()
    ]


def _scaling() -> list[Cell]:
    """One dimension at a time."""
    cells = []
    for curve, (attribute, values) in CURVES.items():
        for value in values:
            changed: dict[str, Any] = {attribute: value} if attribute else {}
            regime = replace(CENTRE, **changed)
            warm_up = WARM_UP // 2 if attribute else value
            name = f"scaling/{curve}/{value}"
            cells.append(
                Cell(
                    name,
                    regime,
                    SCHEDULES["every-1"],
                    SCALING,
                    warm_up,
                    48,
                    16,
                    curve=curve,
                    value=value,
                )
            )
    return cells
