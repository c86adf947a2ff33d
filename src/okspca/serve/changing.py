"""Routes that change models: what they learn, what waits, what is created and removed."""

import asyncio
from typing import Any

from starlette.responses import Response

from okspca.estimators.presets import searches
from okspca.serve.answering import predicted
from okspca.serve.bodies import JSON, read_json, read_labels, read_rows
from okspca.serve.creating import loaded, made
from okspca.serve.deciding import Change, Forget, Labels, Learn, Relearn, Store
from okspca.serve.refusals import RefusalError, conflict, malformed
from okspca.serve.rows import name_of
from okspca.serve.security import may
from okspca.serve.web import ROWS, STATE, Call, answered, read_beside


async def learn(call: Call) -> Response:
    """Learn rows with their targets."""
    place, sets_aside = call.place(), _sets_aside(call)
    body = await call.body(*ROWS)
    rows = await read_beside(read_rows, body, call.kind, call.hosted.form)
    return await _changed(call, Learn(rows if sets_aside else rows.checked(), place, sets_aside))


async def label(call: Call) -> Response:
    """Learn rows that waited for their targets."""
    place, sets_aside = call.place(), _sets_aside(call)
    body = await call.body(*ROWS)
    ids, targets = await read_beside(read_labels, body, call.kind, call.hosted.form.most_rows)
    return await _changed(call, Labels(ids, targets, place, sets_aside))


async def predict(call: Call) -> Response:
    """Predict rows; those with ids wait for their targets."""
    hosted = call.hosted
    body = await call.body(*ROWS)
    given = call.kind, hosted.form
    rows = await read_beside(read_rows, body, *given, has_targets=False, has_ids=None)
    rows = rows.checked()
    if not rows.ids:
        return await predicted(call, rows)
    if not may(call.role, "learn"):
        message = "Rows with ids wait to be learned, which takes the role learn."
        raise RefusalError(malformed("").status.FORBIDDEN, message)
    # First the answer: a row that cannot be predicted does not wait.
    answer = await predicted(call, rows)
    await call.service.ask(hosted, Store(rows))
    return answer


async def create(call: Call) -> Response:
    """Make a model, from settings or from a file."""
    name = call.request.path_params["model"]
    body = await call.body(JSON, STATE)
    model, record = await asyncio.to_thread(_model, body, call.kind)
    hosts = call.service.hosts
    hosted = await asyncio.to_thread(hosts.create, name, model, record)
    return answered(hosted.status(), 201)


async def remove(call: Call) -> Response:
    """Stop a model and remove its folder."""
    name = call.hosted.name
    call.service.events.forget(name)
    await asyncio.to_thread(call.service.hosts.remove, name)
    return answered({"removed": name})


async def forget_source(call: Call) -> Response:
    """Forget a source."""
    source = name_of(call.request.path_params["source"], "source")
    return answered(await call.service.ask(call.hosted, Forget(source)))


async def relearn(call: Call) -> Response:
    """Begin to learn the features again."""
    model = call.hosted.model
    model.ready()
    if not searches(model):
        message = (
            f"The features of this model stay as drawn (frequencies={model.frequencies!r}); make "
            "one with frequencies='trained'."
        )
        raise conflict(message)
    await call.service.ask(call.hosted, Relearn())
    return answered({"relearning": True})


async def checkpoint(call: Call) -> Response:
    """Write a checkpoint."""
    return answered(await call.service.checkpoint(call.hosted))


def _model(body: bytes, kind: str) -> tuple[Any, Any]:
    """Make or load a model."""
    return loaded(body) if kind == STATE else made(read_json(body))


def _sets_aside(call: Call) -> bool:
    """Whether rows that cannot be learned are set aside."""
    return call.choice("on_error", "refuse", "set-aside") == "set-aside"


async def _changed(call: Call, change: Change) -> Response:
    """Ask for a change, and wait as long as the request says."""
    learned = call.choice("wait", "durable", "learned") == "learned"
    return answered(await call.service.ask(call.hosted, change, learned=learned))
