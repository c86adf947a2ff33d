r"""Test, then train: whether the embedding helps to predict what comes next.

Before a block is learned, its targets are predicted from the k coordinates of the embedding, from
all inputs, from PCA and from LDA (classes) or PLS (numbers) of the inputs with k components, by a
constant, from the k coordinates of a second model with the other target, from all random features,
and from more and from fewer components of the target in use.  All are the same linear readout
(:mod:`okspca.files.readouts`), fitted to the rows learned so far, so they differ in what they see
and in nothing else.  Readouts forget nothing, also where the model does.

Sums of products of features belong to one map.  Where the map is drawn anew (``frequencies``), the
rows so far are mapped again; they are kept until the map is final.  Above ``MOST_COMPARED`` columns
inputs are not compared and there is no second model, since both would take too much room; nor are
all features read together where there are more of them.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from okspca.errors import DataError
from okspca.estimators import OKSPCA
from okspca.estimators.data import check_labels
from okspca.estimators.map_search import is_searching
from okspca.estimators.parameters import check_parameters
from okspca.estimators.presets import frequencies_of, objective_of, searches
from okspca.features import FeatureMap, OneHotMap
from okspca.features.ladder import DRAWN, TRAINED
from okspca.files.losses import losses_of, tallied
from okspca.files.readouts import (
    Readout,
    Totals,
    constant,
    lda,
    pca,
    pls,
    readout,
    reduced_readout,
    regression_of,
    standardized,
)
from okspca.numerics.arrays import Floats
from okspca.numerics.matrix import gram, product
from okspca.numerics.spectrum import numerical_rank
from okspca.numerics.thin_svd import thin_svd
from okspca.pipeline import Pipeline, PipelineState
from okspca.pipeline.answers import embedding_basis
from okspca.state.evaluations import (
    CONSTANT,
    EMBEDDING,
    FEATURES,
    INPUTS,
    LEVELS,
    LINEAR,
    METHODS,
    MOST_COMPARED,
    OTHER,
    PCA,
    Evaluation,
    Kept,
    Other,
    Side,
)

#: Sums of squares of numbers up to here stay finite over any number of rows.
LARGEST_SQUARED = 1e145
#: Moments with more columns and rows than this are not factored for more components.
MOST_FACTORED = 512


class Seen(NamedTuple):
    """Rows as one model sees them: its map, and what that makes of them."""

    input_map: FeatureMap
    features: Floats


class Predicted(NamedTuple):
    """A block between its test and its training.

    ``X`` holds the rows as the model's inputs: complete, with a column for every indicator.
    ``losses`` holds both losses of each method and row, and is None where nothing was predicted;
    ``inputs`` and ``own`` are None while the model has no features yet.
    """

    X: Floats
    inputs: Floats | None = None
    own: Seen | None = None
    other: Seen | None = None
    losses: Floats | None = None


def before_learning(model: OKSPCA, evaluation: Evaluation, X: Floats, y: NDArray[Any]) -> Predicted:
    """Predict the targets of a block.

    What is too large to be summed is refused here, so that nothing can fail once it is learned.
    """
    pipeline = None if model.learned is None else model.learned.pipeline
    if pipeline is None:
        return Predicted(X)
    inputs = pipeline.state.input_standardizer.transform(X)
    own, other = _seen(pipeline, inputs), None
    if evaluation.other is not None:
        other = _seen(_model_of(evaluation.other).ready(), inputs)
    tested = Predicted(X, inputs, own, other)
    labels = pipeline.state.target_map
    numbers = y if not isinstance(labels, OneHotMap) and y.dtype.kind in "fiu" else np.zeros(1)
    if not (np.isfinite(X).all() and np.isfinite(numbers).all()):
        return tested  # learning says what is wrong
    _refuse_too_large(own.features, X, numbers)
    if not evaluation.rows:
        return tested
    try:
        targets = _columns_of(labels, y) if isinstance(labels, OneHotMap) else numbers
    except DataError:
        return tested
    losses = _losses(pipeline, evaluation, tested, targets)
    _refuse_too_large(np.nan_to_num(losses))
    return tested._replace(losses=losses)


def after_learning(
    model: OKSPCA, before: Evaluation, tested: Predicted, X: Floats, y: NDArray[Any]
) -> Evaluation:
    """Take the block into the sums, after the model has learned it; teach the second model.

    The second model is given X as the first was, with its gaps: it completes rows itself.
    """
    other = before.other
    is_first = model.n_samples_seen_ == len(X)
    if is_first and len(before.inputs.mean):
        other = _second(model, len(before.features.mean))
    if other is not None:
        second = _model_of(other)
        second.partial_fit(X, y)
        other = other._replace(model=second)
    return taken(model, before._replace(other=other), tested, y)


def taken(model: OKSPCA, before: Evaluation, tested: Predicted, y: NDArray[Any]) -> Evaluation:
    """Score the predictions and take the block into the sums."""
    if tested.inputs is None or tested.own is None:
        return before
    targets, right = _targets(model, y)
    tally = before.tally
    if tested.losses is not None:
        tally = tallied(tally, tested.losses, right, targets.shape[1])
    new = targets.shape[1] - len(before.target_mean)
    before = before._replace(
        target_mean=np.pad(before.target_mean, (0, new)),
        target_square=np.pad(before.target_square, (0, new)),
    )
    kept = _kept(model, before, tested.inputs, targets)
    after = before._replace(
        features=_side(model, before, before.features, (tested.own, kept), targets),
        inputs=_input_side(before, tested.X, targets),
        tally=tally,
        kept=kept,
    )
    if before.other is not None and tested.other is not None:
        second, side = _model_of(before.other), before.other.features
        sums = _side(second, before, side, (tested.other, kept), targets)
        after = after._replace(other=before.other._replace(features=sums))
    models = [model] if after.other is None else [model, _model_of(after.other)]
    if not any(one.learned is not None and is_searching(one.learned.search) for one in models):
        after = after._replace(kept=None)
    return _with_targets(after, targets)


def restarted(evaluation: Evaluation) -> Evaluation:
    """Begin all sums and scores again, together with a fresh pilot.

    The map may be drawn anew, and then only the rows from now on can be mapped again.
    """
    sizes = len(evaluation.features.mean), len(evaluation.inputs.mean)
    other = evaluation.other
    if other is not None:
        second = _model_of(other)
        if second.learned is not None and second.learned.search is not None:
            second.relearn_features()
        other = Other(Side.start(sizes[0]), second)
    return Evaluation.start(*sizes)._replace(other=other)


def other_target(model: OKSPCA) -> dict[str, Any]:
    """Parameters that turn the paper's target into the one that predicts better, or back."""
    if objective_of(model) == "whitened":
        return {"objective": "covariance", "frequencies": DRAWN, "class_weighting": "squared"}
    frequencies = frequencies_of(model)
    return {
        "objective": "whitened",
        "frequencies": TRAINED if frequencies == DRAWN else frequencies,
    }


