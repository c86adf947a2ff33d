"""What a saved model is and what it is worth, as plain values and as lines for people."""

import shlex
from math import isnan
from pathlib import Path
from typing import Any

from okspca.basis import Basis
from okspca.errors import NotReadyError
from okspca.estimators import OKSPCA
from okspca.estimators.learned import Record
from okspca.estimators.map_search import MapSearch
from okspca.estimators.presets import target_in_words
from okspca.estimators.saving import load_model
from okspca.features.base import FLOAT32
from okspca.files.comparison import scores
from okspca.files.verdict import verdict
from okspca.state.container import VERSION, unpack
from okspca.state.files import read
from okspca.state.streams import StreamRecord

SHOWN = 8


def inspect(path: Path) -> dict[str, Any]:
    """Load a model and describe it; everything in the answer is plain JSON."""
    model, stream = load_model(OKSPCA, path)
    told: dict[str, Any] = {
        "file": str(path),
        "bytes": path.stat().st_size,
        "format": VERSION,
        "saved_by": f"okspca {unpack(read(path)).header['okspca']}",
        "parameters": {
            name: value if isinstance(value, bool | int | float | str | None) else repr(value)
            for name, value in model.get_params(deep=False).items()
        },
        "aims_at": target_in_words(model),
        "rows": 0,
    }
    if model.learned is not None:
        told |= _learned(model, model.learned)
    if stream is not None:
        told["stream"] = _plain(stream)
        classes = told.get("classes") is not None
        found = scores(stream.evaluation, classes=classes)
        told["scores"] = None if found is None else found.plain()
        if found is not None:
            told["verdict"] = verdict(found, model, stream.target)
    told["columns"] = _columns(model, stream)
    return told


def _plain(stream: StreamRecord) -> dict[str, Any]:
    """The record of a stream without its arrays; what is not known is None."""
    told = stream._asdict() | {"evaluated": stream.evaluation is not None}
    del told["evaluation"]
    told["encodings"] = [encoding._asdict() for encoding in stream.encodings]
    told["history"] = [
        {name: None if isnan(value) else value for name, value in moment._asdict().items()}
        for moment in stream.history
    ]
    return told


def _learned(model: OKSPCA, record: Record) -> dict[str, Any]:
    """Describe what was learned."""
    intake, pipeline = record.intake, record.pipeline
    told: dict[str, Any] = {
        "rows": model.n_samples_seen_,
        "inputs": model.n_features_in_,
        "task": intake.task,
        "objective_in_words": target_in_words(model),
        "classes": None if intake.labels is None else intake.labels.classes,
        "outputs": intake.n_outputs,
        "held_back": pipeline is None,
        "basis": _basis(model.basis()),
    }
    if pipeline is not None:
        told["n_components"] = model.n_components_
        told["input_features"] = pipeline.state.input_map.n_features
        error = model.feature_error()
        is_single = error.precision == FLOAT32
        told["feature_error"] = {**error._asdict(), "in_words": str(error)} if is_single else None
        told["target_features"] = pipeline.state.target_map.n_features
        told["stored_target_directions"] = model.moment_.width
        told["weight"] = model.moment_.weight
        told["solver_health"] = model.solver_health()
        told["errors"] = model.error_lines().splitlines()
        told["stability"] = _stability(model)
        told["pilot"] = None if record.search is None else _pilot(record.search)
    return told


def _pilot(search: MapSearch) -> dict[str, Any]:
    """Describe the rows that the input map is learned from."""
    return {
        "is_running": not search.is_final,
        "began_after": search.began_at,
        "rows_kept": search.n_held,
        "rows_awaited": search.n_awaited,
        "rows_let_go": search.rows_before,
        "rung": search.place.rung,
    }


def _basis(basis: Basis) -> dict[str, Any]:
    """Describe a basis and its certificate."""
    proof = basis.certificate
    return {
        "status": basis.status.name.lower(),
        "rank": basis.rank,
        "built_at": basis.built_at,
        "age": basis.age,
        "singular_values": basis.singular_values.tolist(),
        "certificate": None if proof is None else proof._asdict(),
        "in_words": str(basis.status) if proof is None else str(proof),
    }


def _stability(model: OKSPCA) -> str | None:
    """Say what the estimate of the sampling error says, if it was asked for and can be made."""
    try:
        return str(model.estimate_stability())
    except NotReadyError:
        return None


def _columns(model: OKSPCA, stream: StreamRecord | None) -> list[str] | None:
    """Names of the inputs, if they have any."""
    if stream is not None:
        return list(stream.columns)
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else list(map(str, names))


