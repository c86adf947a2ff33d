"""Scores of all methods that an evaluation compares, with the standard errors of differences.

A difference of scores is a mean over rows of a difference of losses.  Its standard error is the
larger of two: one that takes rows for independent, and one that takes blocks for independent, which
also sees what rows that follow one another have in common.
"""

from typing import Any, NamedTuple

import numpy as np

from okspca.numerics.arrays import Floats
from okspca.state.evaluations import (
    CONSTANT,
    EMBEDDING,
    INPUTS,
    LEVELS,
    LOSS,
    METHODS,
    REFERENCES,
    ROWS,
    SQUARES,
    Evaluation,
    Tally,
)

#: With fewer blocks their spread says too little.
FEWEST_BLOCKS = 8
ACCURACY, R2 = "accuracy", "R²"


class Gap(NamedTuple):
    """By how much a score is above another one, and the standard error of that."""

    size: float
    error: float


class Entry(NamedTuple):
    """How well one method has done.

    Attributes
    ----------
    score : float
        Share of rows whose class was right, or R² against the mean so far.
    balanced : float or None
        Mean over classes of the share that was right.
    skill : float or None
        Share of the squared error of probabilities that the constant has and this method has not.
    above_embedding, above_constant : Gap
        Differences of scores.
    skill_above_constant : Gap
        The same for the skill.
    """

    score: float
    balanced: float | None
    skill: float | None
    above_embedding: Gap
    above_constant: Gap
    skill_above_constant: Gap


class Scores(NamedTuple):
    """R² against the mean so far, or the share of classes that were predicted rightly.

    Attributes
    ----------
    measure : {"accuracy", "R²"}
        What the scores are.
    embedding, inputs, neither : float
        Scores of the embedding, of all inputs (None where they are too many) and of the constant.
    rows : int
        Rows that were predicted.
    entries : dict of str to Entry
        All methods that were compared, by their names in files.
    levels : dict of int to Entry
        The leading components of the same target, by their number.
    """

    measure: str
    embedding: float
    inputs: float | None
    neither: float
    rows: int
    entries: dict[str, Entry]
    levels: dict[int, Entry]

    def plain(self) -> dict[str, Any]:
        """The scores as plain JSON."""
        told = self._asdict()
        told["entries"] = {name: _plain(entry) for name, entry in self.entries.items()}
        told["levels"] = {str(k): entry.score for k, entry in self.levels.items()}
        return told


def scores(evaluation: Evaluation | None, *, classes: bool) -> Scores | None:
    """The running scores, once anything was scored."""
    if evaluation is None or not evaluation.tally.losses[EMBEDDING, ROWS]:
        return None
    tally = evaluation.tally
    if not classes and tally.losses[CONSTANT, LOSS] == 0.0:
        return None
    there = np.flatnonzero(tally.losses[:, ROWS])
    found = {int(method): _entry(tally, int(method), classes) for method in there}
    entries = {METHODS[place]: entry for place, entry in found.items() if place < len(METHODS)}
    levels = {
        LEVELS[place - len(METHODS)]: entry
        for place, entry in found.items()
        if place >= len(METHODS)
    }
    return Scores(
        ACCURACY if classes else R2,
        found[EMBEDDING].score,
        found[INPUTS].score if INPUTS in found else None,
        found[CONSTANT].score,
        int(tally.losses[EMBEDDING, ROWS]),
        entries,
        levels,
    )


def _entry(tally: Tally, method: int, classes: bool) -> Entry:
    """How well one method has done."""
    constant, own = tally.losses[CONSTANT], tally.losses[method]
    unit = float(own[ROWS]) if classes else float(constant[LOSS])
    score = 1.0 - float(own[LOSS]) / unit
    gaps = [_gap(tally, method, place, 0, unit) for place in range(len(REFERENCES))]
    if not classes:
        return Entry(score, None, None, gaps[0], gaps[1], gaps[1])
    met = tally.seen > 0.0
    balanced = float((tally.right[method, met] / tally.seen[met]).mean())
    squares = max(float(constant[SQUARES]), np.finfo(np.float64).tiny)
    skill = 1.0 - float(own[SQUARES]) / squares
    odds = _gap(tally, method, REFERENCES.index(CONSTANT), 1, squares)
    return Entry(score, balanced, skill, gaps[0], gaps[1], odds)


def _gap(tally: Tally, method: int, place: int, kind: int, unit: float) -> Gap:
    """Difference from a reference, in units in which losses are made scores."""
    n = float(tally.losses[method, ROWS])
    apart = tally.losses[method, LOSS + kind] - tally.losses[REFERENCES[place], LOSS + kind]
    variance = _variance(tally.spread[place, method, kind], float(apart) / n, n, tally.blocks)
    return Gap(-float(apart) / unit, float(np.sqrt(variance)) * n / unit)


def _variance(spread: Floats, mean: float, n: float, blocks: Floats) -> float:
    """Squared standard error of a mean over rows."""
    rows, squares, products = spread.tolist()
    number, sizes = blocks.tolist()
    by_rows = max(rows - n * mean**2, 0.0) / max(n - 1.0, 1.0) / n
    if number < FEWEST_BLOCKS:
        return by_rows
    between = max(squares - 2.0 * mean * products + mean**2 * sizes, 0.0)
    return max(by_rows, between * number / (number - 1.0) / n**2)


def _plain(entry: Entry) -> dict[str, Any]:
    """An entry as plain JSON."""
    return {
        "score": entry.score,
        "balanced": entry.balanced,
        "skill": entry.skill,
        "above_embedding": entry.above_embedding.size,
        "standard_error": entry.above_embedding.error,
    }
