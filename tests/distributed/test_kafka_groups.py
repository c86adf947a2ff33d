"""Learners whose consumers are one group: partitions move, messages are in one model each."""

import json
import random
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from okspca import OKSPCA, DataError, MergeError
from okspca.distributed import following
from okspca.distributed.kafka import LogLearner, merge_files
from okspca.distributed.log_learner import Place
from okspca.state.files import previous

N_PARTITIONS, N_MESSAGES, BLOCK = 3, 40, 7
NOTHING = -1001


class Part(NamedTuple):
    """As ``TopicPartition``."""

    topic: str
    partition: int
    offset: int = NOTHING
    metadata: str | None = None


class Entry(NamedTuple):
    place: Place
    number: int
    content: bytes

    def topic(self) -> str:
        return self.place[0]

    def partition(self) -> int:
        return self.place[1]

    def offset(self) -> int:
        return self.number

    def value(self) -> bytes:
        return self.content

    def error(self) -> None:
        return None


class Group:
    """A broker with one topic and one group, which deals out partitions as it is told."""

    def __init__(self) -> None:
        drawn = np.random.RandomState(0).normal(size=(N_PARTITIONS, N_MESSAGES, 2))
        self.X, self.y = drawn, drawn[..., 0] ** 2
        self.log = {
            ("sales", p): [
                Entry(("sales", p), i, json.dumps({"a": a, "b": b, "y": a**2}).encode())
                for i, (a, b) in enumerate(rows.tolist())
            ]
            for p, rows in enumerate(drawn)
        }
        self.commits: dict[Place, Part] = {}
        self.members: list[Member] = []

    def rows(self) -> tuple[Any, Any]:
        return self.X.reshape(-1, 2), self.y.reshape(-1)

    def deal(self, shares: dict["Member", list[int]], *, lost: Iterable["Member"] = ()) -> None:
        """Let members give up what they have, those in ``lost`` without being asked; then deal."""
        for member in self.members:
            parts = [Part(*place) for place in member.at]
            if parts:
                member.at = {} if member in lost else member.at
                (member.on_lost if member in lost else member.on_revoke)(member, parts)
            member.at = {}
        for member in self.members:
            member.on_assign(member, [Part("sales", p) for p in shares.get(member, [])])

    def move(self, shares: dict["Member", list[int]]) -> None:
        """Deal as cooperative groups do: only what moves is given up, and taken."""
        wanted = {m: {("sales", p) for p in shares.get(m, [])} for m in self.members}
        for member in self.members:
            parts = [Part(*place) for place in member.at if place not in wanted[member]]
            if parts:
                member.on_revoke(member, parts)
            member.at = {place: at for place, at in member.at.items() if place in wanted[member]}
        for member in self.members:
            come = sorted(wanted[member] - set(member.at))
            if come:
                member.on_assign(member, [Part(*place) for place in come])


class Member:
    """A consumer, which delivers now and then what it delivered before."""

    on_assign: Callable[..., None]
    on_revoke: Callable[..., None]
    on_lost: Callable[..., None]

    def __init__(self, group: Group, choose: random.Random) -> None:
        self.group, self.choose = group, choose
        self.at: dict[Place, int] = {}
        #: What happens within the next call of ``consume``, or instead of the next commit.
        self.then: list[Callable[[], None]] = []
        self.instead_of_commit: list[Exception] = []
        group.members.append(self)

    def subscribe(self, topics: list[str], **callbacks: Callable[..., None]) -> None:
        assert topics == ["sales"]
        vars(self).update(callbacks)

    def assign(self, parts: list[Part]) -> None:
        self.at = {part[:2]: max(part.offset, 0) for part in parts}

    def incremental_assign(self, parts: list[Part]) -> None:
        self.at.update({part[:2]: max(part.offset, 0) for part in parts})

    def seek(self, part: Part) -> None:
        assert part[:2] in self.at
        self.at[part[:2]] = max(part.offset, 0)

    def consume(self, n: int, timeout: float) -> list[Entry]:
        while self.then:
            self.then.pop(0)()
        found: list[Entry] = []
        for place in sorted(self.at, key=lambda _: self.choose.random()):
            begin = self.at[place]
            taken = self.group.log[place][begin : begin + self.choose.randint(0, n - len(found))]
            self.at[place] = begin + len(taken)
            found += taken
        if found and len(found) < n and self.choose.random() < 0.3:
            found.append(self.choose.choice(found))
        return found

    def committed(self, parts: list[Part], timeout: float) -> list[Part]:
        return [self.group.commits.get(part[:2], Part(*part[:2])) for part in parts]

    def commit(self, *, offsets: list[Part], asynchronous: bool) -> None:
        assert not asynchronous
        if self.instead_of_commit:
            raise self.instead_of_commit.pop()
        assert all(part[:2] in self.at for part in offsets), "it is not the owner"
        self.group.commits.update({part[:2]: part for part in offsets})


