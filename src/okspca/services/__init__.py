"""Ways of supplying a basis: one per file, one contract."""

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from okspca.services.base import Service, ServiceState
from okspca.services.exact import Exact
from okspca.services.exact_snapshot import ExactSnapshot
from okspca.services.tracker import Tracker
from okspca.services.warm_block import WarmBlock

if TYPE_CHECKING:
    from okspca.services.adam import Adam
    from okspca.services.binary import Binary
    from okspca.services.cached import Cached
    from okspca.services.contrast import Contrast
    from okspca.services.exact_each import ExactEach
    from okspca.services.projected_gradient import ProjectedGradient

#: Services that few programs use, and their files, which are imported when they are first named.
_HOMES = {
    "Adam": "adam",
    "Binary": "binary",
    "Cached": "cached",
    "Contrast": "contrast",
    "ExactEach": "exact_each",
    "ProjectedGradient": "projected_gradient",
}


def __getattr__(name: str) -> Any:
    """Import a service from its file."""
    if name not in _HOMES:
        message = f"module 'okspca.services' has no attribute {name!r}"
        raise AttributeError(message)
    return getattr(import_module(f"okspca.services.{_HOMES[name]}"), name)


class _ByName(Mapping[str, type[Service[Any]]]):
    """Services by the names that select them; a class is imported when it is looked up."""

    def __init__(self, classes: dict[str, str]) -> None:
        self._classes = classes

    def __getitem__(self, name: str) -> type[Service[Any]]:
        """Return a service."""
        class_name = self._classes[name]
        found: type[Service[Any]] = globals().get(class_name) or __getattr__(class_name)
        return found

    def __contains__(self, name: object) -> bool:
        """Whether a name selects a service."""
        return name in self._classes

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names."""
        return iter(self._classes)

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._classes)


#: The services that a name selects.
BY_NAME = _ByName(
    {
        "exact": "Exact",
        "exact-each": "ExactEach",
        "exact-snapshot": "ExactSnapshot",
        "cached": "Cached",
        "adam": "Adam",
        "projected-gradient": "ProjectedGradient",
        "warm-block": "WarmBlock",
        "binary": "Binary",
        "contrast": "Contrast",
    }
)

__all__ = [
    "BY_NAME",
    "Adam",
    "Binary",
    "Cached",
    "Contrast",
    "Exact",
    "ExactEach",
    "ExactSnapshot",
    "ProjectedGradient",
    "Service",
    "ServiceState",
    "Tracker",
    "WarmBlock",
]
