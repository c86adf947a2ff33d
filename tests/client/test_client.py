"""What the client sends, what it makes of answers, and what it never shows."""

import json
import select
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import ipc

from okspca import OKSPCAClassifier
from okspca.client import Client, ServiceError, UndecidedError
from okspca.client.requests import ARROW, JSON, NDJSON
from okspca.client.rows import Names, Rows
from okspca.errors import DataError
from tests.client.stand_in import StandIn

TOKEN = "a-token-that-nobody-sees"
NO_NAMES = Names((), "y")
Make = Callable[..., Client]


def encoded(*given: Any, many: int | None = None, names: Names = NO_NAMES) -> tuple[str, Any]:
    kind, body = Rows.of(*given).encoded(lambda: names, many)
    if kind == ARROW:
        return kind, ipc.open_stream(body).read_all()
    return kind, [json.loads(line) for line in body.splitlines()]


def test_rows_of_every_kind_are_sent_alike() -> None:
    gap = float("nan")
    by_place = {"rows": [{"x": [1.0, None], "y": 0}, {"x": [2.0, 3.0], "y": 1}]}
    by_name = {"rows": [{"x": {"a": 1.0, "b": None}, "y": 0}, {"x": {"a": 2.0, "b": 3.0}, "y": 1}]}
    table: dict[str, Any] = {"a": [1.0, 2.0], "b": [gap, 3.0]}
    assert encoded([[1.0, gap], [2.0, 3.0]], [0, 1]) == (JSON, [by_place])
    assert encoded(np.array([[1.0, gap], [2.0, 3.0]]), np.array([0, 1])) == (JSON, [by_place])
    assert encoded(pd.DataFrame(table), pd.Series([0, 1])) == (JSON, [by_name])
    assert encoded(pl.DataFrame(table), pl.Series([0, 1])) == (JSON, [by_name])
    assert encoded([{"a": 1.0, "b": gap}, {"a": 2.0, "b": 3.0}], [0, 1]) == (JSON, [by_name])
    whole = pd.DataFrame({"a": [1, 2], "b": pd.array([None, 3], dtype="Int64")})
    assert encoded(whole, [0, 1]) == (JSON, [by_name])
    assert encoded([np.array([1.0, 2.0])], ["on"], ["i"])[1] == [
        {"x": [1.0, 2.0], "y": "on", "id": "i"}
    ]
    dates = pd.DataFrame({"t": pd.to_datetime(["2026-01-02", None])})
    assert encoded(dates)[1][0]["rows"][1] == {"x": {"t": None}}


@pytest.mark.parametrize("kind", ["array", "list", "pandas", "polars", "table", "batch"])
def test_many_rows_go_as_one_batch(kind: str) -> None:
    X = np.array([[1.0, np.nan], [2.0, 3.0]])
    frame = pd.DataFrame(X, columns=["a", "b"])
    table = pa.Table.from_pandas(frame, preserve_index=False)
    given = {
        "array": X,
        "list": X.tolist(),
        "pandas": frame,
        "polars": pl.DataFrame({"a": X[:, 0], "b": X[:, 1]}),
        "table": pa.table({"a": X[:, 0], "b": pa.chunked_array([X[:1, 1], X[1:, 1]])}),
        "batch": table.to_batches()[0],
    }[kind]
    sent, found = encoded(given, np.array([0, 1]), ["i", "j"], many=1, names=Names(("a", "b"), "z"))
    assert sent == ARROW
    assert found.to_pydict() == {"a": [1.0, 2.0], "b": [None, 3.0], "z": [0, 1], "id": ["i", "j"]}


def test_without_pyarrow_many_rows_are_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("okspca.client.rows.find_spec", lambda _: None)
    found = encoded([[1.0], [2.0]], [0, 1], many=1)
    assert found == (NDJSON, [{"x": [1.0], "y": 0}, {"x": [2.0], "y": 1}])


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        (([[1.0]], [1, 2]), "y has 2 rows, but X has 1"),
        (([],), "X has no rows"),
        ((np.ones(3),), "shape"),
        (([[1.0, float("inf")]],), "inf at row 0, column 1"),
        ((pd.DataFrame({"a": [1.0, -np.inf]}),), "-inf at row 1, column 'a'"),
    ],
)
def test_rows_that_cannot_be_sent_are_named(given: Any, complaint: str) -> None:
    with pytest.raises((ValueError, DataError), match=complaint):
        encoded(*given)


def test_columns_that_clash_or_do_not_fit_are_named() -> None:
    with pytest.raises(ValueError, match="X has a column 'y' itself"):
        encoded(pa.table({"y": [1.0]}), [0], many=1)
    with pytest.raises(ValueError, match="X has 1 columns, but the model has 2"):
        encoded([[1.0]], many=1, names=Names(("a", "b"), "y"))
    with pytest.raises(TypeError, match="as a frame"):
        encoded([{"a": 1.0}], many=1)


