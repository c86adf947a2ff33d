"""Redis Streams through a real server: every entry once, wherever the process ends."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from okspca import OKSPCA, DataError
from okspca.distributed import following
from okspca.distributed.redis_streams import RedisLearner
from okspca_lab.ordeals import redis_server

pytest.importorskip("redis", reason="needs okspca[redis]")
if not redis_server.is_installed():
    pytest.skip("needs redis-server", allow_module_level=True)

STREAMS = ["sales", "returns"]


@pytest.fixture(scope="module")
def server() -> Iterator[Any]:
    with redis_server.running() as client:
        yield client


@pytest.fixture
def client(server: Any) -> Any:
    server.flushall()
    return server


def model(**changes: Any) -> OKSPCA:
    settings: dict[str, Any] = {"standardize": None, "task": "regression", **changes}
    return OKSPCA(1, n_random_features=8, random_state=0, **settings)


def learner(path: Path, **changes: Any) -> RedisLearner:
    settings: dict[str, Any] = {"columns": ["a", "b"], "target": "y", "block_rows": 16, **changes}
    return RedisLearner(path, settings.pop("model", model()), STREAMS, **settings)


def fill(client: Any, n: int) -> tuple[Any, Any]:
    """Rows in both streams by turns."""
    X = np.random.RandomState(0).normal(size=(n, 2))
    y = X[:, 0] ** 2
    for i, ((a, b), value) in enumerate(zip(X.tolist(), y.tolist(), strict=True)):
        client.xadd(STREAMS[i % 2], {"a": a, "b": b, "y": value})
    return X, y


def assert_equal(found: OKSPCA, X: Any, y: Any) -> None:
    assert found.n_samples_seen_ == len(y)
    C = model().partial_fit(X, y).moment_.matrix()
    assert np.linalg.norm(found.moment_.matrix() - C) <= 1e-12 * np.linalg.norm(C)


def follow(found: RedisLearner, client: Any) -> None:
    while found.learn_available(client, timeout=0.0):
        pass


def fail(*_: Any) -> None:
    raise OSError("the power went")


def test_every_entry_is_learned_once_across_crashes(
    client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = fill(client, 100)
    path = tmp_path / "m.okspca"
    for _ in range(3):
        assert learner(path).learn_available(client) == 16
        with monkeypatch.context() as broken:
            broken.setattr(following, "save_model", fail)
            with pytest.raises(OSError, match="power"):
                learner(path).learn_available(client)
    found = learner(path)
    follow(found, client)
    assert_equal(found.model, X, y)
    assert_equal(learner(path).model, X, y)
    last = {name: client.xrevrange(name, count=1)[0][0].decode() for name in STREAMS}
    assert learner(path).last_entries == found.last_entries == last
    assert found.record.inputs == ("redis:sales", "redis:returns")


def test_an_entry_that_comes_while_it_waits_is_learned(client: Any, tmp_path: Path) -> None:
    found = learner(tmp_path / "m.okspca")
    assert found.learn_available(client, timeout=0.001) == 0
    assert not found.path.exists()
    client.xadd("returns", {"a": 1.0, "b": 2.0, "y": 1.0})
    assert found.learn_available(client, timeout=60.0) == 1
    assert found.last_entries["sales"] == "0-0"


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"a": 1.0, "y": 2.0}, "KeyError 'b'"),
        ({"a": 1.0, "b": "nan", "y": 2.0}, "X contains NaN"),
        ({"a": 1.0, "b": "much", "y": 2.0}, "could not convert"),
        ({"a": 1.0, "b": b"\xff\xfe", "y": 2.0}, "UnicodeDecodeError"),
    ],
)
def test_bad_entries_stop_it_or_are_set_aside(
    client: Any, tmp_path: Path, fields: dict[str, Any], reason: str
) -> None:
    fill(client, 20)
    key = client.xadd("sales", fields).decode()
    client.xadd("sales", {"a": 1.0, "b": 2.0, "y": 3.0})
    stopped = learner(tmp_path / "stopped.okspca")
    with pytest.raises(DataError, match=f"entry {key} of 'sales' cannot be learned: .*{reason}"):
        follow(stopped, client)
    # An entry of the other stream may have come in the same millisecond.
    assert stopped.model.n_samples_seen_ in (19, 20)
    again = learner(stopped.path)
    with pytest.raises(ValueError, match="No entry was refused"):
        again.skip()
    with pytest.raises(DataError, match=key):
        again.learn_available(client)
    again.skip()
    follow(again, client)
    aside = learner(tmp_path / "aside.okspca", on_error="set-aside")
    follow(aside, client)
    for found in (again, aside):
        assert (found.record.rows_read, found.record.rows_skipped) == (22, 1)
        assert found.model.n_samples_seen_ == 21
    (line,) = (tmp_path / "aside.okspca.set-aside.ndjson").read_text().splitlines()
    told = json.loads(line)
    assert (told["stream"], told["id"], told["value"]["a"]) == ("sales", key, "1.0")
    assert reason in told["reason"]


def test_lines_of_a_block_that_was_not_saved_are_dropped(
    client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They would be there twice otherwise, since their entries are read again."""
    fill(client, 20)
    client.xadd("sales", {"a": "spoiled"})
    fill(client, 20)
    path = tmp_path / "m.okspca"
    first = learner(path, on_error="set-aside")
    with monkeypatch.context() as broken:
        broken.setattr(following, "save_model", fail)
        with pytest.raises(OSError, match="power"):
            follow(learner(path, on_error="set-aside", block_rows=64), client)
    assert len(first.set_aside.path.read_text().splitlines()) == 1
    again = learner(path, on_error="set-aside")
    follow(again, client)
    assert len(again.set_aside.path.read_text().splitlines()) == again.record.rows_skipped == 1
    assert learner(path, on_error="set-aside").set_aside.path.read_text().count("spoiled") == 1


