"""The web application: routes behind the gate."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Any

from sklearn.exceptions import NotFittedError
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from okspca.errors import DataError, NotReadyError
from okspca.outputs import NO_ROOM
from okspca.serve.description import description
from okspca.serve.gate import Gate
from okspca.serve.refusals import RefusalError, conflict, no_room, unlearnable
from okspca.serve.routes import WAYS, Way
from okspca.serve.security import may
from okspca.serve.service import Service
from okspca.serve.settings import Settings
from okspca.serve.web import Call, answered, refused

LOGGER = logging.getLogger("okspca.serve")
Handler = Callable[[Request], Awaitable[Response]]
FAILURE = RefusalError(
    HTTPStatus.INTERNAL_SERVER_ERROR, "The service failed to answer; its log tells more."
)


def application(settings: Settings, begun: Callable[[Service], None] | None = None) -> Any:
    """Make the application of a service.

    Parameters
    ----------
    settings : Settings
        All that can be set.
    begun : callable, optional
        Told of the service as soon as its models are open.
    """
    service = Service(settings)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        await asyncio.to_thread(service.start, asyncio.get_running_loop())
        if begun is not None:
            begun(service)
        try:
            yield
        finally:
            service.begin_to_end()
            await asyncio.to_thread(service.end)

    routes = [Route(way.path, _handler(way, service), methods=[way.method]) for way in WAYS]
    routes.append(Route("/openapi.json", _described, methods=["GET"]))
    app = Starlette(
        routes=routes,
        middleware=[Middleware(Gate, service=service)],
        lifespan=lifespan,
        exception_handlers={HTTPException: _refused_by_starlette},
    )
    # A path with a slash too many is another path, and nobody is sent on by the name they give us.
    app.router.redirect_slashes = False
    return app


def _handler(way: Way, service: Service) -> Handler:
    """What answers requests of one route."""

    async def handle(request: Request) -> Response:
        request.scope["okspca_route"] = way.name
        role = request.scope["okspca_caller"].role
        if way.role != "anyone" and not may(role, way.role):
            message = f"This takes the role {way.role}; the token has {role}."
            return refused(RefusalError(HTTPStatus.FORBIDDEN, message))
        try:
            return await way.endpoint(Call(request, service, role or ""))
        except RefusalError as refusal:
            return refused(refusal)
        except NotReadyError as failure:
            return refused(conflict(str(failure)))
        except NotFittedError:
            return refused(conflict("The model has not learned a row yet."))
        except DataError as failure:
            return refused(unlearnable(_asked_about(str(failure))))
        except Exception as failure:
            LOGGER.exception("%s %r failed", way.method, request.scope["path"])
            is_full = isinstance(failure, OSError) and failure.errno in NO_ROOM
            return refused(no_room("The disk is full; nothing was done.") if is_full else FAILURE)
        finally:
            service.room.give(request.scope.pop("okspca_bytes", 0))

    return handle


def _asked_about(sentence: str) -> str:
    """What is wrong with rows that nobody wants to be learned."""
    return sentence.removesuffix(" Nothing was learned from this block.")


async def _described(request: Request) -> Response:
    """Describe the service in OpenAPI."""
    request.scope["okspca_route"] = "openapi"
    return answered(description())


async def _refused_by_starlette(request: Request, failure: Exception) -> Response:
    """What the router refuses, in our form."""
    assert isinstance(failure, HTTPException)
    refusal = RefusalError(HTTPStatus(failure.status_code), f"{failure.detail}.")
    response = refused(refusal)
    response.headers.update(failure.headers or {})
    return response