def test_the_token_goes_along_and_is_never_shown(server: StandIn, client: Make) -> None:
    found = client(token=TOKEN, source="line-3")
    model = found.model("plant")
    model.status()
    assert server.seen[-1]["headers"]["Authorization"] == f"Bearer {TOKEN}"
    shown = [repr(found), repr(model), repr(vars(found)), repr(vars(found._connections))]
    assert not any(TOKEN in one for one in shown)
    assert repr(found) == f"Client({server.url!r}, source='line-3')"
    with pytest.raises(ValueError, match="The token holds a sign") as caught:
        client(token=f"{TOKEN}\r\nX-Evil: 1")
    assert TOKEN not in str(caught.value)
    with pytest.raises(ValueError, match="give a token instead") as caught:
        Client(f"http://me:{TOKEN}@host")
    assert TOKEN not in str(caught.value)


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"url": "host:8787"}, "no address of a service"),
        ({"url": "ftp://host"}, "no address of a service"),
        ({"url": "http://host:port"}, "no address of a service"),
        ({"url": "http://host/?a=b"}, "no address of a service"),
        ({"timeout": 0.0}, "timeout=0.0"),
        ({"retries": -1}, "retries=-1"),
        ({"source": "a\nb"}, "source="),
        ({"source": "a" * 129}, "source="),
    ],
)
def test_wrong_settings_are_named(settings: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        Client(**{"url": "http://host", **settings})


@pytest.mark.parametrize("name", ["", "-a", "a/b", "ä", "a" * 65])
def test_names_that_no_model_has_are_refused(name: str, client: Make) -> None:
    with pytest.raises(ValueError, match="models are called"):
        client().model(name)


def test_everything_can_be_asked(server: StandIn, client: Make) -> None:
    model = client().model("plant")
    predicted = {"predictions": ["a"], "probabilities": [[0.9, 0.1]], "classes": ["a", "b"]}
    answers: dict[str, Any] = {
        "predict": predicted,
        "transform": {"embedding": [[0.5, 1.0]]},
        "explain": {"flow": 1.0},
        "monitor": {"t2": [1.0]},
        "basis": {"rank": 2},
        "stability": {"distance": 0.1},
        "drift": {"alarms": []},
        "checkpoint": {"rows": 3},
        "relearn": {"pilot_rows_left": 8},
    }
    for name, told in answers.items():
        server.answers[f"/models/plant/{name}"] = (200, JSON, json.dumps(told).encode())
    lines = b'{"reason": "inf"}\n{"reason": "nan"}\n'
    server.answers["/models/plant/set-aside"] = (200, NDJSON, lines)
    server.answers["/models"] = (200, JSON, b'{"models": [{"name": "plant"}]}')
    server.answers["/readyz"] = (503, JSON, b'{"ready": false, "reasons": ["replaying"]}')
    assert model.predict([[1.0]], ids=["i"]) == ["a"]
    assert json.loads(server.seen[-1]["body"]) == {"x": [1.0], "id": "i"}
    assert model.predict_proba([[1.0]]) == [[0.9, 0.1]]
    assert model.transform([[1.0]]) == [[0.5, 1.0]]
    assert model.explain([1.0]) == {"flow": 1.0}
    assert json.loads(server.seen[-1]["body"]) == {"x": [1.0]}
    assert model.explain({"flow": 1.0}) == {"flow": 1.0}
    assert model.monitor([[1.0]]) == {"t2": [1.0]}
    assert model.basis(vectors=True) == {"rank": 2}
    assert server.seen[-1]["query"] == {"vectors": "true"}
    assert (model.stability(), model.drift()) == ({"distance": 0.1}, {"alarms": []})
    assert (model.checkpoint(), model.relearn()) == ({"rows": 3}, {"pilot_rows_left": 8})
    assert model.set_aside() == [{"reason": "inf"}, {"reason": "nan"}]
    assert model.status()["name"] == "plant"
    assert client().models() == [{"name": "plant"}]
    assert client().ready() is False
    model.delete()
    assert server.seen[-1]["method"] == "DELETE"


def test_what_teaches_says_how(server: StandIn, client: Make) -> None:
    model = client().model("plant")
    model.learn([[1.0], [2.0]], [0, 1], wait=True, set_aside=True)
    assert server.seen[-1]["query"] == {"wait": "learned", "on_error": "set-aside"}
    model.label(["i", "j"], [0, 1])
    assert server.unnumbered[-1] == {"labels": [{"id": "i", "y": 0}, {"id": "j", "y": 1}]}
    model.label("i", 2)
    assert server.unnumbered[-1] == {"id": "i", "y": 2}


def test_arrow_is_answered_where_it_is_asked_for(server: StandIn, client: Make) -> None:
    sink = pa.BufferOutputStream()
    told = pa.table({"okspca0": [0.5]})
    with ipc.new_stream(sink, told.schema) as writer:
        writer.write_table(told)
    server.answers["/models/plant/transform"] = (200, ARROW, sink.getvalue().to_pybytes())
    assert client().model("plant").transform([[1.0]], as_arrow=True).equals(told)
    assert server.seen[-1]["headers"]["Accept"] == ARROW


def test_models_are_created_uploaded_and_loaded(server: StandIn, client: Make) -> None:
    found = client()
    found.create("plant", "classifier", settings={"n_components": 2}, columns=("a", "b"))
    assert server.seen[-1]["method"] == "PUT"
    assert json.loads(server.seen[-1]["body"]) == {
        "kind": "classifier",
        "settings": {"n_components": 2},
        "columns": ["a", "b"],
    }
    model = OKSPCAClassifier(1, n_random_features=8, random_state=0)
    data = model.fit([[1.0], [2.0]], ["a", "b"]).to_bytes()
    found.upload("plant", model)
    assert server.seen[-1]["body"] == data
    server.answers["/models/plant/state"] = (200, "", data)
    loaded = found.model("plant").load()
    assert isinstance(loaded, OKSPCAClassifier)
    assert loaded.to_bytes() == data


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        ((401, b'{"error": "Who are you?"}'), r"Who are you\? .* the role 'admin'"),
        ((403, b"<html>"), "answered 403 to PUT /models/plant. .* needs a token"),
        ((302, b""), "redirects to 'http://elsewhere.invalid/', which is not followed"),
        ((200, b"<html>"), "something other than JSON"),
        ((409, b'{"error": "It exists."}'), "It exists."),
    ],
)
def test_errors_are_one_sentence(
    answer: tuple[int, bytes], complaint: str, server: StandIn, client: Make
) -> None:
    path = "/models" if answer[0] == 200 else "/models/plant"
    server.answers[path] = (answer[0], "", answer[1])
    with pytest.raises(ServiceError, match=complaint) as caught:
        client().models() if answer[0] == 200 else client().create("plant", "reducer")
    assert caught.value.status == answer[0]
    assert len(server.seen) == 1


