r"""Scores on held-out rows, with what each row contributes to them, so that errors can be stated.

A score is a mean over rows or a smooth function of such means; to first order it moves by the mean
of one *influence* per row::

    accuracy p:           influence_i = hit_i - p
    R^2 = 1 - SSE / SST:  influence_i = ((1 - R^2) t_i^2 - e_i^2) / mean(t^2),

with errors e and targets t measured from their mean.  The standard error of the score is that of
the mean of its influences, and that of a difference of two scores on the same rows is that of the
mean of their differences: what both methods get wrong alike cancels.
"""

from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from okspca.numerics.arrays import Floats

NEIGHBOURS = 15


class Score(NamedTuple):
    """A score on held-out rows.

    Attributes
    ----------
    value : float
        Accuracy or R².
    influences : ndarray of shape (n,)
        What each row contributes to its deviation.

    Examples
    --------
    >>> Score(0.5, np.array([0.5, -0.5, 0.5, -0.5])).error
    0.25
    """

    value: float
    influences: Floats

    @property
    def error(self) -> float:
        """Standard error."""
        return standard_error(self.influences)

    def gain_over(self, other: "Score") -> tuple[float, float]:
        """Difference to another score on the same rows, and its standard error."""
        return self.value - other.value, standard_error(self.influences - other.influences)


def standard_error(influences: Floats) -> float:
    """Standard error of a mean."""
    return float(influences.std() / np.sqrt(max(len(influences), 1)))


def accuracy(guess: NDArray[Any], truth: NDArray[Any]) -> Score:
    """Share of rows that are right.

    Examples
    --------
    >>> accuracy(np.array(["a", "b"]), np.array(["a", "a"])).value
    0.5
    """
    hits = np.asarray(guess == truth, dtype=np.float64)
    return Score(float(hits.mean()), hits - hits.mean())


def r_squared(guess: Floats, truth: Floats) -> Score:
    """R² of predictions; of several outputs, the mean.  Constant targets score zero.

    Examples
    --------
    >>> r_squared(np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 4.0])).value.__round__(3)
    0.786
    """
    truth = truth.reshape(len(truth), -1)
    squares, spread = (guess.reshape(truth.shape) - truth) ** 2, (truth - truth.mean(axis=0)) ** 2
    total = spread.mean(axis=0)
    there = total > 0.0
    if not there.any():
        return Score(0.0, np.zeros(len(truth)))
    share = squares.mean(axis=0)[there] / total[there]
    influences = (share * spread[:, there] - squares[:, there]) / total[there]
    return Score(float((1.0 - share).mean()), influences.mean(axis=1))


def score_of(guess: Any, truth: Any, *, classes: bool) -> Score:
    """Accuracy for classes, R² for numbers."""
    return accuracy(guess, truth) if classes else r_squared(guess, truth)


def neighbour_score(
    known: tuple[Floats, NDArray[Any]], new: tuple[Floats, NDArray[Any]], *, classes: bool
) -> Score:
    """Predict new rows by their 15 nearest neighbours among known ones, each column scaled.

    Examples
    --------
    >>> Z = np.arange(40.0)[:, np.newaxis]
    >>> neighbour_score((Z, Z[:, 0] > 20), (Z, Z[:, 0] > 20), classes=True).value > 0.9
    True
    """
    # These modules of scikit-learn take longer to import than all of okspca.
    neighbors, preprocessing, pipeline = (
        import_module(f"sklearn.{name}") for name in ("neighbors", "preprocessing", "pipeline")
    )
    kind = neighbors.KNeighborsClassifier if classes else neighbors.KNeighborsRegressor
    nearest = kind(min(NEIGHBOURS, len(known[0])))
    predictor = pipeline.make_pipeline(preprocessing.StandardScaler(), nearest)
    predictor.fit(*known)
    return score_of(np.asarray(predictor.predict(new[0])), new[1], classes=classes)
