"""Numbers over time in bounded memory, and the score of the latest rows."""

from collections import deque
from collections.abc import Mapping, Sequence

from okspca.estimators.prequential import PrequentialScore

#: Points of a history at most.
MOST_POINTS = 600
#: Rows that a recent score is about, and into how many parts they are cut.
RECENT_ROWS, PARTS = 1000, 20


class History:
    """Points in time; when they become too many, every second one goes and the step doubles.

    Parameters
    ----------
    names : sequence of str
        What is kept of each point besides its time.
    most : int, default=600
        Points at most.

    Examples
    --------
    >>> history = History(["score"], most=4)
    >>> for second in range(9):
    ...     history.add(float(second), {"score": second / 10})
    >>> history.columns()
    {'time': [0.0, 4.0, 8.0], 'score': [0.0, 0.4, 0.8]}
    """

    def __init__(self, names: Sequence[str], most: int = MOST_POINTS) -> None:
        self.names = ("time", *names)
        self.most = most
        self._points: list[tuple[float | None, ...]] = []
        self._step = 1
        self._offered = 0

    def add(self, now: float, values: Mapping[str, float | None]) -> None:
        """Offer a point; it is kept if it falls on the step."""
        if self._offered % self._step == 0:
            if len(self._points) == self.most:
                self._points = self._points[::2]
                self._step *= 2
            if self._offered % self._step == 0:
                self._points.append((now, *(values.get(name) for name in self.names[1:])))
        self._offered += 1

    def columns(self) -> dict[str, list[float | None]]:
        """All points, as one list for each name."""
        points = self._points[:]
        return {name: [p[place] for p in points] for place, name in enumerate(self.names)}


class RecentScore:
    """The score of the latest thousand rows or so, from differences of sums over all rows.

    Examples
    --------
    >>> import numpy as np
    >>> recent, sums = RecentScore(), PrequentialScore.empty(1)
    >>> for wrong in (1.0, 0.0, 0.0):
    ...     errors = np.full((1000, 1), wrong)
    ...     sums = sums.after(np.zeros((1000, 1)), errors, np.ones(1000))
    ...     found = recent.after(sums)
    >>> sums.accuracy(), found.accuracy()
    (0.6666666666666667, 1.0)
    """

    def __init__(self) -> None:
        self._marks: deque[PrequentialScore] = deque()

    def after(self, sums: PrequentialScore) -> PrequentialScore:
        """Take the sums so far; return those over the latest rows."""
        marks = self._marks
        if marks and not self._continues(sums):
            marks.clear()
        while len(marks) > 1 and sums.weight - marks[1].weight >= RECENT_ROWS:
            marks.popleft()
        found = sums
        if marks and sums.weight - marks[0].weight > 0.0:
            found = sums.since(marks[0])
        if not marks or sums.weight - marks[-1].weight >= RECENT_ROWS / PARTS:
            marks.append(sums)
        return found

    def _continues(self, sums: PrequentialScore) -> bool:
        """Whether the sums are those of the last mark and more."""
        last = self._marks[-1]
        return sums.weight >= last.weight and len(sums.errors) == len(last.errors)