class Code(NamedTuple):
    """As ``KafkaError``."""

    number: int

    def code(self) -> int:
        return self.number


class DealtAnewError(Exception):
    """As ``KafkaException``, while a group is being dealt anew."""

    def __init__(self) -> None:
        super().__init__(Code(27))


class Everything(random.Random):
    """Chance that delivers all there is, once and in order."""

    def randint(self, a: int, b: int) -> int:
        return b

    def random(self) -> float:
        return 0.5


def until_it_fails(found: LogLearner, member: Member) -> None:
    """Learn, and meet an error sooner or later."""
    while True:
        found.learn_available(member)


def model() -> OKSPCA:
    return OKSPCA(1, n_random_features=8, random_state=0, standardize=None, task="regression")


def learner(path: Path, **changes: Any) -> LogLearner:
    settings: dict[str, Any] = {"columns": ["a", "b"], "target": "y", "block_rows": BLOCK}
    return LogLearner(path, model(), topics=["sales"], **settings, **changes)


def joined(
    group: Group, path: Path, choose: random.Random, *, cooperative: bool = False
) -> tuple[LogLearner, Member]:
    """A learner and its consumer, as a process that starts makes them."""
    found, member = learner(path), Member(group, choose)
    found.subscribe(member, Part, cooperative=cooperative)
    return found, member


def finish(group: Group, *pairs: tuple[LogLearner, Member]) -> None:
    """Learn what is left, and give everything up."""
    while sum(max(found.learn_available(member), 0) for found, member in pairs) or any(
        at < N_MESSAGES for _, member in pairs for at in member.at.values()
    ):
        pass
    group.members.clear()
    for _, member in pairs:
        member.on_revoke(member, [Part(*place) for place in member.at])


def assert_whole(group: Group, merged: OKSPCA) -> None:
    """All messages, each once."""
    assert merged.n_samples_seen_ == N_PARTITIONS * N_MESSAGES
    C = model().partial_fit(*group.rows()).moment_.matrix()
    assert np.linalg.norm(merged.moment_.matrix() - C) <= 1e-12 * np.linalg.norm(C)


def shared_out(choose: random.Random, members: list[Member]) -> dict[Member, list[int]]:
    """All partitions, dealt to members by chance."""
    shares: dict[Member, list[int]] = {member: [] for member in members}
    for partition in range(N_PARTITIONS):
        shares[choose.choice(members)].append(partition)
    return shares


class PowerCutError(Exception):
    """The process ends here."""


