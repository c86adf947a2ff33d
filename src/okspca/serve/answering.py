"""Routes that ask models; nothing here learns, and nothing waits for one who does."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from starlette.responses import Response, StreamingResponse

from okspca.basis import Basis
from okspca.numerics.arrays import Floats
from okspca.serve.bodies import ARROW, NDJSON, arrow, read_rows
from okspca.serve.hosted import Hosted, finite
from okspca.serve.refusals import conflict
from okspca.serve.rows import Rows, name_of
from okspca.serve.web import ROWS, STATE, Call, answered, read_beside

#: More values than this are computed beside the loop, so that nobody waits for them.
FEW = 4096


async def models(call: Call) -> Response:
    """How all models stand."""
    return answered({"models": call.service.hosts.statuses()})


async def status(call: Call) -> Response:
    """How a model stands."""
    return answered(call.hosted.status())


async def transform(call: Call) -> Response:
    """Embed rows."""
    rows = await _asked(call)
    model = call.hosted.model
    Z = await _beside(_embedded, rows.X, model, rows.X)
    names = [f"okspca{place}" for place in range(Z.shape[1])]
    if call.wants_arrow:
        return _table(names, list(Z.T))
    return answered({"embedding": plain(Z)})


async def predicted(call: Call, rows: Rows) -> Response:
    """Predict rows that were read."""
    hosted = call.hosted
    if hosted.kind == "reducer":
        message = "A reducer does not predict; make a regressor or classifier, or transform rows."
        raise conflict(message)
    answer = await _beside(_predictions, rows.X, hosted, rows.X)
    if call.wants_arrow:
        return _table(*_prediction_columns(answer))
    return answered(answer)


async def explain(call: Call) -> Response:
    """Tell what each input adds to the components of rows."""
    rows = await _asked(call)
    hosted = call.hosted
    found = await asyncio.to_thread(hosted.model.explain_rows, rows.X)
    names = list(hosted.recorder.columns) or [f"x{i}" for i in range(rows.X.shape[1])]
    return answered({"inputs": names, "contributions": plain(found.contributions)})


async def monitor(call: Call) -> Response:
    """Compare rows with those in control."""
    rows = await _asked(call)
    hosted = call.hosted
    found = await asyncio.to_thread(hosted.model.monitor, rows.X)
    names = hosted.recorder.columns
    found = found.named(names) if len(names) == len(found.inputs) else found
    return answered(
        {
            "t2": plain(found.t2),
            "spe": plain(found.spe),
            "t2_limit": finite(found.t2_limit),
            "spe_limit": finite(found.spe_limit),
            "alarms": found.events(),
            "verdict": found.verdict,
        }
    )


async def basis(call: Call) -> Response:
    """Supply a basis with its certificate."""
    found = await asyncio.to_thread(call.hosted.model.basis)
    answer = _basis(found)
    if call.choice("vectors", "false", "true") == "true":
        answer["vectors"] = plain(found.vectors)
    return answered(answer)


async def stability(call: Call) -> Response:
    """Estimate how far the basis is from the population's."""
    found = await asyncio.to_thread(call.hosted.model.estimate_stability)
    low, high = (None, None) if found.interval is None else map(finite, found.interval)
    return answered({"distance": finite(found.distance), "low": low, "high": high})


async def drift(call: Call) -> Response:
    """Tell the alarms so far, and the last row beside its limits."""
    return answered(call.service.events.drift(call.hosted.name))


async def state(call: Call) -> Response:
    """The model as a file."""
    data = await asyncio.to_thread(call.hosted.state)
    told = {"Content-Disposition": f'attachment; filename="{call.hosted.name}.okspca"'}
    return Response(data, 200, told, STATE)


async def set_aside(call: Call) -> Response:
    """Rows that were set aside."""
    told = {"Content-Disposition": f'attachment; filename="{call.hosted.name}-set-aside.ndjson"'}
    return Response(call.hosted.set_aside(), 200, told, NDJSON)


