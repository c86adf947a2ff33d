"""Exact caches: factor at fixed observation numbers, hand out the last result in between."""

from dataclasses import dataclass

from okspca.basis import Basis, Status
from okspca.moments import Moment, ScaledMoment
from okspca.moments.arrays import Change
from okspca.services.answers import exact_answer, recertified
from okspca.services.base import Service, ServiceState
from okspca.services.checks import check_count, make_plain


@dataclass
class CachedState(ServiceState):
    """The last basis that was built, if any."""

    last: Basis | None = None


@dataclass(frozen=True)
class Cached(Service[CachedState]):
    """Factor exactly at every multiple of ``every`` observations.

    In between, the last basis is returned with its age, and its certificate is about the current
    moment.  Before the first factorisation there is no basis.

    Parameters
    ----------
    every : int
        Observations between two factorisations.

    Examples
    --------
    >>> import numpy as np
    >>> from okspca import OKSPCA
    >>> X = np.random.RandomState(0).normal(size=(25, 3))
    >>> model = OKSPCA(solver=Cached(every=10), random_state=0).partial_fit(X, X[:, 0])
    >>> model.basis().built_at, model.basis().age
    (20, 5)
    """

    every: int = 10

    def __post_init__(self) -> None:
        """Make the setting plain, and check it."""
        make_plain(self)
        check_count(every=self.every)

    def start(self, n_features: int, n_components: int, seed: int) -> CachedState:
        """Make the state for an empty moment."""
        return CachedState(n_features, n_components)

    def period(self, state: CachedState, width: int) -> int | None:
        """The factorisation is due at every multiple of this."""
        return self.every

    def observe(self, state: CachedState, moment: Moment, change: Change | None, t: int) -> None:
        """Factor the moment and keep the basis."""
        state.last = exact_answer(moment.scaled(), state.n_components, t)

    def request(self, state: CachedState, scaled: ScaledMoment, t: int) -> Basis:
        """Hand out the last basis with its age."""
        if state.last is None:
            return Basis.missing(state.n_features, Status.NOT_INITIALISED, built_at=0, age=t)
        return recertified(state.last, scaled, t)