def _second(model: OKSPCA, n_features: int) -> Other | None:
    """A model like this one with the other target; None where there can be none."""
    parameters = model.get_params(deep=False) | other_target(model)
    second = OKSPCA(**parameters | {"solver": "exact", "stability": 0, "align": False})
    try:
        check_parameters(second)
    except ValueError:
        return None
    return Other(Side.start(n_features), second)


def _model_of(other: Other) -> OKSPCA:
    """The second model itself."""
    if isinstance(other.model, bytes):
        return OKSPCA.from_bytes(other.model)
    assert isinstance(other.model, OKSPCA)
    return other.model


def _seen(pipeline: Pipeline, inputs: Floats) -> Seen:
    """Standardised rows as a pipeline sees them."""
    input_map = pipeline.state.input_map
    return Seen(input_map, input_map.transform(inputs))


def _losses(
    pipeline: Pipeline, evaluation: Evaluation, tested: Predicted, targets: NDArray[Any]
) -> Floats:
    """Losses of every method on every row (two x methods x rows); NaN for those left out."""
    k, totals = pipeline.state.n_columns, _totals(evaluation, pipeline)
    known = np.flatnonzero(totals.mean > 0.0) if totals.classes else np.arange(len(totals.mean))
    totals = totals._replace(mean=totals.mean[known])
    found = np.full((2, len(METHODS) + len(LEVELS), len(tested.X)), np.nan)
    U, more = pipeline.read(lambda state: (embedding_basis(state), more_columns(state)))
    assert tested.own is not None
    own = _narrowed(evaluation.features, known)
    readouts = _feature_readouts(own, U, more, totals)
    for method, each in readouts.items():
        guess = each.of(tested.own.features - own.mean)
        found[:, method] = losses_of(guess, targets, known, classes=totals.classes)
    if evaluation.other is not None and tested.other is not None:
        side = _narrowed(evaluation.other.features, known)
        V = _model_of(evaluation.other).ready().read(embedding_basis)
        guess = reduced_readout(side, V, totals).of(tested.other.features - side.mean)
        found[:, OTHER] = losses_of(guess, targets, known, classes=totals.classes)
    if len(evaluation.inputs.mean):
        inputs, units = standardized(_narrowed(evaluation.inputs, known), totals.rows)
        for method, each in _input_readouts(inputs, totals, k).items():
            guess = each.of((tested.X - evaluation.inputs.mean) * units)
            found[:, method] = losses_of(guess, targets, known, classes=totals.classes)
    return found


