"""What stands in the way of writing and learning: all who wait are told, and it passes."""

import errno
import os
import shutil
import time
from pathlib import Path
from typing import Any

import pytest

from okspca.errors import StateError
from okspca.serve.creating import made
from okspca.serve.deciding import Learn, Place, Store
from okspca.serve.entries import frames
from okspca.serve.hosts import Hosts
from okspca.serve.journal import NoRoomError
from okspca.serve.learner import MODEL_FILE
from okspca.serve.recorder import Asked
from okspca.serve.refusals import RefusalError
from okspca.serve.rows import rows_of
from okspca.serve.settings import Settings
from tests.serve.test_recovery import KINDS, PATIENCE, Served, make


def row(served: Served, value: float = 1.0) -> Any:
    return rows_of([{"x": [value, 2.0], "y": 0.5}], served.hosted.form)


def full(*_: Any, **__: Any) -> None:
    raise NoRoomError(errno.ENOSPC, "No space left on device")


def until(holds: Any) -> None:
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_group_that_is_not_written_is_refused_as_a_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = Served(make(tmp_path / "plant", "reducer"))
    rows = row(served)
    with monkeypatch.context() as patch:
        patch.setattr(served.hosted.journal, "append", full)
        group = [Asked(Learn(rows, Place("a", number)), f"ticket {number}") for number in (1, 3)]
        served.hosted.recorder._record(group)
    # Number 3 came too early; but it is not told that 2 is expected, since 1 is not on the disk.
    for number in (1, 3):
        refusal = served.tickets.wait(f"ticket {number}")
        assert isinstance(refusal, RefusalError)
        assert (refusal.status, refusal.told.get("expected")) == (507, None)
    served.hosted.end()


def test_a_group_is_bounded_in_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    served = Served(make(tmp_path / "plant", "reducer"))
    served.hosted.recorder.end()
    recorder = Served(tmp_path / "plant").hosted.recorder
    recorder.end()
    change = Learn(row(served))
    monkeypatch.setattr("okspca.serve.recorder.MOST_BYTES", 5 * change.rows.X.nbytes)
    for number in range(8):
        recorder._asked.put(Asked(change, number))
    assert [len(recorder._group()[0]), len(recorder._group()[0])] == [5, 3]


def test_what_the_recorder_did_not_foresee_is_told_to_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = Served(make(tmp_path / "plant", "reducer"))

    def fail(*given: Any) -> None:
        raise KeyError("nobody knows")

    with monkeypatch.context() as patch:
        patch.setattr(served.hosted.recorder, "_take", fail)
        refusal = served.ask(Learn(row(served), Place("a", 1)))
    assert isinstance(refusal, RefusalError)
    assert "Recording stopped (KeyError" in refusal.sentence
    assert "Recording stopped" in served.hosted.trouble
    with pytest.raises(RefusalError, match="Start the service again"):
        served.ask(Learn(row(served), Place("a", 1)))
    served.hosted.end()
    again = Served(tmp_path / "plant")
    # It was on the disk, though nobody was told: sent again, it is done.
    assert again.ask(Learn(row(again), Place("a", 1)), learned=True)["repeated"]  # type: ignore[index]
    assert again.hosted.model.n_samples_seen_ == 1
    again.hosted.end()


