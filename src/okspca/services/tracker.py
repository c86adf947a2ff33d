"""The contract of a tracker: a service that takes part in the learning of every single row.

Other services look at the moment when they are asked, or every so many observations.  A tracker
moves with the moment after each row, so it learns blocks itself, in one loop over rows and steps.
It follows one stream: what two trackers maintain cannot be merged.
"""

from abc import abstractmethod

from okspca.moments import Moment
from okspca.moments.arrays import EncodedRows
from okspca.numerics.arrays import Floats
from okspca.services.base import Service, StateT


class Tracker(Service[StateT]):
    """A service that follows every row by itself; :meth:`observe` is never due.

    Examples
    --------
    >>> from okspca.services import Adam, Exact
    >>> isinstance(Adam(), Tracker), isinstance(Exact(), Tracker)
    (True, False)
    """

    @abstractmethod
    def scan(self, state: StateT, moment: Moment, rows: EncodedRows, t: int) -> None:
        """Learn rows and follow each of them; ``t`` observations came before them."""

    @abstractmethod
    def follow_row(self, state: StateT, moment: Moment, t: int) -> None:
        """Follow the one row that was learned last, as :meth:`scan` does after each of its rows."""

    @abstractmethod
    def maintained(self, state: StateT) -> Floats | None:
        """Return the basis that embeddings use (all k columns, as rows).

        None where they use what a request supplies.
        """