class Play:
    """Two learners of a group that work, are killed, come back and share, by chance."""

    def __init__(self, folder: Path, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
        self.choose, self.group, self.monkeypatch = random.Random(seed), Group(), monkeypatch
        self.paths = [folder / "one.okspca", folder / "other.okspca"]
        self.running: dict[Path, tuple[LogLearner, Member]] = {}
        self.kills = {"before saving": 0, "before committing": 0}
        self.cooperative = bool(seed % 2)

    def come(self) -> None:
        """Let everybody run, and deal anew."""
        for path in self.paths:
            if path not in self.running:
                self.running[path] = joined(
                    self.group, path, self.choose, cooperative=self.cooperative
                )
        self.deal()

    def deal(self) -> None:
        members = [member for _, member in self.running.values()]
        if members:
            shares = shared_out(self.choose, members)
            (self.group.move if self.cooperative else self.group.deal)(shares)

    def work(self) -> None:
        if self.running:
            found, member = self.choose.choice(list(self.running.values()))
            if self.choose.random() < 0.2:
                member.then.append(self.deal)  # in the middle of polling
            if self.choose.random() < 0.2:
                member.instead_of_commit += [DealtAnewError()] * self.choose.randint(1, 3)
            found.learn_available(member)

    def kill(self) -> None:
        if not self.running:
            return
        path = self.choose.choice(list(self.running))
        found, member = self.running[path]
        how = self.choose.choice(list(self.kills))
        with self.monkeypatch.context() as broken:
            if how == "before saving":
                broken.setattr(following, "save_model", self.fail)
            else:
                member.instead_of_commit.append(PowerCutError())
            try:
                found.learn_available(member)
            except PowerCutError:
                self.kills[how] += 1
        del self.running[path]
        self.group.members.remove(member)

    @staticmethod
    def fail(*_: Any) -> None:
        raise PowerCutError


@pytest.mark.parametrize("seed", range(20))
def test_whatever_moves_and_dies_each_message_is_in_one_model(
    tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    play = Play(tmp_path, seed, monkeypatch)
    play.come()
    for _ in range(30):
        play.choose.choice([play.work, play.work, play.work, play.deal, play.kill, play.come])()
    play.come()
    finish(play.group, *play.running.values())
    assert_whole(play.group, merge_files(OKSPCA, play.paths))


def test_partitions_that_move_are_learned_from_where_they_were_left(tmp_path: Path) -> None:
    group, choose = Group(), random.Random(3)
    one, first = joined(group, tmp_path / "one.okspca", choose)
    group.deal({first: [0, 1, 2]})
    while one.record.rows_read < 20:
        one.learn_available(first)
    left = dict(one.offsets)
    other, second = joined(group, tmp_path / "other.okspca", choose)
    group.deal({first: [0], second: [1, 2]})
    assert other.offsets == {("sales", p): left["sales", p] for p in (1, 2)}
    while other.record.rows_read < 20:
        other.learn_available(second)
    group.deal({first: [2], second: [0, 1]})
    assert one.offsets["sales", 2] == other.offsets["sales", 2] >= left["sales", 2]
    finish(group, (one, first), (other, second))
    spans = [span for found in (one, other) for span in found.spans]
    assert sum(span.end - span.begin for span in spans) == N_PARTITIONS * N_MESSAGES
    assert_whole(group, merge_files(OKSPCA, [one.path, other.path]))


def test_what_nobody_took_back_is_found_by_merging(tmp_path: Path) -> None:
    group, choose = Group(), random.Random(0)
    one, first = joined(group, tmp_path / "one.okspca", choose)
    group.deal({first: [0, 1, 2]})
    for _ in range(3):
        one.learn_available(first)
    first.instead_of_commit.append(PowerCutError())
    with pytest.raises(PowerCutError):
        until_it_fails(one, first)
    group.members.remove(first)  # and it never comes back
    other, second = joined(group, tmp_path / "other.okspca", choose)
    group.deal({second: [0, 1, 2]})
    finish(group, (other, second))
    with pytest.raises(MergeError, match=r"one.okspca and .*other.okspca both hold sales\[\d\]"):
        merge_files(OKSPCA, [one.path, other.path])
    assert_whole(group, merge_files(OKSPCA, [previous(one.path), other.path]))


def test_a_learner_that_was_taken_for_dead_takes_its_last_block_back(tmp_path: Path) -> None:
    group, choose = Group(), random.Random(1)
    one, first = joined(group, tmp_path / "one.okspca", choose)
    group.deal({first: [0, 1, 2]})
    for _ in range(3):
        one.learn_available(first)
    held = sum(part.offset for part in group.commits.values())
    first.instead_of_commit.append(RuntimeError("unknown member"))
    with pytest.raises(RuntimeError, match="unknown member"):
        until_it_fails(one, first)
    assert one.record.rows_read > held > 0
    group.deal({}, lost=[first])
    assert one.record.rows_read == one.model.n_samples_seen_ == held
    assert learner(one.path).record == one.record
    other, second = joined(group, tmp_path / "other.okspca", choose)
    group.deal({second: [0, 1, 2]})
    finish(group, (other, second))
    assert_whole(group, merge_files(OKSPCA, [one.path, other.path]))


@pytest.mark.parametrize("moves", [False, True])
def test_messages_that_wait_are_dropped_with_their_partition(tmp_path: Path, moves: bool) -> None:
    """Whoever gets it reads them again, be it the same learner."""
    group = Group()
    group.log["sales", 0][5] = Entry(("sales", 0), 5, b"spoiled")
    one, first = joined(group, tmp_path / "one.okspca", Everything())
    group.deal({first: [0]})
    with pytest.raises(DataError, match=r"sales\[0\] at offset 5 cannot be learned"):
        until_it_fails(one, first)
    other, second = joined(group, tmp_path / "other.okspca", Everything())
    group.deal({first: [1, 2], second: [0]} if moves else {first: [0, 1, 2]})
    assert (other if moves else one).offsets["sales", 0] == 5
    (other if moves else one).skip("sales", 0)
    finish(group, (one, first), (other, second))
    merged = merge_files(OKSPCA, [one.path, other.path])
    assert merged.n_samples_seen_ == N_PARTITIONS * N_MESSAGES - 1


def test_what_could_not_be_committed_is_committed_when_it_is_given_up(tmp_path: Path) -> None:
    group = Group()
    one, first = joined(group, tmp_path / "one.okspca", Everything())
    group.deal({first: [0]})
    first.instead_of_commit.append(RuntimeError("the broker is busy"))
    with pytest.raises(RuntimeError, match="busy"):
        until_it_fails(one, first)
    assert group.commits == {}
    group.deal({})
    assert group.commits == {("sales", 0): Part("sales", 0, BLOCK, "okspca 0")}


def test_a_block_that_was_never_saved_is_taken_back_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    group = Group()
    one, first = joined(group, tmp_path / "one.okspca", Everything())
    group.deal({first: [0, 1, 2]})
    for _ in range(3):
        one.learn_available(first)
    with monkeypatch.context() as broken:
        broken.setattr(following, "save_model", Play.fail)
        with pytest.raises(PowerCutError):
            one.learn_available(first)
        with pytest.raises(PowerCutError):
            first.on_revoke(first, [Part(*place) for place in first.at])
    assert one.record.rows_read == 4 * BLOCK
    first.at = {}
    other, second = joined(group, tmp_path / "other.okspca", Everything())
    group.deal({second: [0, 1, 2]})
    assert one.record.rows_read == one.model.n_samples_seen_ == 3 * BLOCK
    finish(group, (other, second))
    assert_whole(group, merge_files(OKSPCA, [one.path, other.path]))


def test_no_block_is_learned_before_the_one_before_is_committed(tmp_path: Path) -> None:
    """Only one block can be taken back."""
    group = Group()
    one, first = joined(group, tmp_path / "one.okspca", Everything())
    group.deal({first: [0]})
    for _ in range(3):
        first.instead_of_commit.append(RuntimeError("busy"))
        with pytest.raises(RuntimeError, match="busy"):
            one.learn_available(first)
        assert one.record.rows_read == BLOCK
    assert one.learn_available(first) == BLOCK


def test_a_group_is_heard_while_a_full_block_waits(tmp_path: Path) -> None:
    group = Group()
    one, first = joined(group, tmp_path / "one.okspca", Everything())
    group.deal({first: [0, 1, 2]})

    def deal() -> None:
        first.instead_of_commit.clear()
        group.deal({first: [0, 1, 2]})

    first.instead_of_commit += 50 * [DealtAnewError()]
    assert one.learn_available(first) == BLOCK
    assert one.learn_available(first) == 0
    first.then.append(deal)
    assert one.learn_available(first) > 0
    finish(group, (one, first))
    assert_whole(group, one.model)


def test_the_rest_of_a_block_that_was_taken_back_is_read_again(tmp_path: Path) -> None:
    """One partition of it moves away; the other stays, and messages of it wait."""
    group = Group()
    one, first = joined(group, tmp_path / "one.okspca", Everything(), cooperative=True)
    other, second = joined(group, tmp_path / "other.okspca", Everything(), cooperative=True)
    group.move({first: [0, 1]})
    one.block_rows = N_MESSAGES + 20
    first.instead_of_commit += 10 * [DealtAnewError()]
    assert one.learn_available(first) == one.block_rows
    assert one.learn_available(first) == 0  # but what it polled waits
    group.move({first: [1], second: [0, 2]})
    assert one.record.rows_read == 0
    first.instead_of_commit.clear()
    finish(group, (one, first), (other, second))
    assert_whole(group, merge_files(OKSPCA, [one.path, other.path]))


def test_the_file_wins_over_a_group_that_was_set_back(tmp_path: Path) -> None:
    group, choose = Group(), random.Random(2)
    one, first = joined(group, tmp_path / "one.okspca", choose)
    group.deal({first: [0, 1, 2]})
    for _ in range(5):
        one.learn_available(first)
    learned = dict(one.offsets)
    group.commits.clear()
    again, member = joined(group, one.path, choose)
    group.members.remove(first)
    group.deal({member: [0, 1, 2]})
    assert again.offsets == learned
    finish(group, (again, member))
    assert_whole(group, again.model)


@pytest.mark.parametrize("metadata", [None, "", "another program", "okspca x"])
def test_offsets_that_no_learner_committed_are_refused(
    tmp_path: Path, metadata: str | None
) -> None:
    group = Group()
    group.commits["sales", 1] = Part("sales", 1, 7, metadata)
    _, first = joined(group, tmp_path / "one.okspca", random.Random(0))
    with pytest.raises(DataError, match=r"sales\[1\] was committed by no such learner"):
        group.deal({first: [0, 1]})


def test_what_is_set_aside_moves_with_the_block(tmp_path: Path) -> None:
    """A block that is taken back takes its lines from the file of bad messages as well."""
    group = Group()
    for log in group.log.values():
        log[5] = log[5]._replace(content=b"spoiled")
    found = learner(tmp_path / "one.okspca", on_error="set-aside")
    member = Member(group, Everything())
    found.subscribe(member, Part)
    group.deal({member: [0]})
    member.instead_of_commit.append(RuntimeError("unknown member"))
    with pytest.raises(RuntimeError, match="unknown member"):
        until_it_fails(found, member)
    assert found.record.rows_read == BLOCK
    (line,) = found.set_aside.path.read_text().splitlines()
    assert json.loads(line)["offset"] == 5
    group.deal({}, lost=[member])
    assert found.record.rows_skipped == found.record.rows_read == 0
    assert found.set_aside.path.read_text() == ""
