"""Is it better than what I use?  Several reductions at equal width, on rows held back.

Every reduction learns the first rows and embeds all of them; the rows held back are then predicted
from the coordinates of the first by their 15 nearest neighbours, every coordinate scaled.  Beside
them stand a linear model of all inputs and a constant.  Inputs are standardised for all.
"""

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.cross_decomposition import PLSRegression
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_array, check_consistent_length

from okspca.diagnostics.shown import html_table, safely, text_table
from okspca.errors import DataError, RankWarning
from okspca.estimators import OKSPCA
from okspca.estimators.held_out import NEIGHBOURS, Score, neighbour_score, score_of
from okspca.numerics.arrays import Floats

HELD_BACK = 0.25
FEWEST_ROWS = 40
COMPILED = 600
OURS = ("okspca, predictive", "okspca, paper")
#: A difference counts from so many of its standard errors on.
CLEAR = 2.0


class Rows(NamedTuple):
    """Rows to learn from, and rows held back."""

    X: Floats
    y: NDArray[Any]
    new: Floats
    new_y: NDArray[Any]
    classes: bool

    @property
    def measure(self) -> str:
        """What scores are."""
        return "accuracy" if self.classes else "R²"


@dataclass(frozen=True)
class Entry:
    """One method: its name, how many numbers it predicts from, score and seconds of fitting."""

    name: str
    width: int
    score: Score
    seconds: float
    is_reduced: bool = True


@dataclass(frozen=True)
class Comparison:
    """Scores of several methods on the same held-back rows.

    Attributes
    ----------
    entries : tuple of Entry
        The methods, ours first.
    measure : str
        "accuracy" or "R²".
    n_learned, n_held_back : int
        Rows they learned, and rows they were judged by.

    Examples
    --------
    >>> X = np.random.RandomState(0).normal(size=(1200, 4))
    >>> found = compare(X, np.sin(2.0 * X[:, 0]) * X[:, 1])
    >>> found.best.name, found.verdict.split(":")[0]
    ('okspca, predictive', 'Yes')
    """

    entries: tuple[Entry, ...]
    measure: str
    n_learned: int
    n_held_back: int

    @property
    def best(self) -> Entry:
        """Ours, in the setting that scores better."""
        return max(self._ours(), key=lambda entry: entry.score.value)

    @property
    def rival(self) -> Entry:
        """The best of the other reductions."""
        others = [e for e in self.entries if e.is_reduced and e.name not in OURS]
        return max(others, key=lambda entry: entry.score.value)

    @property
    def verdict(self) -> str:
        """One plain sentence."""
        ours, rival = self.best, self.rival
        gain, error = ours.score.gain_over(rival.score)
        scores = f"{self.measure} {ours.score.value:.3f} against {rival.score.value:.3f}"
        widths = f"{_counted(ours.width)} of okspca" if ours.width else "okspca"
        both = f"{widths} and {rival.width} of {rival.name}"
        apart = f"{scores}, difference {gain:+.3f} ± {error:.3f}"
        if gain > CLEAR * error:
            told = f"Yes: {widths} predict better than {rival.width} of {rival.name} ({apart})"
        elif gain < -CLEAR * error:
            told = f"No: {widths} predict worse than {rival.width} of {rival.name} ({apart})"
        else:
            told = f"No clear difference: {both} predict alike ({apart})"
        return f"{told}{self._beside_raw(ours)}."

    @property
    def header(self) -> tuple[str, ...]:
        """What the columns of :meth:`rows` are."""
        return "method", "numbers", self.measure, "± error", "fit (s)"

    def rows(self) -> list[tuple[str, ...]]:
        """All methods as cells of a table."""
        return [
            (
                entry.name,
                str(entry.width),
                f"{entry.score.value:.3f}",
                f"{entry.score.error:.3f}",
                f"{entry.seconds:.2f}",
            )
            for entry in self.entries
        ]

    @property
    def note(self) -> str:
        """How it was done."""
        return (
            f"Learned from {self.n_learned:,} rows, judged by {self.n_held_back:,} held back. "
            f"Reduced rows are predicted by their {NEIGHBOURS} nearest neighbours."
        )

    def __str__(self) -> str:
        """The verdict, then the table."""
        return "\n".join([self.verdict, "", text_table(self.header, self.rows()), "", self.note])

    def _repr_html_(self) -> str:
        """The same for notebooks."""
        return safely(lambda: html_table(self.verdict, self.header, self.rows(), self.note), self)

    def _ours(self) -> list[Entry]:
        """Our own entries."""
        return [entry for entry in self.entries if entry.name in OURS]

    def _beside_raw(self, ours: Entry) -> str:
        """Compare with a linear model of everything."""
        raw = next(entry for entry in self.entries if entry.name == RAW)
        gain, error = ours.score.gain_over(raw.score)
        words = "above" if gain > CLEAR * error else "below" if gain < -CLEAR * error else "beside"
        return f"; {words} the {raw.score.value:.3f} of a linear model of all {raw.width} inputs"


RAW, CONSTANT = "all inputs, linear", "a constant"


