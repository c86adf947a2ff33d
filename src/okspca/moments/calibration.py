r"""How much the discriminants of classes may be believed, by rows that they had not seen.

The posteriors of a linear discriminant analysis hold for Gaussian classes of one covariance.  Few
classes are like that, rare ones least of all, and then the posteriors are far too sure.  How sure
they may be is learned from rows.  With the share p of a class, its distance d from the others in
standard deviations, and the log likelihood ratio r that the discriminants claim for a row, class
against the rest (:mod:`okspca.numerics.platt`)::

    log q / (1 - q) = log p / (1 - p) + a d asinh(r / d) + b.

The inverse hyperbolic sine keeps the many standard deviations of an outlier from deciding alone.

Rows are scored by discriminants that were frozen before they came, at fixed row numbers.  What is
kept of a score is where it lies on a grid, even in ``asinh(r / d)``: for each class, the weights of
its own rows and of all others, a row being shared by the two points next to it.  These are sums:
bounded, mergeable, and continuous in the scores.  When new discriminants are frozen, what earlier
ones have scored counts half.

A second opinion is fitted to the same rows (:mod:`okspca.moments.second_opinion`).

Until rows tell, claims are believed at most by half (``a = 1/2``), and less after few rows.  And m
rows of a class cannot tell that others are unlike them by more than a factor m + 1, so odds are
never changed by more: a model that knows nothing answers with the shares.
"""

import numpy as np

from okspca.moments.arrays import EncodedRows
from okspca.moments.class_discriminants import Discriminants, Translation
from okspca.moments.opinions import REACH, CalibrationMap, Voices, believed
from okspca.moments.second_opinion import SecondOpinion, Seen
from okspca.numerics.arrays import Floats, Integers, copied
from okspca.numerics.compiled import BoundKernel, compiled
from okspca.numerics.platt import Prior, Trials, fit
from okspca.numerics.posteriors import log_odds_of

#: Discriminants are frozen at this row, then at powers of two and halfway between them.  After the
#: delay they are frozen that much after powers of two, when a ridge has been chosen, and at three
#: rows in between.
FIRST, DELAY, QUARTERS = 16, 1024, 4
#: What the scores of earlier discriminants count; those frozen in quarters fade by its root.
FADING = 0.5
POINTS = 65
GRID = np.linspace(-REACH, REACH, POINTS)
BELIEF, ROWS_TO_BELIEVE, SHIFT_SPREAD = 0.5, 64.0, 1.0
#: The common slope is at least this share of what it is without rows: ranks are kept.
LEAST_SLOPE = 0.02
_FIXED = 1e-6
_TINY = float(np.finfo(np.float64).tiny)
_BELIEVED: BoundKernel[Floats] = BoundKernel(believed)


class Belief:
    """Both opinions on rows, of which the second counts so much.

    The second is about scores by the discriminants that were frozen last, which those of today
    are translated to; where that cannot be, it is not asked.

    Parameters
    ----------
    found : Discriminants
        Those of today.
    first : CalibrationMap
        The first opinion on them.
    second : SecondOpinion
        The second.
    translation : Translation or None
        From scores by ``found`` to those that the second opinion is about.
    unit : float
        Mean weight of a row.

    Examples
    --------
    >>> shares = np.array([0.75, 0.25])
    >>> found = Discriminants(np.zeros((2, 2)), np.log(shares), shares, np.ones(2))
    >>> first = CalibrationMap(shares, np.ones(2), np.zeros(2), 100.0)
    >>> belief = Belief(found, first, SecondOpinion.none(2), None, 1.0)
    >>> np.exp(belief.of(found.of(np.zeros((1, 2))))).round(2).tolist()
    [[0.75, 0.25]]
    """

    def __init__(
        self,
        found: Discriminants,
        first: CalibrationMap,
        second: SecondOpinion,
        translation: Translation | None,
        unit: float,
    ) -> None:
        into, A = translation or Translation.none(), second.coefficients
        if translation is None:
            A = np.zeros((0, 0))
        voices = Voices(A, second.losses, float(unit), into.M, into.shift)
        shares, spreads = (np.ascontiguousarray(part) for part in (found.shares, found.spreads))
        self._said = shares, spreads, first, voices

    def of(self, values: Floats) -> Floats:
        """Logarithms of the probabilities of classes, before they are made to sum to one.

        ``values``: those of the discriminants, one row for each row.
        """
        return _BELIEVED.code(np.ascontiguousarray(values), *self._said)


