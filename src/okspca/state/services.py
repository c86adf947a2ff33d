"""Services and what they maintain, on disk."""

from dataclasses import fields
from typing import Any, TypeVar

from okspca.basis import Basis, Status
from okspca.diagnostics import Certificate
from okspca.numerics.arrays import Floats, frozen
from okspca.services import BY_NAME, Service, ServiceState, WarmBlock
from okspca.services.adam import AdamArrays, AdamState
from okspca.services.cached import CachedState
from okspca.services.gradient import TrackerArrays, TrackerState
from okspca.services.warm_block import WarmBlockState
from okspca.state.fields import MOST_UNIT, Shape, Sink, Source
from okspca.state.front_ends import no_form

NAMES: dict[type[Service[Any]], str] = {kind: name for name, kind in BY_NAME.items()}
#: The kind of state that each service keeps.
STATES: dict[str, type[ServiceState]] = {
    "exact": WarmBlockState,
    "exact-each": CachedState,
    "exact-snapshot": ServiceState,
    "cached": CachedState,
    "adam": AdamState,
    "projected-gradient": TrackerState,
    "warm-block": WarmBlockState,
    "binary": ServiceState,
    "contrast": ServiceState,
}
MOST_SEED = (1 << 32) - 1
StateT = TypeVar("StateT", bound=TrackerState)


def write_service(sink: Sink, service: Service[Any]) -> None:
    """Write the settings of a service."""
    name = NAMES.get(type(service))
    if name is None:
        raise no_form(service, "use a solver of okspca.services, or pickle the model")
    sink.put("kind", name)
    for setting in _settings(type(service)):
        value = getattr(service, setting)
        if not isinstance(value, Service):
            sink.put(setting, value)
        elif type(value) is WarmBlock:
            write_service(sink.inside(setting), value)
        else:
            raise no_form(value, "use a WarmBlock, or pickle the model")


def read_service(source: Source, allowed: tuple[str, ...] = tuple(BY_NAME)) -> Service[Any]:
    """Read a service; it checks its settings itself."""
    kind = BY_NAME[source.text("kind", allowed)]
    settings: dict[str, Any] = {}
    for name in _settings(kind):
        if name == "block":
            settings[name] = read_service(source.inside(name), ("warm-block",))
        elif name == "random_state":
            settings[name] = None if source.is_none(name) else source.count(name, most=MOST_SEED)
        elif name.startswith("max_") and source.is_none(name):
            settings[name] = None
        else:
            settings[name] = source.number(name)
    source.close()
    try:
        return kind(**settings)
    except ValueError as failure:
        return source.refuse("kind", str(failure))


def write_state(sink: Sink, state: ServiceState) -> None:
    """Write what a service maintains."""
    if isinstance(state, CachedState):
        _write_basis(sink, state.last)
    elif isinstance(state, WarmBlockState):
        sink.array("rows", state.rows)
    elif isinstance(state, TrackerState):
        sink.put("reinitialised", state.reinitialised)
        for name, array in state.arrays._asdict().items():
            # Scratch may hold what once broke; it is overwritten before it is read.
            sink.array(name, array, finite=name == "rows")
    if isinstance(state, AdamState) and state.adaptive is not None:
        for name, array in state.adaptive._asdict().items():
            sink.array(name, array, finite=False)


def read_state(source: Source, service: Service[Any], sizes: tuple[int, int]) -> ServiceState:
    """Read what a service maintains; ``sizes``: number of input features and of components."""
    D, k = sizes
    kind = STATES[NAMES[type(service)]]
    state: ServiceState = ServiceState(D, k)
    if kind is CachedState:
        state = CachedState(D, k, _read_basis(source, D, k))
    elif kind is WarmBlockState:
        block: Any = getattr(service, "block", service)
        shape = min(k + block.n_guards, D), D
        state = WarmBlockState(D, k, source.array("rows", shape, most=MOST_UNIT))
    elif kind is AdamState:
        adam = _read_tracker(source, AdamState, D, k)
        wide = {name: source.array(name, (k, D), finite=False) for name in AdamArrays._fields[:-1]}
        adam.adaptive = AdamArrays(**wide, counters=source.integers("counters", (4,)))
        state = adam
    elif kind is TrackerState:
        state = _read_tracker(source, TrackerState, D, k)
    source.close()
    return state


def _settings(kind: type[Service[Any]]) -> list[str]:
    """Names of the settings that the constructor of a service takes."""
    return [field.name for field in fields(kind) if field.init]  # type: ignore[arg-type]


def _read_tracker(source: Source, kind: type[StateT], D: int, k: int) -> StateT:
    """Read the maintained basis."""
    reinitialised = source.count("reinitialised")
    shapes: dict[str, Shape] = {
        "rows": (k, D),
        "triangular": (k, k),
        "gradient": (k, D),
        "reflectors": (k, D),
        "small": (k, k),
    }
    arrays = {
        name: source.array(name, shape, finite=name == "rows", most=MOST_UNIT)
        for name, shape in shapes.items()
    }
    return kind(D, k, TrackerArrays(**arrays), reinitialised)


def _write_basis(sink: Sink, basis: Basis | None) -> None:
    """Write the answer that a cache keeps."""
    if basis is None:
        sink.put("last", None)
        return
    inner = sink.inside("last")
    inner.put("status", basis.status.name)
    inner.put("built_at", basis.built_at)
    inner.put("age", basis.age)
    inner.array("vectors", basis.vectors)
    inner.array("singular_values", basis.singular_values)
    if basis.certificate is None:
        inner.put("certificate", None)
        return
    proof = inner.inside("certificate")
    for name, value in basis.certificate._asdict().items():
        proof.put(name, value)


def _read_basis(source: Source, D: int, k: int) -> Basis | None:
    """Read the answer that a cache keeps; its arrays are read-only, as everywhere."""
    if source.is_none("last"):
        return None
    inner = source.inside("last")
    status = Status[inner.text("status", tuple(Status.__members__))]
    built_at, age = inner.count("built_at"), inner.count("age")
    vectors: Floats = frozen(inner.array("vectors", (D, None), most=MOST_UNIT))
    values: Floats = frozen(inner.array("singular_values", vectors.shape[1:]))
    if values.min(initial=0.0) < 0.0:
        inner.refuse("singular_values", "negative")
    if vectors.shape[1] > k or (vectors.shape[1] > 0) != (status is Status.VALID):
        inner.refuse("status", status.name)
    certificate = None
    if not inner.is_none("certificate"):
        proof = inner.inside("certificate")
        found = {
            name: None if proof.is_none(name) else proof.number(name)
            for name in Certificate._fields
        }
        if found["rho_lower"] is None or found["residual"] is None:
            proof.refuse("rho_lower", None)
        proof.close()
        certificate = Certificate(**found)  # type: ignore[arg-type]
    inner.close()
    return Basis(vectors, values, built_at, age, status, certificate)
