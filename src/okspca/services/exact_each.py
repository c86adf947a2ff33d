"""Exact after each observation: learning pays for the factorisation, a request only copies."""

from dataclasses import dataclass, field

from okspca.services.cached import Cached


@dataclass(frozen=True)
class ExactEach(Cached):
    """Factor exactly after every observation.

    Examples
    --------
    >>> import numpy as np
    >>> from okspca import OKSPCA
    >>> X = np.random.RandomState(0).normal(size=(25, 3))
    >>> model = OKSPCA(solver=ExactEach(), random_state=0).partial_fit(X, X[:, 0])
    >>> model.basis().built_at, model.basis().age
    (25, 0)
    """

    every: int = field(default=1, init=False)
