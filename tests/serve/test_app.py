"""The service as programs meet it: every route, every role, and what is refused."""

import http.client
import io
import json
from collections.abc import Iterator
from http import HTTPStatus
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from okspca import OKSPCA, OKSPCARegressor
from okspca.serve.bodies import ARROW
from okspca.serve.description import description
from okspca.serve.routes import WAYS, Way
from okspca.serve.settings import Tokens
from tests.serve.live import PLANT, Live, plant_rows, running

TOKENS = {role: f"{role}-0123456789abcdef" for role in ("ask", "learn", "admin")}
ROLES = ("ask", "learn", "admin")


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    with running(tmp_path_factory.mktemp("live")) as server:
        assert server.ask("PUT", "/models/plant", PLANT).status == 201
        assert server.learned(plant_rows(300)).json["learned"] == 300
        yield server


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    tokens = Tokens(**{role: (token,) for role, token in TOKENS.items()})
    with running(tmp_path_factory.mktemp("guarded"), tokens=tokens) as server:
        server.token = TOKENS["admin"]
        server.ask("PUT", "/models/plant", PLANT)
        server.learned(plant_rows(300))
        yield server


def table(columns: dict[str, Any], **options: Any) -> bytes:
    found = pa.table(columns)
    sink = pa.BufferOutputStream()
    settings = pa.ipc.IpcWriteOptions(**options)
    with pa.ipc.new_stream(sink, found.schema, options=settings) as stream:
        stream.write_table(found)
    data: bytes = sink.getvalue().to_pybytes()
    return data


def test_rows_are_learned_asked_about_and_predicted(live: Live) -> None:
    status = live.ask("GET", "/models/plant").json
    assert status["rows"] == 300
    assert status["columns"] == ["flow", "level"]
    one = {"x": {"level": 0.5, "flow": 1.5}}
    (prediction,) = live.ask("POST", "/models/plant/predict", one).json["predictions"]
    assert abs(prediction - 1.5) < 0.5
    many = {"rows": [one, {"x": [1.5, 0.5]}]}
    embedding = live.ask("POST", "/models/plant/transform", many).json["embedding"]
    assert embedding[0] == embedding[1]
    assert len(embedding[0]) == status["n_components"]
    basis = live.ask("GET", "/models/plant/basis?vectors=true").json
    assert basis["status"] == "valid"
    assert basis["certificate"]["rho_lower"] > 0.999
    assert len(basis["vectors"]) == 32
    found = live.ask("POST", "/models/plant/explain", one).json
    assert found["inputs"] == ["flow", "level"]
    assert abs(found["contributions"][0][0][0]) > abs(found["contributions"][0][0][1])


def test_all_forms_of_rows_are_read_alike(live: Live) -> None:
    X = [[0.1, 0.2], [0.3, -0.4]]
    records = [{"x": x} for x in X]
    lines = "\n".join(json.dumps(record) for record in records).encode()
    arrow = table({"level": [x[1] for x in X], "flow": [x[0] for x in X]})
    path = "/models/plant/transform"
    as_json = live.ask("POST", path, {"rows": records}).json
    as_lines = live.ask("POST", path, lines, {"Content-Type": "application/x-ndjson"}).json
    as_arrow = live.ask("POST", path, arrow, {"Content-Type": ARROW}).json
    assert as_json == as_lines == as_arrow
    answer = live.ask("POST", path, arrow, {"Content-Type": ARROW, "Accept": ARROW})
    back = pa.ipc.open_stream(io.BytesIO(answer.body)).read_all()
    np.testing.assert_array_equal(back.column("okspca0"), [z[0] for z in as_json["embedding"]])


def test_a_prediction_waits_for_its_label(live: Live) -> None:
    before = live.ask("GET", "/models/plant").json
    asked: Any = {"rows": [{"x": [0.1, 0.2], "id": "n1"}, {"x": [0.3, 0.4], "id": "n2"}]}
    assert len(live.ask("POST", "/models/plant/predict", asked).json["predictions"]) == 2
    assert live.ask("GET", "/models/plant").json["pending"] == before["pending"] + 2
    assert live.ask("POST", "/models/plant/predict", asked).status == 200
    asked["rows"][0]["x"] = [7.0, 7.0]
    again = live.ask("POST", "/models/plant/predict", asked)
    assert (again.status, "waits already" in again.json["error"]) == (409, True)
    label = {"labels": [{"id": "n1", "y": 0.1}, {"id": "n2", "y": 0.3}]}
    answer = live.ask("POST", "/models/plant/label?wait=learned", label)
    assert answer.json == {"learned": 2, "set_aside": 0, "repeated": False}
    assert live.ask("GET", "/models/plant").json["rows"] == before["rows"] + 2
    assert live.ask("POST", "/models/plant/label", label).status == 422