def _totals(evaluation: Evaluation, pipeline: Pipeline) -> Totals:
    """What is known of the targets so far."""
    classes = isinstance(pipeline.state.target_map, OneHotMap)
    return Totals(evaluation.rows, evaluation.target_mean, evaluation.target_square, classes)


def _narrowed(side: Side, known: NDArray[np.intp]) -> Side:
    """A side with the targets that were met so far."""
    return side if len(known) == side.cross.shape[1] else side._replace(cross=side.cross[:, known])


def more_columns(state: PipelineState) -> Floats:
    """Weights of the features for the leading components, as many as levels ask for."""
    scaled = state.moment.scaled()
    if scaled.is_zero or min(scaled.Ct.shape) > MOST_FACTORED:
        return np.zeros((state.input_map.n_features, 0))
    found = thin_svd(scaled.Ct)
    count = min(numerical_rank(found.sigma), LEVELS[-1])
    return state.moment.feature_weights(np.ascontiguousarray(found.right[:count].T))


def _feature_readouts(side: Side, U: Floats, more: Floats, totals: Totals) -> dict[int, Readout]:
    """Readouts of the embedding, of more and fewer components, of all features, of nothing."""
    found = {CONSTANT: constant(side, totals)}
    if len(side.mean) <= MOST_COMPARED:
        ridge, whole = regression_of(side, totals)
        found[FEATURES] = readout(side, whole, ridge, totals)
    found[EMBEDDING] = reduced_readout(side, U, totals)
    if more.shape[1]:
        for place, level in enumerate(LEVELS):
            found[len(METHODS) + place] = reduced_readout(side, more[:, :level], totals)
    return found


def _input_readouts(side: Side, totals: Totals, k: int) -> dict[int, Readout]:
    """Readouts of the inputs and of their classical reductions."""
    whole = regression_of(side, totals)
    linear = lda(side, whole, totals, k) if totals.classes else pls(side, k)
    return {
        INPUTS: readout(side, whole.coefficients, whole.ridge, totals),
        PCA: reduced_readout(side, pca(side, k), totals),
        LINEAR: reduced_readout(side, linear, totals),
    }


