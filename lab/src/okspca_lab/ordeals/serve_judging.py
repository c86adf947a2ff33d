"""What `serve_kills.py` compares: a service that was killed, and one run that nobody interrupted.

The run reads the journal that the service wrote, every segment of it, and applies its entries to
the model as it was begun, in one process.  State, ledger and the file of rows set aside must be the
same to the last bit, and the journal must hold what producers were told it holds: every request and
every row, once.
"""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np

from okspca.errors import StateError
from okspca.estimators.saving import any_model_from, model_bytes
from okspca.serve.entries import Entry, framed, frames
from okspca.serve.hosted import JOURNAL_FOLDER
from okspca.serve.journal import SUFFIX, Journal
from okspca.serve.learner import MODEL_FILE, SET_ASIDE_FILE, Learner
from okspca.state.files import read
from okspca_lab.ordeals.serve_producers import OF_REQUESTS, OF_ROWS, OF_SOURCES, Account

#: More than any run sets aside.
ALL = 1 << 30
#: Failures that are told of one kind.
SHOWN = 3


class Remains(NamedTuple):
    """What a killed service left of one model.

    Attributes
    ----------
    part : bool
        Whether a checkpoint was being written.
    old_segments : int
        Segments that the checkpoint made superfluous and that were still there.
    torn_bytes : int
        Bytes of an entry that was not whole.
    entries : int
        Entries that have to be replayed.
    """

    part: bool
    old_segments: int
    torn_bytes: int
    entries: int


class Whole(NamedTuple):
    """What one uninterrupted run came to, and what the journal holds."""

    state: bytes
    set_aside: str
    rows_learned: int
    entries: list[Entry]


def remains(folder: Path) -> Remains:
    """Look at the folder of a model whose service was killed; StateError if it is damaged."""
    _, record = any_model_from(read(folder / MODEL_FILE))
    assert record is not None
    assert record.ledger is not None
    applied, torn, last = record.ledger.applied, 0, 0
    paths = segments(folder / JOURNAL_FOLDER)
    for path in paths:
        data, end = path.read_bytes(), 0
        for after, number, _ in frames(data):
            end, last = after, number
        torn = len(data) - end
        if torn and path != paths[-1]:
            message = f"{path} is damaged at byte {end}."
            raise StateError(message)
    starts = [int(path.stem) for path in paths]
    old = sum(after <= applied + 1 for after in starts[1:])
    has_part = any(folder.glob(f".{MODEL_FILE}.*.part"))
    return Remains(has_part, old, torn, max(last - applied, 0))


def tear(folder: Path, random: Random) -> int:
    """Leave a part of one more entry, as a power cut does; return its length."""
    path = segments(folder / JOURNAL_FOLDER)[-1]
    number = int(path.stem)
    for _, found, _ in frames(path.read_bytes()):
        number = found + 1
    frame = framed(number, Entry(np.ones((random.randint(1, 100), 4)), None, np.ones((1, 1))))
    n = random.randrange(1, len(frame))
    with path.open("ab") as file:
        file.write(frame[:n])
    return n


def segments(folder: Path) -> list[Path]:
    """Segments of a journal, in order."""
    return sorted(folder.glob(f"*{SUFFIX}"))


def replayed(initial: Path, parts: list[Path], fresh: Path) -> Whole:
    """Apply all entries of a journal to the model as it was begun."""
    (fresh / JOURNAL_FOLDER).mkdir(parents=True)
    for path in parts:
        shutil.copy(path, fresh / JOURNAL_FOLDER / path.name)
    model, record = any_model_from(read(initial))
    assert record is not None
    journal = Journal(fresh / JOURNAL_FOLDER)
    learner = Learner(fresh, model, record, journal, lambda told: None, most_set_aside=ALL)
    entries = []
    for number, entry in journal.replay(after=0):
        learner.apply(number, entry)
        entries.append(entry)
    journal.close()
    state = model_bytes(model, learner.record._replace(ledger=learner.ledger))
    learned = model.n_samples_seen_ + learner.ledger.n_failed
    return Whole(state, learner.set_aside.text(), learned, entries)


def faults(folder: Path, kept: Path, initial: Path, fresh: Path, account: Account) -> Iterator[str]:
    """Say in what a service differs from a run that was never interrupted."""
    name = folder.name
    parts = [*segments(kept), *segments(folder / JOURNAL_FOLDER)]
    if len({path.name for path in parts}) < len(parts):
        yield f"{name}: a segment is both kept and present"
        return
    whole = replayed(initial, sorted(parts, key=lambda path: path.name), fresh)
    if whole.state != (folder / MODEL_FILE).read_bytes():
        yield f"{name}: the state is not that of an uninterrupted run"
    file = folder / SET_ASIDE_FILE
    if whole.set_aside != (file.read_text() if file.exists() else ""):
        yield f"{name}: {SET_ASIDE_FILE} is not that of an uninterrupted run"
    yield from _faults_of_requests(name, whole.entries, account)
    yield from _faults_of_rows(name, whole, account)
    lines = [json.loads(line) for line in whole.set_aside.splitlines()]
    found = sorted((line["source"], line["sequence"], line["row"]) for line in lines)
    yield from _differences(f"{name}: rows set aside", found, sorted(account.aside[name]))


def _faults_of_requests(name: str, entries: list[Entry], account: Account) -> Iterator[str]:
    """Every number of every source is taken once, in order, as far as it was acknowledged."""
    taken: dict[str, list[int]] = {}
    for entry in entries:
        for source, number in entry.taken:
            taken.setdefault(source, []).append(number)
    expected = {source: list(range(1, n + 1)) for source, n in account.taken[name].items()}
    for source in sorted(taken.keys() | expected.keys()):
        what = f"{name}: requests of {source}"
        yield from _differences(what, taken.get(source, []), expected.get(source, []))


def _faults_of_rows(name: str, whole: Whole, account: Account) -> Iterator[str]:
    """Every row that was acknowledged is in one block, once, and was learned."""
    scale = 2 ** (OF_ROWS + OF_REQUESTS + OF_SOURCES)
    last = [value for entry in whole.entries if len(entry.X) for value in entry.X[:, -1]]
    sent = [int(value * scale) for value in last]
    yield from _differences(f"{name}: rows", sorted(sent), sorted(account.rows[name]))
    if whole.rows_learned != len(account.rows[name]):
        yield f"{name}: {whole.rows_learned} rows learned, {len(account.rows[name])} acknowledged"


def _differences(what: str, found: list[Any], expected: list[Any]) -> Iterator[str]:
    """Say where two lists differ, if they do."""
    if found == expected:
        return
    lost = [one for one in expected if one not in set(found)][:SHOWN]
    more = [one for one in found if one not in set(expected)][:SHOWN]
    yield f"{what}: {len(found)} instead of {len(expected)}; lost {lost}, never sent {more}"
