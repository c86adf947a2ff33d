"""How much there may be of what grows with requests and stays with a model."""

import json
from collections.abc import Iterable
from typing import NamedTuple

from okspca.state.ledger import Label

#: Letters of all labels together, and of all names of inputs, as a checkpoint writes them: its
#: header has room for no more.
MOST_OF_LABELS, MOST_OF_NAMES = 1 << 18, 1 << 20


class Limits(NamedTuple):
    """How much there may be of what grows with requests."""

    sources: int = 10_000
    pending: int = 100_000
    classes: int = 1_000
    pending_bytes: int = 256 << 20

    def most_pending(self, n_inputs: int) -> int:
        """How many rows may wait for their targets."""
        return min(self.pending, self.pending_bytes // (8 * max(n_inputs, 1)))


def letters_of(values: Iterable[Label]) -> int:
    """Letters of values in JSON.

    Examples
    --------
    >>> letters_of(["é", True])
    12
    """
    return sum(len(json.dumps(value)) for value in values)


def too_long(labels: Iterable[Label]) -> str | None:
    """Why labels are too much for a checkpoint; None where they are not."""
    letters = letters_of(labels)
    if letters <= MOST_OF_LABELS:
        return None
    return f"The labels have {letters} letters; {MOST_OF_LABELS} are allowed."