class Calibration:
    """Scores of rows that were not yet learned, on a grid.

    Attributes
    ----------
    scores : ndarray of shape (n_classes, 2, POINTS)
        Weights on the grid, of the rows of other classes and of its own.
    totals : ndarray of shape (2,)
        Number of rows scored and their weight, faded alike.
    frozen : Discriminants
        What scores rows; of no class where there is nothing that could.
    second : SecondOpinion
        What else is learned from these rows.

    Examples
    --------
    >>> found = Calibration(3).map(np.array([0.75, 0.25]), np.array([2.0, 2.0]), n_rows=64.0)
    >>> found.slopes.tolist(), found.shifts.tolist()
    ([1.0, 1.0], [0.0, 0.0])
    """

    def __init__(self, n_features: int) -> None:
        self.scores = np.zeros((0, 2, POINTS))
        self.totals = np.zeros(2)
        self.frozen = Discriminants.none(n_features)
        self.second = SecondOpinion.none(0)

    @property
    def unit(self) -> float:
        """Mean weight of the rows scored."""
        n_rows, weight = self.totals.tolist()
        return weight / n_rows if n_rows > 0.0 else 1.0

    @staticmethod
    def next_stop(row: int) -> int:
        """Row number after ``row`` at which discriminants are frozen.

        Examples
        --------
        >>> [Calibration.next_stop(row) for row in (0, 16, 24, 600, 1024, 3072, 5000)]
        [16, 24, 32, 768, 1536, 3584, 5120]
        """
        if row >= DELAY:
            power = max(DELAY // 2, (1 << (row - DELAY).bit_length()) // 2)
            quarter = power // QUARTERS
            return DELAY + max(power, (row - DELAY) // quarter * quarter + quarter)
        power = max(FIRST, 1 << row.bit_length())
        halfway = 3 * power // 4
        return halfway if halfway > FIRST and row < halfway else power

    def begins(self, row: int) -> bool:
        """Whether discriminants are frozen after this row."""
        return row >= FIRST and self.next_stop(row - 1) == row

    def begin(
        self, found: Discriminants, row: int = 0, translation: Translation | None = None
    ) -> None:
        """Freeze discriminants of the features after a row; scores so far count less then.

        ``translation`` is from scores by the discriminants frozen before to scores by these.
        """
        fade = FADING if row <= DELAY else FADING ** (1.0 / QUARTERS)
        self.scores, self.totals = fade * self.scores, fade * self.totals
        if translation is None:
            self.second = SecondOpinion.none(len(found.offset))
        else:
            kept = self.second.faded(fade).translated(translation)
            self.second = kept.fitted(found.shares, self.unit)
        self.frozen = found

    def speaks_of(self, n_classes: int) -> bool:
        """Whether the second opinion is about so many classes."""
        return n_classes == len(self.frozen.offset) == self.second.n_classes > 0

    def score(self, rows: EncodedRows, forgetting: float, row: int = 0) -> None:
        """Score rows that are not learned yet, those after ``row``."""
        n, known = len(rows.Phi), len(self.frozen.offset)
        fade = forgetting ** np.arange(n, -1.0, -1.0)
        # All rows of the block have passed by its end, so what was there fades by all of them.
        self.scores = fade[0] * _widened(self.scores, known)
        self.totals, self.second = fade[0] * self.totals, self.second.faded(fade[0])
        if known > 1:
            values, weights = self.frozen.of(rows.Phi), rows.weights * fade[1:]
            claims, scores = self.frozen.claims_and_scores(values)
            if self.speaks_of(known):
                self._ask_second(
                    rows.coordinates[:, :known], weights, (scores, claims), row, forgetting
                )
            self.scores[:known] += on_grid(claims, rows.coordinates[:, :known], weights)
            self.totals += fade[1:].sum(), weights.sum()

    def _ask_second(
        self,
        indicators: Floats,
        weights: Floats,
        said: tuple[Floats, Floats],
        row: int,
        forgetting: float,
    ) -> None:
        """Let both opinions predict rows of classes that are known."""
        found, n_rows = self.frozen, rows_that_count(row, forgetting)
        known = indicators.any(axis=1)
        scores, claims = (part[known] for part in said)
        seen = Seen(
            scores,
            indicators[known].argmax(axis=1),
            weights[known],
            row + np.flatnonzero(known),
            self.second.log_p(scores, found.shares, n_rows),
            self.map(found.shares, found.spreads, n_rows).of(claims),
        )
        self.second = self.second.scored(seen)

    def merge(self, other: "Calibration") -> None:
        """Merge scores over the same columns of classes."""
        width = max(len(self.scores), len(other.scores))
        self.scores = _widened(self.scores, width) + _widened(other.scores, width)
        self.totals = self.totals + other.totals
        # One set of discriminants goes on scoring; what either has scored counts in any case.
        if not self.frozen.offset.size:
            self.frozen = other.frozen
        self.second = self.second.merged(other.second)
        if self.speaks_of(len(self.frozen.offset)):
            self.second = self.second.fitted(self.frozen.shares, self.unit)

    def with_columns(self, columns: Integers) -> "Calibration":
        """Return scores whose class ``j`` has column ``columns[j]``."""
        moved, n = copied(self), len(self.scores)
        if not np.array_equal(columns, np.arange(len(columns))):
            moved.frozen = Discriminants.none(len(self.frozen.weights))
            moved.second = SecondOpinion.none(0)
            moved.scores = np.zeros((int(columns[:n].max(initial=-1)) + 1, 2, POINTS))
            moved.scores[columns[:n]] = self.scores
        return moved

    def belief(
        self, found: Discriminants, n_rows: float, translation: Translation | None
    ) -> Belief:
        """Find how much discriminants, of so many rows, are believed.

        ``translation`` is from their scores to those by the frozen ones.
        """
        first = self.map(found.shares, found.spreads, n_rows)
        return Belief(found, first, self.second, translation, self.unit)

    def map(self, shares: Floats, spreads: Floats, n_rows: float) -> CalibrationMap:
        """Find how much discriminants of such shares and spreads, of so many rows, are believed."""
        scores = np.ascontiguousarray(_widened(self.scores, len(shares)))
        shares, spreads = (np.ascontiguousarray(part) for part in (shares, spreads))
        return _MAP.code(scores, float(self.totals[0]), shares, spreads, float(n_rows))


@compiled
def _mapped(
    scores: Floats, n_scored: float, shares: Floats, spreads: Floats, n_rows: float
) -> CalibrationMap:
    """Fit one slope, and then shifts, to what was scored."""
    shares = shrunk_shares(shares, n_rows)
    n = shares.shape[0]
    x = np.empty((n, POINTS))
    for c in range(n):
        for i in range(POINTS):
            x[c, i] = spreads[c] * GRID[i]
    trials = Trials(_trials(scores, n_scored, shares), log_odds_of(shares), x)
    belief = BELIEF * min(1.0, n_rows / ROWS_TO_BELIEVE)
    slope, _ = fit(trials, Prior(belief, belief, np.full(n, SHIFT_SPREAD)))
    slope = max(slope, LEAST_SLOPE * belief)
    # With the slope known, what the scores say moves a class only as far as they carry.
    _, shifts = fit(trials, Prior(slope, _FIXED * slope, slope * spreads))
    return CalibrationMap(shares, slope * spreads, shifts, n_rows)


@compiled
def _trials(scores: Floats, n_scored: float, shares: Floats) -> Floats:
    """Scores of the classes, each weighted so that it has its share of them.

    A row counts one on average, whatever the unit of weights.  Classes of which no row was scored
    tell nothing.
    """
    found = np.zeros((shares.shape[0], 2, POINTS))
    for c in range(found.shape[0]):
        others, own = scores[c, 0].sum(), scores[c, 1].sum()
        if others > 0.0 and own > 0.0:
            for i in range(POINTS):
                found[c, 0, i] = scores[c, 0, i] * ((1.0 - shares[c]) * n_scored / others)
                found[c, 1, i] = scores[c, 1, i] * (shares[c] * n_scored / own)
    return found


def on_grid(claims: Floats, indicators: Floats, weights: Floats) -> Floats:
    """Weights that rows put on the grid (classes x 2 x points), each on the two points next to it.

    Examples
    --------
    >>> found = on_grid(np.array([[0.125]]), np.array([[1.0]]), np.ones(1))
    >>> found[0, 1, 32:34].tolist()
    [0.5, 0.5]
    """
    n_classes = claims.shape[1]
    place = (claims + REACH) * ((POINTS - 1) / (2.0 * REACH))
    low = np.minimum(place.astype(np.intp), POINTS - 2)
    own = (indicators > 0.5).astype(np.intp)
    cell = (2 * np.arange(n_classes) + own) * POINTS + low
    upper = weights[:, np.newaxis] * (place - low)
    lower = weights[:, np.newaxis] - upper
    cells = np.concatenate([cell.ravel(), cell.ravel() + 1])
    parts = np.concatenate([lower.ravel(), upper.ravel()])
    found: Floats = np.bincount(cells, parts, 2 * n_classes * POINTS).astype(np.float64)
    return found.reshape(n_classes, 2, POINTS)


def rows_that_count(n_rows: int, forgetting: float) -> float:
    """Rows of equal weight that a mean over so many rows is as good as.

    Examples
    --------
    >>> rows_that_count(500, 1.0), round(rows_that_count(500, 0.99))
    (500.0, 199)
    """
    if forgetting == 1.0:
        return float(n_rows)
    return min(float(n_rows), (1.0 + forgetting) / (1.0 - forgetting))


@compiled
def shrunk_shares(shares: Floats, n_rows: float) -> Floats:
    """Shares of classes, moved towards equal ones as far as chance explains how they differ.

    Otherwise, where nothing else tells, the class that chance made a little larger always wins.

    Examples
    --------
    >>> shrunk_shares(np.array([0.52, 0.48]), 100.0).tolist()
    [0.5, 0.5]
    >>> shrunk_shares(np.array([0.9, 0.1]), 100.0).round(4).tolist()
    [0.8938, 0.1062]
    """
    n_seen, apart, found = 0, 0.0, shares.copy()
    for share in shares:
        n_seen += share > _TINY
    equal = 1.0 / max(n_seen, 1)
    for share in shares:
        if share > _TINY:
            apart += (share - equal) * (share - equal)
    chance = n_rows * n_seen * apart
    kept = max(0.0, 1.0 - (n_seen - 1.0) / chance) if chance > 0.0 else 0.0
    for c in range(found.shape[0]):
        if shares[c] > _TINY:
            found[c] = equal + kept * (shares[c] - equal)
    return found


def _widened(scores: Floats, n_classes: int) -> Floats:
    """Scores of at least so many classes, which may be the array itself."""
    lacking = n_classes - len(scores)
    if lacking <= 0:
        return scores
    return np.concatenate([scores, np.zeros((lacking, *scores.shape[1:]))])


_MAP: BoundKernel[CalibrationMap] = BoundKernel(_mapped)
