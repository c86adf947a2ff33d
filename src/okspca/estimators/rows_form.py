"""Rows that are held back or kept, on disk."""

import numpy as np
from scipy.sparse import issparse

from okspca.errors import StateError
from okspca.estimators.building import Rows
from okspca.estimators.intake import Intake
from okspca.state.fields import Sink, Source


def write_rows(sink: Sink, name: str, rows: Rows, *, gaps: bool = False) -> None:
    """Write rows that are kept."""
    if issparse(rows.X):
        message = "Sparse rows that are held back cannot be saved; learn 512, or give a bandwidth."
        raise StateError(message)
    # Rows that are held back may lack values; infinity was refused at the door.
    sink.array(f"{name}_inputs", rows.X, finite=not gaps)
    sink.array(f"{name}_targets", rows.Y)
    sink.array(f"{name}_weights", rows.weights)


def read_rows(
    source: Source, name: str, n_inputs: int, intake: Intake, *, gaps: bool = False
) -> Rows:
    """Read rows that are kept until a bandwidth, a scale or more can be taken from them."""
    X = source.array(f"{name}_inputs", (None, n_inputs), finite=not gaps)
    if np.isinf(X).any():
        source.refuse(f"{name}_inputs", "infinite")
    width = 1 if intake.labels is not None else intake.n_outputs
    Y = source.array(f"{name}_targets", (X.shape[0], width))
    weights = source.array(f"{name}_weights", X.shape[:1])
    if weights.min(initial=1.0) <= 0.0:
        source.refuse(f"{name}_weights", "not positive")
    if intake.labels is not None:
        known = set(range(intake.labels.n_features))
        if not set(Y[:, 0].tolist()) <= known:
            source.refuse(f"{name}_targets", "of unknown classes")
    return Rows(X, Y, weights)
