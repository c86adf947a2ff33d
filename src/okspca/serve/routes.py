"""All routes: method, path, who may ask, and what answers; the one place where they are listed."""

from typing import NamedTuple

from okspca.serve import answering, changing, pages
from okspca.serve.bodies import ARROW, JSON, NDJSON
from okspca.serve.web import STATE, Endpoint

ROW = {"x": [0.5, 1.5], "y": 2.0}
ASKED = {"rows": [{"x": [0.5, 1.5]}, {"x": [0.1, 0.2]}]}
TABLES = (JSON, NDJSON, ARROW)


class Way(NamedTuple):
    """One route.

    Attributes
    ----------
    method, path : str
        What is asked for.
    role : {"anyone", "ask", "learn", "admin"}
        Who may ask.
    endpoint : coroutine function
        What answers; the first line of its docstring says what it does.
    accepts : tuple of str
        Types of its body.
    query : tuple of str
        What may stand in the query.
    example : object
        A body, for the model "plant".
    answers : str
        Type of its answer.
    status : int
        Status of its answer.
    """

    method: str
    path: str
    role: str
    endpoint: Endpoint
    accepts: tuple[str, ...] = ()
    query: tuple[str, ...] = ()
    example: object = None
    answers: str = JSON
    status: int = 200

    @property
    def name(self) -> str:
        """What it is called in metrics and descriptions."""
        return self.endpoint.__name__

    @property
    def told(self) -> str:
        """What it does."""
        return (self.endpoint.__doc__ or "").strip().splitlines()[0]


OF_CHANGES = ("source", "sequence", "on_error", "wait")
MODEL = "/models/{model}"
HTML, TEXT, EVENTS = "text/html", "text/plain", "text/event-stream"
NEW = {"kind": "regressor", "settings": {"n_components": 1}, "columns": ["flow", "level"]}

WAYS = (
    # First those that are asked for most.
    Way("POST", f"{MODEL}/learn", "learn", changing.learn, TABLES, OF_CHANGES, ROW),
    Way("POST", f"{MODEL}/transform", "ask", answering.transform, TABLES, (), ASKED),
    Way("POST", f"{MODEL}/predict", "ask", changing.predict, TABLES, (), ASKED),
    Way(
        *("POST", f"{MODEL}/label", "learn", changing.label, TABLES, OF_CHANGES),
        {"id": "pump-7/2026-11-19T10:00", "y": 2.0},
    ),
    Way("POST", f"{MODEL}/explain", "ask", answering.explain, TABLES, (), ASKED),
    Way("POST", f"{MODEL}/monitor", "ask", answering.monitor, TABLES, (), ASKED),
    Way("GET", f"{MODEL}/basis", "ask", answering.basis, (), ("vectors",)),
    Way("GET", f"{MODEL}/stability", "ask", answering.stability),
    Way("GET", f"{MODEL}/drift", "ask", answering.drift),
    Way("GET", f"{MODEL}/events", "ask", answering.events, answers=EVENTS),
    Way("GET", f"{MODEL}/state", "admin", answering.state, answers=STATE),
    Way("POST", f"{MODEL}/checkpoint", "admin", changing.checkpoint),
    Way("POST", f"{MODEL}/relearn", "admin", changing.relearn),
    Way("GET", f"{MODEL}/set-aside", "learn", answering.set_aside, answers=NDJSON),
    Way("GET", f"{MODEL}/sources/{{source}}", "learn", answering.source),
    Way("DELETE", f"{MODEL}/sources/{{source}}", "admin", changing.forget_source),
    Way("GET", MODEL, "ask", answering.status),
    Way("PUT", MODEL, "admin", changing.create, (JSON, STATE), (), NEW, status=201),
    Way("DELETE", MODEL, "admin", changing.remove),
    Way("GET", "/models", "ask", answering.models),
    Way("GET", "/metrics", "ask", pages.metrics, answers=TEXT),
    Way("GET", "/healthz", "anyone", pages.healthz),
    Way("GET", "/readyz", "anyone", pages.readyz),
    Way("GET", "/session", "ask", pages.session),
    Way("GET", "/login", "anyone", pages.login_page, answers=HTML),
    Way("POST", "/login", "anyone", pages.login, (JSON,), (), {"token": "a token of this service"}),
    Way("POST", "/logout", "ask", pages.logout),
    Way("GET", "/static/{name:path}", "anyone", pages.asset, answers=TEXT),
    Way("GET", "/", "ask", pages.page, answers=HTML),
)
