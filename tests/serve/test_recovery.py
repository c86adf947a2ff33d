"""A service that dies and comes back: the state is what the journal says, to the last bit."""

import errno
import shutil
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.random import RandomState

from okspca.errors import DataError
from okspca.estimators.saving import model_bytes
from okspca.serve.creating import begun, made
from okspca.serve.deciding import Change, Labels, Learn, Place, Relearn, Store
from okspca.serve.hosted import Hosted
from okspca.serve.journal import NoRoomError
from okspca.serve.learner import MODEL_FILE, SET_ASIDE_FILE
from okspca.serve.recorder import Outcome
from okspca.serve.refusals import RefusalError
from okspca.serve.rows import Form, rows_of
from okspca.serve.settings import Settings

PATIENCE = 60.0
KINDS: dict[str, dict[str, Any]] = {
    "regressor": {"kind": "regressor", "settings": {"n_random_features": 32, "pilot_rows": 600}},
    "classifier": {"kind": "classifier", "settings": {"n_random_features": 32}},
    "reducer": {
        "kind": "reducer",
        "settings": {"task": "regression", "preset": "paper", "n_random_features": 32},
    },
    "monitored": {
        "kind": "reducer",
        "settings": {"task": "regression", "preset": "paper", "n_random_features": 32},
        "monitor": True,
    },
    "with gaps": {
        "kind": "regressor",
        "settings": {"n_random_features": 32, "frequencies": "drawn", "missing": "impute"},
    },
}


class Tickets:
    """Those who wait: outcomes by ticket."""

    def __init__(self) -> None:
        self.outcomes: dict[Any, Outcome] = {}
        self._condition = threading.Condition()

    def settle(self, told: list[tuple[Any, Outcome]]) -> None:
        with self._condition:
            self.outcomes.update(told)
            self._condition.notify_all()

    def wait(self, ticket: Any) -> Outcome:
        with self._condition:
            assert self._condition.wait_for(lambda: ticket in self.outcomes, PATIENCE)
            return self.outcomes[ticket]


