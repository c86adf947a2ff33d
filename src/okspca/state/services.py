"""Services and what they maintain, on disk: by their annotations, so there is nothing to add."""

from dataclasses import fields
from typing import Any, get_type_hints

from okspca.basis import Basis, Status
from okspca.diagnostics import Certificate
from okspca.numerics.arrays import Floats, frozen
from okspca.services import BY_NAME, Service, ServiceState
from okspca.state.annotations import parts_of, read_arrays, required, write_arrays
from okspca.state.fields import MOST_UNIT, Sink, Source
from okspca.state.registry import Registry

SERVICES: Registry[Service[Any]] = Registry("use a solver of okspca.services")
for _name, _kind in BY_NAME.items():
    SERVICES.add(_name, _kind)


def write_state(sink: Sink, state: ServiceState) -> None:
    """Write what a service maintains."""
    for name, hint in _parts(type(state)).items():
        if required(hint)[0] is Basis:
            _write_basis(sink, name, getattr(state, name))
        else:
            write_arrays(sink, state, {name: hint})


def read_state(source: Source, service: Service[Any], sizes: tuple[int, int]) -> ServiceState:
    """Read what a service maintains; ``sizes``: number of input features and of components."""
    kind: type[ServiceState] = get_type_hints(type(service).start)["return"]
    lengths = service.sizes(*sizes)
    found: dict[str, Any] = {}
    for name, hint in _parts(kind).items():
        if required(hint)[0] is Basis:
            found[name] = _read_basis(source, name, *sizes)
        else:
            found |= read_arrays(source, {name: hint}, lengths)
    source.close()
    return kind(*sizes, **found)


def _parts(kind: type[ServiceState]) -> dict[str, Any]:
    """What a state holds beside its sizes, which the pipeline knows."""
    known = {field.name for field in fields(ServiceState)}
    return {name: hint for name, hint in parts_of(kind).items() if name not in known}


def _write_basis(sink: Sink, name: str, basis: Basis | None) -> None:
    """Write an answer that is kept."""
    if basis is None:
        sink.put(name, None)
        return
    inner = sink.inside(name)
    inner.put("status", basis.status.name)
    inner.put("built_at", basis.built_at)
    inner.put("age", basis.age)
    inner.array("vectors", basis.vectors)
    inner.array("singular_values", basis.singular_values)
    if basis.certificate is None:
        inner.put("certificate", None)
        return
    proof = inner.inside("certificate")
    for bound, value in basis.certificate._asdict().items():
        proof.put(bound, value)


def _read_basis(source: Source, name: str, D: int, k: int) -> Basis | None:
    """Read an answer that is kept; its arrays are read-only, as everywhere."""
    if source.is_none(name):
        return None
    inner = source.inside(name)
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
            bound: None if proof.is_none(bound) else proof.number(bound)
            for bound in Certificate._fields
        }
        if found["rho_lower"] is None or found["residual"] is None:
            proof.refuse("rho_lower", None)
        proof.close()
        certificate = Certificate(**found)  # type: ignore[arg-type]
    inner.close()
    return Basis(vectors, values, built_at, age, status, certificate)
