"""The contract of a service: something that supplies a basis of the current moment on request.

A service object holds *settings* and is never changed.  What it maintains along a stream lives in a
state that :meth:`Service.start` makes and that the pipeline keeps.  A request only reads.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from okspca.basis import Basis
from okspca.moments import Moment, ScaledMoment
from okspca.moments.arrays import Change


@dataclass
class ServiceState:
    """What every service state knows: the number of features and of columns asked for.

    Examples
    --------
    >>> ServiceState(n_features=256, n_components=2)
    ServiceState(n_features=256, n_components=2)
    """

    n_features: int
    n_components: int


StateT = TypeVar("StateT", bound=ServiceState)


class Service(ABC, Generic[StateT]):
    """One way of supplying a basis.

    To add your own, subclass this, implement :meth:`start` and :meth:`request`, and override
    :meth:`period` and :meth:`observe` if it must follow the stream.  One that takes a step with
    every single row is a :class:`okspca.services.tracker.Tracker`.

    Examples
    --------
    >>> import numpy as np
    >>> from okspca import OKSPCA
    >>> from okspca.numerics.leading import by_svd
    >>> from okspca.services.answers import answer, no_target
    >>> class PlainSvd(Service):
    ...     def start(self, n_features, n_components, seed):
    ...         return ServiceState(n_features, n_components)
    ...     def request(self, state, scaled, t):
    ...         if scaled.is_zero:
    ...             return no_target(scaled, t)
    ...         return answer(by_svd(scaled.Ct), scaled, state.n_components, t)
    >>> X = np.random.RandomState(0).normal(size=(100, 2))
    >>> OKSPCA(2, solver=PlainSvd(), random_state=0).fit(X, X[:, 0]).basis().rank
    2
    """

    @abstractmethod
    def start(self, n_features: int, n_components: int, seed: int) -> StateT:
        """Make the state for an empty moment."""

    def sizes(self, n_features: int, n_components: int) -> dict[str, int]:
        """Lengths of the arrays of a state, by the letters that their annotations use."""
        return {"D": n_features, "k": n_components}

    @abstractmethod
    def request(self, state: StateT, scaled: ScaledMoment, t: int) -> Basis:
        """Supply a basis of the moment after observation ``t``; change nothing."""

    def serve(self, state: StateT, moment: Moment, t: int) -> Basis:
        """Answer a request; a service may take a short cut past the snapshot of the moment."""
        return self.request(state, moment.scaled(), t)

    def serve_uncertified(self, state: StateT, moment: Moment, t: int) -> Basis:
        """Answer without a certificate; a service may save the work for it."""
        return self.serve(state, moment, t)._replace(certificate=None)

    def suited_to(self, moment: Moment) -> "Service[Any]":
        """Return the service to use with an empty moment: this one, or one that keeps less."""
        return self

    def objection(self, *, labels: bool, n_targets: int) -> str | None:
        """Say why this service cannot serve such a target, or return None."""
        return None

    def period(self, state: StateT, width: int) -> int | None:
        """Every how many observations :meth:`observe` is due; None for never."""
        return None

    def observe(self, state: StateT, moment: Moment, change: Change | None, t: int) -> None:
        """Follow the stream: called after each observation ``t`` that is a multiple of the period.

        ``change`` is the rank-one change that observation made, known where the period is one.  It
        is also called, without a change, after another moment was merged into this one.
        """

    def health(self, state: StateT) -> dict[str, float]:
        """Counters and numbers that tell how the maintenance is going."""
        return {}
