"""What a prequential evaluation keeps: sums for linear readouts, and how well they have done.

Files of earlier versions kept the losses of two probes only.  They still load, but what they kept
does not suffice to go on, so a resumed run compares from its first new row on.
"""

from typing import NamedTuple, Protocol

import numpy as np

from okspca.numerics.arrays import Floats
from okspca.state.fields import Sink, Source

#: Inputs and features up to here are compared as a whole: their products are kept and factored.
MOST_COMPARED = 1024
#: What is compared, and then the leading components of the same target, so many of them.
METHODS = ("embedding", "inputs", "pca", "linear", "constant", "other", "features")
LEVELS = (1, 2, 4, 8, 16, 32, 64)
N_METHODS = len(METHODS) + len(LEVELS)
EMBEDDING, INPUTS, PCA, LINEAR, CONSTANT, OTHER, FEATURES = range(len(METHODS))
#: What differences are taken from.
REFERENCES = (EMBEDDING, CONSTANT)
#: Columns of ``Tally.losses``; squares are those of probabilities, for classes.
ROWS, LOSS, SQUARES = range(3)
_WORD = 8


class Savable(Protocol):
    """A model that can be written as bytes."""

    def to_bytes(self) -> bytes:
        """Return its whole state."""


class Side(NamedTuple):
    """Sums of what a readout looks at, about the means, so that no level is subtracted later.

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


class Tally(NamedTuple):
    """How well rows were predicted, by every method in the order of ``METHODS`` and ``LEVELS``.

    Attributes
    ----------
    losses : ndarray of shape (n_methods, 3)
        Rows that were scored (zero where a method is left out); the sum of squared errors, or the
        number of wrong classes; the sum of squared errors of probabilities.
    spread : ndarray of shape (2, n_methods, 2, 3)
        For differences from the embedding and from the constant, of either loss: squares summed
        over rows, squares of the sums of blocks, and these sums times the sizes of the blocks.
    blocks : ndarray of shape (2,)
        Number of blocks, and the sum of their squared sizes.
    right : ndarray of shape (n_methods, n_classes)
        Rows of each class that were predicted rightly.
    seen : ndarray of shape (n_classes,)
        Rows of each class that were scored.

    Examples
    --------
    >>> Tally.start().losses.shape
    (14, 3)
    """

    losses: Floats
    spread: Floats
    blocks: Floats
    right: Floats
    seen: Floats

    @classmethod
    def start(cls) -> "Tally":
        """Nothing scored yet."""
        return cls(
            np.zeros((N_METHODS, 3)),
            np.zeros((2, N_METHODS, 2, 3)),
            np.zeros(2),
            np.zeros((N_METHODS, 0)),
            np.zeros(0),
        )


class Other(NamedTuple):
    """A second model of the same rows, for the target that was not asked for.

    ``model`` is None until the first row is learned, and bytes as long as nobody needs more.
    """

    features: Side
    model: Savable | bytes | None


class Kept(NamedTuple):
    """Rows that must be mapped again if the map is drawn anew: standardised inputs, targets."""

    inputs: Floats
    targets: Floats


class Evaluation(NamedTuple):
    """Sums over the rows that were scored and then learned.

    Attributes
    ----------
    rows : int
        Rows in the sums.
    features, inputs : Side
        The input features, and the inputs themselves in their own units; without columns where
        there are more than ``MOST_COMPARED``.
    target_mean, target_square : ndarray of shape (m,)
        Mean of the targets (of the response, or of the indicators of classes) and sum of their
        squared deviations.
    tally : Tally
        How well rows were predicted.
    other : Other or None
        The second model.
    kept : Kept or None
        The rows, as long as a map may be drawn anew.

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
    target_square: Floats
    tally: Tally
    other: Other | None = None
    kept: Kept | None = None

    @classmethod
    def start(cls, n_features: int, n_inputs: int) -> "Evaluation":
        """Nothing seen yet."""
        compared = n_inputs if n_inputs <= MOST_COMPARED else 0
        sides = Side.start(n_features), Side.start(compared)
        return cls(0, *sides, np.zeros(0), np.zeros(0), Tally.start())


def write_evaluation(sink: Sink, evaluation: Evaluation) -> None:
    """Write the sums."""
    sink.put("rows", evaluation.rows)
    sink.array("target_mean", evaluation.target_mean)
    sink.array("target_square", evaluation.target_square)
    _write_arrays(sink, "features", evaluation.features)
    _write_arrays(sink, "inputs", evaluation.inputs)
    _write_arrays(sink, "tally", evaluation.tally)
    if evaluation.kept is not None:
        _write_arrays(sink, "kept", evaluation.kept)
    if evaluation.other is not None:
        inner = sink.inside("other")
        _write_arrays(inner, "features", evaluation.other.features)
        _write_model(inner, evaluation.other.model)


