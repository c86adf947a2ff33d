"""One name for a parameter and a method: ``OKSPCA(stability=8)`` and ``model.stability()``.

The parameter is stored like any other and comes back from ``get_params()``; reading
``model.stability`` gives the method.
"""

from collections.abc import Callable
from typing import Any, overload

from okspca.diagnostics.stability import Stability


class StabilityAttribute:
    """Descriptor that stores the number of groups and reads as the method that uses them.

    Examples
    --------
    >>> from okspca import OKSPCA
    >>> model = OKSPCA(stability=8)
    >>> model.get_params()["stability"], callable(model.stability)
    (8, True)
    """

    def __set__(self, model: Any, n_groups: int) -> None:
        """Store the parameter."""
        model.__dict__["stability"] = n_groups

    @overload
    def __get__(self, model: None, owner: type | None = None) -> "StabilityAttribute": ...
    @overload
    def __get__(self, model: object, owner: type | None = None) -> Callable[[], Stability]: ...
    def __get__(
        self, model: Any, owner: type | None = None
    ) -> "StabilityAttribute | Callable[[], Stability]":
        """Return the method."""
        return self if model is None else model.estimate_stability
