r"""Test, then train: whether the embedding helps to predict what comes next.

Before a block is learned, two probes predict its targets: one from the k coordinates of the
embedding, one from the d standardised inputs.  Both are the same linear ridge regression (of the
response, or of the indicators of classes, whose largest wins), fitted to all rows learned so far.

With the means m of features φ and s of targets t, G = Σ (φ-m)(φ-m)ᵀ and H = Σ (φ-m)(t-s)ᵀ, the
probe on the embedding z = Uᵀφ solves ::

    (Uᵀ G U + λ I) B = Uᵀ H,      t(φ) = s + Bᵀ Uᵀ (φ - m),

so it always belongs to the present U, though U changes on the way.  λ is ``RIDGE`` times the mean
of the diagonal.  The ridge shrinks slopes only: the level of the targets is as it is, however far
from zero.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve

from okspca.errors import DataError
from okspca.estimators import OKSPCA
from okspca.estimators.data import check_labels
from okspca.features import OneHotMap
from okspca.numerics.arrays import Floats
from okspca.pipeline.answers import embedding_basis
from okspca.state.evaluations import Evaluation, Side

RIDGE = 1e-6
#: Sums of squares of numbers up to here stay finite over any number of rows.
LARGEST_SQUARED = 1e145
ROWS, EMBEDDING, INPUTS, NEITHER = range(4)


class Predicted(NamedTuple):
    """A block between its test and its training: what the probes saw and predicted."""

    features: Floats
    inputs: Floats
    predictions: tuple[Floats, ...]


class Scores(NamedTuple):
    """R² against the mean so far, or the share of classes that were predicted rightly.

    Examples
    --------
    >>> Scores("accuracy", 0.9, 0.7, 0.5, 1000).embedding
    0.9
    """

    measure: str
    embedding: float
    inputs: float
    neither: float
    rows: int


def before_learning(
    model: OKSPCA, evaluation: Evaluation, X: Floats, y: NDArray[Any]
) -> Predicted | None:
    """Predict the targets of a block; None while the model has no features yet.

    What is too large to be summed is refused here, so that nothing can fail once it is learned.
    """
    pipeline = None if model.learned is None else model.learned.pipeline
    if pipeline is None:
        return None
    inputs = pipeline.state.input_standardizer.transform(X)
    features = pipeline.state.input_map.transform(inputs)
    predictions: tuple[Floats, ...] = ()
    if evaluation.rows:
        U = pipeline.read(embedding_basis)
        mean = evaluation.target_mean
        predictions = (
            mean + (features - evaluation.features.mean) @ (U @ _slopes(evaluation.features, U)),
            mean + (inputs - evaluation.inputs.mean) @ _slopes(evaluation.inputs),
            np.broadcast_to(mean, (len(X), len(mean))),
        )
    labels = isinstance(pipeline.state.target_map, OneHotMap)
    numbers = y if not labels and y.dtype.kind in "fiu" else np.zeros(1)
    if np.isfinite(X).all() and np.isfinite(numbers).all():  # else learning says what is wrong
        _refuse_too_large(features, inputs, numbers, *predictions)
    return Predicted(features, inputs, predictions)


def after_learning(
    model: OKSPCA, before: Evaluation, tested: Predicted | None, y: NDArray[Any]
) -> Evaluation:
    """Score the predictions and take the block into the sums, after the model has learned it."""
    if tested is None:
        return before
    labels = model.target_map_
    if not isinstance(labels, OneHotMap):
        targets, right = np.asarray(y, dtype=np.float64)[:, np.newaxis], None
    else:
        right = labels.index(check_labels(y, len(y)).values)[:, 0].astype(np.intp)
        targets = np.eye(labels.n_features)[right]
    losses = before.losses.copy()
    if tested.predictions:
        losses[ROWS] += len(y)
        losses[1:] += [_loss(guess, targets, right) for guess in tested.predictions]
    n, new = before.rows, targets.shape[1] - len(before.target_mean)
    mean = np.pad(before.target_mean, (0, new))
    return Evaluation(
        n + len(y),
        _added(before.features, n, tested.features, targets, mean),
        _added(before.inputs, n, tested.inputs, targets, mean),
        mean + len(y) / (n + len(y)) * (targets.mean(axis=0) - mean),
        losses,
    )


def scores(evaluation: Evaluation | None, *, classes: bool) -> Scores | None:
    """The running scores, once anything was scored."""
    if evaluation is None or not evaluation.losses[ROWS]:
        return None
    rows, embedding, inputs, neither = evaluation.losses.tolist()
    if classes:
        right = [1.0 - loss / rows for loss in (embedding, inputs, neither)]
        return Scores("accuracy", right[0], right[1], right[2], int(rows))
    if neither == 0.0:
        return None
    return Scores("R²", 1.0 - embedding / neither, 1.0 - inputs / neither, 0.0, int(rows))


def _slopes(side: Side, U: Floats | None = None) -> Floats:
    """Solve the normal equations with a small ridge; nothing is predicted from what is constant."""
    gram, cross = side.gram, side.cross
    if U is not None:
        gram, cross = U.T @ gram @ U, U.T @ cross
    ridge = RIDGE * np.trace(gram) / gram.shape[0]
    if ridge <= 0.0:
        return np.zeros(cross.shape)
    solved: Floats = solve(gram + ridge * np.eye(gram.shape[0]), cross, assume_a="pos")
    return solved


def _added(before: Side, n: int, rows: Floats, targets: Floats, target_mean: Floats) -> Side:
    """Merge a block with the ``n`` rows before it, by deviations from the means of each."""
    share = len(rows) / (n + len(rows))
    mean, block_target_mean = rows.mean(axis=0), targets.mean(axis=0)
    apart = mean - before.mean
    deviations = rows - mean
    cross = np.pad(before.cross, ((0, 0), (0, targets.shape[1] - before.cross.shape[1])))
    between = n * share * apart
    return Side(
        before.mean + share * apart,
        before.gram + deviations.T @ deviations + np.outer(between, apart),
        cross
        + deviations.T @ (targets - block_target_mean)
        + np.outer(between, block_target_mean - target_mean),
    )


def _refuse_too_large(*arrays: NDArray[Any]) -> None:
    """Raise where squares would not be finite."""
    if any(not np.abs(array).max(initial=0.0) <= LARGEST_SQUARED for array in arrays):
        message = "Values are too large to be squared for --evaluate; rescale them."
        raise DataError(message)


def _loss(guess: Floats, targets: Floats, right: NDArray[np.intp] | None) -> float:
    """Squared error, or the number of wrong classes; one never seen before is always wrong."""
    if right is None:
        return float(((guess - targets) ** 2).sum())
    return float((guess.argmax(axis=1) != right).sum())
