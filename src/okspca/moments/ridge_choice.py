r"""The choice of a ridge along the stream, by the error in predicting rows not yet learned.

After rows 64, 128, 256, ... the leading k directions are found for each ridge of a small grid, from
the moments as they are, and the target coordinates are regressed on each of the embeddings.  That
regression has no ridge: whoever uses an embedding fits to it, so what counts is where the
directions point, not how much they are shrunk.  Each of the next rows (1,024 at most) is predicted
by all of them *before* it is learned; squared errors in the k leading target directions are added
up per ridge, and those of earlier rounds count a tenth with every round.  The ridge in use is the
one with the smallest total.

The times are row numbers, so the choice does not depend on how the stream is cut into blocks.
"""

import numpy as np

from okspca.moments.arrays import ROWS, WEIGHT, EncodedRows, MomentArrays
from okspca.moments.units import Units
from okspca.numerics.arrays import Floats
from okspca.numerics.matrix import product
from okspca.numerics.whitening import targets_and_path

#: In units of the mean variance of the features.
GRID = tuple(float(10.0**power) for power in range(-6, 3))
DEFAULT = 1e-2
#: What the errors of earlier rounds count when a new one begins.
FADING = 0.1
FIRST_ROUND, ROUND_ROWS = 64, 1024


class RidgeChoice:
    """Prequential errors of a few ridges.

    Attributes
    ----------
    errors : ndarray of shape (n_ridges,)
        Faded sums of squared errors.
    coefficients : ndarray of shape (n_ridges, q, D_x)
        Regressions that are being scored.
    directions : ndarray of shape (width, q)
        Target directions they predict; width zero where there are none.
    left_mean, right_mean : ndarray
        Means they belong to.
    started_at : int
        Row after which they were solved.

    Examples
    --------
    >>> RidgeChoice(3).value
    0.01
    """

    def __init__(self, n_features: int) -> None:
        self.errors = np.zeros(len(GRID))
        self.coefficients = np.zeros((len(GRID), 0, n_features))
        self.directions = np.zeros((0, 0))
        self.left_mean, self.right_mean = np.zeros(n_features), np.zeros(0)
        self.started_at = 0

    @property
    def value(self) -> float:
        """The ridge in use."""
        # Of equal errors the smallest ridge is taken.
        return GRID[int(np.argmin(self.errors))] if self.errors.any() else DEFAULT

    def next_stop(self, row: int) -> int:
        """Row number after ``row`` where a round begins or ends."""
        following = max(FIRST_ROUND, 1 << row.bit_length())
        end = self.started_at + ROUND_ROWS
        return min(following, end) if self.is_scoring(row) else following

    def is_scoring(self, row: int) -> bool:
        """Whether the row after ``row`` belongs to a round."""
        return bool(self.right_mean.size) and 0 <= row - self.started_at < ROUND_ROWS

    def score(self, rows: EncodedRows) -> None:
        """Predict rows that are not learned yet."""
        known = self.right_mean.size
        actual = product(rows.coordinates[:, :known] - self.right_mean, self.directions)
        centred = rows.Phi - self.left_mean
        n_ridges, q, D = self.coefficients.shape
        # One product for all ridges; what no row had when the round began is zero for each alike.
        predicted = product(centred, self.coefficients.reshape(n_ridges * q, D).T)
        missed = (predicted.reshape(-1, n_ridges, q) - actual[:, np.newaxis]) ** 2
        self.errors += (rows.weights[:, np.newaxis] * missed.sum(axis=2)).sum(axis=0)

    def begins(self, row: int) -> bool:
        """Whether a round begins after this row."""
        return row >= FIRST_ROUND and row & (row - 1) == 0

    def begin(self, moment: MomentArrays, squares: Floats, units: Units, n_directions: int) -> None:
        """Solve for every ridge from the moment and the centred squares of its input features."""
        # All fade alike, so the ridge in use stays what it is.
        self.errors = FADING * self.errors
        self.left_mean, self.right_mean = moment.left_mean.copy(), moment.right_mean.copy()
        covariance = units.of_square(squares / moment.totals[WEIGHT])
        Ct = units.of_left(units.of_right(moment.sums / moment.totals[WEIGHT]))
        targets, regressions = targets_and_path(covariance, Ct, GRID, n_directions)
        # All ridges predict the same targets, those of the one in use: else errors would not
        # compare.
        directions = targets[GRID.index(self.value)]
        coefficients = np.array([product(directions.T, B) for B in regressions])
        # Rows that are scored come in data units, so what they meet is in units of one over those.
        self.directions, self.coefficients = units.of_right(directions), units.of_left(coefficients)
        self.started_at = int(moment.totals[ROWS])

    def drop_round(self) -> None:
        """End the round: the target coordinates it was about are no longer in use."""
        self.coefficients, self.right_mean = self.coefficients[:, :0], np.zeros(0)
        self.directions = np.zeros((0, 0))
