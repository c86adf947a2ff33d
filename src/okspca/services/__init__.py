"""Ways of supplying a basis: one per file, one contract."""

from typing import Any

from okspca.services.adam import Adam
from okspca.services.base import Service, ServiceState
from okspca.services.binary import Binary
from okspca.services.cached import Cached
from okspca.services.contrast import Contrast
from okspca.services.exact import Exact
from okspca.services.exact_each import ExactEach
from okspca.services.exact_snapshot import ExactSnapshot
from okspca.services.projected_gradient import ProjectedGradient
from okspca.services.tracker import Tracker
from okspca.services.warm_block import WarmBlock

#: The services that a name selects.
BY_NAME: dict[str, type[Service[Any]]] = {
    "exact": Exact,
    "exact-each": ExactEach,
    "exact-snapshot": ExactSnapshot,
    "cached": Cached,
    "adam": Adam,
    "projected-gradient": ProjectedGradient,
    "warm-block": WarmBlock,
    "binary": Binary,
    "contrast": Contrast,
}

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
