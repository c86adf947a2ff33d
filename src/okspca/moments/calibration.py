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

Until rows tell, claims are believed at most by half (``a = 1/2``), and less after few rows.  And m
rows of a class cannot tell that others are unlike them by more than a factor m + 1, so odds are
never changed by more: a model that knows nothing answers with the shares.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import log_expit

from okspca.moments.arrays import EncodedRows
from okspca.moments.class_discriminants import REACH, Discriminants, log_odds_of
from okspca.numerics.arrays import Floats, Integers, copied
from okspca.numerics.platt import Prior, Trials, fitted

#: Discriminants are frozen at this row, then at powers of two and halfway between them.  From twice
#: the delay on they are frozen that much after each power of two, when a ridge has been chosen.
FIRST, DELAY = 16, 1024
#: What the scores of earlier discriminants count.
FADING = 0.5
POINTS = 65
GRID = np.linspace(-REACH, REACH, POINTS)
BELIEF, ROWS_TO_BELIEVE, SHIFT_SPREAD = 0.5, 64.0, 1.0
#: The common slope is at least this share of what it is without rows: ranks are kept.
LEAST_SLOPE = 0.02
_FIXED = 1e-6
_TINY = float(np.finfo(np.float64).tiny)


class CalibrationMap(NamedTuple):
    """From claims to log probabilities, class against the rest."""

    shares: Floats
    slopes: Floats
    shifts: Floats
    n_rows: float

    def of(self, claims: Floats) -> Floats:
        """Logarithms of the probabilities of classes, before they are made to sum to one."""
        own, others = self.shares * self.n_rows, (1.0 - self.shares) * self.n_rows
        ratios = claims * self.slopes + self.shifts
        ratios = _bounded_below(ratios, own)
        ratios = -_bounded_below(-ratios, others)
        return np.asarray(log_expit(log_odds_of(self.shares) + ratios))


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

    @staticmethod
    def next_stop(row: int) -> int:
        """Row number after ``row`` at which discriminants are frozen.

        Examples
        --------
        >>> [Calibration.next_stop(row) for row in (0, 16, 24, 600, 1024, 5000)]
        [16, 24, 32, 768, 3072, 5120]
        """
        late = DELAY if row >= DELAY else 0
        power = max(FIRST, 2 * late, 1 << (row - late).bit_length())
        halfway = 3 * power // 4
        return late + (halfway if not late and halfway > FIRST and row < halfway else power)

    def begins(self, row: int) -> bool:
        """Whether discriminants are frozen after this row."""
        return row >= FIRST and self.next_stop(row - 1) == row

    def begin(self, found: Discriminants) -> None:
        """Freeze discriminants of the features; scores so far count half from now on."""
        self.scores, self.totals = FADING * self.scores, FADING * self.totals
        self.frozen = found

    def score(self, rows: EncodedRows, forgetting: float) -> None:
        """Score rows that are not learned yet."""
        n, known = len(rows.Phi), len(self.frozen.offset)
        fade = forgetting ** np.arange(n, -1.0, -1.0)
        # All rows of the block have passed by its end, so what was there fades by all of them.
        self.scores = fade[0] * _widened(self.scores, known)
        self.totals = fade[0] * self.totals
        if known > 1:
            claims = self.frozen.claims(self.frozen.of(rows.Phi))
            weights = rows.weights * fade[1:]
            self.scores[:known] += on_grid(claims, rows.coordinates[:, :known], weights)
            self.totals += fade[1:].sum(), weights.sum()

    def merge(self, other: "Calibration") -> None:
        """Merge scores over the same columns of classes."""
        width = max(len(self.scores), len(other.scores))
        self.scores = _widened(self.scores, width) + _widened(other.scores, width)
        self.totals = self.totals + other.totals
        # One set of discriminants goes on scoring; what either has scored counts in any case.
        if not self.frozen.offset.size:
            self.frozen = other.frozen

    def with_columns(self, columns: Integers) -> "Calibration":
        """Return scores whose class ``j`` has column ``columns[j]``."""
        moved, n = copied(self), len(self.scores)
        if not np.array_equal(columns, np.arange(len(columns))):
            moved.frozen = Discriminants.none(len(self.frozen.weights))
            moved.scores = np.zeros((int(columns[:n].max(initial=-1)) + 1, 2, POINTS))
            moved.scores[columns[:n]] = self.scores
        return moved

    def map(self, shares: Floats, spreads: Floats, n_rows: float) -> CalibrationMap:
        """Find how much discriminants of such shares and spreads, of so many rows, are believed."""
        shares = shrunk_shares(shares, n_rows)
        base, x = log_odds_of(shares), np.outer(spreads, GRID)
        trials = Trials(self._trials(shares), base, x)
        belief = BELIEF * min(1.0, n_rows / ROWS_TO_BELIEVE)
        slope, _ = fitted(trials, Prior(belief, belief, np.full(len(shares), SHIFT_SPREAD)))
        slope = max(slope, LEAST_SLOPE * belief)
        # With the slope known, what the scores say moves a class only as far as they carry.
        _, shifts = fitted(trials, Prior(slope, _FIXED * slope, slope * spreads))
        return CalibrationMap(shares, slope * spreads, shifts, n_rows)

    def _trials(self, shares: Floats) -> Floats:
        """Scores of the classes, each weighted so that it has its share of them.

        A row counts one on average, whatever the unit of weights.  Classes of which no row was
        scored tell nothing.
        """
        scores = _widened(self.scores, len(shares))[: len(shares)]
        counts = scores.sum(axis=2)
        wanted = np.stack([1.0 - shares, shares], axis=1) * self.totals[0]
        tells = (counts > 0.0).all(axis=1, keepdims=True)
        factors = np.divide(wanted, counts, out=np.zeros_like(counts), where=tells)
        return np.asarray(scores * factors[:, :, np.newaxis])


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
    seen = shares > _TINY
    n_seen = max(int(seen.sum()), 1)
    apart = np.where(seen, shares - 1.0 / n_seen, 0.0)
    chance = n_rows * n_seen * float((apart**2).sum())
    kept = max(0.0, 1.0 - (n_seen - 1.0) / chance) if chance > 0.0 else 0.0
    return np.where(seen, 1.0 / n_seen + kept * apart, shares)


def _bounded_below(ratios: Floats, n_rows: Floats) -> Floats:
    """Log likelihood ratios with one row added that any point was as likely to be as another."""
    n_rows = np.maximum(n_rows, _TINY)
    return np.asarray(np.logaddexp(ratios + np.log(n_rows), 0.0) - np.log1p(n_rows))


def _widened(scores: Floats, n_classes: int) -> Floats:
    """Scores of at least so many classes."""
    return np.pad(scores, ((0, max(n_classes - len(scores), 0)), (0, 0), (0, 0)))