def test_nobody_there_is_told_once_patience_ends(client: Make) -> None:
    nobody = Client("http://127.0.0.1:1", retries=1)
    with pytest.raises(ServiceError, match="cannot be reached") as caught:
        nobody.model("plant").learn_one([1.0], 0)
    assert not isinstance(caught.value, UndecidedError)
    assert nobody.ready() is False


def test_a_thread_keeps_its_connection_and_renews_it(server: StandIn, client: Make) -> None:
    model = client(retries=0).model("plant")
    model.status()
    model.status()
    assert len({seen["peer"] for seen in server.seen}) == 1
    other = threading.Thread(target=model.status)
    other.start()
    other.join()
    assert len({seen["peer"] for seen in server.seen}) == 2
    server.faults.append("drop")
    with pytest.raises(ServiceError):
        model.status()
    model.learn_one([1.0], 0)  # without a source: it must not go over a dead connection
    assert len(server.unnumbered) == 1


def test_a_connection_that_was_closed_meanwhile_costs_nothing(
    server: StandIn, client: Make
) -> None:
    """Services end idle connections; what teaches without a source must not go over a dead one."""
    model = client(retries=0).model("plant")
    server.closes = True
    model.status()
    server.closes = False
    sock = model._sender.connections._own.kept.connection.sock
    assert select.select([sock], [], [], 60.0)[0]
    model.learn_one([1.0], 0)
    assert len({seen["peer"] for seen in server.seen}) == 2


def test_events_go_on_where_they_broke_off(server: StandIn, client: Make) -> None:
    first = (
        b': hello\n\nid: 1\nevent: state\ndata: {"rows": 1}\n\nid: 2\nevent: alarm\ndata: {}\n\n'
    )
    path = "/models/plant/events"
    server.answers[path] = (200, "text/event-stream", first + b"id: 3\nevent: state\ndata: {")
    events = client().model("plant").events()
    assert [next(events)[::2] for _ in range(2)] == [("state", "1"), ("alarm", "2")]
    server.answers[path] = (200, "text/event-stream", b"event: gone\ndata: {}\n\n")
    assert [event.kind for event in events] == ["gone"]
    assert server.seen[-1]["headers"]["Last-Event-ID"] == "2"
    server.answers[path] = (404, "", b'{"error": "There is no model."}')
    with pytest.raises(ServiceError, match="There is no model"):
        next(client().model("plant").events())
    server.answers[path] = (503, "", b'{"error": "Ending."}')
    server.seen.clear()
    with pytest.raises(ServiceError, match="Ending"):
        next(client(retries=2).model("plant").events())
    assert len(server.seen) == 3


def test_the_client_needs_only_the_standard_library() -> None:
    code = (
        "import sys; from okspca.client import Client\n"
        "from okspca.client.rows import Rows\n"
        "Rows.of([[1.0]] * 3, [0, 1, 2]).encoded(None)\n"
        "print([m for m in ('numpy', 'numba', 'pyarrow', 'okspca.estimators') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
