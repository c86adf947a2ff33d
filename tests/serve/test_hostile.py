"""What somebody may try who wants to break in, to break it, or to make it tell lies."""

import http.client
import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from okspca import OKSPCAClassifier
from okspca.serve import events as events_module
from okspca.serve.bodies import ARROW
from okspca.serve.creating import MOST_NUMBERS, made
from okspca.serve.security import Guesses, Places, Rates, Sessions
from okspca.serve.settings import Settings, Tokens
from tests.serve.live import PLANT, Live, plant_rows, running

TOKENS = {role: f"{role}-0123456789abcdef" for role in ("ask", "learn", "admin")}
SMALL = {"n_random_features": 16, "frequencies": "drawn"}
ASIDE = "on_error=set-aside&wait=learned"


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    with running(tmp_path_factory.mktemp("live"), max_rows_per_request=2000) as server:
        assert server.ask("PUT", "/models/plant", PLANT).status == 201
        assert server.learned(plant_rows(100)).status == 200
        yield server


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    tokens = Tokens(**{role: (token,) for role, token in TOKENS.items()})
    with running(tmp_path_factory.mktemp("guarded"), tokens=tokens) as server:
        server.token = TOKENS["admin"]
        assert server.ask("PUT", "/models/plant", PLANT).status == 201
        server.token = ""
        yield server


@pytest.fixture
def labels(live: Live) -> Iterator[Live]:
    """A classifier without names of inputs, which has learned two classes."""
    live.ask("PUT", "/models/labels", {"kind": "classifier", "settings": SMALL})
    rows = [{"x": [float(i), 1.0], "y": "ab"[i % 2]} for i in range(40)]
    assert live.learned({"rows": rows}, "labels").status == 200
    yield live
    live.ask("DELETE", "/models/labels")


def table(columns: dict[str, Any]) -> bytes:
    found = pa.table(columns)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, found.schema) as stream:
        stream.write_table(found)
    data: bytes = sink.getvalue().to_pybytes()
    return data


def test_what_a_checkpoint_cannot_hold_is_no_label(labels: Live) -> None:
    path = "/models/labels/learn?wait=learned"
    for label in ("\ud800", "a\0b", "a" * 257, 0.5):
        assert labels.ask("POST", path, {"x": [1.0, 2.0], "y": label}).status == 422, label
    assert labels.ask("POST", "/models/labels/checkpoint").status == 200


def test_labels_and_names_fit_into_a_checkpoint(live: Live) -> None:
    live.ask("PUT", "/models/long", {"kind": "classifier", "settings": SMALL})
    rows = [{"x": [1.0, float(i)], "y": "\U0001f600" * 250 + str(i)} for i in range(500)]
    refused = live.learned({"rows": rows}, "long")
    assert (refused.status, "letters" in refused.json["error"]) == (422, True)
    for names in (
        ["a\n", "b"],
        ["", "b"],
        ["\ud800"],
        ["a" * 129],
        [f"{i}é" * 60 for i in range(5000)],
    ):
        x = dict.fromkeys(names, 1.0)
        assert live.ask("POST", "/models/long/learn", {"x": x, "y": "a"}).status == 400
        wanted = {"kind": "regressor", "columns": names}
        assert live.ask("PUT", "/models/other", wanted).status == 400
    assert live.ask("GET", "/models/long").json["columns"] == []
    live.ask("DELETE", "/models/long")


@pytest.mark.parametrize("depth", [300, 500, 700, 800, 850, 900, 920, 940, 960, 980])
def test_what_is_nested_deeply_is_set_aside_or_refused(live: Live, depth: int) -> None:
    deep = b"[" * depth + b"1" + b"]" * depth
    kind = {"Content-Type": "application/json"}
    for body in (b'{"x": %b, "y": 1}' % deep, b'{"x": [1, 2], "y": %b}' % deep):
        answer = live.ask("POST", f"/models/plant/learn?{ASIDE}", body, kind)
        assert answer.status in (200, 400)
        assert live.ask("POST", "/models/plant/learn", body, kind).status in (400, 422)