def test_numbers_of_a_source_count_once(live: Live) -> None:
    path = "/models/plant/learn?wait=learned&source=line-3&sequence="
    row = {"x": [0.1, 0.2], "y": 0.1}
    assert live.ask("GET", "/models/plant/sources/line-3").json["next"] == 1
    assert live.ask("POST", f"{path}1", row).json["repeated"] is False
    rows = live.ask("GET", "/models/plant").json["rows"]
    assert live.ask("POST", f"{path}1", row).json["repeated"] is True
    gap = live.ask("POST", f"{path}3", row)
    assert (gap.status, gap.json["expected"]) == (409, 2)
    assert live.ask("GET", "/models/plant").json["rows"] == rows
    assert live.ask("DELETE", "/models/plant/sources/line-3").status == 200
    assert live.ask("GET", "/models/plant/sources/line-3").json["next"] == 1


@pytest.mark.parametrize(
    ("row", "column", "why"),
    [
        ({"x": [1.0, None], "y": 1.0}, "level", "lacks a value"),
        ({"x": [1.0, 1e200], "y": 1.0}, "level", "beyond"),
        ({"x": {"flow": 1.0, "level": "high"}, "y": 1.0}, "level", "not a number"),
        ({"x": {"flow": 1.0}, "y": 1.0}, "level", "lacks the input"),
        ({"x": {"flow": 1.0, "level": 1.0, "heat": 1.0}, "y": 1.0}, "heat", "no input"),
        ({"x": [1.0, True], "y": 1.0}, "level", "not a number"),
        ({"x": [1.0], "y": 1.0}, None, "1 values, but 2"),
        ({"x": [1.0, 2.0], "y": "high"}, None, "not a number"),
        ({"x": [1.0, 2.0]}, None, "y is missing"),
        ({"x": [1.0, 2.0], "y": 1.0, "weight": 2}, None, "'weight'"),
        ({"x": 7, "y": 1.0}, None, "must be a list"),
    ],
)
def test_what_is_wrong_with_a_row_is_said(
    live: Live, row: Any, column: str | None, why: str
) -> None:
    before = live.ask("GET", "/models/plant").json["rows"]
    body = {"rows": [{"x": [0.0, 0.0], "y": 0.0}, row]}
    refused = live.ask("POST", "/models/plant/learn", body)
    assert refused.status == 422
    assert refused.json["row"] == 1
    assert refused.json.get("column") == column
    assert why in refused.json["error"]
    assert "Nothing was learned" in refused.json["error"]
    assert live.ask("GET", "/models/plant").json["rows"] == before


def test_bad_rows_can_be_set_aside(live: Live) -> None:
    lines = [{"x": [0.5, 0.5], "y": 0.5}, {"x": [0.5, "NaN"], "y": 0.5}]
    path = "/models/plant/learn?on_error=set-aside&wait=learned"
    assert live.ask("POST", path, {"rows": lines}).json == {
        "learned": 1,
        "set_aside": 1,
        "repeated": False,
    }
    arrow = table({"flow": [1.0, float("inf")], "level": [0.0, 0.0], "y": [1.0, 1.0]})
    assert live.ask("POST", path, arrow, {"Content-Type": ARROW}).json["set_aside"] == 1
    found = live.ask("GET", "/models/plant/set-aside").body.decode().splitlines()
    reasons = [json.loads(line)["reason"] for line in found]
    assert "'NaN' in column 'level', which is not a number" in reasons[-2]
    assert "inf in column 'flow'" in reasons[-1]


@pytest.mark.parametrize(
    ("body", "kind", "status", "why"),
    [
        (b"{", "application/json", 400, "not valid JSON"),
        (b'{"x": [NaN, 1], "y": 1}', "application/json", 400, "NaN"),
        (b"[" * 100_000, "application/json", 400, "not valid JSON"),
        (b"7", "application/json", 400, 'object with "x"'),
        (b'{"rows": [], "more": 1}', "application/json", 400, 'object with "x"'),
        (b"flow,level\n1,2", "text/csv", 415, "content type"),
        (b"\xff\xff", ARROW, 400, "not a plain Arrow stream"),
        (table({"flow": [1.0]}), ARROW, 400, "lacks the column"),
        (table({"flow": [1.0], "level": ["x"], "y": [1.0]}), ARROW, 400, "not numbers"),
        (
            table({"flow": [1.0] * 99, "level": [1.0] * 99, "y": [1.0] * 99}, compression="zstd"),
            ARROW,
            400,
            "packed",
        ),
    ],
)
def test_what_is_no_row_is_refused(
    live: Live, body: bytes, kind: str, status: int, why: str
) -> None:
    answer = live.ask("POST", "/models/plant/learn", body, {"Content-Type": kind})
    assert answer.status == status
    assert why in answer.json["error"]


