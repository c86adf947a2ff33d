"""Decisions: each request whole or not at all, numbers in order, rows that wait."""

from typing import Any

import numpy as np
import pytest

from okspca.serve.deciding import (
    Draft,
    Expire,
    Forget,
    Labels,
    Learn,
    Place,
    Relearn,
    Store,
    apply,
)
from okspca.serve.entries import entries, framed
from okspca.serve.limits import Limits
from okspca.serve.refusals import RefusalError
from okspca.serve.rows import Form, Rows, rows_of
from okspca.state.ledger import Ledger

NUMBERS, LABELS = Form("regression"), Form("classification")


def rows(n: int = 1, d: int = 2, y: Any = 1.0, form: Form = NUMBERS) -> Rows:
    return rows_of([{"x": [float(i)] * d, "y": y} for i in range(n)], form)


def waiting(*ids: str, d: int = 2) -> Rows:
    records = [{"x": [float(i)] * d, "id": name} for i, name in enumerate(ids)]
    return rows_of(records, NUMBERS, has_targets=False, has_ids=True)


class Book:
    """A ledger with whatever is decided applied to it, as after a journal."""

    def __init__(self, task: str = "regression", **limits: int) -> None:
        self.ledger, self.task = Ledger(), task
        self.columns: tuple[str, ...] = ()
        self.limits = Limits(**limits)

    def decide(self, *changes: Any) -> list[Any]:
        draft = Draft(self.ledger, self.columns, self.task, self.limits)
        found: list[Any] = []
        for change in changes:
            try:
                found.append(draft.decide(change))
            except RefusalError as refusal:
                found.append(refusal)
        entry = draft.entry()
        if entry is not None:
            number = self.ledger.applied + 1
            # What is applied is what the journal gives back.
            number, entry = next(entries(framed(number, entry)))
            apply(self.ledger, number, entry)
            self.columns = draft.columns
            self.entry = entry
        return found


def test_numbers_count_once_and_in_order() -> None:
    book = Book()
    learn = [Learn(rows(), Place("a", number)) for number in (1, 1, 3, 2)]
    first, again, gap, second = book.decide(*learn)
    assert (first["learned"], first["repeated"]) == (1, False)
    assert (again["learned"], again["repeated"]) == (0, True)
    assert gap.told == {"expected": 2}
    assert second["learned"] == 1
    assert book.ledger.sources == {"a": 3}
    assert book.entry.n_rows == 2
    (late,) = book.decide(Learn(rows(), Place("a", 2)))
    assert late["repeated"]


def test_a_refused_request_uses_up_no_number() -> None:
    book = Book()
    bad = rows_of([{"x": [1.0, None], "y": 1.0}], NUMBERS)
    refusal, good = book.decide(Learn(bad, Place("a", 1)), Learn(rows(), Place("a", 1)))
    assert refusal.told == {"row": 0, "column": 1}
    assert good["learned"] == 1


def test_bad_rows_are_set_aside_and_use_up_the_number() -> None:
    book = Book()
    mixed = rows_of([{"x": [1.0, 2.0], "y": 1.0}, {"x": [1.0, "2"], "y": 1.0}], NUMBERS)
    (found,) = book.decide(Learn(mixed, Place("a", 1), sets_aside=True))
    assert found == {"learned": 1, "set_aside": 1, "repeated": False}
    (line,) = book.entry.aside
    assert (line["source"], line["sequence"], line["row"]) == ("a", 1, 1)
    assert "not a number" in line["reason"]
    assert book.ledger.sources == {"a": 2}
    assert book.ledger.n_set_aside == 1


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (Learn(rows(d=3)), "have 3 inputs, but 2"),
        (Learn(rows(y=[1.0, 2.0])), "has 2 numbers, but 1"),
        (Learn(rows_of([{"x": {"a": 1, "b": 2}, "y": 1.0}], NUMBERS)), "have no names"),
    ],
)
def test_rows_that_do_not_go_with_those_before_are_refused(change: Learn, why: str) -> None:
    book = Book()
    # In the same group as the first ones, and after them.
    for found in (book.decide(Learn(rows()), change)[1], book.decide(change)[0]):
        assert isinstance(found, RefusalError)
        assert why in found.sentence
    assert book.ledger.n_inputs == 2


def test_labels_are_of_one_kind_and_not_too_many() -> None:
    book = Book("classification", classes=2)
    one, other, third, text = (Learn(rows(y=y, form=LABELS)) for y in (1, 2, 3, "1"))
    assert [isinstance(found, RefusalError) for found in book.decide(one, text, other, third)] == [
        False,
        True,
        False,
        True,
    ]
    assert list(book.ledger.labels) == [1, 2]
    assert isinstance(book.decide(third)[0], RefusalError)
    assert book.ledger.label_kind == "numbers"


