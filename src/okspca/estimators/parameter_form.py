"""The parameters of a model on disk; objects among them are written whole."""

from collections.abc import Callable
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np
from numpy.random import RandomState
from sklearn.base import ClassifierMixin, RegressorMixin

from okspca.features import FeatureMap
from okspca.services import Service
from okspca.services.stored import SEEDS
from okspca.standardize import Standardizer
from okspca.state.fields import Sink, Source
from okspca.state.front_ends import MAPS, STANDARDIZERS
from okspca.state.registry import no_form
from okspca.state.services import SERVICES

#: Parameters that came after the first files were written, with the value that changes nothing;
#: they are written only where they have another.
ADDED: dict[str, Any] = {
    "preset": "paper",
    "ridge": "auto",
    "class_weighting": "squared",
    "frequencies": "drawn",
    "pilot_rows": 8192,
    "relearn": "never",
    "target_features": "fourier",
    "window": None,
    "prequential": False,
    "missing": "raise",
    "missing_indicators": False,
    "categories": "raise",
    "max_categories": 20,
    "n_threads": 1,
}
#: The same for estimators that predict, which took fewer parameters at first.
ADDED_TO_PREDICTORS: dict[str, Any] = ADDED | {
    "kernel": "gaussian",
    "sampling": "plain",
    "solver": "exact",
    "forget_standardizers": True,
    "align": False,
    "compress": True,
    "input_map": None,
    "input_standardizer": None,
}
#: What `frequencies` was called at first.
RELEVANCE = "relevance"


def write_parameters(sink: Sink, model: Any) -> None:
    """Write the parameters of a model; objects among them are written whole."""
    added = _added_to(type(model))
    for name, value in model.get_params(deep=False).items():
        if name in added and type(value) is type(added[name]) and value == added[name]:
            continue
        writers = [write for kind, (write, _) in OBJECTS.items() if isinstance(value, kind)]
        if writers:
            writers[0](sink.inside(name), value)
        elif value is None or isinstance(value, bool | int | float | str | np.generic):
            sink.put(name, value)
        else:
            raise no_form(value, f"give {name} as a plain number or text")


def read_parameters(source: Source, kind: type[Any]) -> dict[str, Any]:
    """Read the parameters, which must be exactly those of the constructor."""
    found: dict[str, Any] = {}
    hints, added = _annotations(kind), _added_to(kind) | _formerly(source)
    for name in kind().get_params(deep=False):
        if source.is_object(name):
            found[name] = _read_object(source, name, hints.get(name))
            continue
        if name in added and name not in source.names():
            found[name] = added[name]
            continue
        value = source.raw(name)
        if isinstance(value, list):
            source.refuse(name, value)
        found[name] = value
    source.close()
    seed = found["random_state"]
    if not isinstance(seed, RandomState | None) and (type(seed) is not int or seed not in SEEDS):
        source.refuse("random_state", seed)
    return found


def _added_to(kind: type[Any]) -> dict[str, Any]:
    """Parameters that came later to estimators of one class."""
    predicts = issubclass(kind, ClassifierMixin | RegressorMixin)
    return ADDED_TO_PREDICTORS if predicts else ADDED


def _annotations(kind: type[Any]) -> dict[str, Any]:
    """Annotations of the parameters of a constructor; those of a parent where it has none."""
    found: dict[str, Any] = {}
    for base in reversed(kind.__mro__):
        if "__init__" in vars(base):
            found |= get_type_hints(vars(base)["__init__"])
    return found


def _formerly(source: Source) -> dict[str, Any]:
    """What `relevance`, a parameter of earlier versions, is called now."""
    if RELEVANCE not in source.names():
        return {}
    value = source.raw(RELEVANCE)
    preset = source.raw("preset") if "preset" in source.names() else "paper"
    was_auto = "scaled" if preset == "predictive" else "drawn"
    frequencies = {None: "drawn", "auto": was_auto, "learned": "scaled", "low-rank": "mixed"}
    if not isinstance(value, str | None) or value not in frequencies:
        source.refuse(RELEVANCE, value)
    return {"frequencies": frequencies[value], "pilot_rows": 4096}


def _read_object(source: Source, name: str, hint: Any) -> Any:
    """Read a parameter that is an object, of a kind that its annotation names."""
    kinds = [get_origin(part) or part for part in get_args(hint)]
    for kind, (_, read) in OBJECTS.items():
        if kind in kinds:
            return read(source.inside(name))
    return source.refuse(name, "an object")


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
    if keys.min() < 0 or keys.max() > SEEDS[-1]:
        source.refuse("keys", "out of range")
    random = RandomState(0)
    words = keys.astype(np.uint32)
    position = source.count("position", most=624)
    rest = source.count("has_gauss", most=1), source.number("gauss")
    random.set_state(("MT19937", words, position, *rest))
    source.close()
    return random


#: How objects among the parameters are written and read.
OBJECTS: dict[type, tuple[Callable[[Sink, Any], None], Callable[[Source], Any]]] = {
    FeatureMap: (MAPS.write, MAPS.read),
    Standardizer: (STANDARDIZERS.write, STANDARDIZERS.read),
    Service: (SERVICES.write, SERVICES.read),
    RandomState: (_write_random_state, _read_random_state),
}
