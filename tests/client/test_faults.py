"""Whatever is lost on the way, before or after the service has learned: every row once."""

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from okspca.client import Client, RemoteModel, ServiceError, UndecidedError
from tests.client.stand_in import AFTER, BEFORE, StandIn

FAULTS = (*BEFORE, *AFTER)
#: Seconds after which a stall is one; where it is met, an answer may also come late.
SHORT = 0.2
Make = Callable[..., Client]


def rows_of(table: list[tuple[int, Any]]) -> list[float]:
    return [body["y"] for _, body in table]


def learned(server: StandIn, source: str) -> list[float]:
    """Rows of a source, once its numbers were seen to be without gaps."""
    table = server.tables[source]
    assert [number for number, _ in table] == list(range(1, len(table) + 1))
    return rows_of(table)


def until_it_is_in(model: RemoteModel, y: float) -> None:
    """What a producer does: call again with the same row until there is no error."""
    while True:
        try:
            model.learn_one([1.0], y)
        except ServiceError:
            continue
        return


@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_is_repaired(fault: str, server: StandIn, client: Make) -> None:
    stalls = fault.endswith("stall")
    model = client(source="line-3", timeout=SHORT if stalls else 30.0).model("plant")
    until_it_is_in(model, 1.0)
    server.faults.extend([fault, fault])
    told = model.learn_one([1.0], 2.0)
    assert stalls or told.repeated is fault.startswith("learn")
    model.learn_one([1.0], 3.0)
    assert learned(server, "line-3") == [1.0, 2.0, 3.0]
    assert not server.faults


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_random_faults_leave_every_row_once(seed: int, server: StandIn, client: Make) -> None:
    random = np.random.RandomState(seed)
    model = client(source="line-3", timeout=SHORT, retries=2).model("plant")
    for y in range(40):
        # Two faults of five fall on a request; stalls take their time and are fewer.
        chance = np.where(np.char.endswith(FAULTS, "stall"), 0.1, 1.0)
        server.faults.extend(random.choice(FAULTS, random.randint(0, 5), p=chance / chance.sum()))
        if random.rand() < 0.1:  # the producer begins again, once nothing is open
            server.faults.clear()
            model = client(source="line-3", timeout=SHORT, retries=2).model("plant")
        until_it_is_in(model, float(y))
    assert learned(server, "line-3") == list(map(float, range(40)))


@pytest.mark.parametrize("seed", range(4))
def test_a_producer_that_goes_on_leaves_nothing_out(
    seed: int, server: StandIn, client: Make
) -> None:
    """Rows whose fate was open go first; only what surely did not arrive is given again."""
    random = np.random.RandomState(seed)
    model = client(source="line-3", retries=1).model("plant")
    for y in range(40):
        server.faults.extend(random.choice(["drop", "429", *AFTER[2:]], random.randint(0, 4)))
        try:
            model.learn_one([1.0], float(y))
        except UndecidedError as failure:
            if getattr(failure, "__notes__", ()):  # about the row before: this one was not sent
                server.faults.clear()
                model.learn_one([1.0], float(y))
        except ServiceError:
            server.faults.clear()
            model.learn_one([1.0], float(y))
    server.faults.clear()
    model.learn_one([1.0], 40.0)
    assert learned(server, "line-3") == list(map(float, range(41)))


