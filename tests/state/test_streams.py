"""The record of a stream holds what was said about its files, and nothing that nobody can say."""

from typing import Any, get_type_hints

import pytest
from safetensors.numpy import load

from okspca import OKSPCA
from okspca.cli.reading_options import ReadingFlags
from okspca.errors import StateError
from okspca.estimators.saving import model_bytes, model_from
from okspca.state.said import OFTEN, ORDER, SWITCHES, parsed, typed
from okspca.state.streams import StreamRecord
from okspca_lab.ordeals.mutations import assembled, header_of

RECORD = StreamRecord(("rows.csv",), "y", ("a",), "raise", 2)
SAID = ("--delimiter", ";", "--na", "lost", "--na", "--na")


def stored(flags: Any) -> bytes:
    """A model whose record holds this."""
    model = OKSPCA(1, n_random_features=4, random_state=0).fit([[1.0], [2.0]], [0.0, 1.0])
    whole = model_bytes(model, RECORD._replace(flags=SAID))
    header = header_of(whole)
    header["state"]["stream"]["flags"] = flags
    return assembled(header, load(whole))


def test_what_was_said_is_read_back() -> None:
    _, record = model_from(OKSPCA, stored(list(SAID)))
    assert record is not None
    assert record.flags == SAID


@pytest.mark.parametrize(
    "flags",
    [
        [],
        None,
        "--na lost",
        ["--na"],
        ["--na", 1],
        ["--drop", "a"],
        ["a"],
        ["--header", "--no-header"],
        ["--delimiter", ";", "--delimiter", ","],
        ["--na", "lost", "--delimiter", ";"],
        ["--decimal", "x"],
        ["--thousands", "10"],
        ["--out", "--na", "lost"],
    ],
    ids=str,
)
def test_what_nobody_can_have_typed_is_refused(flags: Any) -> None:
    with pytest.raises(StateError, match="stream/flags is"):
        model_from(OKSPCA, stored(flags))


def test_every_flag_about_reading_can_be_remembered() -> None:
    """The command line and the files know the same flags, in the same order."""
    values: dict[str, Any] = {"decimal": ",", "thousands": ".", "header": False, "usual_na": False}
    hints = get_type_hints(ReadingFlags)
    for name in ReadingFlags._fields:
        values.setdefault(name, ["u", "v"] if "list" in str(hints[name]) else "w")
    words = ReadingFlags(**values).words()
    said = parsed(words)
    assert said is not None
    assert list(said) == list(ORDER)
    assert len(said) == len(ReadingFlags._fields)
    assert typed(said) == tuple(words)
    assert {flag for flag, found in said.items() if len(found) > 1} == set(OFTEN)
    assert {said[flag][0] for flag in SWITCHES} == set(SWITCHES.values())


def spoiled(name: str, value: Any) -> bytes:
    """A model whose record of a log has this in a field."""
    model = OKSPCA(1, n_random_features=4, random_state=0).fit([[1.0], [2.0]], [0.0, 1.0])
    whole = model_bytes(model, LOG)
    header = header_of(whole)
    header["state"]["stream"][name] = value
    return assembled(header, load(whole))


LOG = RECORD._replace(
    offsets=(("t", 0, 9), ("t", 1, 5)),
    spans=(("t", 0, 0, 3), ("t", 0, 5, 9), ("t", 1, 4, 5)),
    entries=(("sales", "1700000000000-5", 7),),
)


def test_spans_and_entries_are_read_back() -> None:
    assert model_from(OKSPCA, spoiled("target", "y"))[1] == LOG


@pytest.mark.parametrize(
    "spans",
    [
        [],
        "t",
        [["t", 0, 3]],
        [["t", 0, 3, 3]],
        [["t", 0, -1, 3]],
        [["t", 0, 5, 10]],
        [["t", 2, 0, 1]],
        [["t", 0, 5, 9], ["t", 0, 0, 3]],
        [["t", 0, 0, 5], ["t", 0, 5, 9]],
        [["t", 0, 0, 6], ["t", 0, 5, 9]],
    ],
    ids=str,
)
def test_spans_that_are_impossible_are_refused(spans: Any) -> None:
    with pytest.raises(StateError, match="stream/spans is"):
        model_from(OKSPCA, spoiled("spans", spans))


@pytest.mark.parametrize(
    "entries",
    [
        [],
        "sales",
        [["sales", "7-0"]],
        [["sales", "7", 1]],
        [["sales", "7-0", 0]],
        [["sales", 7, 1]],
        [["sales", "7-0", 1], ["sales", "8-0", 2]],
    ],
    ids=str,
)
def test_entries_that_are_impossible_are_refused(entries: Any) -> None:
    with pytest.raises(StateError, match="stream/entries is"):
        model_from(OKSPCA, spoiled("entries", entries))
