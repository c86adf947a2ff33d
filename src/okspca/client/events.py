"""Events of a model as they come: server-sent events, taken up again where they broke off."""

import json
import time
from collections.abc import Iterator
from http.client import HTTPException, HTTPResponse
from typing import Any, NamedTuple

from okspca.client.connections import LostError, NotSentError
from okspca.client.errors import NO_ANSWER, ServiceError, error_of
from okspca.client.requests import Answer, Request
from okspca.client.sending import PASSING, Sender

EVENTS = "text/event-stream"
#: A service says something every fifteen seconds; after so many it is gone.
SILENCE = 60.0
MOST_LINE = 16 << 20
GONE = "gone"


class Event(NamedTuple):
    """Something that happened to a model.

    Attributes
    ----------
    kind : {"state", "alarm", "gone"}
        What it is.
    data : Any
        What it says.
    number : str
        Where it stands; a new connection goes on behind it.

    Examples
    --------
    >>> next(parsed([b"event: alarm", b"id: 7", b'data: {"row": 3}', b""]))
    Event(kind='alarm', data={'row': 3}, number='7')
    """

    kind: str
    data: Any
    number: str


def follow(sender: Sender, request: Request) -> Iterator[Event]:
    """Give events until the model is gone; lost connections are made again."""
    last, failures = "", 0
    while True:
        try:
            for event in _connected(sender, request, last):
                last, failures = event.number or last, 0
                yield event
                if event.kind == GONE:
                    return
        except (NotSentError, LostError) as failure:
            if failures >= sender.retries:
                raise ServiceError(NO_ANSWER, f"{failure}.") from failure
        failures += 1
        time.sleep(sender.pause(failures))


def _connected(sender: Sender, request: Request, last: str) -> Iterator[Event]:
    """Give events as long as one connection holds."""
    connection = sender.connections.open(SILENCE)
    try:
        sender.connections.connect(connection)
        headers = {"Last-Event-ID": last} if last else {}
        response = sender.connections.begin(connection, request, **headers)
        if response.status != 200:
            _refused(response, request, sender)
        yield from parsed(_lines(response))
    except (OSError, HTTPException) as failure:
        raise LostError(f"{sender.url} has stopped telling events ({failure})") from failure
    finally:
        connection.close()


def _refused(response: HTTPResponse, request: Request, sender: Sender) -> None:
    """Raise what an answer says that is no stream of events."""
    answer = Answer(response.status, response.headers, response.read(1 << 16))
    failure = error_of(answer, request, sender.url)
    if answer.status in PASSING:
        raise LostError(failure.sentence.rstrip(".")) from failure
    raise failure


def _lines(response: HTTPResponse) -> Iterator[bytes]:
    """Lines as they come."""
    while line := response.readline(MOST_LINE):
        yield line.rstrip(b"\r\n")


def parsed(lines: Any) -> Iterator[Event]:
    """Put lines together to events; comments, which keep a connection alive, are none."""
    fields: dict[str, list[str]] = {}
    for line in lines:
        name, _, value = line.decode("utf-8", "replace").partition(":")
        if line and name:
            fields.setdefault(name, []).append(value.removeprefix(" "))
        elif not line and "data" in fields:
            kind, number = (fields.get(one, [""])[-1] for one in ("event", "id"))
            yield Event(kind or "message", json.loads("\n".join(fields["data"])), number)
            fields = {}
