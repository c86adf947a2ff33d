"""Rows as requests bring them, checked one by one: inputs, targets, identifiers.

What one row must be, whatever the others are: numbers up to the largest that can be squared,
nothing missing unless the model deals with that, a target of the right kind.  Whether rows agree
with those before them is decided where they are recorded.
"""

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from okspca.distributed.set_aside import MOST_CHARACTERS
from okspca.numerics.arrays import LARGEST_VALUE, Floats
from okspca.serve.entries import NO_ROWS
from okspca.serve.limits import MOST_OF_NAMES, letters_of
from okspca.serve.refusals import RefusalError, malformed, unlearnable
from okspca.state.ledger import Label

CLASSIFICATION, REGRESSION = "classification", "regression"
MOST_LETTERS, MOST_LABEL_LETTERS = 128, 256
MOST_WHOLE = 1 << 53
#: Values of a bad row that are kept to be shown.
MOST_SHOWN = 100
KINDS: dict[type, str] = {bool: "truth values", int: "numbers", float: "numbers", str: "text"}


class Form(NamedTuple):
    """What rows of a model look like.

    Attributes
    ----------
    task : {"classification", "regression"}
        What targets are.
    columns : tuple of str
        Names of the inputs, empty where they have none, or none yet.
    n_inputs : int
        How many there are; 0 where no row has told yet.
    target : str
        Name of the target in tables.
    has_gaps : bool
        Whether values may be missing.
    most_rows, most_columns : int
        What one request may bring.
    """

    task: str
    columns: tuple[str, ...] = ()
    n_inputs: int = 0
    target: str = "y"
    has_gaps: bool = False
    most_rows: int = 100_000
    most_columns: int = 20_000


class Bad(NamedTuple):
    """A row that cannot be learned: which one, why, in which column, and what it held."""

    row: int
    reason: str
    column: str | int | None = None
    value: Any = None

    def refusal(self) -> RefusalError:
        """What a request with this row is answered."""
        return unlearnable(f"{self.reason} Nothing was learned.", self.row, self.column)


class Rows(NamedTuple):
    """Good rows of a request, and bad ones.

    Examples
    --------
    >>> read = rows_of([{"x": [1, 2], "y": 0.5}, {"x": [1, None], "y": 0.5}], Form("regression"))
    >>> read.X.tolist(), read.bad[0].reason
    ([[1.0, 2.0]], 'x lacks a value in column 1.')
    """

    X: Floats
    columns: tuple[str, ...] = ()
    labels: list[Label] | None = None
    Y: Floats = NO_ROWS
    ids: tuple[str, ...] = ()
    bad: tuple[Bad, ...] = ()

    @property
    def kind(self) -> str:
        """What its labels are; empty where there are none."""
        return KINDS[type(self.labels[0])] if self.labels else ""

    @property
    def n_outputs(self) -> int:
        """Numbers in a target; 0 for labels."""
        return 0 if self.labels is not None or not len(self.Y) else self.Y.shape[1]

    def checked(self) -> "Rows":
        """The rows, if none is bad."""
        if self.bad:
            raise self.bad[0].refusal()
        return self


class _BadRowError(Exception):
    """What is wrong with a row, and in which column."""

    def __init__(self, reason: str, column: str | int | None = None) -> None:
        super().__init__(reason)
        self.reason, self.column = reason, column


def rows_of(
    records: Sequence[Any], form: Form, *, has_targets: bool = True, has_ids: bool = False
) -> Rows:
    """Read rows from objects with "x", "y" and "id"."""
    if len(records) > form.most_rows:
        message = f"There are {len(records)} rows; one request may bring {form.most_rows}."
        raise malformed(message)
    columns = form.columns if form.columns or form.n_inputs else _names_in(records, form)
    width, bad = form.n_inputs, []
    values: list[list[float]] = []
    targets: list[Any] = []
    ids: list[str] = []
    for row, record in enumerate(records):
        try:
            x, y, name = _parts(record, has_targets, has_ids)
            given = _inputs(x, columns, form.has_gaps)
            n = _same_width(given, width, form.most_columns)
            target = target_of(y, form.task, targets) if has_targets else None
        except _BadRowError as found:
            bad.append(Bad(row, found.reason, found.column, record))
            continue
        width = n
        values.append(given)
        targets.append(target)
        ids.append(name)
    X = np.array(values, dtype=np.float64).reshape(len(values), width)
    rows = Rows(X, columns, ids=tuple(ids) if has_ids else (), bad=tuple(bad))
    return with_targets(rows, targets, form.task) if has_targets else rows