def test_bodies_are_bounded(tmp_path: Path) -> None:
    with running(tmp_path, max_body_bytes=2000) as small:
        small.ask("PUT", "/models/plant", PLANT)
        assert small.ask("POST", "/models/plant/learn", b"x" * 2001, JSON_TYPE).status == 413
        chunked = {**JSON_TYPE, "Transfer-Encoding": "chunked"}
        body = b"".join(b"3e8\r\n" + b"x" * 1000 + b"\r\n" for _ in range(3)) + b"0\r\n\r\n"
        connection = small.ask("POST", "/models/plant/learn", body, chunked)
        assert connection.status == 413


JSON_TYPE = {"Content-Type": "application/json"}


def test_models_are_made_listed_and_removed(live: Live) -> None:
    labels = {"kind": "classifier", "settings": {"n_random_features": 16}}
    assert live.ask("PUT", "/models/labels", labels).status == 201
    assert live.ask("PUT", "/models/labels", labels).status == 409
    assert live.ask("POST", "/models/labels/predict", {"x": [1.0]}).status == 409
    rows = [{"x": [float(i), 1.0], "y": "ab"[i % 2]} for i in range(40)]
    assert live.learned({"rows": rows}, "labels").json["learned"] == 40
    found = live.ask("POST", "/models/labels/predict", {"x": [1.0, 1.0]}).json
    assert found["classes"] == ["a", "b"]
    assert sum(found["probabilities"][0]) == pytest.approx(1.0)
    names = [status["name"] for status in live.ask("GET", "/models").json["models"]]
    assert names == ["plant", "labels"]
    assert live.ask("DELETE", "/models/labels").status == 200
    assert live.ask("GET", "/models/labels").status == 404
    assert not (live.service.settings.folder / "labels").exists()


@pytest.mark.parametrize(
    ("asked", "status", "why"),
    [
        ({"kind": "oracle"}, 400, "kind is one of"),
        ({"kind": "reducer"}, 422, "need a task"),
        ({"kind": "regressor", "settings": {"n_components": -1}}, 422, "n_components"),
        ({"kind": "regressor", "settings": {"solver": ["exact"]}}, 400, "numbers, words"),
        ({"kind": "regressor", "settings": {"no_such": 1}}, 422, "no_such"),
        ({"kind": "regressor", "settings": {"categories": "one-hot"}}, 422, "reads numbers"),
        ({"kind": "regressor", "settings": {"random_state": None}}, 422, "random_state"),
        ({"kind": "regressor", "columns": ["a", "a"]}, 400, "different names"),
        ({"kind": "regressor", "columns": ["a", "y"]}, 400, "among the columns"),
    ],
)
def test_models_that_cannot_be_made_are_refused(
    live: Live, asked: Any, status: int, why: str
) -> None:
    answer = live.ask("PUT", "/models/other", asked)
    assert answer.status == status
    assert why in answer.json["error"]


@pytest.mark.parametrize("name", ["..", ".hidden", "a%2Fb", "a" * 65, "-a", "a b"])
def test_names_lead_nowhere_else(live: Live, name: str) -> None:
    before = sorted(path.name for path in live.service.settings.folder.rglob("*"))
    assert live.ask("PUT", f"/models/{name.replace(' ', '%20')}", PLANT).status in (400, 404, 405)
    assert sorted(path.name for path in live.service.settings.folder.rglob("*")) == before


@pytest.mark.parametrize(
    "path",
    ["/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2fapp.py", "/static/.hidden.js"],
)
def test_only_files_of_the_page_are_served(live: Live, path: str) -> None:
    assert live.ask("GET", path).status == 404


def test_all_files_of_the_page_are_served(live: Live) -> None:
    folder = Path(str(resources.files("okspca.serve"))) / "dashboard"
    paths = [path.relative_to(folder) for path in folder.rglob("*.*") if path.is_file()]
    assert len(paths) > 10
    for path in paths:
        if path.suffix == ".html":
            continue
        answer = live.ask("GET", f"/static/{path.as_posix()}")
        assert answer.body == (folder / path).read_bytes()
        kind = {".js": "text/javascript", ".css": "text/css"}[path.suffix]
        assert answer.headers["content-type"].startswith(kind)