def read_evaluation(source: Source) -> Evaluation:
    """Read the sums."""
    if not source.is_object("tally"):
        return _read_earlier(source)
    rows = source.count("rows")
    mean = source.array("target_mean", (None,))
    m = len(mean)
    evaluation = Evaluation(
        rows,
        _read_side(source.inside("features"), m),
        _read_side(source.inside("inputs"), m, least=0),
        mean,
        source.array("target_square", (m,)),
        _read_tally(source.inside("tally"), rows),
    )
    if "kept" in source.names():
        # Wide inputs are not summed; then their number is not known here.
        n_inputs = len(evaluation.inputs.mean) or None
        kept = _read_kept(source.inside("kept"), rows, n_inputs, m)
        evaluation = evaluation._replace(kept=kept)
    if "other" in source.names():
        evaluation = evaluation._replace(other=_read_other(source.inside("other"), m))
    source.close()
    return evaluation


def _write_arrays(sink: Sink, name: str, arrays: Side | Tally | Kept) -> None:
    """Write a record of arrays."""
    inner = sink.inside(name)
    for part, array in arrays._asdict().items():
        inner.array(part, array)


def _write_model(sink: Sink, model: Savable | bytes | None) -> None:
    """Write the bytes of a model as whole numbers, since files hold only such arrays."""
    data = model if isinstance(model, bytes | None) else model.to_bytes()
    sink.put("bytes", 0 if data is None else len(data))
    padded = (data or b"").ljust(-(-len(data or b"") // _WORD) * _WORD, b"\0")
    sink.array("model", np.frombuffer(padded, dtype="<i8").astype(np.int64))


def _read_other(source: Source, n_targets: int) -> Other:
    """Read the second model; what its bytes hold is checked when they are used."""
    features = _read_side(source.inside("features"), n_targets)
    length = source.count("bytes")
    words = source.integers("model", (None,))
    if len(words) != -(-length // _WORD):
        source.refuse("bytes", length)
    source.close()
    return Other(features, words.astype("<i8").tobytes()[:length] if length else None)


def _read_side(source: Source, n_targets: int, least: int = 1) -> Side:
    """Read the sums of one side."""
    mean = source.array("mean", (None,))
    D = len(mean)
    side = Side(mean, source.array("gram", (D, D)), source.array("cross", (D, n_targets)))
    if least > D or side.gram.diagonal().min(initial=0.0) < 0.0:
        source.refuse("gram", "not a sum of squares")
    source.close()
    return side


def _read_tally(source: Source, rows: int) -> Tally:
    """Read how well rows were predicted; no more of them than there are."""
    seen = source.array("seen", (None,))
    tally = Tally(
        source.array("losses", (N_METHODS, 3)),
        source.array("spread", (2, N_METHODS, 2, 3)),
        source.array("blocks", (2,)),
        source.array("right", (N_METHODS, len(seen))),
        seen,
    )
    sums = (tally.losses, tally.blocks, tally.right, seen, tally.spread[..., :2])
    is_possible = all(part.min(initial=0.0) >= 0.0 for part in sums)
    if not is_possible or tally.losses[:, ROWS].max() > rows or seen.sum() > rows:
        source.refuse("losses", "impossible sums")
    source.close()
    return tally


def _read_kept(source: Source, rows: int, n_inputs: int | None, n_targets: int) -> Kept:
    """Read the rows that may be mapped again."""
    inputs = source.array("inputs", (rows, n_inputs))
    kept = Kept(inputs, source.array("targets", (rows, n_targets)))
    source.close()
    return kept


def _read_earlier(source: Source) -> Evaluation:
    """Check what earlier versions kept, and begin anew."""
    if source.is_object("features"):
        rows = source.count("rows")
        m = len(source.array("target_mean", (None,)))
        sides = [_read_side(source.inside(name), m) for name in ("features", "inputs")]
        sizes = [len(side.mean) for side in sides]
    else:  # about zero, with a column of ones in front
        sizes = [source.count(name, least=2) - 1 for name in ("features", "inputs")]
        m = source.count("outputs")
        for name, size in zip(("feature", "input"), sizes, strict=True):
            gram = source.array(f"{name}_gram", (size + 1, size + 1))
            source.array(f"{name}_cross", (size + 1, m))
        rows = int(gram[0, 0])
    losses = source.array("losses", (4,))
    if losses.min() < 0.0 or losses[0] > rows:
        source.refuse("losses", "impossible sums")
    source.close()
    return Evaluation.start(*sizes)
