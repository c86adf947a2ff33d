"""A small server that speaks the dashboard's part of the contract over models that really learn.

``python -m tests.serve.stand_in --port 8000`` shows it to a person; the browser tests start it as a
process of its own, as they would the real one.
"""

import argparse
import asyncio
import contextlib
import json
import secrets
import threading
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import numpy as np
import uvicorn
from numpy.random import RandomState
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import (
    FileResponse,
    JSONResponse,
    RedirectResponse,
    Response,
    StreamingResponse,
)
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

import okspca.serve
from okspca import OKSPCA, OKSPCAClassifier, OKSPCARegressor
from okspca.serve.panel import Panel

FOLDER = Path(okspca.serve.__file__).parent / "dashboard"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HOSTILE = "<img src=x onerror=\"document.title='taken over'\">"
COLUMNS = ("flow", "level", HOSTILE, "heat", "speed", "pressure")
#: The sensor with the hostile name is off for the last rows of so many.
PERIOD, FAULTY = 6000, 1200
ROWS, PAUSE, TICK = 50, 0.05, 0.5


class Plant:
    """A model, a thread that learns a drifting stream, and its panel."""

    def __init__(self, name: str, model: Any, seed: int) -> None:
        self.name, self.model, self.random = name, model, RandomState(seed)
        self.panel = Panel(model, name, columns=COLUMNS)
        self.state: dict[str, Any] = {}
        self.number, self.rows, self.is_gone = 0, 0, False
        self.learn(1000)
        self.model.start_live_monitor(every=500)
        while self.rows < PERIOD - FAULTY - 1500:
            self.learn(500)
        self.rate = 0.0
        self.look()
        for work in (self.go_on, self.watch):
            threading.Thread(target=work, daemon=True).start()

    def block(self, n: int) -> tuple[Any, Any]:
        """The next rows: two inputs hang together, one sensor is off from time to time."""
        X = self.random.normal(size=(n, len(COLUMNS)))
        X[:, 1] = 0.9 * X[:, 0] + 0.44 * X[:, 1]
        angle = np.arange(self.rows, self.rows + n) / 150000.0
        response = np.sin(X[:, 0] + angle) + 0.6 * X[:, 3] * X[:, 4]
        response = response + 0.2 * self.random.normal(size=n)
        phase = (self.rows + np.arange(n)) % PERIOD
        X[phase > PERIOD - FAULTY, 2] += 1.8
        if isinstance(self.model, OKSPCAClassifier):
            names = np.array(["low <b>", "middle", "high", "extreme"])
            return X, names[np.digitize(response, [-0.6, 0.4, 1.4])]
        return X, response

    def learn(self, n: int) -> None:
        """Learn a block."""
        X, y = self.block(n)
        found: Any = ()
        if self.model.learned is not None and self.model.learned.live is not None:
            found = self.model.learn_monitored(X, y)
        else:
            self.model.partial_fit(X, y)
        self.rows += n
        self.panel.learned(X, y, found)

    def go_on(self) -> None:
        """Learn for as long as the process lives."""
        while not self.is_gone:
            time.sleep(PAUSE)
            self.learn(ROWS)

    def watch(self) -> None:
        """Make a state from time to time."""
        while not self.is_gone:
            rows, began = self.rows, time.perf_counter()
            time.sleep(TICK)
            self.rate = (self.rows - rows) / (time.perf_counter() - began)
            self.look()

    def look(self) -> None:
        """Make one state."""
        n = self.rows // 900
        beside = {
            "rows_per_second": round(self.rate, 1),
            "requests_per_second": round(self.rate / ROWS, 2),
            "latency_ms": {"p50": 1.2, "p99": round(6.0 + 2.0 * np.sin(self.rows / 3e3), 2)},
            **{"pending": 0, "sources": 1, "rows_waiting": 0, "rows_set_aside": n},
            "latest_set_aside": [
                {"reason": f"x contains inf at column '{COLUMNS[i % 6]}'", "row": 900 * (i + 1)}
                for i in range(max(n - 5, 0), n)
            ],
        }
        self.state = self.panel.snapshot(time.time(), beside)
        self.number += 1