def with_targets(rows: Rows, targets: list[Any], task: str) -> Rows:
    """Add targets that were read one by one."""
    if task == CLASSIFICATION:
        return rows._replace(labels=targets)
    width = len(targets[0]) if targets else 1
    Y = np.array(targets, dtype=np.float64).reshape(len(targets), width)
    return rows._replace(Y=Y)


def target_of(y: Any, task: str, before: Sequence[Any] = ()) -> Any:
    """Return a label, or the numbers of a response; those before it tell what they must be."""
    if y is None:
        raise _BadRowError("The target y is missing.")
    found = _label(y) if task == CLASSIFICATION else _response(y)
    if before:
        _check_alike(found, before[0], task)
    return found


def read_targets(values: Sequence[Any], task: str) -> tuple[list[Any], list[Bad]]:
    """Read targets alone; the number of a bad one is its place."""
    good: list[Any] = []
    bad: list[Bad] = []
    for row, value in enumerate(values):
        try:
            good.append(target_of(value, task, good))
        except _BadRowError as found:
            bad.append(Bad(row, found.reason, found.column, value))
    return good, bad


def name_of(value: Any, what: str) -> str:
    """Check a name that somebody gave to a row or a source."""
    if isinstance(value, str) and 0 < len(value) <= MOST_LETTERS and value.isprintable():
        return value
    message = f"{what} must be a text of 1 to {MOST_LETTERS} printable characters."
    raise malformed(message)


def _names_in(records: Sequence[Any], form: Form) -> tuple[str, ...]:
    """Names of the inputs, where the first row gives them."""
    first = records[0] if records else None
    x = first.get("x") if isinstance(first, dict) else None
    return names_of(x, form.most_columns) if isinstance(x, dict) else ()


def names_of(names: Iterable[Any], most: int) -> tuple[str, ...]:
    """Check names of inputs: they stay with the model, in every checkpoint."""
    found = tuple(name_of(name, "The name of an input") for name in names)
    if len(found) > most:
        message = f"x has {len(found)} inputs; at most {most} are taken."
        raise malformed(message)
    letters = letters_of(found)
    if letters > MOST_OF_NAMES:
        message = f"The names of the inputs have {letters} letters; {MOST_OF_NAMES} are allowed."
        raise malformed(message)
    return found


def _parts(record: Any, has_target: bool, has_id: bool) -> tuple[Any, Any, str]:
    """Take a record apart."""
    if not isinstance(record, dict) or "x" not in record:
        raise _BadRowError('A row must be an object with "x".')
    if not has_target and record.get("y") is not None:
        raise malformed('Rows that are asked about have no "y".')
    name = name_of(record.get("id"), "The id of a row") if has_id else ""
    others = set(record) - {"x", "y", "id"}
    if others:
        message = (
            f'A row has {printed(min(others, key=str))}, but only "x", "y" and "id" are known.'
        )
        raise _BadRowError(message)
    return record["x"], record.get("y"), name


def _inputs(x: Any, columns: tuple[str, ...], has_gaps: bool) -> list[float]:
    """Return the inputs of a row as numbers."""
    if isinstance(x, dict):
        x = _in_order(x, columns)
    elif not isinstance(x, list):
        raise _BadRowError("x must be a list of numbers, or an object with one for each input.")
    for place, value in enumerate(x):
        if type(value) in (int, float) and -LARGEST_VALUE <= value <= LARGEST_VALUE:
            continue
        if value is None and has_gaps:
            continue
        column = columns[place] if len(columns) == len(x) else place
        raise _BadRowError(_wrong(value, column), column)
    if None in x:
        return [math.nan if value is None else float(value) for value in x]
    return x


