"""What a prequential evaluation keeps: sums for two probes, and how well they have done."""

from typing import NamedTuple

import numpy as np

from okspca.numerics.arrays import Floats
from okspca.state.fields import Sink, Source


class Evaluation(NamedTuple):
    """Sums over the rows that were scored and then learned.

    Attributes
    ----------
    feature_gram, feature_cross : ndarray of shape (D + 1, D + 1) and (D + 1, m)
        Products of input features, with a one in front, with themselves and with the target.
    input_gram, input_cross : ndarray of shape (d + 1, d + 1) and (d + 1, m)
        The same for the standardised inputs themselves.
    losses : ndarray of shape (4,)
        Rows scored, then the loss on them of the probe on the embedding, of the probe on the
        inputs, and of a prediction that looks at no input.

    Examples
    --------
    >>> empty = Evaluation.start(2, 3)
    >>> empty.feature_gram.shape, empty.input_cross.shape
    ((3, 3), (4, 0))
    """

    feature_gram: Floats
    feature_cross: Floats
    input_gram: Floats
    input_cross: Floats
    losses: Floats

    @classmethod
    def start(cls, n_features: int, n_inputs: int) -> "Evaluation":
        """Nothing seen yet."""
        wide, narrow = n_features + 1, n_inputs + 1
        return cls(
            np.zeros((wide, wide)),
            np.zeros((wide, 0)),
            np.zeros((narrow, narrow)),
            np.zeros((narrow, 0)),
            np.zeros(4),
        )


def write_evaluation(sink: Sink, evaluation: Evaluation) -> None:
    """Write the sums."""
    sink.put("features", evaluation.feature_gram.shape[0])
    sink.put("inputs", evaluation.input_gram.shape[0])
    sink.put("outputs", evaluation.feature_cross.shape[1])
    for name, array in evaluation._asdict().items():
        sink.array(name, array)


def read_evaluation(source: Source) -> Evaluation:
    """Read the sums."""
    wide, narrow = source.count("features", least=1), source.count("inputs", least=1)
    outputs = source.count("outputs")
    evaluation = Evaluation(
        source.array("feature_gram", (wide, wide)),
        source.array("feature_cross", (wide, outputs)),
        source.array("input_gram", (narrow, narrow)),
        source.array("input_cross", (narrow, outputs)),
        source.array("losses", (4,)),
    )
    source.close()
    return evaluation
