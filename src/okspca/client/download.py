"""Models of services as bytes and as models: read as strictly as files are.

What reads models is imported when one is read, so that the client itself needs nothing else.
"""

import os
import re
from importlib import import_module
from typing import Any

from okspca.client.connections import Look
from okspca.errors import StateError

#: What comes before and after the name of a model in its address.
ADDRESS = re.compile(r"(https?://.+?)/models/([A-Za-z0-9][A-Za-z0-9_-]{0,63})(?:/state)?/?")
KINDS = ("OKSPCA", "OKSPCAClassifier", "OKSPCARegressor")


def is_address(name: str | os.PathLike[str]) -> bool:
    """Whether something is to be asked of a service, instead of read from a disk.

    Examples
    --------
    >>> is_address("https://host/models/plant"), is_address("plant.okspca")
    (True, False)
    """
    return os.fspath(name).lower().startswith(("http://", "https://"))


def parts_of(address: str) -> tuple[str, str]:
    """Address of the service and name of the model.

    Examples
    --------
    >>> parts_of("http://127.0.0.1:8787/models/plant/state")
    ('http://127.0.0.1:8787', 'plant')
    """
    found = ADDRESS.fullmatch(address)
    if found is None:
        message = f"{address} is no address of a model, such as http://127.0.0.1:8787/models/plant."
        raise ValueError(message)
    return found[1], found[2]


def size_of_models() -> tuple[int, Look]:
    """The most bytes that a model has, and the check of its first bytes and its size."""
    container = import_module("okspca.state.container")
    return container.MAX_FILE, lambda start, size: container.check_start(
        start[: container.LENGTH_BYTES + 1], size
    )


def model_of(data: bytes) -> tuple[Any, Any]:
    """Make the model that bytes hold, of whatever kind, and the record of its stream."""
    header = import_module("okspca.state.container").unpack(data).header
    kind = header.get("estimator")
    if kind not in KINDS:
        message = f"it is of the kind {kind!r}, not one of {', '.join(KINDS)}."
        raise StateError(message)
    estimators, saving = (import_module(f"okspca.estimators{one}") for one in ("", ".saving"))
    found: tuple[Any, Any] = saving.model_from(getattr(estimators, kind), data)
    return found