class StandIn:
    """The models, the sessions and what is answered."""

    def __init__(self, plants: list[Plant], tokens: dict[str, str]) -> None:
        self.plants = {plant.name: plant for plant in plants}
        self.tokens = tokens
        self.sessions: dict[str, dict[str, str]] = {}

    def session(self, request: Request) -> dict[str, Any] | None:
        """Who asks; everybody may do anything where there are no tokens."""
        if not self.tokens:
            return {"role": "admin", "csrf": None}
        return self.sessions.get(request.cookies.get("okspca_session", ""))

    async def show_session(self, request: Request) -> Response:
        """GET /session."""
        return JSONResponse(self.session(request), 200 if self.session(request) else 401)

    async def log_in(self, request: Request) -> Response:
        """POST /login."""
        role = self.tokens.get((await request.json())["token"])
        if role is None:
            return JSONResponse({"error": "This token is not known."}, 401)
        key, found = secrets.token_hex(8), {"role": role, "csrf": secrets.token_hex(8)}
        self.sessions[key] = found
        answer = JSONResponse({"role": role, "csrf": found["csrf"]})
        answer.set_cookie("okspca_session", key, httponly=True, samesite="strict")
        return answer

    async def log_out(self, request: Request) -> Response:
        """POST /logout."""
        found = self.session(request)
        if found is None:
            return JSONResponse({"error": "There is no session."}, 401)
        if request.headers.get("X-CSRF-Token") != found["csrf"]:
            return JSONResponse({"error": "X-CSRF-Token is missing."}, 403)
        self.sessions.pop(request.cookies["okspca_session"])
        return JSONResponse({})

    async def page(self, request: Request) -> Response:
        """GET /."""
        if self.session(request) is None:
            return RedirectResponse("/login", 303)
        return FileResponse(FOLDER / "index.html")

    async def models(self, request: Request) -> Response:
        """GET /models."""
        if self.session(request) is None:
            return JSONResponse({"error": "Log in."}, 401)
        return JSONResponse({"models": [{"name": name} for name in self.plants]})

    async def model(self, request: Request) -> Response:
        """GET or DELETE /models/{m}, and what is below it."""
        plant = self.plants.get(request.path_params["m"])
        if self.session(request) is None:
            return JSONResponse({"error": "Log in."}, 401)
        if plant is None:
            return JSONResponse({"error": "There is no such model."}, 404)
        if request.method == "DELETE":
            plant.is_gone = True
            del self.plants[plant.name]
            return JSONResponse({})
        if request.url.path.endswith("/events"):
            return StreamingResponse(self.events(plant), media_type="text/event-stream")
        if request.url.path.endswith("/set-aside"):
            return Response('{"reason": "x"}\n', media_type="application/x-ndjson")
        return JSONResponse({"name": plant.name, "rows": plant.rows})

    async def events(self, plant: Plant) -> AsyncIterator[str]:
        """All that happens to a model."""
        told, history = -1, {"history": plant.panel.history(), "alarms": plant.panel.alarms}
        while not plant.is_gone:
            if plant.number != told:
                told = plant.number
                data = json.dumps({**plant.state, **history}, allow_nan=False)
                history.clear()
                yield f"id: {told}\nevent: state\ndata: {data}\n\n"
            await asyncio.sleep(0.1)
        yield "event: gone\ndata: {}\n\n"

    def app(self) -> Any:
        """The routes, and the policy on every answer."""
        below = ("/models/{m}", "/models/{m}/events", "/models/{m}/set-aside")
        routes = [
            Route("/", self.page),
            Route("/healthz", lambda request: JSONResponse({})),
            Route("/login", lambda request: FileResponse(FOLDER / "login.html")),
            Route("/login", self.log_in, methods=["POST"]),
            Route("/logout", self.log_out, methods=["POST"]),
            Route("/session", self.show_session),
            Route("/models", self.models),
            *(Route(path, self.model, methods=["GET", "DELETE"]) for path in below),
            Mount("/static", StaticFiles(directory=FOLDER)),
        ]
        inner = Starlette(routes=routes)

        async def guarded(scope: Any, receive: Any, send: Any) -> None:
            async def sent(message: Any) -> None:
                if message["type"] == "http.response.start":
                    headers = [(b"content-security-policy", POLICY.encode())]
                    message = {**message, "headers": [*message["headers"], *headers]}
                await send(message)

            await inner(scope, receive, sent)

        return guarded


def models() -> list[Plant]:
    """A regressor, a classifier and a reducer of one component."""
    kept: dict[str, Any] = {
        "stability": 8,
        "n_random_features": 64,
        "random_state": 0,
        "forgetting": 0.9995,
    }
    return [
        Plant("plant", OKSPCARegressor(3, prequential=True, **kept, pilot_rows=1024), 1),
        Plant("grades", OKSPCAClassifier(prequential=True, align=True, **kept), 2),
        Plant("line", OKSPCA(1, n_random_features=32, random_state=0), 3),
    ]


def main() -> None:
    """Serve until stopped."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--tokens", type=json.loads, default={}, help="token to role, as JSON")
    asked = parser.parse_args()
    stand_in = StandIn(models(), asked.tokens)
    with contextlib.suppress(KeyboardInterrupt):
        uvicorn.run(
            stand_in.app(), port=asked.port, log_level="warning", timeout_graceful_shutdown=1
        )


if __name__ == "__main__":
    main()
