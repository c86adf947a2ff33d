r"""Estimate how far the exact subspace of the rows so far is from that of their source.

Nobody knows the second one, but the spread between disjoint parts of the stream tells.  Let C̄ be
the moment of all rows and C̄_A that of a half A of G equal groups.  For independent rows the
difference ``C̄_A - C̄`` has the same covariance as the unknown ``C̄ - C_*``, so the distance of their
leading subspaces estimates the statistical error::

    d^2 = mean over halves A of  ||P_A - P||_F^2,

with every principal angle estimated alike, from ``mean sin^2``.  All ``G! / (G/2)!^2`` halves are
used for up to 8 groups, 70 drawn ones for more.

The interval treats the true squared error as ``d^2`` times an F variable: a sum of nu squares, over
the G - 1 times nu that the estimate rests on.  The number nu comes from the spread between halves,
which for nu squares is ``var / mean^2 = (2 / nu) (G - 2) / (G - 1)`` (halves of one sample are not
independent, hence the second factor).  This is an approximation, checked by ``okspca reproduce
population``; it is not a proof, as a certificate is.

The recommended rank is the largest q for which the spans of the leading q directions of two
*disjoint* halves are at most 60 degrees apart (median over pairs).  Two halves that are
independent and each 45 degrees from the truth are 60 degrees apart, since their cosines multiply:
up to there a half carries more signal than noise.
"""

import math
from dataclasses import dataclass
from importlib import import_module
from itertools import combinations
from typing import Any

import numpy as np
from scipy.special import fdtri

from okspca.diagnostics.shown import html_table, safely
from okspca.errors import NotReadyError
from okspca.moments import GroupArrays
from okspca.numerics.arrays import Floats, unit_scaled
from okspca.numerics.leading import Leading, by_svd
from okspca.numerics.matrix import product
from okspca.numerics.spectrum import numerical_rank
from okspca.numerics.subspace import principal_angles

LEVEL = 0.9
REPRODUCIBLE = 60.0
MOST_HALVES = 70
FEWEST_ROWS = 2
_MOST_SQUARES = 1e6
Interval = tuple[float, float]


@dataclass(frozen=True)
class Stability:
    """Estimated statistical error of the exact empirical subspace, without knowing the truth.

    Attributes
    ----------
    n_samples_seen : int
        Rows learned.
    n_groups : int
        Disjoint parts of the stream that were compared.
    rank : int
        Number of directions the distance is about; 0 where there is no target.
    distance : float or None
        Estimate of ``||P - P_*||_F``, exact empirical against population projector.
    interval : tuple of float, or None
        Interval that should hold the true distance in ``level`` of all cases.
    angles : tuple of float
        Estimates of the principal angles in degrees, largest first.
    angle_intervals : tuple of (float, float)
        Their intervals.
    recommended_rank : int
        Leading directions that disjoint halves of the stream agree on.  It may exceed the number
        of components: then more of them would be reproducible.
    disagreement : tuple of float
        For rank 1, 2, ...: median largest angle between the spans of disjoint halves, in degrees.
    level : float
        Nominal coverage of the intervals.

    Examples
    --------
    >>> import numpy as np
    >>> from okspca import OKSPCA
    >>> X = np.random.RandomState(0).normal(size=(4000, 3))
    >>> model = OKSPCA(2, n_random_features=32, stability=8, random_state=0)
    >>> stability = model.fit(X, np.sin(X[:, 0])).estimate_stability()
    >>> low, high = stability.interval
    >>> 0.0 < low < stability.distance < high, stability.recommended_rank > 0
    (True, True)
    """

    n_samples_seen: int
    n_groups: int
    rank: int
    distance: float | None
    interval: Interval | None
    angles: tuple[float, ...]
    angle_intervals: tuple[Interval, ...]
    recommended_rank: int
    disagreement: tuple[float, ...]
    level: float = LEVEL

    def __str__(self) -> str:
        """Two lines for people."""
        rows = f"{self.n_samples_seen:,} rows"
        if self.distance is None or self.interval is None:
            return f"After {rows} there is no target: nothing in x goes with y so far."
        low, high = self.angle_intervals[0]
        error = (
            f"After {rows} the leading {_directions(self.rank)} lie an estimated "
            f"{self.angles[0]:.2g} degrees from the population's "
            f"({self.level:.0%} interval {low:.2g} to {high:.2g})."
        )
        return f"{error}\n{self._advice()}"

    def _repr_html_(self) -> str:
        """A small table for notebooks: each angle with its interval."""
        title = f"Stability after {self.n_samples_seen:,} rows"
        header = ("direction", "degrees to the population's", f"{self.level:.0%} interval")
        return safely(lambda: html_table(title, header, self._told(), str(self)), self)

    def _told(self) -> list[tuple[str, str, str]]:
        """One line for each principal angle, largest first."""
        pairs = zip(self.angles, self.angle_intervals, strict=True)
        return [
            (str(number), f"{angle:.2g}", f"{low:.2g} to {high:.2g}")
            for number, (angle, (low, high)) in enumerate(pairs, 1)
        ]

    def plot(self, axes: Any = None) -> Any:
        """Draw the angles with their intervals and the agreement by rank; needs matplotlib.

        Parameters
        ----------
        axes : sequence of two matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib.figure.Figure
            The figure drawn on; ``figure.savefig("stability.png")`` writes it.
        """
        return import_module("okspca.diagnostics.stability_picture").draw(self, axes)

    def _advice(self) -> str:
        """Say what the recommended rank means for the number of components in use."""
        r, looked_at = self.recommended_rank, len(self.disagreement)
        if r == 0:
            return "No direction is reproducible yet: disjoint halves of the stream disagree."
        if r < self.rank:
            return f"Reproducible: only the leading {_directions(r)}; the rest is mostly noise."
        if r == self.rank:
            return f"Reproducible: {_directions(r)}; more would be mostly noise."
        least = "at least " if r == looked_at else ""
        return f"Reproducible: {least}{_directions(r)}; more components could be used."


