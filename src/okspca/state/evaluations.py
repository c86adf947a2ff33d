"""What a prequential evaluation keeps: sums for two probes, and how well they have done."""

from typing import NamedTuple

import numpy as np

from okspca.numerics.arrays import Floats
from okspca.state.fields import Sink, Source

#: The two sides, as they are named in files.
SIDES = ("features", "inputs")


class Side(NamedTuple):
    """Sums of what one probe looks at, about the means, so that no level is subtracted later.

    Attributes
    ----------
    mean : ndarray of shape (D,)
        Mean of the columns.
    gram, cross : ndarray of shape (D, D) and (D, m)
        Products of deviations from the mean, with themselves and with those of the targets.

    Examples
    --------
    >>> Side.start(2).cross.shape
    (2, 0)
    """

    mean: Floats
    gram: Floats
    cross: Floats

    @classmethod
    def start(cls, n_columns: int) -> "Side":
        """Nothing seen yet."""
        return cls(np.zeros(n_columns), np.zeros((n_columns, n_columns)), np.zeros((n_columns, 0)))


class Evaluation(NamedTuple):
    """Sums over the rows that were scored and then learned.

    Attributes
    ----------
    rows : int
        Rows in the sums.
    features, inputs : Side
        The input features, and the standardised inputs themselves.
    target_mean : ndarray of shape (m,)
        Mean of the targets: of the response, or of the indicators of classes.
    losses : ndarray of shape (4,)
        Rows scored, then the loss on them of the probe on the embedding, of the probe on the
        inputs, and of a prediction that looks at no input.

    Examples
    --------
    >>> empty = Evaluation.start(2, 3)
    >>> empty.features.gram.shape, empty.inputs.cross.shape
    ((2, 2), (3, 0))
    """

    rows: int
    features: Side
    inputs: Side
    target_mean: Floats
    losses: Floats

    @classmethod
    def start(cls, n_features: int, n_inputs: int) -> "Evaluation":
        """Nothing seen yet."""
        return cls(0, Side.start(n_features), Side.start(n_inputs), np.zeros(0), np.zeros(4))


def write_evaluation(sink: Sink, evaluation: Evaluation) -> None:
    """Write the sums."""
    sink.put("rows", evaluation.rows)
    for name in SIDES:
        inner = sink.inside(name)
        for part, array in getattr(evaluation, name)._asdict().items():
            inner.array(part, array)
    sink.array("target_mean", evaluation.target_mean)
    sink.array("losses", evaluation.losses)


def read_evaluation(source: Source) -> Evaluation:
    """Read the sums."""
    if not source.is_object(SIDES[0]):
        return _read_uncentred(source)
    rows = source.count("rows")
    target_mean = source.array("target_mean", (None,))
    sides = [_read_side(source.inside(name), len(target_mean)) for name in SIDES]
    losses = _read_losses(source, rows)
    source.close()
    return Evaluation(rows, sides[0], sides[1], target_mean, losses)


def _read_side(source: Source, n_targets: int) -> Side:
    """Read the sums of one probe."""
    mean = source.array("mean", (None,))
    D = len(mean)
    side = Side(mean, source.array("gram", (D, D)), source.array("cross", (D, n_targets)))
    if D == 0 or side.gram.diagonal().min() < 0.0:
        source.refuse("gram", "not a sum of squares")
    source.close()
    return side


def _read_losses(source: Source, rows: int) -> Floats:
    """Read what was lost, on no more rows than there are."""
    losses = source.array("losses", (4,))
    if losses.min() < 0.0 or losses[0] > rows:
        source.refuse("losses", "impossible sums")
    return losses


def _read_uncentred(source: Source) -> Evaluation:
    """Read sums as they were kept at first: about zero, with a column of ones in front."""
    wide, narrow = source.count("features", least=2), source.count("inputs", least=2)
    outputs = source.count("outputs")
    grams = source.array("feature_gram", (wide, wide)), source.array("input_gram", (narrow, narrow))
    crosses = (
        source.array("feature_cross", (wide, outputs)),
        source.array("input_cross", (narrow, outputs)),
    )
    rows = int(grams[0][0, 0])
    if rows < 0 or rows != grams[1][0, 0]:
        source.refuse("inputs", "not of the same rows")
    losses = _read_losses(source, rows)
    source.close()
    if rows == 0:
        return Evaluation.start(wide - 1, narrow - 1)
    sides = [_centred(gram, cross) for gram, cross in zip(grams, crosses, strict=True)]
    return Evaluation(rows, sides[0], sides[1], crosses[0][0] / rows, losses)


def _centred(gram: Floats, cross: Floats) -> Side:
    """Turn sums about zero into sums about the means."""
    rows, mean, total = gram[0, 0], gram[0, 1:] / gram[0, 0], cross[0]
    return Side(mean, gram[1:, 1:] - rows * np.outer(mean, mean), cross[1:] - np.outer(mean, total))