def test_state_goes_out_and_comes_in(live: Live, tmp_path: Path) -> None:
    path = tmp_path / "plant.okspca"
    path.write_bytes(live.ask("GET", "/models/plant/state").body)
    model = OKSPCARegressor.load(path)
    rows = model.n_samples_seen_
    assert rows == live.ask("GET", "/models/plant").json["rows"]
    kind = {"Content-Type": "application/octet-stream"}
    assert live.ask("PUT", "/models/copy", path.read_bytes(), kind).status == 201
    one = {"x": [0.4, 0.2]}
    answers = [live.ask("POST", f"/models/{name}/predict", one) for name in ("plant", "copy")]
    assert answers[0].json == answers[1].json
    assert live.learned({"x": {"flow": 1.0, "level": 0.0}, "y": 1.0}, "copy").status == 200
    assert live.ask("GET", "/models/copy").json["rows"] == rows + 1
    live.ask("DELETE", "/models/copy")
    spoiled = bytearray(path.read_bytes())
    spoiled[-1] ^= 1
    refused = live.ask("PUT", "/models/copy", bytes(spoiled), kind)
    assert (refused.status, "checksum" in refused.json["error"]) == (400, True)


def test_a_model_from_a_file_goes_on_where_it_was(live: Live, tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(100, 3))
    labels = np.where(X[:, 0] > 0.0, "up", "down")
    model = OKSPCA(random_state=0, n_random_features=16).partial_fit(X, labels)
    path = tmp_path / "model.okspca"
    model.save(path)
    kind = {"Content-Type": "application/octet-stream"}
    assert live.ask("PUT", "/models/old", path.read_bytes(), kind).status == 201
    status = live.ask("GET", "/models/old").json
    assert status["task"] == "classification"
    assert sorted(status["classes"]) == ["down", "up"]
    assert live.learned({"x": [1.0, 2.0, 3.0], "y": 7}, "old").status == 422
    assert live.learned({"x": [1.0, 2.0, 3.0], "y": "up"}, "old").status == 200
    live.ask("DELETE", "/models/old")


def test_a_checkpoint_can_be_asked_for(live: Live) -> None:
    live.learned({"x": [1.0, 2.0], "y": 1.0})
    assert live.ask("POST", "/models/plant/checkpoint").json["checkpoint"] > 0
    assert live.ask("GET", "/models/plant").json["rows_since_checkpoint"] == 0
    # Its features stay as they were drawn.
    assert live.ask("POST", "/models/plant/relearn").status == 409


def test_metrics_tell_what_was_done(live: Live) -> None:
    text = live.ask("GET", "/metrics").body.decode()
    rows = live.ask("GET", "/models/plant").json["rows"]
    assert f'okspca_rows_total{{model="plant"}} {float(rows)}' in text
    assert 'okspca_requests_total{route="learn",status="200"}' in text
    assert "okspca_ready 1.0" in text


def test_events_tell_how_things_stand(live: Live) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", live.port, timeout=60)
    connection.request("GET", "/models/plant/events")
    response = connection.getresponse()
    assert response.headers["Content-Type"].startswith("text/event-stream")
    told: list[dict[str, Any]] = []
    while len(told) < 3:
        line = response.readline().decode()
        if line.startswith("data: "):
            told.append(json.loads(line[6:]))
    connection.close()
    assert told[-1]["rows"] == live.ask("GET", "/models/plant").json["rows"]
    assert any("history" in state for state in told)
    assert told[-1]["certificate"]["rho_lower"] > 0.99


def test_the_description_names_every_route_and_its_examples_work(live: Live) -> None:
    found = live.ask("GET", "/openapi.json").json
    assert found == json.loads(json.dumps(description()))
    for way in WAYS:
        operation = found["paths"][way.path.replace(":path", "")][way.method.lower()]
        assert operation["x-role"] == way.role
        body = operation.get("requestBody", {}).get("content", {}).get("application/json")
        if body is None or way.name in ("login", "create"):
            continue
        if way.name == "label":
            asked = {"rows": [{"x": [0.1, 0.2], "id": body["example"]["id"]}]}
            live.ask("POST", "/models/plant/predict", asked)
        answer = live.ask(way.method, way.path.replace("{model}", "plant"), body["example"])
        # Nobody calibrated the monitor of this model.
        assert answer.status == (409 if way.name == "monitor" else 200), (way.name, answer.body)


def path_of(way: Way) -> str:
    path = way.path.replace("{model}", "spare" if way.name == "remove" else "plant").replace(
        "{source}", "line-3"
    )
    return path.replace("{name:path}", "style.css")