def estimate_stability(
    n_rows: int, groups: GroupArrays, n_components: int, is_zero: bool
) -> Stability:
    """Estimate the statistical error from disjoint groups.

    Parameters
    ----------
    n_rows : int
        Rows learned in all.
    groups : GroupArrays
        Rows, weights, centred sums and means of each group.
    n_components : int
        Number of directions asked for.
    is_zero : bool
        The moment of all rows is at rounding level: there is no target.
    """
    G = len(groups.weights)
    if groups.rows.min() < FEWEST_ROWS:
        message = (
            f"{n_rows} rows are too few to compare {G} parts of the stream; "
            f"learn at least {FEWEST_ROWS * G}."
        )
        raise NotReadyError(message)
    whole = leading_of(groups, np.arange(G))
    rank = 0 if is_zero else numerical_rank(whole.sigma)
    q = min(n_components, rank)
    if q == 0:
        return Stability(n_rows, G, 0, None, None, (), (), 0, ())
    pairs = [(leading_of(groups, a), leading_of(groups, b)) for a, b in halves(G)]
    angles = [
        principal_angles(half.rows[:q].T, whole.rows[:q].T) for pair in pairs for half in pair
    ]
    sines = np.sin(np.radians(angles)) ** 2
    distance, interval = _estimate(2.0 * sines.sum(axis=1), G, math.sqrt(2.0 * q))
    found = [_estimate(column, G, 1.0) for column in sines.T]
    # Spans of all D directions agree whatever the data say, so they are left out.
    apart = disagreement(pairs, min(rank, 2 * n_components + 2, whole.rows.shape[1] - 1))
    return Stability(
        n_rows,
        G,
        q,
        distance,
        interval,
        tuple(_degrees(sine) for sine, _ in found),
        tuple((_degrees(low), _degrees(high)) for _, (low, high) in found),
        max((r for r, angle in enumerate(apart, 1) if angle <= REPRODUCIBLE), default=0),
        tuple(apart),
    )


def leading_of(groups: GroupArrays, members: Any) -> Leading:
    """Leading directions of the pooled moment of some groups (Chan's formula for several)."""
    weights = groups.weights[members]
    shares = weights / weights.sum()
    left, right = groups.left_means[members], groups.right_means[members]
    left, right = left - product(shares, left), right - product(shares, right)
    # Scaled first, so that neither very large nor very small units matter.
    within, factor = unit_scaled(groups.sums[members].sum(axis=0))
    between = product((right * (weights / factor)[:, np.newaxis]).T, left)
    return by_svd(unit_scaled(within + between)[0])


def halves(n_groups: int) -> list[tuple[list[int], list[int]]]:
    """List pairs of complementary halves: all of them if there are few, else a fixed selection."""
    everything = range(n_groups)
    if math.comb(n_groups, n_groups // 2) <= MOST_HALVES:
        # Each pair once: the half with the first group, and the other.
        chosen = [[0, *rest] for rest in combinations(range(1, n_groups), n_groups // 2 - 1)]
    else:
        # A fixed seed: the same groups always give the same estimate.
        random = np.random.RandomState(n_groups)
        chosen = [
            sorted(random.permutation(n_groups)[: n_groups // 2].tolist())
            for _ in range(MOST_HALVES // 2)
        ]
    return [(half, [j for j in everything if j not in half]) for half in chosen]


def disagreement(pairs: list[tuple[Leading, Leading]], most: int) -> list[float]:
    """Median over pairs of the largest angle between the leading spans, for rank 1 to ``most``."""
    return [
        float(np.median([principal_angles(a.rows[:r].T, b.rows[:r].T)[0] for a, b in pairs]))
        for r in range(1, most + 1)
    ]


def _estimate(squares: Floats, n_groups: int, ceiling: float) -> tuple[float, Interval]:
    """Root mean square and its interval, none above ``ceiling``."""
    mean, variance = float(squares.mean()), float(squares.var())
    factor = 2.0 * (n_groups - 2.0) / (n_groups - 1.0)
    nu = _MOST_SQUARES if variance == 0.0 else factor * mean * mean / variance
    # A sum has at least one square; beyond the limit more make no difference.
    nu = min(max(nu, 1.0), _MOST_SQUARES)
    tail = (1.0 - LEVEL) / 2.0
    low, high = (
        math.sqrt(mean * float(fdtri(nu, (n_groups - 1.0) * nu, p))) for p in (tail, 1.0 - tail)
    )
    return math.sqrt(mean), (min(low, ceiling), min(high, ceiling))


def _degrees(sine: float) -> float:
    """Angle of a sine, in degrees."""
    # Rounding may leave a sine above one.
    return math.degrees(math.asin(min(sine, 1.0)))


def _directions(n: int) -> str:
    """Count directions in words."""
    return f"{n} direction" if n == 1 else f"{n} directions"