def _columns_of(labels: OneHotMap, y: NDArray[Any]) -> NDArray[np.intp]:
    """Column of each label; -1 for a class that was never seen."""
    found = [labels.column_of(value) for value in check_labels(y, len(y)).values]
    return np.array([-1 if column is None else column for column in found], dtype=np.intp)


def _targets(model: OKSPCA, y: NDArray[Any]) -> tuple[Floats, NDArray[np.intp] | None]:
    """Targets as numbers or indicators and, for classes, their columns."""
    labels = model.target_map_
    if not isinstance(labels, OneHotMap):
        return np.asarray(y, dtype=np.float64)[:, np.newaxis], None
    right = _columns_of(labels, y)
    return np.eye(labels.n_features)[right], right


def _kept(model: OKSPCA, before: Evaluation, inputs: Floats, targets: Floats) -> Kept | None:
    """The rows so far, where a map may still be drawn anew."""
    changing = [searches(model)]
    if before.other is not None:
        changing.append(searches(_model_of(before.other)))
    if not any(changing) or (before.rows and before.kept is None):
        return None
    if before.kept is None:
        return Kept(inputs, targets)
    new = targets.shape[1] - before.kept.targets.shape[1]
    padded = np.pad(before.kept.targets, ((0, 0), (0, new)))
    return Kept(np.concatenate([before.kept.inputs, inputs]), np.concatenate([padded, targets]))


def _side(
    model: OKSPCA,
    before: Evaluation,
    side: Side,
    rows: tuple[Seen, Kept | None],
    targets: Floats,
) -> Side:
    """Add a block of features; where the map was drawn anew, map all rows again."""
    seen, kept = rows
    input_map: FeatureMap = model.input_map_
    if kept is None or input_map is seen.input_map or input_map.equals(seen.input_map):
        return added(before, side, seen.features, targets)
    blank = Evaluation.start(input_map.n_features, 0)
    nothing = np.zeros(targets.shape[1])
    blank = blank._replace(target_mean=nothing, target_square=nothing)
    return added(blank, blank.features, input_map.transform(kept.inputs), kept.targets)


def _input_side(before: Evaluation, X: Floats, targets: Floats) -> Side:
    """Add a block of inputs, unless they are too wide to be compared."""
    if not len(before.inputs.mean):
        return before.inputs._replace(cross=np.zeros((0, targets.shape[1])))
    return added(before, before.inputs, X, targets)


def added(before: Evaluation, side: Side, rows: Floats, targets: Floats) -> Side:
    """Merge a block with the rows before it, by deviations from the means of each."""
    share = len(rows) / (before.rows + len(rows))
    mean, block_target_mean = rows.mean(axis=0), targets.mean(axis=0)
    apart = mean - side.mean
    deviations = rows - mean
    cross = np.pad(side.cross, ((0, 0), (0, targets.shape[1] - side.cross.shape[1])))
    between = before.rows * share * apart
    return Side(
        side.mean + share * apart,
        side.gram + gram(deviations) + np.outer(between, apart),
        cross
        + product(deviations.T, targets - block_target_mean)
        + np.outer(between, block_target_mean - before.target_mean),
    )


def _with_targets(evaluation: Evaluation, targets: Floats) -> Evaluation:
    """Take targets into their mean and squares."""
    rows = evaluation.rows + len(targets)
    share = len(targets) / rows
    mean = targets.mean(axis=0)
    apart = mean - evaluation.target_mean
    square = ((targets - mean) ** 2).sum(axis=0) + evaluation.rows * share * apart**2
    return evaluation._replace(
        rows=rows,
        target_mean=evaluation.target_mean + share * apart,
        target_square=evaluation.target_square + square,
    )


def _refuse_too_large(*arrays: NDArray[Any]) -> None:
    """Raise where squares would not be finite."""
    if any(not np.abs(array).max(initial=0.0) <= LARGEST_SQUARED for array in arrays):
        message = "Values are too large to be squared for --evaluate; rescale them."
        raise DataError(message)
