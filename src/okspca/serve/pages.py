"""Routes for people and for those who operate the service: the page, login, health, metrics."""

import math
import re
import time
from http import HTTPStatus
from importlib import resources

from starlette.responses import RedirectResponse, Response

from okspca.serve.bodies import JSON, read_json
from okspca.serve.gate import Caller, address_of
from okspca.serve.refusals import RefusalError, busy, malformed, unknown
from okspca.serve.security import COOKIE, SESSION_SECONDS
from okspca.serve.web import Call, answered

FOLDER = "okspca.serve.dashboard"
#: Anybody may send this, so it is not much.
MOST_LOGIN_BYTES = 4096
#: What parts of the names of files look like.
PART = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")
#: What files of the page are, by their ending.
KINDS = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}


async def healthz(call: Call) -> Response:
    """Tell that the process lives."""
    return answered({"alive": True})


async def readyz(call: Call) -> Response:
    """Tell whether all models do what they should."""
    reasons = call.service.reasons
    if not reasons:
        return answered({"ready": True})
    # Whoever may not ask for models learns how many are in trouble, and no names.
    told = reasons if _caller(call).role is not None else len(reasons)
    return answered({"ready": False, "reasons": told}, HTTPStatus.SERVICE_UNAVAILABLE)


async def metrics(call: Call) -> Response:
    """All metrics, for Prometheus."""
    call.service.metrics.ready.set(not call.service.reasons)
    text = call.service.metrics.text()
    return Response(text, 200, None, "text/plain; version=0.0.4; charset=utf-8")


async def page(call: Call) -> Response:
    """The dashboard."""
    return _file("index.html")


async def login_page(call: Call) -> Response:
    """The page that asks for a token."""
    if not call.service.tokens.are_set:
        return RedirectResponse("/", HTTPStatus.SEE_OTHER)
    return _file("login.html")


async def asset(call: Call) -> Response:
    """A file of the page."""
    return _file(call.request.path_params["name"])


async def login(call: Call) -> Response:
    """Begin a session."""
    service, address = call.service, address_of(call.request.scope)
    wait = math.ceil(service.guesses.seconds_left(address, time.monotonic()))
    if wait:
        message = "Too many wrong tokens came from this address."
        raise busy(message, wait)
    given = read_json(await call.body(JSON, most=MOST_LOGIN_BYTES))
    token = given.get("token") if isinstance(given, dict) else None
    if not isinstance(token, str):
        message = 'The body must be {"token": "..."}.'
        raise malformed(message)
    role = service.tokens.role_of(token) if service.tokens.are_set else "admin"
    if role is None:
        service.guesses.note(address, time.monotonic())
        message = "This token is not known here."
        raise RefusalError(HTTPStatus.UNAUTHORIZED, message)
    service.sessions.end(_caller(call).cookie)
    name, session = service.sessions.begin(role)
    response = answered({"role": role, "csrf": session.csrf})
    settings = service.settings
    response.set_cookie(
        COOKIE,
        name,
        max_age=int(SESSION_SECONDS),
        httponly=True,
        samesite="strict",
        secure=settings.tls_certificate is not None or settings.behind_proxy,
    )
    return response


async def logout(call: Call) -> Response:
    """End a session."""
    caller = _caller(call)
    if caller.cookie:
        call.service.sessions.end(caller.cookie)
    response = answered({})
    response.delete_cookie(COOKIE)
    return response


async def session(call: Call) -> Response:
    """Tell the page who it is."""
    found = _caller(call).session
    return answered({"role": call.role, "csrf": "" if found is None else found.csrf})


def _caller(call: Call) -> Caller:
    """Who asks."""
    caller: Caller = call.request.scope["okspca_caller"]
    return caller


def _file(name: str) -> Response:
    """A file of the page; names lead nowhere else."""
    parts = name.split("/")
    place = resources.files(FOLDER)
    kind = KINDS.get(f".{parts[-1].rpartition('.')[2]}")
    if kind is None or len(parts) > 3 or not all(map(PART.fullmatch, parts)):
        message = "There is no such file."
        raise unknown(message)
    # One by one: a folder that is no package takes one name at a time.
    found = place
    for part in parts:
        found = found.joinpath(part)
    if not found.is_file():
        message = "There is no such file."
        raise unknown(message)
    return Response(found.read_bytes(), 200, None, kind)