def test_two_producers_have_numbers_of_their_own(server: StandIn, client: Make) -> None:
    server.faults.extend(["drop", "learn-drop", "503", "learn-503"] * 5)

    def produce(source: str) -> None:
        model = client(source=source, retries=2).model("plant")
        for y in range(20):
            until_it_is_in(model, float(y))

    threads = [threading.Thread(target=produce, args=(name,)) for name in ("one", "two")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert learned(server, "one") == learned(server, "two") == list(map(float, range(20)))


def test_threads_of_one_source_wait_for_one_another(server: StandIn, client: Make) -> None:
    model = client(source="line-3").model("plant")
    server.takes = 0.005  # so that they would meet
    given = [float(y) for y in range(40)]
    threads = [
        threading.Thread(target=lambda own: [model.learn_one([1.0], y) for y in own], args=(part,))
        for part in (given[:20], given[20:])
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(learned(server, "line-3")) == given


@pytest.mark.parametrize("fault", ["drop", "learn-drop", "503", "learn-503"])
def test_without_a_source_nothing_is_sent_twice(fault: str, server: StandIn, client: Make) -> None:
    model = client().model("plant")
    server.faults.append(fault)
    with pytest.raises(UndecidedError, match=r"not sent again; with Client\(..., source='name'\)"):
        model.learn_one([1.0], 2.0)
    assert len(server.unnumbered) == fault.startswith("learn")


def test_without_a_source_what_was_not_looked_at_is_sent_again(
    server: StandIn, client: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []
    monkeypatch.setattr("okspca.client.sending.time.sleep", waits.append)
    server.faults.extend(["429", "429"])
    server.retry_after = "7"
    assert client().model("plant").learn_one([1.0], 2.0).learned == 1
    assert waits == [7.0, 7.0]


def test_a_refused_request_does_not_use_its_number_up(server: StandIn, client: Make) -> None:
    model = client(source="line-3").model("plant")
    with pytest.raises(ServiceError, match="x is refused") as caught:
        model.learn_one(["refuse"], 1.0)
    assert (caught.value.status, caught.value.row, caught.value.column) == (422, 0, "flow")
    assert not isinstance(caught.value, UndecidedError)
    model.learn_one([1.0], 2.0)
    assert learned(server, "line-3") == [2.0]


def test_our_own_repetition_is_known_by_the_number_after(server: StandIn, client: Make) -> None:
    """A service may also say 409 to a number that it has; after a lost answer that is ours."""
    model = client(source="line-3", retries=0).model("plant")
    server.faults.append("learn-drop")
    with pytest.raises(UndecidedError, match="call again with the same rows"):
        model.learn_one([1.0], 1.0)
    server.answers["/models/plant/learn"] = (409, "", b'{"error": "No.", "expected": 2}')
    assert model.learn_one([1.0], 1.0).repeated
    server.answers.clear()
    model.learn_one([1.0], 2.0)
    assert learned(server, "line-3") == [1.0, 2.0]


def test_a_gap_and_another_producer_are_told(server: StandIn, client: Make) -> None:
    model = client(source="line-3").model("plant")
    model.learn_one([1.0], 1.0)
    server.tables["line-3"].append((2, {"y": -1.0}))  # somebody else has our name
    with pytest.raises(ServiceError, match=r"2 of source 'line-3'.*has it already.*Another"):
        model.learn_one([1.0], 2.0)
    model.learn_one([1.0], 2.0)
    del server.tables["line-3"][1:]  # the service was set back
    with pytest.raises(ServiceError, match="the service expects 2") as caught:
        model.learn_one([1.0], 3.0)
    assert (caught.value.status, caught.value.expected) == (409, 2)
    assert rows_of(server.tables["line-3"]) == [1.0]


def test_an_open_request_is_not_decided_by_who_asks(server: StandIn, client: Make) -> None:
    model = client(source="line-3", retries=0).model("plant")
    server.faults.extend(["learn-drop", "401", "429"])
    for _ in range(3):
        with pytest.raises(UndecidedError):
            model.learn_one([1.0], 1.0)
    assert model.learn_one([1.0], 1.0).repeated
    assert model.next_number() == 2
    assert learned(server, "line-3") == [1.0]


def test_numbers_go_on_where_the_service_is(server: StandIn, client: Make) -> None:
    client(source="line 3/ä").model("plant").learn_one([1.0], 1.0)
    model = client(source="line 3/ä").model("plant")
    assert model.next_number() == 2
    model.learn_one([1.0], 2.0)
    model.label("row-1", 3.0)
    assert learned(server, "line 3/ä") == [1.0, 2.0, 3.0]