def test_the_file_of_bad_entries_is_bounded(client: Any, tmp_path: Path) -> None:
    for number in range(30):
        client.xadd("sales", {"a": number, "long": "x" * 10_000})
    found = learner(tmp_path / "m.okspca", on_error="set-aside", most_set_aside=5)
    follow(found, client)
    text = found.set_aside.path.read_text()
    assert [json.loads(line)["value"]["a"] for line in text.splitlines()] == list("01234")
    assert len(text) < 5 * 4000
    assert found.record.rows_skipped == found.record.rows_read == 30


def test_what_was_trimmed_before_it_was_learned_is_missed(client: Any, tmp_path: Path) -> None:
    fill(client, 40)
    path = tmp_path / "m.okspca"
    learner(path).learn_available(client)
    last = learner(path).last_entries
    client.xtrim("sales", minid=last["sales"], approximate=False)  # what was learned may go
    assert learner(path).learn_available(client) == 16
    client.xtrim("returns", maxlen=0, approximate=False)
    found = learner(path)
    with pytest.raises(DataError, match=r"'returns' behind .* were deleted or trimmed"):
        found.learn_available(client)
    found.accept_deleted("returns", client)
    follow(found, client)
    assert 16 * 2 <= found.model.n_samples_seen_ < 40
    follow(learner(path), client)
    # One that was not learned is deleted from among others.
    keys = [client.xadd("sales", {"a": 1.0, "b": 2.0, "y": 1.0}) for _ in range(3)]
    client.xdel("sales", keys[1])
    with pytest.raises(DataError, match=r"'sales' behind .* were deleted or trimmed"):
        learner(path).learn_available(client)
    # A stream of which nothing was learned begins with what it holds.
    follow(learner(tmp_path / "fresh.okspca"), client)


def test_labels_are_texts(client: Any, tmp_path: Path) -> None:
    for number, label in enumerate(["1", "0", "high"] * 4):
        client.xadd("sales", {"a": float(number), "b": 0.5, "y": label})
    found = learner(tmp_path / "m.okspca", model=model(task="classification"))
    follow(found, client)
    assert found.model.classes_.tolist() == ["1", "0", "high"]


def test_wrong_settings_and_other_kinds_of_keys_are_named(client: Any, tmp_path: Path) -> None:
    path = tmp_path / "m.okspca"
    with pytest.raises(ValueError, match=r"streams=.'s', 's'.; name one or several"):
        RedisLearner(path, model(), ["s", "s"], columns=["a"], target="y")
    with pytest.raises(ValueError, match="on_error='skip', but it must be"):
        learner(path, on_error="skip")
    with pytest.raises(ValueError, match="block_rows=0, but a block"):
        learner(path, block_rows=0)
    client.set("sales", "a text")
    with pytest.raises(Exception, match="WRONGTYPE"):
        learner(path).learn_available(client)
