"""The gate that every request passes: where it comes from, who it is from, and how it ended.

Without a valid token or session nothing is answered but health and the login page: not even whether
something exists.  What is answered carries headers that tell a browser to trust nothing else.
"""

import hmac
import logging
import time
from collections.abc import MutableMapping
from http import HTTPStatus
from typing import Any, NamedTuple

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from okspca.serve.refusals import RefusalError, busy
from okspca.serve.security import COOKIE, CSRF_HEADER, SAFE, Session
from okspca.serve.service import Service
from okspca.serve.web import answered, refused

LOGGER = logging.getLogger("okspca.serve.requests")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
#: What anybody may ask for.
OPEN = ("/healthz", "/readyz", "/login", "/static/")
BEARER = "bearer "


class Caller(NamedTuple):
    """Who asks: what they may do, what tells them apart, and their session, if they have one."""

    role: str | None
    name: str
    session: Session | None = None
    cookie: str = ""


class Gate:
    """Lets requests through to an application, or not.

    Parameters
    ----------
    app : ASGI application
        What is behind it.
    service : Service
        Who may pass.
    """

    def __init__(self, app: ASGIApp, service: Service) -> None:
        self.app, self.service = app, service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let one request through."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        begun, passage = time.perf_counter(), _Passage(send)
        headers = Headers(scope=scope)
        try:
            response = self._stopped(scope, headers)
            if response is None:
                await self.app(scope, receive, passage.send)
            else:
                await response(scope, receive, passage.send)
        finally:
            route = scope.get("okspca_route", "none")
            seconds = time.perf_counter() - begun
            if route != "events":
                self.service.metrics.count(route, passage.status, seconds)
            self._log(scope, route, passage.status, seconds)

    def _stopped(self, scope: Scope, headers: Headers) -> Response | None:
        """The answer to a request that may not pass; None to one that may."""
        try:
            self._check_places(headers)
            caller = self._caller(scope, headers)
            scope["okspca_caller"] = caller
            if not self.service.rates.allows(caller.name, time.monotonic()):
                message = "You ask more often than is allowed."
                raise busy(message)
            if caller.role is None and not _is_open(scope["path"]):
                return self._unknown_caller(scope, headers)
            self._check_session(scope, headers, caller)
        except RefusalError as refusal:
            return refused(refusal)
        return None

    def _check_places(self, headers: Headers) -> None:
        """Refuse what was sent to somebody else, or by a page of somebody else."""
        places, host = self.service.places, headers.get("host")
        if not places.is_ours(host):
            message = "This service is not known under that name; see allowed_hosts."
            raise RefusalError(HTTPStatus.MISDIRECTED_REQUEST, message)
        if not places.is_same(headers.get("origin"), host):
            message = "Requests of other sites are not answered."
            raise RefusalError(HTTPStatus.FORBIDDEN, message)
        if places.is_sent_by_others(headers.get("sec-fetch-site"), headers.get("sec-fetch-mode")):
            message = "Requests of other pages are not answered."
            raise RefusalError(HTTPStatus.FORBIDDEN, message)

    def _caller(self, scope: Scope, headers: Headers) -> Caller:
        """Who asks."""
        address = address_of(scope)
        if not self.service.tokens.are_set:
            return Caller("admin", address)
        told = headers.get("authorization", "")
        if told.lower().startswith(BEARER):
            role = self.service.tokens.role_of(told[len(BEARER) :].strip())
            return Caller(role, f"{role} {address}")
        cookie = _cookie(headers.get("cookie", ""))
        session = self.service.sessions.find(cookie) if cookie else None
        if session is None:
            return Caller(None, address)
        return Caller(session.role, cookie, session, cookie)

    def _check_session(self, scope: Scope, headers: Headers, caller: Caller) -> None:
        """Let changes by cookie pass only with the secret that the page alone has."""
        if caller.session is None or scope["method"] in SAFE or scope["path"] == "/login":
            return
        given = headers.get(CSRF_HEADER, "").encode("utf-8", "surrogateescape")
        if not _same(given, caller.session.csrf.encode()):
            message = "The request lacks the token of its page; reload it."
            raise RefusalError(HTTPStatus.FORBIDDEN, message)

    def _unknown_caller(self, scope: Scope, headers: Headers) -> Response:
        """Send people to the login page, and programs away."""
        if scope["path"] == "/" and scope["method"] == "GET":
            return RedirectResponse("/login", HTTPStatus.SEE_OTHER)
        body = {"error": "A valid token is needed: Authorization: Bearer <token>."}
        return answered(body, HTTPStatus.UNAUTHORIZED, {"WWW-Authenticate": "Bearer"})

    def _log(self, scope: Scope, route: str, status: int, seconds: float) -> None:
        """Note a request; queries are left out, since they may hold names."""
        level = logging.WARNING if status >= HTTPStatus.INTERNAL_SERVER_ERROR else logging.DEBUG
        if LOGGER.isEnabledFor(level):
            told = {"method": scope["method"], "path": scope["path"], "route": route}
            more = {**told, "status": status, "seconds": round(seconds, 6)}
            # A path may hold ends of lines.
            LOGGER.log(level, "%s %r %d", scope["method"], scope["path"], status, extra=more)


class _Passage:
    """The way back: adds headers, and notes the status."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.status = 500

    async def send(self, message: Message) -> None:
        """Send a part of an answer."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            _add_headers(message)
        await self._send(message)


def address_of(scope: Scope) -> str:
    """Where a request comes from."""
    return str((scope.get("client") or ("unknown", 0))[0])


def _add_headers(message: MutableMapping[str, Any]) -> None:
    """Add what every answer carries."""
    headers = MutableHeaders(scope=message)
    for name, value in HEADERS.items():
        if name not in headers:
            headers.append(name, value)


def _is_open(path: str) -> bool:
    """Whether anybody may ask for it."""
    return any(path == place or (place[-1] == "/" and path.startswith(place)) for place in OPEN)


def _cookie(header: str) -> str:
    """The name of a session in a header; other cookies may be anything."""
    return cookie_parser(header).get(COOKIE, "")


def _same(one: bytes, other: bytes) -> bool:
    """Whether two secrets are equal, in constant time."""
    return hmac.compare_digest(one, other)
