r"""Watching how well rows are predicted, to notice when the features no longer serve.

A moment that is whitened gets its rows together at fixed row numbers
(:mod:`okspca.pipeline.waiting`).  The row before, those that wait are predicted by the moment as it
was before all of them: their targets are regressed on the model's components.  At every 255 rows
predicted so, the share x of their variance that was not predicted is compared with the mean m and
the standard deviation s of the shares before it (Page, 1954; Hinkley, 1971)::

    z = min((x - m - 0.01) / s, 4),        g = max(g + z - 1/2, 0),        alarm when g > 10.

A share that is larger by one in a hundred, or by half a standard deviation, is no matter.  No
single one raises the alarm, and what is learned of a share is at most three standard deviations
above the mean, so that a jump does not look usual at once.  The first eight tell what is usual.

While a pilot is running nothing is watched, and after it all shares from before count as eight.  So
a pilot that came too early, among rows of a change that was not over, is followed by another alarm,
until rows are predicted as well as before, or what has become of them is usual.

All of this happens at row numbers, so the alarm is raised after the same row however the stream was
cut.
"""

from typing import NamedTuple

import numpy as np

from okspca.moments import WhitenedMoment
from okspca.pipeline import PipelineState
from okspca.pipeline.front_end import encoded, note_units
from okspca.pipeline.waiting import joined

#: The name under which a watch accompanies a pipeline.
WATCH = "watch"
#: Rows that make up a share, and shares that tell what is usual.
ROWS, USUAL = 255, 8
#: What is no matter, in shares and in standard deviations; the most that counts of a share, and
#: that is learned of it; where the alarm is raised.
LEAST, SLACK, MOST, LEARNED, LIMIT = 0.01, 0.5, 4.0, 3.0, 10.0
#: Standard deviations below this are taken for it.
SMALLEST = 1e-9


class Watch(NamedTuple):
    """What is known about the shares of variance that were not predicted.

    Attributes
    ----------
    rows : int
        Rows predicted since the last share.
    errors, squares : float
        Sums over them: what was not predicted, and all there was.
    n_shares : int
        Number of shares that count.
    mean, deviations : float
        Their mean and the sum of their squared deviations from it.
    level : float
        How far later ones have been above it, added up.
    n_alarms : int
        How many alarms were raised.

    Examples
    --------
    >>> watch = Watch()
    >>> for share in (0.1, 0.12, 0.11, 0.1, 0.13, 0.1, 0.12, 0.11, 0.3, 0.3, 0.3):
    ...     watch = watch.judged(share)
    >>> watch.n_shares, watch.is_raised
    (11, True)
    """

    rows: int = 0
    errors: float = 0.0
    squares: float = 0.0
    n_shares: int = 0
    mean: float = 0.0
    deviations: float = 0.0
    level: float = 0.0
    n_alarms: int = 0

    @property
    def is_raised(self) -> bool:
        """Whether there is an alarm."""
        return self.level > LIMIT

    def restarted(self) -> "Watch":
        """Begin again after a pilot; an alarm that is raised is counted."""
        n = min(self.n_shares, USUAL)
        share = (n - 1) / (self.n_shares - 1) if n > 1 else 1.0
        return Watch(
            n_shares=n,
            mean=self.mean,
            deviations=share * self.deviations,
            n_alarms=self.n_alarms + self.is_raised,
        )

    def after(self, state: PipelineState) -> "Watch":
        """Predict the rows that wait in a state, and judge once there are enough of them."""
        if not state.waiting:
            return self
        n, errors, squares = waiting_errors(state)
        found = self._replace(
            rows=self.rows + n, errors=self.errors + errors, squares=self.squares + squares
        )
        if found.rows < ROWS:
            return found
        judged = found.judged(found.errors / found.squares) if found.squares > 0.0 else found
        return judged._replace(rows=0, errors=0.0, squares=0.0)

    def judged(self, share: float) -> "Watch":
        """Compare a share with those before it, then learn it."""
        n, level = self.n_shares, self.level
        if n >= USUAL:
            spread = max(float(np.sqrt(self.deviations / (n - 1) * (1.0 + 1.0 / n))), SMALLEST)
            above = min((share - self.mean - LEAST) / spread, MOST)
            level = max(level + above - SLACK, 0.0)
            share = min(share, self.mean + LEARNED * spread)
        apart = share - self.mean
        mean = self.mean + apart / (n + 1)
        deviations = self.deviations + apart * (share - mean)
        return self._replace(n_shares=n + 1, mean=mean, deviations=deviations, level=level)


def waiting_errors(state: PipelineState) -> tuple[int, float, float]:
    """Number of rows that wait, and sums of squares: what is not predicted of them, and all."""
    # Describing rows may widen a moment, and this one must stay as it is.
    twin = state.twin()
    # Units belong to the standardisers as they are now; a file does not hold those of the moment.
    note_units(twin)
    assert isinstance(twin.moment, WhitenedMoment)
    errors, squares = twin.moment.unpredicted(encoded(twin, joined(twin.waiting)))
    return sum(len(rows.weights) for rows in state.waiting), errors, squares
