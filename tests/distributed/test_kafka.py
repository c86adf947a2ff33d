"""A log is learned exactly once, whatever is delivered twice and wherever the process ends."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from okspca import OKSPCA, DataError, StateError
from okspca.distributed import Survey, following, identity
from okspca.distributed.kafka import LogLearner
from okspca.state.container import Content
from okspca.state.fields import Sink, Source
from okspca.state.streams import StreamRecord, read_stream, write_stream

PLACES = [("sales", 0), ("sales", 1)]


class Entry(NamedTuple):
    place: tuple[str, int]
    number: int
    content: bytes
    problem: Any = None

    def topic(self) -> str:
        return self.place[0]

    def partition(self) -> int:
        return self.place[1]

    def offset(self) -> int:
        return self.number

    def value(self) -> bytes:
        return self.content

    def error(self) -> Any:
        return self.problem


class Broker:
    """A log in memory, and a consumer of it that delivers every fifth message twice."""

    def __init__(self, n: int) -> None:
        random = np.random.RandomState(0)
        self.X = random.normal(size=(2 * n, 2))
        self.y = self.X[:, 0] ** 2
        rows = [{"a": a, "b": b, "y": y} for (a, b), y in zip(self.X, self.y, strict=True)]
        self.log = {
            place: [Entry(place, i, json.dumps(row).encode()) for i, row in enumerate(rows[p::2])]
            for p, place in enumerate(PLACES)
        }
        self.waiting: list[Entry] = []

    def assign(self, places: list[Any]) -> None:
        parts = [
            self.log[topic, partition][max(offset, 0) :] for topic, partition, offset in places
        ]
        self.waiting = [entry for pair in zip(*parts, strict=False) for entry in pair]
        longest = max(parts, key=len)
        self.waiting += longest[min(len(part) for part in parts) :]
        self.waiting = [e for e in self.waiting for _ in range(2 if e.number % 5 == 0 else 1)]

    def poll(self, timeout: float) -> Entry | None:
        return self.waiting.pop(0) if self.waiting else None


def place(topic: str, partition: int, offset: int) -> tuple[str, int, int]:
    return topic, partition, offset


def model(**changes: Any) -> OKSPCA:
    settings: dict[str, Any] = {"standardize": None, "task": "regression", **changes}
    return OKSPCA(1, n_random_features=8, random_state=0, **settings)


def learner(path: Path, **changes: Any) -> LogLearner:
    settings: dict[str, Any] = {"columns": ["a", "b"], "target": "y", "block_rows": 16, **changes}
    return LogLearner(path, model(), PLACES, **settings)


def test_every_message_is_learned_once_across_crashes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broker, path = Broker(50), tmp_path / "m.okspca"
    for attempt in range(20):
        follower = learner(path)
        follower.attach(broker, place)
        assert follower.learn_available(broker) > 0
        with monkeypatch.context() as broken:
            # It dies after it has learned a block, before that is on the disk.
            def fail(*_: Any) -> None:
                raise OSError("the power went")

            broken.setattr(following, "save_model", fail)
            if follower.record.rows_read < 100:
                with pytest.raises(OSError, match="power"):
                    follower.learn_available(broker)
        if follower.offsets == {("sales", 0): 50, ("sales", 1): 50} and attempt:
            break
    follower = learner(path)
    follower.attach(broker, place)
    while follower.learn_available(broker):
        pass
    assert follower.offsets == {("sales", 0): 50, ("sales", 1): 50}
    assert follower.record.rows_read == follower.model.n_samples_seen_ == 100
    C = model().partial_fit(broker.X, broker.y).moment_.matrix()
    assert np.linalg.norm(follower.model.moment_.matrix() - C) <= 1e-12 * np.linalg.norm(C)


def complain(entry: Entry) -> Entry:
    return entry._replace(problem="the broker is down")


def without(broker: Broker, place: tuple[str, int], number: int) -> Any:
    """The model of all rows but one, or of all."""
    kept = np.ones(len(broker.y), dtype=bool)
    kept[2 * number + PLACES.index(place)] = False
    return model().partial_fit(broker.X[kept], broker.y[kept]).moment_.matrix()


def follow(follower: LogLearner, broker: Broker) -> list[str]:
    """Learn until there is nothing, with all errors on the way; stop at one that stays."""
    errors: list[str] = []
    while True:
        try:
            if not follower.learn_available(broker):
                return errors
        except DataError as failure:
            if errors and errors[-1] == str(failure):
                return errors
            errors.append(str(failure))


@pytest.mark.parametrize("before", [0, 7, 15, 16, 40])
def test_an_error_between_polls_loses_no_message(tmp_path: Path, before: int) -> None:
    broker, path = Broker(50), tmp_path / "m.okspca"
    follower = learner(path)
    follower.attach(broker, place)
    broker.waiting.insert(before, complain(broker.waiting[before]))
    (error,) = follow(follower, broker)
    assert "cannot be read: the broker is down" in error
    assert follower.offsets == learner(path).offsets == {("sales", 0): 50, ("sales", 1): 50}
    C = model().partial_fit(broker.X, broker.y).moment_.matrix()
    for followed in (follower, learner(path)):
        assert followed.model.n_samples_seen_ == followed.record.rows_read == 100
        found = followed.model.moment_.matrix()
        assert np.linalg.norm(found - C) <= 1e-12 * np.linalg.norm(C)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b'{"a": 1.0}', "KeyError 'b'"),
        (b'{"a": 1.0, "b": NaN, "y": 1.0}', "X contains NaN at row 0, column 1"),
        (b'{"a": 1.0, "b": 1.0, "y": "high"}', "y must be numeric"),
        (b'{"a": 1.0, "b": 1.0, "y": null}', "y contains None at row 0"),
        (b"1" + 400 * b"0", "TypeError"),
        (b'{"a": 1' + 400 * b"0" + b', "b": 1.0, "y": 1.0}', "OverflowError"),
        (b"not JSON", "JSONDecodeError"),
    ],
)
def test_a_message_that_cannot_be_learned_stops_it_until_it_is_left_out(
    tmp_path: Path, content: bytes, reason: str
) -> None:
    broker, path = Broker(50), tmp_path / "m.okspca"
    broker.log["sales", 1][13] = Entry(("sales", 1), 13, content)
    follower = learner(path)
    follower.attach(broker, place)
    (error,) = follow(follower, broker)
    assert f"sales[1] at offset 13 cannot be learned: {reason}" in error
    # Up to it everything is learned, in memory and in the file.
    assert follower.offsets == learner(path).offsets == {("sales", 0): 14, ("sales", 1): 13}
    assert follower.model.n_samples_seen_ == learner(path).model.n_samples_seen_ == 27
    # Another process stops at the same message.
    again = learner(path)
    again.attach(broker, place)
    assert follow(again, broker) == [error]
    again.skip("sales", 1)
    assert follow(again, broker) == []
    assert again.offsets == {("sales", 0): 50, ("sales", 1): 50}
    assert again.model.n_samples_seen_ == 99
    assert (again.record.rows_read, again.record.rows_skipped) == (100, 1)
    C = without(broker, ("sales", 1), 13)
    assert np.linalg.norm(again.model.moment_.matrix() - C) <= 1e-12 * np.linalg.norm(C)


@pytest.mark.parametrize("learns_first", [False, True])
def test_an_interruption_within_a_block_counts_what_was_learned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, learns_first: bool
) -> None:
    broker, path = Broker(50), tmp_path / "m.okspca"
    follower = learner(path)
    follower.attach(broker, place)
    follower.learn_available(broker)
    learn = OKSPCA.partial_fit

    def interrupted(*rows: Any, **weights: Any) -> None:
        if learns_first:
            learn(*rows, **weights)
        raise KeyboardInterrupt

    with monkeypatch.context() as broken:
        broken.setattr(OKSPCA, "partial_fit", interrupted)
        with pytest.raises(KeyboardInterrupt):
            follower.learn_available(broker)
    assert follower.record.rows_read == follower.model.n_samples_seen_
    assert learner(path).offsets == follower.offsets
    assert follow(follower, broker) == []
    assert follower.record.rows_read == follower.model.n_samples_seen_ == 100


def test_what_could_not_be_saved_is_saved_by_the_next_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broker, path = Broker(5), tmp_path / "m.okspca"
    follower = learner(path)
    follower.attach(broker, place)

    def fail(*_: Any) -> None:
        raise OSError("the disk is full")

    with monkeypatch.context() as broken:
        broken.setattr(following, "save_model", fail)
        with pytest.raises(OSError, match="full"):
            follower.learn_available(broker)
    assert follower.learn_available(broker) == 0
    assert learner(path).model.n_samples_seen_ == follower.model.n_samples_seen_ == 10


@pytest.mark.parametrize("block_rows", [1, 3, 16])
def test_labels_of_two_kinds_are_refused_at_the_same_message(
    tmp_path: Path, block_rows: int
) -> None:
    rows = [b'{"a": 0.5, "y": 1}', b'{"a": 0.1, "y": 2}', b'{"a": 0.2, "y": "two"}']
    path, places = tmp_path / "m.okspca", [("sales", 0)]
    follower = LogLearner(
        path,
        model(task="classification"),
        places,
        columns=["a"],
        target="y",
        block_rows=block_rows,
    )
    broker = Broker(0)
    broker.waiting = [Entry(("sales", 0), number, row) for number, row in enumerate(rows)]
    (error,) = follow(follower, broker)
    assert "at offset 2 cannot be learned: y holds text" in error
    assert follower.model.n_samples_seen_ == follower.offsets["sales", 0] == 2


def test_a_learner_begins_from_a_copy_of_the_model(tmp_path: Path) -> None:
    """Settings, or a state of zero rows, serve many learners."""
    X = np.random.RandomState(1).normal(size=(64, 2))
    frozen = model(standardize="frozen")
    start = identity(frozen, Survey(frozen).add(X, X[:, 0]))
    broker = Broker(5)
    for name in ("one.okspca", "other.okspca"):
        follower = LogLearner(tmp_path / name, start, PLACES, columns=["a", "b"], target="y")
        follower.attach(broker, place)
        follower.learn_available(broker)
        assert follower.model.n_samples_seen_ == 10
    assert start.n_samples_seen_ == 0
    C = OKSPCA.from_bytes(start.to_bytes()).partial_fit(broker.X, broker.y).moment_.matrix()
    found = learner(tmp_path / "other.okspca").model.moment_.matrix()
    assert np.linalg.norm(found - C) <= 1e-12 * np.linalg.norm(C)


def test_another_log_is_refused_and_a_new_partition_begins_at_its_start(tmp_path: Path) -> None:
    broker, path = Broker(10), tmp_path / "m.okspca"
    follower = learner(path)
    follower.attach(broker, place)
    follower.learn_available(broker)
    with pytest.raises(DataError, match="other topics, columns or another target"):
        learner(path, target="b")
    with pytest.raises(ValueError, match="task='auto' cannot be told from a first block"):
        LogLearner(path, model(task="auto"), PLACES, columns=["a", "b"], target="y")
    wider = LogLearner(path, model(), [*PLACES, ("sales", 2)], columns=["a", "b"], target="y")
    assert wider.offsets[("sales", 2)] == 0
    assert wider.offsets[("sales", 0)] == 8


@pytest.mark.parametrize("offsets", [[["t", -1, 0]], [["t", 0, 0], ["t", 0, 1]], [], "t", [[0]]])
def test_offsets_that_are_impossible_are_refused(offsets: Any) -> None:
    sink = Sink()
    write_stream(sink, StreamRecord(("t",), "y", ("x",), "raise", offsets=(("t", 0, 7),)))
    content = sink.content()
    found = read_stream(Source(Content({"stream": dict(content.header["stream"])}, {})))
    assert found is not None
    assert found.offsets == (("t", 0, 7),)
    spoiled = {"stream": {**content.header["stream"], "offsets": offsets}}
    with pytest.raises(StateError, match="offsets"):
        read_stream(Source(Content(spoiled, {})))
