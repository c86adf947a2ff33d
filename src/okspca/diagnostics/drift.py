r"""An alarm for drift: a basis that was good has stopped being good.

Let U be a basis that was delivered some time ago and C̄ the moment of recent rows.  What U fails to
capture of the best that its rank can capture is ``loss = 1 - ||C̄^T U||_F^2 / sum_{j<=q} s_j^2``.
While nothing changes it hovers at the level of sampling noise.  The alarm is raised when it exceeds
both a least loss and a multiple of its usual level, the median of the last losses.
"""

import numpy as np

from okspca.numerics.arrays import Floats
from okspca.numerics.matrix import product
from okspca.numerics.thin_svd import thin_svd


def lost_share(Ct: Floats, U: Floats) -> float:
    """Share of the best objective of its rank that a basis does not capture.

    Parameters
    ----------
    Ct : ndarray of shape (width, D)
        The moment of recent rows, transposed, in any unit.
    U : ndarray of shape (D, q)
        Orthonormal columns.

    Examples
    --------
    >>> lost_share(np.diag([2.0, 1.0]), np.array([[0.0], [1.0]]))
    0.75
    """
    best = float((thin_svd(Ct).sigma[: U.shape[1]] ** 2).sum())
    return 0.0 if best <= 0.0 else max(1.0 - float((product(Ct, U) ** 2).sum()) / best, 0.0)


class DriftAlarm:
    """Tells when losses leave their usual level.

    Parameters
    ----------
    factor : float
        How many times the usual loss is alarming.
    least : float
        Losses up to this are never alarming.
    n_usual : int
        Number of last losses that tell what is usual; half of them must be known.

    Examples
    --------
    >>> alarm = DriftAlarm()
    >>> [alarm.raised_by(loss) for loss in (0.01, 0.02, 0.01, 0.01, 0.02, 0.5)]
    [False, False, False, False, False, True]
    """

    def __init__(self, factor: float = 5.0, least: float = 0.05, n_usual: int = 8) -> None:
        self.factor = factor
        self.least = least
        self.n_usual = n_usual
        self._usual: list[float] = []

    def raised_by(self, loss: float) -> bool:
        """Take in one loss; True raises the alarm and begins to learn anew what is usual."""
        # While too little is usual, nothing is unusual.
        known = len(self._usual) >= self.n_usual // 2
        limit = max(self.least, self.factor * float(np.median(self._usual))) if known else np.inf
        if loss > limit:
            self._usual = []
            return True
        self._usual = [*self._usual[1 - self.n_usual :], loss]
        return False