@pytest.mark.parametrize("way", WAYS, ids=lambda way: f"{way.method} {way.path}")
@pytest.mark.parametrize("role", ["none", "wrong", *ROLES])
def test_every_route_is_for_its_role(guarded: Live, way: Way, role: str) -> None:
    if way.name == "remove":
        guarded.token = TOKENS["admin"]
        guarded.ask("PUT", "/models/spare", PLANT)
    bearer = {"Authorization": f"Bearer {TOKENS.get(role, 'wrong-0123456789abcdef')}"}
    guarded.token = ""
    body = None if way.example is None or way.name == "create" else way.example
    # Events do not end; what the head of an answer says is enough.
    method = "HEAD" if way.name == "events" else way.method
    answer = guarded.ask(method, path_of(way), body, {} if role == "none" else bearer)
    if way.role == "anyone":
        assert answer.status in (200, 401) if way.name == "login" else answer.status == 200
    elif role in ("none", "wrong"):
        assert answer.status == (303 if path_of(way) == "/" else 401)
    elif ROLES.index(role) < ROLES.index(way.role):
        assert answer.status == HTTPStatus.FORBIDDEN
        assert method == "HEAD" or way.role in answer.json["error"]
    else:
        assert answer.status not in (401, 403)


@pytest.mark.parametrize("role", ["none", "wrong", *ROLES])
def test_the_description_is_for_those_who_may_ask(guarded: Live, role: str) -> None:
    guarded.token = TOKENS.get(role, "" if role == "none" else "wrong-0123456789abcdef")
    assert guarded.ask("GET", "/openapi.json").status == (200 if role in ROLES else 401)


def test_whoever_is_not_known_learns_nothing(guarded: Live) -> None:
    guarded.token = ""
    for path in ("/models/plant", "/models/nobody", "/no/such/place", "/openapi.json"):
        answer = guarded.ask("GET", path)
        assert (answer.status, answer.headers["www-authenticate"]) == (401, "Bearer")
        assert b"plant" not in answer.body


def test_rows_with_ids_take_the_role_that_learns(guarded: Live) -> None:
    guarded.token = TOKENS["ask"]
    one = {"x": [0.1, 0.2], "id": "n1"}
    assert guarded.ask("POST", "/models/plant/predict", one).status == 403
    guarded.token = TOKENS["learn"]
    assert guarded.ask("POST", "/models/plant/predict", one).status == 200


def test_a_page_logs_in_once_and_changes_with_its_own_token(guarded: Live) -> None:
    guarded.token = ""
    assert guarded.ask("POST", "/login", {"token": "x" * 20}).status == 401
    begun = guarded.ask("POST", "/login", {"token": TOKENS["admin"]})
    cookie = begun.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    session = {"Cookie": cookie.partition(";")[0]}
    assert guarded.ask("GET", "/session", None, session).json["role"] == "admin"
    path = "/models/plant/checkpoint"
    assert guarded.ask("POST", path, None, session).status == 403
    right = {**session, "X-CSRF-Token": begun.json["csrf"]}
    assert guarded.ask("POST", path, None, right).status == 200
    assert guarded.ask("POST", "/logout", None, right).status == 200
    assert guarded.ask("GET", "/session", None, session).status == 401


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Host": "127.0.0.1.evil.example:80"}, 421),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
    ],
)
def test_other_names_and_other_sites_are_refused(
    live: Live, headers: dict[str, str], status: int
) -> None:
    for path in ("/models", "/healthz", "/"):
        assert live.ask("GET", path, None, headers).status == status
    own = {"Origin": f"http://127.0.0.1:{live.port}"}
    assert live.ask("GET", "/models", None, own).status == 200


def test_answers_carry_headers_that_trust_nobody(live: Live) -> None:
    for path in ("/", "/models", "/no/such/place", "/static/style.css"):
        headers = live.ask("GET", path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert "default-src 'none'" in headers["content-security-policy"]
        assert headers["cache-control"] == "no-store"
        assert "server" not in headers


def test_rates_are_limited(tmp_path: Path) -> None:
    with running(tmp_path, requests_per_second=5.0) as slow:
        statuses = [slow.ask("GET", "/healthz").status for _ in range(30)]
        assert 429 in statuses
        assert statuses[0] == 200


def test_models_are_there_again_after_a_restart(tmp_path: Path) -> None:
    with running(tmp_path) as server:
        server.ask("PUT", "/models/plant", PLANT)
        server.ask("POST", "/models/plant/learn", plant_rows(50))
    with running(tmp_path) as server:
        assert server.ask("GET", "/readyz").json == {"ready": True}
        status = server.ask("GET", "/models/plant").json
        assert status["rows"] == 50
        assert status["journal_bytes"] == 0 or status["rows_since_checkpoint"] == 0