def _in_order(x: Mapping[str, Any], columns: tuple[str, ...]) -> list[Any]:
    """Values of a row in the order of the inputs."""
    if not columns:
        raise _BadRowError("x has names, but the inputs of the model have none; send a list.")
    if len(x) == len(columns) and all(name in x for name in columns):
        return [x[name] for name in columns]
    lacking = [name for name in columns if name not in x]
    if lacking:
        raise _BadRowError(f"x lacks the input {printed(lacking[0])}.", lacking[0])
    other = next(name for name in x if name not in columns)
    raise _BadRowError(
        f"x has {printed(other)}, which is no input of the model.", other[:MOST_LETTERS]
    )


def _wrong(value: Any, column: str | int) -> str:
    """Say what is wrong with a value."""
    where = f"column {column if isinstance(column, int) else printed(column)}"
    if value is None:
        return f"x lacks a value in {where}."
    if type(value) in (int, float):
        return f"x contains a value beyond {LARGEST_VALUE:g} in {where}; rescale it."
    return f"x contains {printed(value)} in {where}, which is not a number."


def _same_width(given: list[float], width: int, most: int) -> int:
    """Check how many inputs there are."""
    n = len(given)
    if not n:
        raise _BadRowError("x is empty.")
    if n > most:
        raise _BadRowError(f"x has {n} values; at most {most} are taken.")
    if width and n != width:
        raise _BadRowError(f"x has {n} values, but {width} are expected.")
    return n


def _label(y: Any) -> Label:
    """Check a label."""
    if isinstance(y, bool):
        return y
    if isinstance(y, str):
        if len(y) <= MOST_LABEL_LETTERS and _can_be_written(y):
            return y
        raise _BadRowError(
            f"A label has at most {MOST_LABEL_LETTERS} characters, none of them zero or a half."
        )
    if isinstance(y, int | float) and abs(y) <= MOST_WHOLE and y == int(y):
        return y
    raise _BadRowError(f"The label {printed(y)} must be a whole number, text or truth value.")


def _can_be_written(text: str) -> bool:
    """Whether a text has a form outside of Python: halves of characters have none."""
    try:
        return b"\0" not in text.encode()
    except UnicodeEncodeError:
        return False


def _response(y: Any) -> list[float]:
    """Check a response."""
    numbers = y if isinstance(y, list) else [y]
    for number in numbers:
        if type(number) not in (int, float) or not -LARGEST_VALUE <= number <= LARGEST_VALUE:
            raise _BadRowError(f"The target {printed(y)} is not a number that can be squared.")
    if not numbers:
        raise _BadRowError("The target y is empty.")
    return [float(number) for number in numbers]


def _check_alike(found: Any, first: Any, task: str) -> None:
    """Raise where a target is not like the first one."""
    if task == CLASSIFICATION:
        if KINDS[type(found)] != KINDS[type(first)]:
            both = f"{KINDS[type(found)]} and {KINDS[type(first)]}"
            raise _BadRowError(f"Labels mix {both}; they must be of one kind.")
    elif len(found) != len(first):
        raise _BadRowError(f"The target has {len(found)} numbers, but {len(first)} are expected.")


def printed(value: Any) -> str:
    """A value as an error shows it: short."""
    if isinstance(value, str):
        value = value[:MOST_LABEL_LETTERS]
    try:
        text = repr(value)
    except RecursionError:
        text = "what is nested too deeply"
    return text if len(text) <= 60 else f"{text[:60]}..."


def shown(x: Floats) -> list[str]:
    """The first values of a row, as text."""
    return [str(value) for value in x[:MOST_SHOWN].tolist()]


def lines_of(bad: Sequence[Bad], **place: Any) -> Iterator[dict[str, Any]]:
    """Bad rows as lines of the file of those that were set aside."""
    for each in bad:
        yield {**place, "row": each.row, "reason": each.reason, "value": _written(each.value)}


def _written(value: Any) -> str:
    """What a row held, as text; what JSON cannot say as Python shows it."""
    try:
        return json.dumps(value)[:MOST_CHARACTERS]
    except (ValueError, TypeError, RecursionError):
        return printed(value)
