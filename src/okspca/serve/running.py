"""The process: from settings to a server that listens, and back at a signal."""

import gc
import json
import logging
import os
import sys
from collections.abc import Callable
from socket import socket
from typing import Any

import uvicorn

from okspca.errors import StateError
from okspca.outputs import flush_folder
from okspca.serve.app import application
from okspca.serve.connections import Bounded
from okspca.serve.creating import made
from okspca.serve.refusals import RefusalError
from okspca.serve.service import Service
from okspca.serve.settings import ModelSettings, Settings

LOGGER = logging.getLogger("okspca.serve")
#: What a request may take after the service was asked to end.
GRACE_SECONDS = 5
KEEP_ALIVE_SECONDS = 75
#: Connections at once; further ones are told to come later.
MOST_CONNECTIONS = 2000
#: Threads give way to one another so often, in seconds: answers must not wait for those that learn.
SWITCH_SECONDS = 0.001
#: What a record of a log has by itself.
USUAL = set(vars(logging.makeLogRecord({}))) | {"message", "asctime", "color_message"}


def run(settings: Settings, begun: Callable[[Service], None] | None = None) -> None:
    """Serve until a signal comes.

    Parameters
    ----------
    settings : Settings
        All that can be set.
    begun : callable, optional
        Told of the service as soon as its models are open.
    """
    log_to_standard_error(settings)
    check_folder(settings)
    # This process is ours alone.
    sys.setswitchinterval(SWITCH_SECONDS)

    def with_models(service: Service) -> None:
        _create_missing(service)
        # What is there now stays; to look at all of it again and again held up answers.
        gc.collect()
        gc.freeze()
        LOGGER.info("listening on %s", address(settings))
        if begun is not None:
            begun(service)

    server = server_of(settings, with_models)
    try:
        server.run()
    except SystemExit as ended:  # this is how uvicorn gives up
        why = server.failure or f"it cannot listen at {address(settings)}; its log tells why."
        message = f"The service cannot begin: {why}"
        raise StateError(message) from ended


class Server(uvicorn.Server):
    """A server that tells its service when it is asked to end."""

    service: Service | None = None
    #: Why the service could not begin, if it could not.
    failure: Exception | None = None

    async def shutdown(self, sockets: list[socket] | None = None) -> None:
        """End; connections that would stay open for ever are let go first."""
        if self.service is not None:
            self.service.begin_to_end()
        await super().shutdown(sockets)


def server_of(settings: Settings, begun: Callable[[Service], None]) -> Server:
    """Make the server of a service.

    Parameters
    ----------
    settings : Settings
        All that can be set.
    begun : callable
        Told of the service as soon as its models are open.
    """

    def with_models(service: Service) -> None:
        server.service = service
        begun(service)

    app = application(settings, with_models)

    async def telling(scope: Any, receive: Any, send: Any) -> None:
        """Keep why the service cannot begin; for its log a sentence is enough."""
        if scope["type"] != "lifespan":
            await app(scope, receive, send)
            return
        try:
            await app(scope, receive, _without_traceback(send))
        except Exception as failure:
            server.failure = failure
            raise

    server = Server(configuration(settings, telling))
    return server


def _without_traceback(send: Any) -> Any:
    """Leave out what Starlette tells of a failed start: who began the server tells it."""

    async def sending(message: Any) -> None:
        is_failure = message["type"] == "lifespan.startup.failed"
        await send({"type": message["type"]} if is_failure else message)

    return sending


def configuration(settings: Settings, app: Any) -> uvicorn.Config:
    """How uvicorn is to serve an application."""
    certificate, key = settings.tls_certificate, settings.tls_key
    return uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        ssl_certfile=None if certificate is None else os.fspath(certificate),
        ssl_keyfile=None if key is None else os.fspath(key),
        proxy_headers=settings.behind_proxy,
        log_config=None,
        access_log=False,
        server_header=False,
        lifespan="on",
        ws="none",
        http=Bounded,
        limit_concurrency=MOST_CONNECTIONS,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )


def address(settings: Settings) -> str:
    """Where people find it."""
    scheme = "http" if settings.tls_certificate is None else "https"
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    return f"{scheme}://{host}:{settings.port}"


def check_folder(settings: Settings) -> None:
    """Raise where nothing could be kept."""
    folder = settings.folder
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f".writable-{os.getpid()}"
        probe.write_bytes(b"")
        probe.unlink()
        flush_folder(folder)
    except OSError as failure:
        message = (
            f"The folder {folder} cannot be written ({failure.strerror}); "
            "let this user write there, or name another folder."
        )
        raise StateError(message) from failure


def log_to_standard_error(settings: Settings) -> None:
    """Log one line for each event: text for people, or JSON for programs."""
    handler = logging.StreamHandler()
    is_json = settings.log_format == "json"
    usual = logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s")
    handler.setFormatter(JsonFormatter() if is_json else usual)
    for name in ("okspca.serve", "uvicorn"):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.setLevel(settings.log_level.upper())
        logger.propagate = False


class JsonFormatter(logging.Formatter):
    """Records as JSON, with whatever else they carry.

    Examples
    --------
    >>> record = logging.makeLogRecord({"msg": "GET /", "name": "okspca", "status": 200})
    >>> '"status": 200' in JsonFormatter().format(record)
    True
    """

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        told = {
            "time": self.formatTime(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        told |= {name: value for name, value in vars(record).items() if name not in USUAL}
        if record.exc_info:
            told["exception"] = self.formatException(record.exc_info)
        return json.dumps(told, default=str)


def _create_missing(service: Service) -> None:
    """Make the models that the settings name, where they are not there yet."""
    names = {hosted.name for hosted in service.hosts}
    for wanted in service.settings.models:
        if wanted.name in names:
            continue
        try:
            service.hosts.create(wanted.name, *made(_asked_for(wanted)))
        except RefusalError as refusal:
            message = f"The model {wanted.name} cannot be made: {refusal.sentence}"
            raise StateError(message) from refusal


def _asked_for(wanted: ModelSettings) -> dict[str, Any]:
    """A model of the settings as a request would ask for it."""
    return {
        "kind": wanted.kind,
        "settings": dict(wanted.settings),
        "columns": list(wanted.columns or ()),
        "target": wanted.target,
        "monitor": wanted.monitor,
    }