def lines(told: dict[str, Any]) -> list[tuple[str, str]]:
    """Put a description into pairs of a heading and a line of text.

    Examples
    --------
    >>> lines({"saved_by": "okspca 0.1.0", "format": 1, "bytes": 2000, "rows": 0,
    ...        "parameters": {"solver": "exact"}, "columns": None})[1]
    ('rows', 'none yet')
    """
    first = [("verdict", told["verdict"])] if "verdict" in told else []
    found = [
        *first,
        ("saved by", f"{told['saved_by']}, format {told['format']}, {told['bytes']:,} bytes"),
        ("rows", f"{told['rows']:,}" if told["rows"] else "none yet"),
    ]
    if "task" in told:
        found += [("inputs", _inputs(told)), ("target", _target(told))]
    found += [("aims at", told["aims_at"])] if "aims_at" in told else []
    if told.get("pilot") and told["pilot"]["began_after"]:
        found.append(("features", _features(told["pilot"])))
    parameters = told["parameters"]
    chosen = ("solver", "kernel", "bandwidth", "standardize", "forgetting", "random_state")
    settings = [f"{name}={parameters[name]!r}" for name in chosen if name in parameters]
    used = [told["objective_in_words"]] if "objective_in_words" in told else []
    found.append(("settings", ", ".join([*used, *settings])))
    if told.get("held_back"):
        found.append(("basis", "none yet: the first rows are held back to set the scale"))
    elif "basis" in told:
        found += _basis_lines(told)
    if "stream" in told:
        found.append(("stream", _stream(told["stream"])))
    if told.get("scores"):
        found.append(("scores", _scores(told["scores"])))
    elif "basis" in told:
        found.append(("verdict", "not evaluated: fit with --evaluate to see whether it helps"))
    return found


def _inputs(told: dict[str, Any]) -> str:
    """Say what comes in."""
    features = f", {told['input_features']} features" if "input_features" in told else ""
    names = f": {_some(told['columns'])}" if told["columns"] else ""
    return f"{told['inputs']} columns{features}{names}"


def _target(told: dict[str, Any]) -> str:
    """Say what is predicted."""
    if told["classes"] is not None:
        return f"{len(told['classes'])} classes: {_some(told['classes'])}"
    stored = told.get("stored_target_directions")
    kept = "" if stored is None else f", {told['target_features']} features in {stored} directions"
    return f"{told['outputs']} number{'s' if told['outputs'] > 1 else ''} per row{kept}"


def _features(pilot: dict[str, Any]) -> str:
    """Say where a fresh pilot stands, or what came of the last one."""
    began, let_go = f"row {pilot['began_after']:,}", pilot["rows_let_go"]
    is_taken = let_go == pilot["began_after"]
    taken = f"; the moment covers the rows after {let_go:,}" if is_taken else ""
    if not pilot["is_running"]:
        return f"learned again after {began}{taken or '; the map from before was kept'}"
    return (
        f"a fresh pilot is running since {began}: {pilot['rows_kept']:,} rows kept, "
        f"{pilot['rows_awaited']:,} to come{taken or '; the map from before is in use'}"
    )


def _basis_lines(told: dict[str, Any]) -> list[tuple[str, str]]:
    """Say what is delivered and what it is worth."""
    basis = told["basis"]
    asked = told.get("n_components", told["parameters"]["n_components"])
    rank = f"rank {basis['rank']} of {asked} asked for"
    age = f"built at row {basis['built_at']:,}, {basis['age']:,} rows ago"
    values = ", ".join(f"{value:.4g}" for value in basis["singular_values"][:SHOWN])
    found = [("basis", f"{rank}, {age}"), ("values", values or "none")]
    error = told.get("feature_error")
    found += [("precision", error["in_words"])] if error else []
    return [*found, *(("errors" if i == 0 else "", e) for i, e in enumerate(told["errors"]))]


def _stream(stream: dict[str, Any]) -> str:
    """Say where the model stands in its files."""
    told = f"{stream['rows_read']:,} rows of {_some(stream['inputs']) or 'merged models'}"
    skipped = f", {stream['rows_skipped']:,} skipped" if stream["rows_skipped"] else ""
    filled = f", {stream['values_imputed']:,} values filled in" if stream["values_imputed"] else ""
    read = f"; read with {shlex.join(stream['flags'])}" if stream["flags"] else ""
    return f"{told}{skipped}{filled}; target column {stream['target']}{read}"


def _scores(found: dict[str, Any]) -> str:
    """Say how well rows were predicted before they were learned."""
    shown = [f"{name} {entry['score']:.4f}" for name, entry in found["entries"].items()]
    return (
        f"{found['measure']} over {found['rows']:,} rows predicted before they were learned: "
        f"{', '.join(shown)}"
    )


def _some(things: Any) -> str:
    """List the first few of many."""
    shown = ", ".join(str(thing) for thing in things[:SHOWN])
    return shown if len(things) <= SHOWN else f"{shown}, ... ({len(things)} in all)"