@pytest.mark.parametrize(
    "y",
    [
        pa.array([2**62], pa.timestamp("s")),
        pa.array([b"\xff"]),
        pa.array([{"a": 1.0}]),
        pa.array([[["a"]]]),
        pa.array(["a"]).dictionary_encode(),
        pa.array([1], pa.date32()),
        pa.ListViewArray.from_arrays([0], [100], pa.array([0.5] * 100)),
        pa.RunEndEncodedArray.from_arrays(pa.array([1], pa.int32()), pa.array([0.5])),
    ],
    ids=lambda y: str(y.type),
)
def test_targets_and_ids_of_other_types_are_refused(live: Live, y: Any) -> None:
    body = table({"flow": [1.0], "level": [1.0], "y": y})
    for path in (f"/models/plant/learn?{ASIDE}", "/models/plant/learn"):
        assert live.ask("POST", path, body, {"Content-Type": ARROW}).status == 400
    named = table({"id": y, "y": [1.0]})
    assert live.ask("POST", "/models/plant/label", named, {"Content-Type": ARROW}).status == 400


def test_a_small_body_does_not_become_a_large_table(tmp_path: Path) -> None:
    with running(tmp_path) as live:
        live.ask("PUT", "/models/wide", {"kind": "regressor", "settings": SMALL})
        bits = pa.array(np.zeros(40_000, dtype=bool))
        body = table({f"c{i}": bits for i in range(1000)})
        assert len(body) < 8 << 20
        answer = live.ask("POST", "/models/wide/transform", body, {"Content-Type": ARROW})
        assert (answer.status, "values" in answer.json["error"]) == (400, True)


def test_labels_are_counted_before_they_are_looked_at(live: Live) -> None:
    labels = {"labels": [{"id": f"n{i}", "y": 1.0} for i in range(2001)]}
    assert live.ask("POST", "/models/plant/label", labels).status == 400
    lines = b"{}\n" * 3000
    kind = {"Content-Type": "application/x-ndjson"}
    answer = live.ask("POST", "/models/plant/learn?on_error=set-aside", lines, kind)
    assert (answer.status, "3000 rows" in answer.json["error"]) == (400, True)


def test_a_row_with_an_id_anywhere_is_not_forgotten(live: Live) -> None:
    rows = {"rows": [{"x": [1.0, 2.0]}, {"x": [1.0, 2.0], "id": "late"}]}
    answer = live.ask("POST", "/models/plant/predict", rows)
    assert (answer.status, "id" in answer.json["error"]) == (400, True)


def test_a_bad_first_row_does_not_say_how_long_others_are(live: Live) -> None:
    live.ask("PUT", "/models/fresh", {"kind": "regressor", "settings": SMALL})
    rows = [{"x": [1.0, 2.0, 3.0], "y": None}, {"x": [1.0, 2.0], "y": 1.0}]
    answer = live.ask("POST", f"/models/fresh/learn?{ASIDE}", {"rows": rows})
    assert (answer.json["learned"], answer.json["set_aside"]) == (1, 1)
    live.ask("DELETE", "/models/fresh")


def test_names_are_not_guessed_by_their_order(labels: Live) -> None:
    asked = {"x": {"b": 1.0, "a": 2.0}}
    assert labels.ask("POST", "/models/labels/predict", asked).status == 422
    body = table({"b": [1.0], "a": [1.0], "y": ["a"]})
    answer = labels.ask("POST", "/models/labels/learn", body, {"Content-Type": ARROW})
    assert answer.json["learned"] == 1


