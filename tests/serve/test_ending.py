"""Nobody waits for ever: not for a model that ends, nor for one that has stopped."""

import queue
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from okspca.serve import recorder as recorder_module
from okspca.serve.creating import begun, made
from okspca.serve.deciding import Draft, Labels, Learn, Store
from okspca.serve.hosted import Hosted
from okspca.serve.limits import Limits
from okspca.serve.refusals import RefusalError
from okspca.serve.rows import Form, Rows, lines_of, rows_of
from okspca.serve.settings import Settings
from okspca.state.ledger import Ledger
from tests.serve.live import PATIENCE, PLANT, plant_rows, running

Told = queue.Queue[tuple[Any, Any]]


def rows(n: int = 3) -> Rows:
    return rows_of(plant_rows(n)["rows"], Form("regression", ("flow", "level"), 2))


@pytest.fixture
def told() -> Told:
    return queue.Queue()


@pytest.fixture
def hosted(tmp_path: Path, told: Told) -> Hosted:
    begun(tmp_path / "plant", *made(PLANT))

    def settle(outcomes: list[tuple[Any, Any]]) -> None:
        for outcome in outcomes:
            told.put(outcome)

    return Hosted(tmp_path / "plant", Settings(folder=tmp_path), settle)


def outcome(told: Told) -> Any:
    return told.get(timeout=PATIENCE)[1]


def test_a_model_that_cannot_learn_tells_all_who_wait(
    hosted: Hosted, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(X: Any, y: Any) -> None:
        raise MemoryError

    monkeypatch.setattr(hosted.model, "partial_fit", fails)
    hosted.start()
    hosted.ask(Learn(rows()), "learned", waits_for_learner=True)
    found = outcome(told)
    assert isinstance(found, RefusalError)
    assert found.status == 503
    with pytest.raises(RefusalError, match="stopped to learn"):
        hosted.learner.ask_checkpoint("checkpoint")
    with pytest.raises(RefusalError, match="Learning stopped"):
        hosted.ask(Learn(rows()), "more")
    hosted.end()


def test_whoever_waits_when_a_model_ends_is_told(hosted: Hosted, told: Told) -> None:
    hosted.recorder.start()  # and nobody learns
    hosted.ask(Learn(rows()), "learned", waits_for_learner=True)
    hosted.learner.ask_checkpoint("checkpoint")
    hosted.recorder.end()
    hosted.learner.end(seconds=0.0)
    hosted.learner.start()
    assert [outcome(told).status for _ in range(2)] == [503, 503]
    hosted.journal.close()


def test_a_checkpoint_of_a_model_that_ended_is_refused(hosted: Hosted) -> None:
    hosted.start()
    hosted.end()
    with pytest.raises(RefusalError):
        hosted.learner.ask_checkpoint("checkpoint")


def test_a_checkpoint_that_cannot_be_written_is_refused(
    hosted: Hosted, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails() -> None:
        raise OSError(28, "No space left on device", "/somewhere/secret")

    hosted.start()
    hosted.ask(Learn(rows()), "learned", waits_for_learner=True)
    outcome(told)
    monkeypatch.setattr(hosted.learner, "checkpoint", fails)
    hosted.learner.ask_checkpoint("checkpoint")
    found = outcome(told)
    assert found.status == 507
    assert "secret" not in found.sentence
    monkeypatch.undo()
    hosted.end()


def test_a_fault_in_a_group_is_no_end_of_the_recorder(
    hosted: Hosted, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(self: Draft) -> None:
        message = "nobody foresaw this"
        raise RuntimeError(message)

    hosted.start()
    with monkeypatch.context() as patched:
        patched.setattr(Draft, "entry", fails)
        hosted.ask(Learn(rows()), 1)
        assert outcome(told).status == 503
    hosted.ask(Learn(rows()), 2)
    assert outcome(told)["learned"] == 3
    hosted.end()


def test_a_group_has_bounded_bytes(hosted: Hosted, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder_module, "MOST_BYTES", 5 * rows().X.nbytes)
    sizes: list[int] = []
    append = hosted.journal.append

    def noted(number: int, frame: bytes) -> None:
        sizes.append(len(frame))
        append(number, frame)

    monkeypatch.setattr(hosted.journal, "append", noted)
    for ticket in range(50):
        hosted.ask(Learn(rows()), ticket)
    hosted.start()
    hosted.end()
    assert len(sizes) == 10


def test_removing_a_model_answers_all_of_its_requests(tmp_path: Path) -> None:
    with running(tmp_path) as live:
        live.ask("PUT", "/models/plant", PLANT)
        statuses: list[int] = []
        is_over = threading.Event()

        def learn() -> None:
            while not is_over.is_set():
                path = "/models/plant/learn?wait=learned"
                statuses.append(live.ask("POST", path, plant_rows(20)).status)
                statuses.append(live.ask("POST", "/models/plant/checkpoint").status)

        threads = [threading.Thread(target=learn) for _ in range(6)]
        for thread in threads:
            thread.start()
        for _ in range(5):
            while len(statuses) < 20:
                is_over.wait(0.01)
            assert live.ask("DELETE", "/models/plant").status == 200
            assert live.ask("PUT", "/models/plant", PLANT).status == 201
            statuses.clear()
        is_over.set()
        for thread in threads:
            thread.join(PATIENCE)
            assert not thread.is_alive(), "somebody waits for ever"
        assert set(statuses) <= {200, 404, 409, 503}


def test_nothing_is_lost_where_a_bad_row_cannot_be_written() -> None:
    """Lines of bad rows come last; rows that waited must not be gone before."""
    draft = Draft(Ledger(), ("flow", "level"), "regression", Limits())
    draft.decide(Store(rows()._replace(ids=("a", "b", "c"), Y=np.empty((0, 0)))))
    found = draft.decide(Labels(["a", "no", "b"], [1.0, 2.0, b"\xff"], None, sets_aside=True))
    assert found == {"learned": 1, "set_aside": 2, "repeated": False}
    reasons = [line["reason"] for line in lines_of(())]
    assert reasons == []


def test_inputs_named_in_another_order_are_the_same_inputs() -> None:
    """Two first requests may name them differently before either is decided."""
    draft = Draft(Ledger(), (), "regression", Limits())
    first = rows_of([{"x": {"flow": 1.0, "level": 2.0}, "y": 0.0}], Form("regression"))
    second = rows_of([{"x": {"level": 4.0, "flow": 3.0}, "y": 0.0}], Form("regression"))
    third = rows_of(
        [{"x": {"level": 6.0, "flow": 5.0}, "id": "n"}],
        Form("regression"),
        has_targets=False,
        has_ids=True,
    )
    draft.decide(Learn(first))
    draft.decide(Learn(second))
    draft.decide(Store(third))
    entry = draft.entry()
    assert entry is not None
    assert entry.X.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert entry.S.tolist() == [[5.0, 6.0]]


def test_many_unknown_ids_take_no_time() -> None:
    """Each is looked at once: twice as many take twice as long, and not four times."""
    draft = Draft(Ledger(), ("flow", "level"), "regression", Limits())
    ids = [f"n{i}" for i in range(100_000)]
    change = Labels(ids, [0.0] * len(ids), None, sets_aside=True)
    assert draft.decide(change)["set_aside"] == len(ids)
