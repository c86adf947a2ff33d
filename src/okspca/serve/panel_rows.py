"""The latest rows of a stream, and where they lie in a picture that does not jump."""

from collections import deque
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from okspca.estimators.explaining import rows_at
from okspca.numerics.arrays import Floats
from okspca.numerics.matrix import product
from okspca.numerics.subspace import aligned
from okspca.pipeline import Embedding

#: Rows kept at most.
MOST_ROWS = 500
#: Significant digits of coordinates on the way to a page.
DIGITS = 4
Block = tuple[Any, list[Any]]


class LatestRows:
    """The last rows learned, as blocks of arrays or of frames, with the first of their targets.

    Examples
    --------
    >>> latest = LatestRows(most=3)
    >>> for value in range(5):
    ...     latest.add(np.full((1, 2), float(value)), [value])
    >>> latest.X[0][:, 0].tolist(), latest.y
    ([2.0, 3.0, 4.0], [2, 3, 4])
    """

    def __init__(self, most: int = MOST_ROWS, blocks: Iterable[Block] = ()) -> None:
        self.most = most
        self._blocks = deque(blocks)

    def __len__(self) -> int:
        """Rows kept."""
        return sum(len(y) for _, y in self._blocks)

    def add(self, X: Any, y: ArrayLike) -> None:
        """Copy the last rows of a block."""
        targets = np.asarray(y)
        kept = np.arange(max(len(targets) - self.most, 0), len(targets), dtype=np.intp)
        if not len(kept):
            return
        first = targets[kept].reshape(len(kept), -1)[:, 0]
        self._blocks.append((rows_at(X, kept), first.tolist()))
        while len(self) - len(self._blocks[0][1]) >= self.most:
            self._blocks.popleft()

    def copy(self) -> "LatestRows":
        """The same rows, to be looked at while others come."""
        return LatestRows(self.most, self._blocks)

    @property
    def X(self) -> list[Any]:  # noqa: N802 - the letter it has in the maths
        """Inputs, in as few blocks as possible; arrays become one."""
        blocks, over = [block for block, _ in self._blocks], len(self) - self.most
        if not blocks:
            return []
        if over > 0:
            n = len(self._blocks[0][1])
            blocks[0] = rows_at(blocks[0], np.arange(over, n, dtype=np.intp))
        if all(type(block) is np.ndarray for block in blocks):
            return [np.concatenate(blocks)]
        return blocks

    @property
    def y(self) -> list[Any]:
        """Targets, of several the first."""
        return [value for _, values in self._blocks for value in values][-self.most :]


class Picture:
    """Coordinates about their mean, turned to lie as those shown before.

    Coordinates are not centred by themselves, and where the mean row lies changes more than the
    rows do.  Two embeddings are compared on the same rows, by orthogonal Procrustes, so a change of
    the map or of the number of components turns the picture no more than it must.  What is aligned
    already is not turned.
    """

    def __init__(self) -> None:
        self._shown: Embedding | None = None

    def of(self, embedding: Embedding, mean: Floats, rows: Floats, *, is_aligned: bool) -> Floats:
        """Coordinates of rows that lack nothing, given the mean of the features."""
        Z, shown = embedding.of(rows), self._shown
        if not is_aligned and shown is not None and shown.input_map.n_inputs == rows.shape[1]:
            before = shown.of(rows)
            # A turn is the only freedom: stretches are news.
            overlap = product((Z - Z.mean(axis=0)).T, before - before.mean(axis=0))
            turn = aligned(np.eye(Z.shape[1]), overlap)
            embedding = embedding._replace(columns=product(embedding.columns, turn))
            Z = product(Z, turn)
        self._shown = embedding
        return Z - product(mean, embedding.columns)


def rounded(Z: Floats, digits: int = DIGITS) -> Floats:
    """Coordinates with as many digits as a picture shows.

    Examples
    --------
    >>> rounded(np.array([[123.456789, 0.00123]]), 4).tolist()
    [[123.5, 0.0]]
    """
    largest = float(np.nanmax(np.abs(Z), initial=0.0))
    if not largest > 0.0:
        return Z
    return np.asarray(np.round(Z, digits - 1 - int(np.floor(np.log10(largest)))))


def places_of(labels: list[Any], classes: NDArray[Any]) -> list[int | None]:
    """Place of each label among the classes; None for one that is not there.

    Examples
    --------
    >>> places_of(["b", "c"], np.array(["a", "b"]))
    [1, None]
    """
    places = {label: place for place, label in enumerate(classes.tolist())}
    return [places.get(label) for label in labels]