def test_a_row_that_lacks_a_value_belongs_to_no_class(live: Live) -> None:
    asked = {"kind": "classifier", "settings": {**SMALL, "missing": "skip"}}
    live.ask("PUT", "/models/gaps", asked)
    rows = [{"x": [float(i), 1.0], "y": "ab"[i % 2]} for i in range(40)]
    live.learned({"rows": rows}, "gaps")
    whole, gap = {"x": [1.0, 1.0]}, {"x": [None, 1.0]}
    found = live.ask("POST", "/models/gaps/predict", {"rows": [whole, gap]}).json
    assert found["predictions"][0] in ("a", "b")
    assert found["predictions"][1] is None
    assert found["probabilities"][1] == [None, None]
    assert live.ask("POST", "/models/gaps/predict", gap).json["predictions"] == [None]
    arrow = live.ask("POST", "/models/gaps/predict", gap, {"Accept": ARROW})
    assert pa.ipc.open_stream(arrow.body).read_all()["prediction"].to_pylist() == [None]
    for what in ("transform", "explain", "monitor"):
        assert live.ask("POST", f"/models/gaps/{what}", {"rows": [whole, gap]}).status in (200, 409)
    live.ask("DELETE", "/models/gaps")


def test_classes_and_probabilities_are_of_one_state(
    labels: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A class that comes between two looks at the model shows in both or in none."""
    model = labels.service.hosts.find("labels").model
    known = OKSPCAClassifier.classes_.fget  # type: ignore[attr-defined]

    def read_late(self: Any) -> Any:
        found = known(self)
        if len(found) == 2:
            X, y = np.array([[9.0, 9.0]] * 5), np.array(["c"] * 5)
            model.partial_fit(X, y)
        return found

    monkeypatch.setattr(OKSPCAClassifier, "classes_", property(read_late))
    asked = {"rows": [{"x": [9.0, 9.0]}, {"x": [1.0, 1.0]}]}
    found = labels.ask("POST", "/models/labels/predict", asked).json
    assert [len(each) for each in found["probabilities"]] == [len(found["classes"])] * 2
    np.testing.assert_allclose(np.sum(found["probabilities"], axis=1), 1.0)


@pytest.mark.parametrize(
    ("asked", "status", "why"),
    [
        ({"kind": []}, 400, "kind is one of"),
        ({"kind": "regressor", "columns": {}}, 400, "list"),
        ({"kind": "regressor", "target": ""}, 400, "target"),
        ({"kind": "regressor", "monitor": "no"}, 400, "monitor"),
        ({"kind": "regressor", "settings": []}, 400, "settings"),
        ({"kind": "regressor", "settings": {"n_random_features": 5000}}, 422, "4096 at most"),
        ({"kind": "regressor", "settings": {"pilot_rows": 10**9}}, 422, "pilot_rows"),
        ({"kind": "regressor", "settings": {"n_threads": 10**6}}, 422, "n_threads"),
        ({"kind": "regressor", "settings": {"random_state": -1}}, 422, "random_state"),
        ({"kind": "regressor", "settings": {"random_state": 1 << 40}}, 422, "random_state"),
    ],
)
def test_models_too_large_or_strange_are_refused(
    live: Live, asked: Any, status: int, why: str
) -> None:
    answer = live.ask("PUT", "/models/other", asked)
    assert (answer.status, why in answer.json["error"]) == (status, True), answer.body


def test_a_model_with_many_features_has_few_inputs(live: Live) -> None:
    names = [f"c{i}" for i in range(MOST_NUMBERS // 4096 + 1)]
    asked = {"kind": "regressor", "settings": {"n_random_features": 4096}, "columns": names}
    answer = live.ask("PUT", "/models/other", asked)
    assert (answer.status, "columns" in answer.json["error"]) == (422, True)
    assert made({**asked, "columns": names[:-1]})[0].n_random_features == 4096


def test_a_file_cannot_ask_for_more_than_settings(live: Live, tmp_path: Path) -> None:
    path = tmp_path / "large.okspca"
    OKSPCAClassifier(n_random_features=5000, random_state=0).save(path)
    kind = {"Content-Type": "application/octet-stream"}
    answer = live.ask("PUT", "/models/other", path.read_bytes(), kind)
    assert (answer.status, "4096" in answer.json["error"]) == (422, True)


def test_a_model_that_cannot_be_served_leaves_no_name_behind(
    live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(hosted: Any) -> None:
        message = "nobody looks at this"
        raise OSError(28, message)

    with monkeypatch.context() as patched:
        patched.setattr(live.service.hosts, "met", [fails])
        assert live.ask("PUT", "/models/other", PLANT).status == 507
    assert live.ask("GET", "/models/other").status == 404
    assert live.ask("PUT", "/models/other", PLANT).status == 201
    assert live.ask("DELETE", "/models/other").status == 200


def test_one_of_many_makes_a_model(live: Live) -> None:
    statuses: list[int] = []

    def make() -> None:
        statuses.append(live.ask("PUT", "/models/race", PLANT).status)

    threads = [threading.Thread(target=make) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(statuses) == [201, 409, 409, 409, 409]
    live.ask("DELETE", "/models/race")


def test_an_id_is_labelled_once(live: Live) -> None:
    asked = {"rows": [{"x": [0.1, 0.2], "id": f"r{i}"} for i in range(20)]}
    assert live.ask("POST", "/models/plant/predict", asked).status == 200
    before = live.ask("GET", "/models/plant").json["rows"]
    found: list[tuple[int, int]] = []

    def label(name: str) -> None:
        answer = live.ask("POST", "/models/plant/label?wait=learned", {"id": name, "y": 1.0})
        found.append((answer.status, answer.json.get("learned", 0)))

    threads = [threading.Thread(target=label, args=(f"r{i // 2}",)) for i in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == [(200, 1)] * 20 + [(422, 0)] * 20
    assert live.ask("GET", "/models/plant").json["rows"] == before + 20


@pytest.mark.parametrize(
    "path",
    [
        *("/static/%00.js", "/static/a%00.js", "/static/" + "a" * 300 + ".js", "/static//etc/a.js"),
        *("/static/..%5capp.js", "/static/uplot%5c..%5capp.js", "/static/" + "a/" * 999 + "b.js"),
    ],
)
def test_names_of_files_that_are_none_are_not_found(guarded: Live, path: str) -> None:
    assert guarded.ask("GET", path).status == 404


def test_nobody_is_sent_elsewhere(live: Live) -> None:
    for path in ("/models/", "/models/plant/", "//evil.example/", "/login/"):
        answer = live.ask("GET", path)
        assert (answer.status, "location" in answer.headers) == (404, False)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}, 403),
        ({"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}, 200),
        ({"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors"}, 200),
        ({"Sec-Fetch-Site": "none"}, 200),
    ],
)
def test_pages_of_others_do_not_listen(live: Live, headers: dict[str, str], status: int) -> None:
    assert live.ask("GET", "/models", None, headers).status == status


def test_methods_that_are_not_meant_are_refused(guarded: Live) -> None:
    for method in ("OPTIONS", "TRACE", "PATCH", "PROPFIND"):
        guarded.token = ""
        assert guarded.ask(method, "/models/plant").status == 401
        guarded.token = TOKENS["admin"]
        assert guarded.ask(method, "/models/plant").status == 405
    guarded.token = ""


def test_other_cookies_do_not_hide_ours(guarded: Live) -> None:
    guarded.token = ""
    begun = guarded.ask("POST", "/login", {"token": TOKENS["ask"]})
    ours = begun.headers["set-cookie"].partition(";")[0]
    for other in ('a={"b": [1, 2]}', "=", "a[]=1", 'a="b'):
        cookie = {"Cookie": f"{other}; {ours}"}
        assert guarded.ask("GET", "/session", None, cookie).status == 200, other


def test_a_new_session_ends_the_old_one(guarded: Live) -> None:
    guarded.token = ""
    first = guarded.ask("POST", "/login", {"token": TOKENS["ask"]})
    old = {"Cookie": first.headers["set-cookie"].partition(";")[0]}
    second = guarded.ask("POST", "/login", {"token": TOKENS["learn"]}, old)
    new = {"Cookie": second.headers["set-cookie"].partition(";")[0]}
    assert old != new
    assert guarded.ask("GET", "/session", None, old).status == 401
    assert guarded.ask("GET", "/session", None, new).json["role"] == "learn"


def test_login_reads_little_and_lets_nobody_guess(tmp_path: Path) -> None:
    tokens = Tokens(admin=(TOKENS["admin"],))
    with running(tmp_path, tokens=tokens) as server:
        assert server.ask("POST", "/login", {"token": "x" * 5000}).status == 413
        statuses = [server.ask("POST", "/login", {"token": "x" * 20}).status for _ in range(40)]
        assert (statuses[0], statuses[-1]) == (401, 429)
        refused = server.ask("POST", "/login", {"token": TOKENS["admin"]})
        assert (refused.status, int(refused.headers["retry-after"]) > 0) == (429, True)
        server.token = TOKENS["admin"]
        assert server.ask("GET", "/models").status == 200


def test_guesses_are_forgotten() -> None:
    guesses = Guesses(most=3, seconds=2.0)
    for _ in range(3):
        assert guesses.seconds_left("here", 0.0) == 0.0
        guesses.note("here", 0.0)
    assert guesses.seconds_left("here", 0.0) == 2.0
    assert guesses.seconds_left("there", 0.0) == 0.0
    assert guesses.seconds_left("here", 2.0) == 0.0


def test_who_may_only_ask_ends_no_session_of_an_admin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("okspca.serve.security.MOST_SESSIONS", 3)
    sessions = Sessions()
    admin, _ = sessions.begin("admin")
    names = [sessions.begin("ask")[0] for _ in range(10)]
    assert sessions.find(admin) is not None
    assert [sessions.find(name) is not None for name in names] == [False] * 7 + [True] * 3


def test_one_request_now_and_then_is_allowed() -> None:
    rates = Rates(0.5)
    assert [rates.allows("me", now) for now in (0.0, 0.1, 1.0, 2.2)] == [True, False, False, True]


@pytest.mark.parametrize(
    ("settings", "host", "is_ours"),
    [
        ({"host": "10.0.0.7", "allowed_hosts": ("Plant.example",)}, "plant.example:8787", True),
        ({"host": "10.0.0.7", "allowed_hosts": ("plant.example",)}, "10.0.0.7:8787", True),
        ({"host": "10.0.0.7", "allowed_hosts": ("plant.example",)}, "evil.example", False),
        ({"host": "127.0.0.2"}, "127.0.0.2:8787", True),
        ({"host": "::1"}, "[::1]:8787", True),
        ({"host": "127.0.0.1"}, "127.0.0.1.evil.example", False),
        ({"host": "127.0.0.1"}, "evil.example:127.0.0.1", False),
    ],
)
def test_a_service_knows_its_names(settings: dict[str, Any], host: str, is_ours: bool) -> None:
    assert Places(Settings(**settings)).is_ours(host) == is_ours


def test_listeners_are_bounded(live: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events_module, "MOST_LISTENERS", 3)
    open_ones = [listening(live) for _ in range(3)]
    refused = live.ask("GET", "/models/plant/events")
    assert (refused.status, refused.headers["retry-after"]) == (429, "10")
    assert live.ask("HEAD", "/models/plant/events").status == 429
    for connection in open_ones:
        connection.close()
    while live.ask("HEAD", "/models/plant/events").status != 200:
        time.sleep(0.01)  # until the server has noticed
    assert live.service.events.n_listeners == 0


def listening(live: Live, headers: dict[str, str] | None = None) -> http.client.HTTPConnection:
    """A connection over which events come."""
    connection = http.client.HTTPConnection("127.0.0.1", live.port, timeout=60)
    connection.request("GET", "/models/plant/events", headers=headers or {})
    response = connection.getresponse()
    assert response.status == 200
    assert response.readline()
    connection.events = response  # type: ignore[attr-defined]
    return connection


def test_whoever_leaves_before_the_first_look_is_forgotten(live: Live) -> None:
    events = live.service.events
    board = events_module.Board(live.service.hosts.find("plant"))
    listener = events_module.Listener(events._loop)  # type: ignore[arg-type]
    board.awaiting.add(listener)
    listener.end()
    board.keep(listener)
    assert (board.listeners, board.awaiting) == (set(), set())


def test_events_end_with_the_session(guarded: Live) -> None:
    guarded.token = ""
    begun = guarded.ask("POST", "/login", {"token": TOKENS["ask"]})
    session = {"Cookie": begun.headers["set-cookie"].partition(";")[0]}
    connection = listening(guarded, session)
    right = {**session, "X-CSRF-Token": begun.json["csrf"]}
    assert guarded.ask("POST", "/logout", None, right).status == 200
    guarded.token = TOKENS["learn"]
    guarded.ask("POST", "/models/plant/learn", plant_rows(5))
    guarded.token = ""
    assert b"data" not in connection.events.read()[-100:]  # type: ignore[attr-defined]
    connection.close()


def test_all_bodies_together_are_bounded(tmp_path: Path) -> None:
    with running(tmp_path, max_body_bytes=4000, max_waiting_bytes=4000) as live:
        live.ask("PUT", "/models/plant", PLANT)
        held = http.client.HTTPConnection("127.0.0.1", live.port, timeout=60)
        held.putrequest("POST", "/models/plant/learn")
        held.putheader("Content-Type", "application/json")
        held.putheader("Content-Length", "4000")
        held.endheaders(b" " * 3500)
        while live.service.room.taken < 3500:
            pass
        rows = json.dumps(plant_rows(10)).encode()
        assert len(rows) > 500
        kind = {"Content-Type": "application/json"}
        assert live.ask("POST", "/models/plant/learn", rows, kind).status == 429
        held.close()
        while live.service.room.taken:
            pass
        assert live.ask("POST", "/models/plant/learn", rows, kind).status == 200


def test_paths_add_no_lines_to_the_log(live: Live, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("DEBUG", "okspca.serve.requests"):
        live.ask("GET", "/models/a%0d%0a2026-11-19%20INFO%20all%20is%20well")
        while not caplog.messages:  # it is noted after the answer has gone
            live.ask("GET", "/healthz")
    assert not any("\n" in message for message in caplog.messages)


def test_arrow_that_is_not_installed_is_said(live: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr("okspca.serve.bodies.import_module", missing)
    asked = {"x": [0.1, 0.2]}
    answer = live.ask("POST", "/models/plant/transform", asked, {"Accept": ARROW})
    assert (answer.status, "JSON" in answer.json["error"]) == (415, True)


def test_relearning_that_cannot_be_is_not_promised(live: Live) -> None:
    refused = live.ask("POST", "/models/plant/relearn")
    assert (refused.status, "features" in refused.json["error"]) == (409, True)


def test_a_body_of_nothing_but_lists_is_not_read(live: Live) -> None:
    kind = {"Content-Type": "application/json"}
    body = b'{"rows": [' + b"[]," * 20_000 + b"[]]}"
    answer = live.ask("POST", "/models/plant/learn", body, kind)
    assert (answer.status, "lists and objects" in answer.json["error"]) == (400, True)
    names = {f"{'temperature [C]' * 3}{i}": 1.0 for i in range(400)}
    rows = {"rows": [{"x": names, "y": 1.0}] * 100}
    assert live.ask("POST", "/models/plant/learn", rows).status == 422


def test_files_in_folders_of_the_page_are_served(guarded: Live) -> None:
    for name in ("app.js", "uplot/uPlot.iife.min.js", "uplot/uPlot.min.css"):
        assert guarded.ask("GET", f"/static/{name}").status == 200
    for name in (
        "uplot",
        "uplot/no.js",
        "app.js/app.js",
        "uplot/uplot/uPlot.min.css",
        "uplot/LICENSE",
    ):
        assert guarded.ask("GET", f"/static/{name}").status == 404
