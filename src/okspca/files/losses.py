"""How wrong predictions were, row by row, and the sums over rows and blocks that are kept of it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from okspca.numerics.arrays import Floats
from okspca.state.evaluations import REFERENCES, ROWS, Tally


def losses_of(
    guess: Floats, targets: NDArray[Any], known: NDArray[np.intp], *, classes: bool
) -> Floats:
    """Two losses of each row: squared error and zero; or wrong class and error of probabilities.

    Parameters
    ----------
    guess : ndarray of shape (n, m)
        Predicted responses, or logarithms of probabilities of the ``known`` classes.
    targets : ndarray of shape (n,)
        Responses, or columns of classes; one that is not known is always predicted wrongly.
    known : ndarray of shape (m,)
        Columns of the classes that were met before.
    classes : bool
        Whether targets are classes.

    Examples
    --------
    >>> losses_of(np.log([[0.6, 0.4]]), np.array([0]), np.arange(2), classes=True).round(2).tolist()
    [[0.0], [0.32]]
    """
    if not classes:
        wrong = (guess[:, 0] - targets) ** 2
        return np.stack([wrong, np.zeros(len(wrong))])
    shares = softmax(guess, axis=1)
    is_right = known[np.newaxis, :] == targets[:, np.newaxis]
    given = np.where(is_right, shares, 0.0).sum(axis=1)
    squares = (shares**2).sum(axis=1) - 2.0 * given + 1.0
    wrong = known[guess.argmax(axis=1)] != targets
    return np.stack([wrong.astype(np.float64), np.maximum(squares, 0.0)])


def tallied(tally: Tally, losses: Floats, right: NDArray[np.intp] | None, n_targets: int) -> Tally:
    """Add the losses of a block (two x methods x rows); NaN stands for methods left out."""
    there, n = ~np.isnan(losses[0, :, 0]), losses.shape[2]
    losses = np.where(there[np.newaxis, :, np.newaxis], losses, 0.0)
    sums = tally.losses.copy()
    sums[there, ROWS] += n
    sums[:, ROWS + 1 :] += losses.sum(axis=2).T
    spread = tally.spread.copy()
    for place, reference in enumerate(REFERENCES):
        apart = np.where(
            there[np.newaxis, :, np.newaxis], losses - losses[:, reference][:, np.newaxis], 0.0
        )
        total = apart.sum(axis=2)
        found = np.stack([(apart**2).sum(axis=2), total**2, total * n], axis=2)
        spread[place] += found.transpose(1, 0, 2)
    hits, seen = tally.right, tally.seen
    if right is not None:
        hits = np.pad(hits, ((0, 0), (0, n_targets - hits.shape[1])))
        seen = np.pad(seen, (0, n_targets - len(seen))) + np.bincount(right, minlength=n_targets)
        correct = np.where(there[:, np.newaxis], 1.0 - losses[0], 0.0)
        hits = hits + np.stack([np.bincount(right, each, n_targets) for each in correct])
    return Tally(sums, spread, tally.blocks + np.array([1.0, float(n) ** 2]), hits, seen)