def compare(
    X: ArrayLike,
    y: ArrayLike,
    *,
    n_components: int = 2,
    test: tuple[ArrayLike, ArrayLike] | None = None,
    task: str = "auto",
    random_state: int = 0,
) -> Comparison:
    """Compare OKSPCA with PCA, LDA or PLS, all inputs and a constant on held-back rows.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Rows, 40 or more, without gaps.
    y : array-like of shape (n,)
        Their targets; floating point is regression, all else labels.
    n_components : int, default=2
        Width of every reduction; LDA has at most the number of classes less one.
    test : tuple (X, y), optional
        Rows to judge by; the last quarter of the rows by default.
    task : {"auto", "classification", "regression"}, default="auto"
        What the target is.
    random_state : int, default=0
        Seed of the random features.

    Returns
    -------
    Comparison
        A verdict and a table; it prints as both.
    """
    rows = dealt(X, y, test, task)
    _compile(rows, n_components, random_state)
    entries = [_reduced(*method, rows) for method in _methods(rows, n_components, random_state)]
    entries += [_linear(rows), _constant(rows)]
    return Comparison(tuple(entries), rows.measure, len(rows.y), len(rows.new_y))


def dealt(
    X: ArrayLike,
    y: ArrayLike,
    test: tuple[ArrayLike, ArrayLike] | None = None,
    task: str = "auto",
) -> Rows:
    """Check rows, and hold back the last quarter where no others are given.

    Examples
    --------
    >>> rows = dealt(np.zeros((80, 1)), np.arange(80.0))
    >>> len(rows.y), len(rows.new_y), rows.measure
    (60, 20, 'R²')
    """
    if task not in ("auto", "classification", "regression"):
        message = f"task={task!r} is not known; give 'auto', 'classification' or 'regression'."
        raise DataError(message)
    A, a = _checked(X, y)
    classes = a.dtype.kind not in "f" if task == "auto" else task == "classification"
    if test is None:
        cut = len(a) - round(HELD_BACK * len(a))
        A, a, B, b = A[:cut], a[:cut], A[cut:], a[cut:]
    else:
        B, b = _checked(*test)
    if len(a) + len(b) < FEWEST_ROWS or not len(b):
        message = f"There are {len(a) + len(b)} rows; a comparison takes at least {FEWEST_ROWS}."
        raise DataError(message)
    if classes and len(np.unique(a)) < 2:
        message = f"All rows to learn from have the class {a[0]!r}; there is nothing to tell apart."
        raise DataError(message)
    targets = (a, b) if classes else (a.astype(np.float64), b.astype(np.float64))
    return Rows(A, targets[0], B, targets[1], classes)


def ours(preset: str, rows: Rows, n_components: int, random_state: int, **settings: Any) -> OKSPCA:
    """Make our model for such rows."""
    task = "classification" if rows.classes else "regression"
    return OKSPCA(n_components, preset=preset, task=task, random_state=random_state, **settings)


def embedded_score(reducer: Any, rows: Rows) -> Score:
    """Score of a fitted reduction on the rows held back."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankWarning)
        known, new = (np.asarray(reducer.transform(X)) for X in (rows.X, rows.new))
    return neighbour_score((known, rows.y), (new, rows.new_y), classes=rows.classes)


def _methods(rows: Rows, k: int, seed: int) -> Sequence[tuple[str, int, Callable[[], Any]]]:
    """Name, width and maker of every reduction."""
    d = rows.X.shape[1]
    n_classes = len(np.unique(rows.y)) if rows.classes else 0
    ours_k = min(k, n_classes - 1) if rows.classes else k
    found: list[tuple[str, int, Callable[[], Any]]] = [
        (OURS[0], ours_k, lambda: ours("predictive", rows, k, seed)),
        (OURS[1], ours_k, lambda: ours("paper", rows, k, seed)),
        ("PCA", min(k, d), lambda: make_pipeline(StandardScaler(), PCA(min(k, d)))),
    ]
    if rows.classes:
        width = min(k, d, n_classes - 1)
        lda = LinearDiscriminantAnalysis(n_components=width)
        return [*found, ("LDA", width, lambda: make_pipeline(StandardScaler(), lda))]
    pls = PLSRegression(min(k, d), scale=True)
    return [*found, ("PLS", min(k, d), lambda: make_pipeline(StandardScaler(), pls))]


def _compile(rows: Rows, k: int, seed: int) -> None:
    """Make throw-away models learn a few rows, so that no time contains compilation."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for preset in ("predictive", "paper"):
            ours(preset, rows, k, seed).fit(rows.X[:COMPILED], rows.y[:COMPILED])


def _reduced(name: str, width: int, make: Callable[[], Any], rows: Rows) -> Entry:
    """Fit a reduction and score it."""
    begin = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about collinear inputs and the like
        reducer = make().fit(rows.X, rows.y)
    seconds = time.perf_counter() - begin
    return Entry(name, width, embedded_score(reducer, rows), seconds)


def _linear(rows: Rows) -> Entry:
    """A linear model of all inputs."""
    model = LogisticRegression(max_iter=300) if rows.classes else Ridge()
    return _predicted(RAW, rows.X.shape[1], make_pipeline(StandardScaler(), model), rows)


def _constant(rows: Rows) -> Entry:
    """The most frequent class, or the mean."""
    return _predicted(CONSTANT, 0, DummyClassifier() if rows.classes else DummyRegressor(), rows)


def _predicted(name: str, width: int, model: Any, rows: Rows) -> Entry:
    """Fit a predictor and score it."""
    begin = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(rows.X, rows.y)
    seconds = time.perf_counter() - begin
    score = score_of(np.asarray(model.predict(rows.new)), rows.new_y, classes=rows.classes)
    return Entry(name, width, score, seconds, is_reduced=False)


def _checked(X: ArrayLike, y: ArrayLike) -> tuple[Floats, NDArray[Any]]:
    """Rows and targets as arrays."""
    rows: Floats = check_array(X, dtype=np.float64, input_name="X")
    targets = np.asarray(y)
    check_consistent_length(rows, targets)
    return rows, targets


def _counted(n: int) -> str:
    """Components in words."""
    return f"{n} component" if n == 1 else f"{n} components"