async def source(call: Call) -> Response:
    """The next number of a source."""
    name = name_of(call.request.path_params["source"], "source")
    return answered({"source": name, "next": call.hosted.next_number(name)})


async def events(call: Call) -> Response:
    """Tell everything as it happens."""
    name, service = call.hosted.name, call.service
    service.events.check_room()
    if call.request.method == "HEAD":
        return Response(None, 200, None, "text/event-stream")
    # Whoever logs out, or whose session ends, is told no more.
    cookie = call.request.scope["okspca_caller"].cookie
    told = service.events.listen(name, lambda: not cookie or bool(service.sessions.find(cookie)))
    return StreamingResponse(told, media_type="text/event-stream")


async def _asked(call: Call) -> Rows:
    """Rows that are asked about."""
    hosted = call.hosted
    body = await call.body(*ROWS)
    rows = await read_beside(read_rows, body, call.kind, hosted.form, has_targets=False)
    return rows.checked()


async def _beside(function: Callable[..., Any], X: Floats, *given: Any) -> Any:
    """Compute about few rows at once, about many beside the loop."""
    return function(*given) if X.size <= FEW else await asyncio.to_thread(function, *given)


def _embedded(model: Any, X: Floats) -> Floats:
    """Coordinates of rows."""
    return model.transform_one(X[0])[np.newaxis] if len(X) == 1 else np.asarray(model.transform(X))


def _predictions(hosted: Hosted, X: Floats) -> dict[str, Any]:
    """What a head says of rows."""
    model = hosted.model
    if hosted.kind == "regressor":
        y = [model.predict_one(X[0])] if len(X) == 1 else model.predict(X).tolist()
        return {"predictions": plain(np.asarray(y, dtype=np.float64))}
    model.ready()
    shares = model.predict_proba_one(X[0])[np.newaxis] if len(X) == 1 else model.predict_proba(X)
    shares = np.asarray(shares)
    # The classes are read afterwards: those that came meanwhile stand behind those of the shares.
    classes = model.classes_[: shares.shape[1]].tolist()
    # A row that lacks a value belongs to no class where gaps are not filled.
    places = np.where(np.isnan(shares).any(axis=1), -1, shares.argmax(axis=1)).tolist()
    best = [None if place < 0 else classes[place] for place in places]
    return {"predictions": best, "probabilities": plain(shares), "classes": classes}


def _prediction_columns(answer: dict[str, Any]) -> tuple[list[str], list[Any]]:
    """Predictions as named columns."""
    names, columns = ["prediction"], [answer["predictions"]]
    for place, name in enumerate(answer.get("classes", ())):
        names.append(f"p_{name}")
        columns.append([shares[place] for shares in answer["probabilities"]])
    return names, columns


def _table(names: Sequence[str], columns: Sequence[Any]) -> Response:
    """Columns as an Arrow stream."""
    pa = arrow()
    table = pa.table([pa.array(column) for column in columns], names=list(names))
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return Response(sink.getvalue().to_pybytes(), 200, None, ARROW)


def _basis(found: Basis) -> dict[str, Any]:
    """A basis, apart from its vectors."""
    proven = found.certificate
    certificate = None
    if proven is not None:
        certificate = {
            "rho_lower": None if proven.rho_lower is None else finite(proven.rho_lower),
            "angle_upper": None if proven.angle_upper is None else finite(proven.angle_upper),
        }
    return {
        "status": found.status.name.lower(),
        "rank": found.rank,
        "built_at": found.built_at,
        "age": found.age,
        "singular_values": plain(found.singular_values),
        "certificate": certificate,
    }


def plain(values: Any) -> Any:
    """Numbers of JSON: null where there is none.

    Examples
    --------
    >>> plain(np.array([1.0, np.nan]))
    [1.0, None]
    """
    array = np.asarray(values, dtype=np.float64)
    if np.isfinite(array).all():
        return array.tolist()
    found = array.astype(object)
    found[~np.isfinite(array)] = None
    return found.tolist()
