"""What all routes do alike: read a body within its limits, refuse, and answer."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Any, NamedTuple, TypeVar

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from okspca.serve.bodies import ARROW, JSON, NDJSON
from okspca.serve.deciding import Place
from okspca.serve.hosted import Hosted
from okspca.serve.refusals import RefusalError, malformed
from okspca.serve.room import Room
from okspca.serve.rows import name_of
from okspca.serve.service import Service

STATE = "application/octet-stream"
BODY_SECONDS = 60.0
LONG = 1 << 16
#: No length that could be read has more.
DIGITS = 15
ROWS = (JSON, NDJSON, ARROW)
Found = TypeVar("Found")


class Call(NamedTuple):
    """A request, and the service it came to."""

    request: Request
    service: Service
    role: str

    @property
    def hosted(self) -> Hosted:
        """The model that its path names."""
        return self.service.hosts.find(self.request.path_params["model"])

    @property
    def kind(self) -> str:
        """The type of its body."""
        return content_type(self.request.headers.get("content-type"))

    @property
    def wants_arrow(self) -> bool:
        """Whether it is to be answered in Arrow."""
        return ARROW in self.request.headers.get("accept", "")

    async def body(self, *kinds: str, most: int | None = None) -> bytes:
        """Its body, of one of some types; the room that it takes is given back with the answer."""
        if self.kind not in kinds:
            message = f"The content type must be {' or '.join(kinds)}."
            raise RefusalError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, message)
        limit = most or self.service.settings.max_body_bytes
        try:
            reading = _read(self.request, limit, self.service.room)
            return await asyncio.wait_for(reading, BODY_SECONDS)
        except TimeoutError as failure:
            message = "The body did not come in time."
            raise RefusalError(HTTPStatus.REQUEST_TIMEOUT, message) from failure
        except ClientDisconnect as failure:
            message = "The body was not sent as a whole."
            raise malformed(message) from failure

    def place(self) -> Place | None:
        """The source that it names, and its number."""
        query = self.request.query_params
        source, number = query.get("source"), query.get("sequence")
        if source is None and number is None:
            return None
        if source is None or number is None:
            message = "source and sequence go together."
            raise malformed(message)
        if not (number.isascii() and number.isdecimal() and len(number) <= 15 and int(number)):
            message = "sequence must be a whole number, the first being 1."
            raise malformed(message)
        return Place(name_of(source, "source"), int(number))

    def choice(self, name: str, *choices: str) -> str:
        """A word of the query, the first one if none is given."""
        word = self.request.query_params.get(name, choices[0])
        if word not in choices:
            message = f"{name} must be {' or '.join(choices)}."
            raise malformed(message)
        return word


Endpoint = Callable[[Call], Awaitable[Response]]


async def read_beside(
    reader: Callable[..., Found], body: bytes, *given: Any, **named: Any
) -> Found:
    """Read a short body at once, a long one beside the loop, so that nobody waits for it."""
    if len(body) < LONG:
        return reader(body, *given, **named)
    return await asyncio.to_thread(reader, body, *given, **named)


async def _read(request: Request, limit: int, room: Room) -> bytes:
    """Read a body, but no more than a limit."""
    length = request.headers.get("content-length", "0")
    if not length.isdecimal() or len(length) > DIGITS or int(length) > limit:
        raise _too_large(limit)
    parts, n = [], 0
    async for part in request.stream():
        n += len(part)
        if n > limit:
            raise _too_large(limit)
        room.take(len(part))
        request.scope["okspca_bytes"] = n
        parts.append(part)
    return b"".join(parts)


def _too_large(limit: int) -> RefusalError:
    """Refuse a body."""
    message = f"The body is larger than {limit} bytes; send it in parts."
    return RefusalError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, message)


def content_type(header: str | None) -> str:
    """A type without its parameters.

    Examples
    --------
    >>> content_type("Application/JSON; charset=utf-8")
    'application/json'
    """
    return (header or "").partition(";")[0].strip().lower()


def answered(found: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """An answer in JSON."""
    body = json.dumps(found, allow_nan=False, separators=(",", ":")).encode()
    return Response(body, status, headers, JSON)


def refused(refusal: RefusalError) -> Response:
    """A refusal as an answer."""
    return answered(refusal.body(), refusal.status, refusal.headers)
