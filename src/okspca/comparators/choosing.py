"""How many components, how many features, which bandwidth: chosen by rows held back.

One model is fitted for every width and bandwidth, with as many components as may be wanted; its
leading ones tell what fewer would give.  The rows held back are predicted from the coordinates of
the others by their 15 nearest neighbours.  Chosen is what costs least among all that score within
one standard error of the best, or within 0.005 of it: the error of the difference to the best on
the same rows.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from okspca.comparators.comparison import Rows, dealt, ours
from okspca.diagnostics.shown import html_table, safely, text_table
from okspca.errors import DataError, RankWarning
from okspca.estimators import OKSPCA
from okspca.estimators.held_out import Score, neighbour_score

COMPONENTS = (1, 2, 4, 8)
WIDTHS = (128, 256, 512)
#: Bandwidths to try, in units of the root of the number of inputs, which is the default.
FACTORS = (0.5, 1.0, 2.0)
#: Scores that differ by no more than this count as equal.
EQUAL = 0.005


class Trial(NamedTuple):
    """One setting and its score on the rows held back."""

    n_components: int
    n_random_features: int
    bandwidth: float
    score: Score


@dataclass(frozen=True)
class Choice:
    """What was tried and what was chosen.

    Attributes
    ----------
    trials : tuple of Trial
        All settings, best first.
    chosen : Trial
        The cheapest that scores as well as the best.
    measure : str
        "accuracy" or "R²".
    preset : str
        The preset that all of them had.
    random_state : int
        The seed that all of them had.
    n_learned, n_held_back : int
        Rows they learned, and rows they were judged by.

    Examples
    --------
    >>> X = np.random.RandomState(0).normal(size=(1000, 3))
    >>> found = choose(X, np.sin(X[:, 0]), n_components=(1, 2), n_random_features=(32, 64))
    >>> found.chosen.n_components, found.model().n_components
    (1, 1)
    """

    trials: tuple[Trial, ...]
    chosen: Trial
    measure: str
    preset: str
    random_state: int
    n_learned: int
    n_held_back: int

    @property
    def best(self) -> Trial:
        """The highest score."""
        return self.trials[0]

    @property
    def verdict(self) -> str:
        """One plain sentence."""
        k, best = self.chosen.n_components, self.best
        as_good = "the best score of all" if self.chosen is best else "as good as the best to noise"
        return (
            f"Use {k} component{'s' * (k != 1)}, {self.chosen.n_random_features} random features "
            f"and a bandwidth of {self.chosen.bandwidth:.4g}: {self.measure} "
            f"{self.chosen.score.value:.3f} ± {self.chosen.score.error:.3f}, {as_good} "
            f"({best.score.value:.3f})."
        )

    @property
    def header(self) -> tuple[str, ...]:
        """What the columns of :meth:`rows` are."""
        return "components", "features", "bandwidth", self.measure, "± error", ""

    def rows(self, most: int = 15) -> list[tuple[str, ...]]:
        """The best trials as cells of a table, the chosen one always among them."""
        shown = [trial for i, trial in enumerate(self.trials) if i < most or trial is self.chosen]
        return [
            (
                str(trial.n_components),
                str(trial.n_random_features),
                f"{trial.bandwidth:.4g}",
                f"{trial.score.value:.3f}",
                f"{trial.score.error:.3f}",
                "chosen" if trial is self.chosen else "",
            )
            for trial in shown
        ]

    @property
    def note(self) -> str:
        """How it was done."""
        return (
            f"Learned from {self.n_learned:,} rows, judged by {self.n_held_back:,} held back. "
            "Chosen: the cheapest within one standard error of the best."
        )

    def model(self) -> OKSPCA:
        """Make an unfitted model with what was chosen."""
        return OKSPCA(
            self.chosen.n_components,
            n_random_features=self.chosen.n_random_features,
            bandwidth=self.chosen.bandwidth,
            preset=self.preset,
            random_state=self.random_state,
        )

    def options(self) -> list[str]:
        """Options of `okspca fit` that stand for what was chosen."""
        chosen = self.chosen
        words = ["--components", str(chosen.n_components)]
        words += ["--random-features", str(chosen.n_random_features)]
        words += ["--bandwidth", f"{chosen.bandwidth:.6g}", "--preset", self.preset]
        return words if self.random_state == 0 else [*words, "--seed", str(self.random_state)]

    def __str__(self) -> str:
        """The verdict, then the table."""
        return "\n".join([self.verdict, "", text_table(self.header, self.rows()), "", self.note])

    def _repr_html_(self) -> str:
        """The same for notebooks."""
        return safely(lambda: html_table(self.verdict, self.header, self.rows(), self.note), self)


def choose(
    X: ArrayLike,
    y: ArrayLike,
    *,
    n_components: Sequence[int] = COMPONENTS,
    n_random_features: Sequence[int] = WIDTHS,
    bandwidth: Sequence[float] | None = None,
    test: tuple[ArrayLike, ArrayLike] | None = None,
    task: str = "auto",
    preset: str = "predictive",
    random_state: int = 0,
) -> Choice:
    """Choose rank, width and bandwidth by rows that are held back.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Rows, 40 or more, without gaps.
    y : array-like of shape (n,)
        Their targets; floating point is regression, all else labels.
    n_components, n_random_features : sequence of int
        What to try.
    bandwidth : sequence of float, optional
        What to try; half, once and twice the root of the number of inputs by default.
    test : tuple (X, y), optional
        Rows to judge by; the last quarter of the rows by default.
    task : {"auto", "classification", "regression"}, default="auto"
        What the target is.
    preset : {"predictive", "paper"}, default="predictive"
        What the components are found for.
    random_state : int, default=0
        Seed of the random features.

    Returns
    -------
    Choice
        The choice and a table of all trials; it prints as both.
    """
    rows = dealt(X, y, test, task)
    widths = _checked("n_random_features", n_random_features)
    ranks = _useful_ranks(rows, _checked("n_components", n_components))
    root = float(np.sqrt(rows.X.shape[1]))
    scales = [root * factor for factor in FACTORS] if bandwidth is None else list(bandwidth)
    trials: list[Trial] = []
    for width, scale in product(widths, scales):
        usable = [k for k in ranks if k <= width]
        if usable:
            model = ours(
                preset, rows, usable[-1], random_state, n_random_features=width, bandwidth=scale
            )
            trials += _trials_of(model, rows, usable)
    if not trials:
        message = f"n_components={list(ranks)} needs as many n_random_features; give more of them."
        raise DataError(message)
    trials.sort(key=lambda trial: -trial.score.value)
    sizes = len(rows.y), len(rows.new_y)
    return Choice(tuple(trials), cheapest(trials), rows.measure, preset, random_state, *sizes)


def cheapest(trials: Sequence[Trial]) -> Trial:
    """Of all that score as well as the best, the one with fewest components, then features."""
    best = max(trials, key=lambda trial: trial.score.value)

    def is_as_good(trial: Trial) -> bool:
        gain, error = best.score.gain_over(trial.score)
        return gain <= max(error, EQUAL)

    good = [trial for trial in trials if is_as_good(trial)]
    return min(good, key=lambda t: (t.n_components, t.n_random_features, -t.score.value))


def _trials_of(model: OKSPCA, rows: Rows, ranks: Sequence[int]) -> list[Trial]:
    """Fit once; the leading components are those of models with fewer."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankWarning)
        model.fit(rows.X, rows.y)
        known, new = (np.asarray(model.transform(X)) for X in (rows.X, rows.new))
    size = model.n_random_features, float(model.bandwidth)
    return [
        Trial(
            k,
            *size,
            neighbour_score((known[:, :k], rows.y), (new[:, :k], rows.new_y), classes=rows.classes),
        )
        for k in ranks
    ]


def _useful_ranks(rows: Rows, ranks: list[int]) -> list[int]:
    """Ranks that can differ: classes have one direction fewer than there are of them."""
    if not rows.classes:
        return ranks
    most = len(np.unique(rows.y)) - 1
    return [k for k in ranks if k <= most] or [most]


def _checked(name: str, values: Sequence[int]) -> list[int]:
    """Numbers to try, in order, each once."""
    found = sorted(set(values))
    if not found or found[0] < 1:
        message = f"{name}={list(values)!r} must be whole numbers from 1 on."
        raise DataError(message)
    return found