def test_names_of_the_first_rows_are_those_of_all() -> None:
    book = Book()
    first = rows_of([{"x": {"flow": 1, "level": 2}, "y": 1.0}], NUMBERS)
    other = rows_of([{"x": {"level": 1, "heat": 2}, "y": 1.0}], NUMBERS)
    found = book.decide(Learn(first), Learn(other))
    assert isinstance(found[1], RefusalError)
    assert book.columns == ("flow", "level")
    assert book.entry.columns == ("flow", "level")


def test_rows_wait_for_their_targets_and_are_learned_once() -> None:
    book = Book()
    book.decide(Learn(rows()), Store(waiting("x", "y", "z")))
    assert list(book.ledger.pending) == ["x", "y", "z"]
    found = book.decide(
        Labels(["y"], [5.0], Place("a", 1)),
        Labels(["y"], [6.0]),
        Labels(["y"], [5.0], Place("a", 1)),
        Labels(["w"], [5.0]),
    )
    assert found[0]["learned"] == 1
    assert isinstance(found[1], RefusalError)
    assert found[2]["repeated"]
    assert isinstance(found[3], RefusalError)
    np.testing.assert_array_equal(book.entry.X, [[1.0, 1.0]])
    np.testing.assert_array_equal(book.entry.Y, [[5.0]])
    assert list(book.ledger.pending) == ["x", "z"]


def test_a_row_can_be_labelled_in_the_group_that_stores_it() -> None:
    book = Book()
    found = book.decide(Store(waiting("x", "y")), Labels(["y", "x"], [1.0, 2.0]))
    assert found[1]["learned"] == 2
    assert book.ledger.pending == {}
    np.testing.assert_array_equal(book.entry.X, [[1.0, 1.0], [0.0, 0.0]])


def test_an_id_waits_once() -> None:
    book = Book()
    first, second = book.decide(Store(waiting("x")), Store(waiting("x")))
    assert first == {"stored": 1}
    assert isinstance(second, RefusalError)
    assert isinstance(book.decide(Store(waiting("w", "x")))[0], RefusalError)
    assert list(book.ledger.pending) == ["x"]


def test_the_oldest_rows_make_room() -> None:
    book = Book(pending=3)
    book.decide(Store(waiting("a", "b")))
    book.decide(Store(waiting("c", "d")))
    assert list(book.ledger.pending) == ["b", "c", "d"]
    assert book.ledger.n_evicted == 1
    late = Labels(["a"], [1.0])
    assert isinstance(book.decide(late)[0], RefusalError)


def test_rows_that_waited_too_long_are_gone_unless_they_got_their_target() -> None:
    book = Book()
    book.decide(Store(waiting("a", "b", "c")))
    book.decide(Labels(["b"], [1.0]), Expire(["a", "b"]))
    assert list(book.ledger.pending) == ["c"]
    assert book.entry.expired == ("a",)
    assert (book.ledger.n_expired, book.ledger.n_labelled) == (1, 1)


def test_a_label_that_does_not_fit_leaves_its_row_waiting() -> None:
    book = Book()
    book.decide(Learn(rows()), Store(waiting("a", "b")))
    refusal, aside = book.decide(
        Labels(["a", "b"], [1.0, "high"]), Labels(["a", "b"], [1.0, "high"], sets_aside=True)
    )
    assert refusal.told == {"row": 1}
    assert (aside["learned"], aside["set_aside"]) == (1, 1)
    assert list(book.ledger.pending) == ["b"]


def test_sources_are_bounded_and_can_be_forgotten() -> None:
    book = Book(sources=1)
    first, second = book.decide(Learn(rows(), Place("a", 1)), Learn(rows(), Place("b", 1)))
    assert first["learned"] == 1
    assert isinstance(second, RefusalError)
    assert book.decide(Forget("a")) == [{"forgotten": "a"}]
    assert book.ledger.sources == {}
    assert book.decide(Learn(rows(), Place("b", 1)))[0]["learned"] == 1
    assert isinstance(book.decide(Forget("a"))[0], RefusalError)


def test_nothing_decided_is_no_entry() -> None:
    draft = Draft(Ledger(), (), "regression", Limits())
    draft.decide(Expire(["nobody"]))
    assert draft.entry() is None
    draft.decide(Relearn())
    found = draft.entry()
    assert found is not None
    assert found.is_relearning
