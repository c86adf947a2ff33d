"""The parameters of a model on disk; objects among them are written whole."""

from typing import Any

import numpy as np
from numpy.random import RandomState

from okspca.estimators.parameters import READY_MADE
from okspca.features import FeatureMap
from okspca.services import Service
from okspca.standardize import Standardizer
from okspca.state.fields import Sink, Source
from okspca.state.front_ends import (
    no_form,
    read_map,
    read_standardizer,
    write_map,
    write_standardizer,
)
from okspca.state.services import MOST_SEED, read_service, write_service

#: Parameters that came after the first files were written, with the value that changes nothing;
#: they are written only where they have another.
ADDED: dict[str, Any] = {
    "ridge": "auto",
    "class_weighting": "squared",
    "relevance": None,
    "target_features": "fourier",
    "window": None,
    "prequential": False,
}


def write_parameters(sink: Sink, parameters: dict[str, Any]) -> None:
    """Write the parameters; objects among them are written whole."""
    for name, value in parameters.items():
        if name in ADDED and type(value) is type(ADDED[name]) and value == ADDED[name]:
            continue
        if isinstance(value, FeatureMap):
            write_map(sink.inside(name), value)
        elif isinstance(value, Standardizer):
            write_standardizer(sink.inside(name), value)
        elif isinstance(value, Service):
            write_service(sink.inside(name), value)
        elif isinstance(value, RandomState):
            _write_random_state(sink.inside(name), value)
        elif value is None or isinstance(value, bool | int | float | str | np.generic):
            sink.put(name, value)
        else:
            raise no_form(value, f"give {name} as a plain number or text")


def read_parameters(source: Source, kind: type[Any]) -> dict[str, Any]:
    """Read the parameters, which must be exactly those of the constructor."""
    found: dict[str, Any] = {}
    for name in kind().get_params(deep=False):
        if source.is_object(name):
            found[name] = _read_object(source, name)
            continue
        if name in ADDED and name not in source.names():
            found[name] = ADDED[name]
            continue
        value = source.raw(name)
        if isinstance(value, list):
            source.refuse(name, value)
        found[name] = value
    source.close()
    if not isinstance(found["random_state"], RandomState | None):
        seed = found["random_state"]
        if type(seed) is not int or not 0 <= seed <= MOST_SEED:
            source.refuse("random_state", seed)
    return found


def _read_object(source: Source, name: str) -> Any:
    """Read a parameter that is an object."""
    inner = source.inside(name)
    if READY_MADE.get(name) is FeatureMap:
        return read_map(inner)
    if READY_MADE.get(name) is Standardizer:
        return read_standardizer(inner)
    if name == "solver":
        return read_service(inner)
    return _read_random_state(inner) if name == "random_state" else source.refuse(name, "an object")


def _write_random_state(sink: Sink, random: RandomState) -> None:
    """Write a generator that a model still has to draw from."""
    name, keys, position, has_gauss, gauss = random.get_state()
    if name != "MT19937":
        raise no_form(random, "give random_state as a whole number")
    sink.array("keys", np.asarray(keys).astype(np.int64))
    sink.put("position", int(position))
    sink.put("has_gauss", int(has_gauss))
    sink.put("gauss", float(gauss))
    sink.put("kind", name)


def _read_random_state(source: Source) -> RandomState:
    """Read a generator."""
    source.text("kind", ("MT19937",))
    keys = source.integers("keys", (624,))
    if keys.min() < 0 or keys.max() > MOST_SEED:
        source.refuse("keys", "out of range")
    random = RandomState(0)
    words = keys.astype(np.uint32)
    position = source.count("position", most=624)
    rest = source.count("has_gauss", most=1), source.number("gauss")
    random.set_state(("MT19937", words, position, *rest))
    source.close()
    return random
