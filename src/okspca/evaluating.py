r"""Test, then train: whether the embedding helps to predict what comes next.

Before a block is learned, two probes predict its targets: one from the k coordinates of the
embedding, one from the d standardised inputs.  Both are the same linear ridge regression (of the
response, or of the indicators of classes, whose largest wins), fitted to all rows learned so far.

With features f = (1, φ), G = Σ f fᵀ and H = Σ f tᵀ, the probe on the embedding z = Uᵀφ solves, for
P = diag(1, U)::

    (Pᵀ G P + λ I) B = Pᵀ H,

so it always belongs to the present U, though U changes on the way.  λ is ``RIDGE`` times the mean
of the diagonal.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag, solve

from okspca.errors import DataError
from okspca.estimators import OKSPCA
from okspca.estimators.data import check_labels
from okspca.features import OneHotMap
from okspca.numerics.arrays import Floats
from okspca.state.evaluations import Evaluation

RIDGE = 1e-6
ROWS, EMBEDDING, INPUTS, NEITHER = range(4)


class Predicted(NamedTuple):
    """A block between its test and its training: what the probes saw and predicted."""

    features: Floats
    inputs: Floats
    predictions: tuple[Floats, Floats, Floats] | None


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


def before_learning(model: OKSPCA, evaluation: Evaluation, X: Floats) -> Predicted | None:
    """Predict the targets of a block; None while the model has no features yet."""
    learned = model.__dict__.get("_learned")
    pipeline = None if learned is None else learned.pipeline
    if pipeline is None:
        return None
    standardized = pipeline.input_standardizer.transform(X)
    features = _with_one(pipeline.input_map.transform(standardized))
    inputs = _with_one(standardized)
    if not evaluation.feature_cross.shape[1]:
        return Predicted(features, inputs, None)
    gram, cross = evaluation.feature_gram, evaluation.feature_cross
    P = block_diag(1.0, pipeline.embedding_basis())
    from_embedding = features @ (P @ _ridge(P.T @ gram @ P, P.T @ cross))
    from_inputs = inputs @ _ridge(evaluation.input_gram, evaluation.input_cross)
    from_nothing = np.broadcast_to(cross[0] / gram[0, 0], from_inputs.shape)
    return Predicted(features, inputs, (from_embedding, from_inputs, from_nothing))


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
    if tested.predictions is not None:
        losses[ROWS] += len(y)
        losses[1:] += [_loss(guess, targets, right) for guess in tested.predictions]
    found = Evaluation(
        before.feature_gram + tested.features.T @ tested.features,
        _wider(before.feature_cross, targets.shape[1]) + tested.features.T @ targets,
        before.input_gram + tested.inputs.T @ tested.inputs,
        _wider(before.input_cross, targets.shape[1]) + tested.inputs.T @ targets,
        losses,
    )
    if not all(np.isfinite(array).all() for array in found):
        message = "Values are too large to be squared for --evaluate; rescale them."
        raise DataError(message)
    return found


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


def _with_one(rows: Floats) -> Floats:
    """Put a column of ones in front."""
    return np.concatenate([np.ones((rows.shape[0], 1)), rows], axis=1)


def _ridge(gram: Floats, cross: Floats) -> Floats:
    """Solve the normal equations with a small ridge."""
    ridge = RIDGE * np.trace(gram) / gram.shape[0]
    solved: Floats = solve(gram + ridge * np.eye(gram.shape[0]), cross, assume_a="pos")
    return solved


def _loss(guess: Floats, targets: Floats, right: NDArray[np.intp] | None) -> float:
    """Squared error, or the number of wrong classes; one never seen before is always wrong."""
    if right is None:
        return float(((guess - targets) ** 2).sum())
    return float((guess.argmax(axis=1) != right).sum())


def _wider(cross: Floats, width: int) -> Floats:
    """Make room for classes that were not seen before."""
    return np.pad(cross, ((0, 0), (0, width - cross.shape[1])))