def test_who_waits_for_learning_is_told_when_it_stops(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = Served(make(tmp_path / "plant", "reducer"))

    def fail(*given: Any) -> None:
        raise MemoryError

    monkeypatch.setattr(served.hosted.learner, "_fit", fail)
    for place in (None, Place("a", 1)):
        if served.hosted.learner.trouble:
            served.hosted.recorder.ask(Asked(Learn(row(served), place), "late", True))
            refusal = served.tickets.wait("late")
        else:
            refusal = served.ask(Learn(row(served), place), learned=True)
        assert isinstance(refusal, RefusalError)
        assert "MemoryError" in refusal.sentence
        assert "learned when it starts again" in refusal.sentence
        until(lambda: served.hosted.learner._is_over)
    with pytest.raises(RefusalError, match="has stopped to learn"):
        served.hosted.learner.ask_checkpoint("checkpoint")
    served.hosted.end()


def test_a_checkpoint_that_cannot_be_written_is_told_and_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("okspca.serve.learner.RETRY_SECONDS", 1e9)
    served = Served(make(tmp_path / "plant", "reducer"), checkpoint_rows=1)
    tried: list[int] = []

    def fail(*given: Any) -> None:
        tried.append(len(tried))
        raise StateError("no") from OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("okspca.serve.learner.save_model", fail)
        for number in range(1, 20):
            served.ask(Learn(row(served), Place("a", number)), learned=True)
        until(lambda: served.hosted.trouble)
        assert "disk is full: no checkpoint can be written" in served.hosted.trouble
        # A checkpoint is due after every row, but not each of them tries anew.
        assert tried == [0]
        served.hosted.learner.ask_checkpoint("asked")
        refusal = served.tickets.wait("asked")
        assert isinstance(refusal, RefusalError)
        assert refusal.status == 507
    monkeypatch.setattr("okspca.serve.learner.RETRY_SECONDS", 0.0)
    until(lambda: not served.hosted.trouble)
    assert served.hosted.learner.rows_since_checkpoint == 0
    served.hosted.end()


def test_a_full_journal_without_checkpoints_is_told_as_what_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("okspca.serve.learner.RETRY_SECONDS", 0.1)
    sizes = dict.fromkeys(("max_body_bytes", "segment_bytes", "max_waiting_bytes"), 500)
    served = Served(make(tmp_path / "plant", "reducer"), max_journal_bytes=500, **sizes)
    rows = row(served)
    with monkeypatch.context() as patch:
        patch.setattr("okspca.serve.learner.save_model", full)
        number = 0
        while not served.hosted.journal.is_full:
            number += 1
            served.ask(Learn(rows, Place("a", number)), learned=True)
        until(lambda: served.hosted.learner.hindrance)
        with pytest.raises(RefusalError) as refused:
            served.ask(Learn(rows, Place("a", number + 1)))
        assert refused.value.status == 507
        assert "The journal is full. The disk is full" in refused.value.sentence
    until(lambda: not served.hosted.journal.is_full)
    assert served.ask(Learn(rows, Place("a", number + 1)))["learned"] == 1  # type: ignore[index]
    served.hosted.end()


def test_an_end_without_room_is_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    served = Served(make(tmp_path / "plant", "reducer"))
    served.ask(Learn(row(served), Place("a", 1)), learned=True)
    with monkeypatch.context() as patch:
        patch.setattr("okspca.serve.learner.save_model", full)
        served.hosted.end()
    again = Served(tmp_path / "plant")
    assert again.hosted.next_number("a") == 2
    again.hosted.end()


def test_a_model_that_cannot_be_made_leaves_its_name_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hosts = Hosts(Settings(folder=tmp_path), lambda told: None)
    hosts.open()
    with monkeypatch.context() as patch:
        patch.setattr("okspca.serve.journal.Journal._begin", full)
        with pytest.raises(RefusalError, match="disk is full") as refused:
            hosts.create("plant", *made(KINDS["reducer"]))
        assert refused.value.status == 507
    hosts.create("plant", *made(KINDS["reducer"]))
    hosts.end()


def test_what_killed_processes_left_of_checkpoints_goes(tmp_path: Path) -> None:
    folder = make(tmp_path / "plant", "reducer")
    left = [folder / f".{name}" for name in (f"{MODEL_FILE}.x1.part", "set-aside.ndjson.x2.part")]
    others = [folder / "notes.part", folder / f".{MODEL_FILE}.notes"]
    for path in (*left, *others):
        path.write_bytes(b"")
    Served(folder).hosted.end()
    assert [path.exists() for path in (*left, *others)] == [False, False, True, True]


def test_a_folder_cannot_be_opened_twice(tmp_path: Path) -> None:
    one, two = (Hosts(Settings(folder=tmp_path), lambda told: None) for _ in range(2))
    one.open()
    with pytest.raises(StateError, match=f"process {os.getpid()}"):
        two.open()
    one.end()
    two.open()
    two.end()


def test_every_torn_end_of_a_journal_is_cut_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("okspca.serve.learner.TICK", 0.01)
    served = Served(make(tmp_path / "plant", "reducer"))
    for number in (1, 2, 3):
        served.ask(Learn(row(served, number), Place("a", number)))
    shutil.copytree(tmp_path / "plant", tmp_path / "crash" / "plant")
    served.hosted.end()
    folder = tmp_path / "crash" / "plant"
    segment = next((folder / "journal").iterdir())
    whole = segment.read_bytes()
    start, end = [end for end, _, _ in frames(whole)][-2:]
    assert end == len(whole)
    for cut in range(start, end):
        segment.write_bytes(whole[:cut])
        again = Served(folder)
        assert again.hosted.next_number("a") == 3
        again.ask(Learn(row(again, 3.0), Place("a", 3)))
        assert segment.read_bytes() == whole
        # It is not ended, which would write a checkpoint.
        again.hosted.recorder.end()
        again.hosted.learner._is_ending = True
        again.hosted.learner._thread.join()
        again.hosted.journal.close()


def test_a_clock_that_jumps_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ends = []
    for clock in ([1.7e9], [0.0, 1e12, -1e9, 1.7e9]):
        folder = make(tmp_path / str(len(clock)) / "plant", "regressor")
        now = iter(clock * 1000)
        monkeypatch.setattr(time, "time", lambda now=now: next(now))
        for number in range(1, 7):
            served = Served(folder, pending_seconds=3600.0)
            form = served.hosted.form
            waiting = [{"x": [float(number), 2.0, 3.0], "id": f"{number}"}]
            served.ask(Store(rows_of(waiting, form, has_targets=False, has_ids=True)))
            rows = rows_of([{"x": [float(number), 1.0, 0.0], "y": 0.5}], form)
            served.ask(Learn(rows, Place("a", number)), learned=True)
            assert len(served.hosted.recorder.ledger.pending) == number
            served.hosted.end()
        ends.append((folder / MODEL_FILE).read_bytes())
    assert ends[0] == ends[1]


def test_rows_expire_though_the_clock_stands_still(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time, "time", lambda: 0.0)
    monkeypatch.setattr("okspca.serve.recorder.TICK", 0.05)
    served = Served(make(tmp_path / "plant", "regressor"), pending_seconds=0.2)
    rows = [{"x": [1.0, 2.0, 3.0], "id": "x"}]
    form = served.hosted.form
    served.ask(Store(rows_of(rows, form, has_targets=False, has_ids=True)))
    until(lambda: served.hosted.recorder.ledger.n_expired == 1)
    assert served.hosted.recorder.ledger.pending == {}
    served.hosted.end()
