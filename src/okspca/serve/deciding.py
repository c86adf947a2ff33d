"""What becomes of requests that change a model: decided in groups, each on top of those before it.

A :class:`Draft` stands on a ledger that does not change meanwhile.  Requests are decided one after
the other; each is taken whole or refused and leaves no trace.  What was taken becomes one entry of
the journal.  Only when that is on the disk does :func:`okspca.serve.applying.apply` change the
ledger, and a draft whose entry could not be written is simply dropped.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from okspca.numerics.arrays import Floats
from okspca.serve.entries import NO_ROWS, Entry, Line
from okspca.serve.limits import Limits, too_long
from okspca.serve.refusals import conflict, unknown, unlearnable
from okspca.serve.rows import (
    CLASSIFICATION,
    Bad,
    Rows,
    lines_of,
    printed,
    read_targets,
    shown,
    with_targets,
)
from okspca.state.ledger import Label, Ledger

FIRST_NUMBER = 1


class Place(NamedTuple):
    """Where a request stands in what its producer sends."""

    source: str
    number: int


class Learn(NamedTuple):
    """Learn rows."""

    rows: Rows
    place: Place | None = None
    sets_aside: bool = False


class Store(NamedTuple):
    """Let rows wait for their targets."""

    rows: Rows


class Labels(NamedTuple):
    """Learn rows that waited, now that their targets are known."""

    ids: Sequence[str]
    targets: Sequence[Any]
    place: Place | None = None
    sets_aside: bool = False


class Expire(NamedTuple):
    """Rows have waited too long."""

    ids: Sequence[str]


class Forget(NamedTuple):
    """A source is to be unknown again."""

    source: str


class Relearn(NamedTuple):
    """The features are to be learned again."""


Change = Learn | Store | Labels | Expire | Forget | Relearn


class Draft:
    """Decisions about a group of requests.

    Parameters
    ----------
    ledger : Ledger
        How things stand.
    columns : tuple of str
        Names of the inputs, if they are known.
    task : {"classification", "regression"}
        What targets are.
    limits : Limits
        How much there may be.

    Examples
    --------
    >>> from okspca.serve.rows import Form, rows_of
    >>> draft = Draft(Ledger(), (), "regression", Limits())
    >>> rows = rows_of([{"x": [1.0], "y": 2.0}], Form("regression"))
    >>> draft.decide(Learn(rows, Place("line-3", 1)))
    {'learned': 1, 'set_aside': 0, 'repeated': False}
    >>> draft.decide(Learn(rows, Place("line-3", 1)))
    {'learned': 0, 'set_aside': 0, 'repeated': True}
    >>> draft.entry().taken
    (('line-3', 1),)
    """

    def __init__(self, ledger: Ledger, columns: tuple[str, ...], task: str, limits: Limits) -> None:
        self._ledger, self._task, self._limits = ledger, task, limits
        self._columns, self._names_columns = columns, False
        self._n_inputs, self._n_outputs = ledger.n_inputs, ledger.n_outputs
        self._kind, self._labels = ledger.label_kind, dict[Label, None]()
        self._next: dict[str, int] = {}
        self._stored: dict[str, Floats] = {}
        self._gone: set[str] = set()
        self._parts: list[Rows] = []
        self._found: dict[str, list[Any]] = {
            name: [] for name in ("taken", "labelled", "expired", "evicted", "aside", "forgotten")
        }
        self._is_relearning = False

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the inputs after these requests."""
        return self._columns

    def decide(self, change: Change) -> dict[str, Any]:
        """Take a request, or raise a RefusalError and leave no trace of it."""
        if isinstance(change, Learn):
            return self._learn(change)
        if isinstance(change, Store):
            return self._store(change.rows.checked())
        if isinstance(change, Labels):
            return self._label(change)
        if isinstance(change, Expire):
            self._expire(change.ids)
        elif isinstance(change, Forget):
            return self._forget(change.source)
        else:
            self._is_relearning = True
        return {}

    def entry(self) -> Entry | None:
        """What was decided; None if nothing was."""
        found = {name: tuple(values) for name, values in self._found.items()}
        stored = tuple(self._stored)
        columns = self._columns if self._names_columns else ()
        if not (self._parts or stored or self._is_relearning or any(found.values())):
            return None
        X = [part.X for part in self._parts]
        labels = [label for part in self._parts for label in part.labels or ()]
        Y = [part.Y for part in self._parts if part.labels is None]
        return Entry(
            _stacked(X),
            labels if self._task == CLASSIFICATION else None,
            _stacked(Y),
            stored=stored,
            S=np.array([self._stored[name] for name in stored]) if stored else NO_ROWS,
            columns=columns,
            is_relearning=self._is_relearning,
            **found,
        )

    def _learn(self, change: Learn) -> dict[str, Any]:
        """Decide about rows with their targets."""
        if self._is_repeated(change.place):
            return _answer(0, 0, repeated=True)
        rows = change.rows if change.sets_aside else change.rows.checked()
        rows = self._fitting(self._in_our_order(rows), change.sets_aside)
        return self._taken(rows, change.place)

    def _taken(self, rows: Rows, place: Place | None) -> dict[str, Any]:
        """Take rows that were found to fit; nothing can fail any more."""
        where: Line = {} if place is None else {"source": place.source, "sequence": place.number}
        self._found["aside"] += lines_of(rows.bad, **where)
        if len(rows.X):
            self._parts.append(rows)
            self._take_shape(rows)
        if place is not None:
            self._found["taken"].append(tuple(place))
            self._next[place.source] = place.number + 1
        return _answer(len(rows.X), len(rows.bad))

    def _take_shape(self, rows: Rows) -> None:
        """Let the first rows fix what all others must be."""
        self._n_inputs = rows.X.shape[1]
        if rows.columns and not self._columns:
            self._columns, self._names_columns = rows.columns, True
        self._n_outputs = self._n_outputs or rows.n_outputs
        if rows.labels:
            self._kind = rows.kind
            known = self._ledger.labels
            self._labels |= dict.fromkeys(y for y in rows.labels if y not in known)

    def _is_repeated(self, place: Place | None) -> bool:
        """Whether a request was taken before; raise where one before it is missing."""
        if place is None:
            return False
        expected = self._expected(place.source)
        if place.number > expected:
            message = (
                f"{printed(place.source)} sent number {place.number}, but {expected} is expected."
            )
            raise conflict(message, expected=expected)
        known, new = self._ledger.sources, self._next
        is_known = place.source in known or place.source in new
        # Together they are counted only where one set alone does not tell.
        if not is_known and len(known) + len(new) >= self._limits.sources <= len({**known, **new}):
            message = (
                f"There are {self._limits.sources} sources already; forget one that has ended."
            )
            raise conflict(message)
        return place.number < expected

    def _expected(self, source: str) -> int:
        """The next number of a source."""
        return self._next.get(source, self._ledger.sources.get(source, FIRST_NUMBER))

    def _in_our_order(self, rows: Rows) -> Rows:
        """Rows whose inputs stand as ours: others may have been named while these were read."""
        names = rows.columns
        if names == self._columns or not names or set(names) != set(self._columns):
            return rows
        order = [names.index(name) for name in self._columns]
        return rows._replace(X=rows.X[:, order], columns=self._columns)

    def _fitting(self, rows: Rows, sets_aside: bool) -> Rows:
        """Rows that agree with those before them; the others are bad, or refuse the request."""
        reason = self._objection(rows)
        if reason is None:
            return rows
        if not sets_aside:
            message = f"{reason} Nothing was learned."
            raise unlearnable(message)
        wrong = {each.row for each in rows.bad}
        n = len(rows.X) + len(rows.bad)
        good = [row for row in range(n) if row not in wrong]
        bad = [Bad(row, reason, None, shown(x)) for row, x in zip(good, rows.X, strict=True)]
        every = sorted([*rows.bad, *bad], key=lambda each: each.row)
        return Rows(NO_ROWS, bad=tuple(every))

    def _objection(self, rows: Rows) -> str | None:
        """Why rows do not go with those before them."""
        if not len(rows.X):
            return None
        d, m = rows.X.shape[1], rows.n_outputs
        if self._n_inputs and d != self._n_inputs:
            return f"Rows have {d} inputs, but {self._n_inputs} are expected."
        if rows.columns and rows.columns != (self._columns or rows.columns):
            return f"The inputs are named {printed(list(self._columns))[:200]}."
        if rows.columns and self._n_inputs and not self._columns:
            return "Inputs have no names in this model; send lists."
        if self._n_outputs and m and m != self._n_outputs:
            return f"The target has {m} numbers, but {self._n_outputs} are expected."
        if rows.labels:
            return self._objection_to_labels(rows)
        return None

    def _objection_to_labels(self, rows: Rows) -> str | None:
        """Why labels do not go with those before them."""
        assert rows.labels is not None
        if self._kind and rows.kind != self._kind:
            return f"Labels are {rows.kind}, but those before them {self._kind}."
        known = self._ledger.labels
        new = {y for y in rows.labels if y not in known and y not in self._labels}
        if len(known) + len(self._labels) + len(new) > self._limits.classes:
            return f"There would be more than {self._limits.classes} classes."
        return too_long([*known, *self._labels, *new]) if new else None

    def _store(self, rows: Rows) -> dict[str, Any]:
        """Let rows wait; the oldest make room."""
        rows = self._in_our_order(rows)
        reason = self._objection(rows)
        if reason is not None:
            raise unlearnable(reason)
        most = self._limits.most_pending(rows.X.shape[1])
        if len(set(rows.ids)) < len(rows.ids) or len(rows.ids) > most:
            message = "Ids of rows must all differ, and there must be room for them."
            raise unlearnable(message)
        new = {name: x for name, x in zip(rows.ids, rows.X, strict=True) if self._is_new(name, x)}
        if len(rows.X):
            self._take_shape(rows)
        self._stored |= new
        self._evict(most)
        return {"stored": len(rows.ids)}

    def _is_new(self, name: str, x: Floats) -> bool:
        """Whether a row does not wait yet; one that was sent again does."""
        if not self._waits(name):
            return True
        known = self._stored[name] if name in self._stored else self._ledger.pending[name]
        if not np.array_equal(known, x, equal_nan=True):
            message = f"Another row with the id {printed(name)} waits already."
            raise conflict(message)
        return False

    def _waits(self, name: str) -> bool:
        """Whether a row waits for its target."""
        return name in self._stored or (name in self._ledger.pending and name not in self._gone)

    def _evict(self, most: int) -> None:
        """Let the oldest rows go where there are too many."""
        n = len(self._ledger.pending) - len(self._gone) + len(self._stored)
        for name in self._ledger.pending:
            if n <= most:
                return
            if name not in self._gone:
                self._leave(name, "evicted")
                n -= 1
        for name in list(self._stored)[: max(n - most, 0)]:
            del self._stored[name]

    def _leave(self, name: str, why: str) -> None:
        """Let a row of the ledger wait no longer."""
        self._gone.add(name)
        self._found[why].append(name)

    def _expire(self, ids: Sequence[str]) -> None:
        """Let rows go that have waited too long; some may have got their target meanwhile."""
        for name in ids:
            if name in self._ledger.pending and name not in self._gone:
                self._leave(name, "expired")

    def _label(self, change: Labels) -> dict[str, Any]:
        """Decide about targets that came later."""
        if self._is_repeated(change.place):
            return _answer(0, 0, repeated=True)
        bad = self._unknown(change.ids)
        missing = {each.row for each in bad}
        known = [row for row in range(len(change.ids)) if row not in missing]
        targets, wrong = read_targets([change.targets[row] for row in known], self._task)
        bad += [each._replace(row=known[each.row]) for each in wrong]
        unfit = {each.row for each in bad}
        ids = tuple(name for row, name in enumerate(change.ids) if row not in unfit)
        rows = Rows(self._waiting(ids), ids=ids, bad=tuple(bad))
        rows = with_targets(rows, targets, self._task)
        if not change.sets_aside:
            rows.checked()
        rows = self._fitting(rows, change.sets_aside)
        for name in rows.ids:
            if name in self._stored:
                del self._stored[name]
            else:
                self._leave(name, "labelled")
        return self._taken(rows, change.place)

    def _unknown(self, ids: Sequence[str]) -> list[Bad]:
        """Identifiers of no row that waits, or given twice."""
        bad, met = [], set[str]()
        for row, name in enumerate(ids):
            if name in met or not self._waits(name):
                reason = f"No row with the id {printed(name)} waits; it may have expired."
                bad.append(Bad(row, reason, "id", {"id": name}))
            met.add(name)
        return bad

    def _waiting(self, ids: Sequence[str]) -> Floats:
        """Rows that wait, by their identifiers."""
        pending = self._ledger.pending
        rows = [self._stored[name] if name in self._stored else pending[name] for name in ids]
        return np.array(rows).reshape(len(rows), self._n_inputs)

    def _forget(self, source: str) -> dict[str, Any]:
        """Forget a source."""
        if source in self._next or source not in self._ledger.sources:
            message = f"{printed(source)} is no source that could be forgotten now."
            raise unknown(message)
        self._next[source] = FIRST_NUMBER
        self._found["forgotten"].append(source)
        return {"forgotten": source}


def _answer(learned: int, set_aside: int, *, repeated: bool = False) -> dict[str, Any]:
    """What a producer is told."""
    return {"learned": learned, "set_aside": set_aside, "repeated": repeated}


def _stacked(parts: list[Floats]) -> Floats:
    """Rows below one another."""
    return np.vstack(parts) if parts else NO_ROWS