class Served:
    """One model, asked in this thread."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        self.tickets = Tickets()
        self.hosted = Hosted(folder, Settings(**settings), self.tickets.settle)
        self.hosted.start()
        self._n = 0

    def ask(self, change: Change, *, learned: bool = False) -> Outcome:
        ticket = self._n
        self._n += 1
        self.hosted.ask(change, ticket, waits_for_learner=learned)
        return self.tickets.wait(ticket)

    def bytes(self) -> bytes:
        learner = self.hosted.learner
        return model_bytes(self.hosted.model, learner.record._replace(ledger=learner.ledger))


def stream(kind: str, seed: int, n: int = 40) -> list[Change]:
    """Changes of all sorts: rows of two sources, rows that wait, labels, bad rows."""
    random = RandomState(seed)
    form = made(KINDS[kind])[0]
    task = form.task
    changes: list[Change] = []
    shape = Form(task, has_gaps=form.missing != "raise")
    numbers = {"a": 0, "b": 0}
    for step in range(n):
        X = random.normal(size=(random.randint(1, 60), 3))
        y = np.sin(X[:, 0]) if task == "regression" else (X[:, 0] > 0).astype(int)
        records = [{"x": x.tolist(), "y": target.item()} for x, target in zip(X, y, strict=True)]
        if step % 5 == 4:
            records[0]["x"] = [1.0, "bad", 2.0]
        if kind == "with gaps":
            records[-1]["x"] = [1.0, None, 0.5]
        if step % 4 == 3:
            waiting = [{"x": row["x"], "id": f"{step}/{i}"} for i, row in enumerate(records)]
            good = rows_of(waiting, shape, has_targets=False, has_ids=True)
            if not good.bad:
                changes.append(Store(good))
                changes.append(
                    Labels(good.ids[1:], [row["y"] for row in records][1 : len(good.ids)])
                )
            continue
        source = "ab"[step % 2]
        numbers[source] += 1
        place = Place(source, numbers[source])
        changes.append(Learn(rows_of(records, shape), place, sets_aside=True))
    return changes


def make(folder: Path, kind: str) -> Path:
    begun(folder, *made(KINDS[kind]))
    return folder


def replayed(folder: Path, kept: Path, fresh: Path) -> bytes:
    """The state of a process that was never interrupted, over the blocks of a journal."""
    journal = fresh / "journal"
    journal.mkdir()
    for path in [*kept.glob("*.journal"), *(folder / "journal").glob("*.journal")]:
        shutil.copy(path, journal / path.name)
    served = Hosted(fresh, Settings(checkpoint_seconds=1e9), lambda told: None)
    learner = served.learner
    while learner.rows_waiting or learner._entries:
        number, entry, _ = learner._entries.popleft()
        learner._rows -= entry.n_rows
        learner.apply(number, entry)
    return model_bytes(served.model, learner.record._replace(ledger=learner.ledger))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", [0, 1])
def test_a_process_that_died_comes_back_to_the_same_bits(
    tmp_path: Path, kind: str, seed: int
) -> None:
    folder, kept = make(tmp_path / "plant", kind), tmp_path / "kept"
    random = RandomState(seed)
    settings: dict[str, Any] = {
        "segment_bytes": 20_000,
        "keep_segments": kept,
        "checkpoint_seconds": 1e9,
    }
    served = Served(folder, **settings)
    for change in stream(kind, seed):
        outcome = served.ask(change, learned=random.rand() < 0.3)
        assert not isinstance(outcome, Exception), outcome
        if random.rand() < 0.15:
            name = f"checkpoint {random.rand()}"
            served.hosted.learner.ask_checkpoint(name)
            served.tickets.wait(name)
        if random.rand() < 0.2:
            # What a killed process leaves is what is on the disk at that moment.
            crash = tmp_path / "crash" / "plant"
            crash.parent.mkdir(exist_ok=True)
            shutil.copytree(folder, crash)
            served.hosted.end()
            shutil.rmtree(folder)
            crash.rename(folder)
            served = Served(folder, **settings)
    served.hosted.end()
    final = (folder / MODEL_FILE).read_bytes()
    assert final == served.bytes()
    fresh = make(tmp_path / "fresh", kind)
    assert replayed(folder, kept / "plant", fresh) == final


def test_acknowledged_rows_are_there_after_a_crash_before_they_were_learned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make(tmp_path / "plant", "regressor")
    served = Served(folder)
    goes_on = threading.Event()
    fit = served.hosted.learner._fit

    def slowly(*given: Any) -> Any:
        goes_on.wait(PATIENCE)
        return fit(*given)

    monkeypatch.setattr(served.hosted.learner, "_fit", slowly)
    rows = rows_of([{"x": [1.0, 2.0, 3.0], "y": 0.5}], served.hosted.form)
    answers = [served.ask(Learn(rows, Place("a", number))) for number in (1, 2, 3)]
    # Acknowledged while the learner stands still.
    assert [answer["learned"] for answer in answers] == [1, 1, 1]  # type: ignore[index]
    assert served.hosted.learner.ledger.applied == 0
    shutil.copytree(folder, tmp_path / "crash" / "plant")
    goes_on.set()
    served.hosted.end()
    again = Served(tmp_path / "crash" / "plant")
    assert again.ask(Learn(rows, Place("a", 3)), learned=True)["repeated"]  # type: ignore[index]
    assert again.ask(Learn(rows, Place("a", 4)), learned=True)["learned"] == 1  # type: ignore[index]
    assert again.hosted.model.n_samples_seen_ == 4
    again.hosted.end()


def test_rows_that_come_too_fast_are_refused_for_now(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = Served(
        make(tmp_path / "plant", "reducer"), max_waiting_bytes=1024, max_body_bytes=1024
    )
    goes_on = threading.Event()
    fit = served.hosted.learner._fit

    def slowly(*given: Any) -> Any:
        goes_on.wait(PATIENCE)
        return fit(*given)

    monkeypatch.setattr(served.hosted.learner, "_fit", slowly)
    rows = rows_of([{"x": [1.0] * 200, "y": 0.5}], served.hosted.form)
    served.ask(Learn(rows))
    with pytest.raises(RefusalError, match="faster than they can be learned") as refused:
        served.ask(Learn(rows))
    assert refused.value.headers == {"Retry-After": "1"}
    goes_on.set()
    served.hosted.end()


def test_without_room_nothing_is_acknowledged_and_nothing_learned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = Served(make(tmp_path / "plant", "reducer"))
    rows = rows_of([{"x": [1.0, 2.0], "y": 0.5}], served.hosted.form)
    place = Place("a", 1)

    def full(number: int, frame: bytes) -> None:
        raise NoRoomError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(served.hosted.journal, "append", full)
        refusal = served.ask(Learn(rows, place))
        assert isinstance(refusal, RefusalError)
        assert refusal.status == 507
        assert "No space left" in served.hosted.trouble
    assert served.hosted.next_number("a") == 1
    answer = served.ask(Learn(rows, place), learned=True)
    assert answer == {"learned": 1, "set_aside": 0, "repeated": False}
    assert served.hosted.trouble == ""
    assert served.hosted.model.n_samples_seen_ == 1
    served.hosted.end()


def test_rows_that_a_model_refuses_later_are_set_aside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = Served(make(tmp_path / "plant", "reducer"))
    model = served.hosted.model
    fit = served.hosted.learner._fit

    def picky(X: Any, y: Any) -> Any:
        if (X[:, 0] == 13.0).any():
            raise DataError("It does not like 13.")
        return fit(X, y)

    monkeypatch.setattr(served.hosted.learner, "_fit", picky)
    records = [{"x": [float(i), 0.0], "y": 0.5} for i in (12, 13, 14)]
    served.ask(Learn(rows_of(records, served.hosted.form)), learned=True)
    assert model.n_samples_seen_ == 2
    assert b"does not like 13" in served.hosted.set_aside()
    assert served.hosted.status()["rows_set_aside"] == 1
    served.hosted.end()


def test_rows_that_were_set_aside_are_there_once_after_a_crash(tmp_path: Path) -> None:
    folder = make(tmp_path / "plant", "reducer")
    served = Served(folder)

    def put_aside(value: str) -> None:
        rows = rows_of([{"x": [1.0, value], "y": 0.5}], served.hosted.form)
        served.ask(Learn(rows, sets_aside=True), learned=True)

    put_aside("first")
    served.hosted.learner.ask_checkpoint("checkpoint")
    served.tickets.wait("checkpoint")
    put_aside("second")
    # The file is written as if a checkpoint was underway, which the crash then prevents.
    served.hosted.learner.set_aside.save()
    shutil.copytree(folder, tmp_path / "crash" / "plant")
    served.hosted.end()
    again = Served(tmp_path / "crash" / "plant")
    again.hosted.end()
    text = (tmp_path / "crash" / "plant" / SET_ASIDE_FILE).read_text()
    assert ["first" in line for line in text.splitlines()] == [True, False]
    assert text == again.hosted.set_aside().decode()


def test_features_are_learned_again_when_asked(tmp_path: Path) -> None:
    served = Served(make(tmp_path / "plant", "regressor"))
    X = RandomState(0).normal(size=(700, 3))
    records = [{"x": x.tolist(), "y": float(x[0])} for x in X]
    served.ask(Learn(rows_of(records, served.hosted.form)), learned=True)
    assert served.hosted.model.pilot_rows_left_ == 0
    served.ask(Relearn(), learned=True)
    assert served.hosted.model.pilot_rows_left_ == 600
    served.hosted.end()


def test_what_nobody_foresaw_stops_learning_and_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = Served(make(tmp_path / "plant", "reducer"))

    def fail(*given: Any) -> None:
        raise MemoryError

    monkeypatch.setattr(served.hosted.learner, "_fit", fail)
    rows = rows_of([{"x": [1.0, 2.0], "y": 0.5}], served.hosted.form)
    served.ask(Learn(rows, Place("a", 1)))
    served.hosted.learner._thread.join(PATIENCE)
    assert "MemoryError" in served.hosted.trouble
    with pytest.raises(RefusalError, match="MemoryError"):
        served.ask(Learn(rows, Place("a", 2)))
    served.hosted.end()
    # Nothing is lost: the row is in the journal.
    again = Served(tmp_path / "plant")
    again.ask(Learn(rows, Place("a", 2)), learned=True)
    assert again.hosted.model.n_samples_seen_ == 2
    again.hosted.end()


def test_rows_expire_without_a_clock_in_the_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make(tmp_path / "plant", "regressor")
    served = Served(folder, pending_seconds=1000.0)
    form = served.hosted.form
    rows = rows_of([{"x": [1.0, 2.0, 3.0], "id": "x"}], form, has_targets=False, has_ids=True)
    served.ask(Store(rows))
    # The clock of the wall jumps: nothing happens.
    monkeypatch.setattr(time, "time", lambda: 1e12)
    served.ask(Relearn(), learned=True)
    assert list(served.hosted.recorder.ledger.pending) == ["x"]
    served.hosted.recorder._since["x"] -= 2000.0
    served.ask(Relearn(), learned=True)
    assert served.hosted.recorder.ledger.n_expired == 1
    served.hosted.end()
    again = Served(folder)
    assert again.hosted.recorder.ledger.pending == {}
    again.hosted.end()
