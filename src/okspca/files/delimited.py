"""Read delimited text (CSV) in pieces of whole records, each parsed by pyarrow.

A piece that pyarrow cannot read as planned is read once more as text, and every value is looked at:
either all of them are right after all (numbers with a sign for thousands, say), or the first that
is wrong is named with its file, line, column and content, after the rows before it were handed out.
"""

import csv as plain_csv
import io
from collections.abc import Iterator
from functools import partial
from typing import Any

import pyarrow as pa
from pyarrow import csv

from okspca.errors import DataError
from okspca.files import plans
from okspca.files.columns import check_present
from okspca.files.dialect import Dialect, decoded, detect, looks_like_number, wrong_bytes
from okspca.files.numerals import cleaned
from okspca.files.plans import Plan, Unsure
from okspca.files.position import Position
from okspca.files.reading import COPY, LABEL, NUMBER, TASK, TEXT, Reading
from okspca.files.records import (
    LARGEST,
    Quotes,
    first_lines,
    n_lines,
    pieces,
    records_end,
    row_lines,
)
from okspca.files.refusals import LineError
from okspca.files.sources import PIECE, Source, called, reason

#: So many lines of a pipe are looked at beforehand: more may take their time.
PIPE_LINES, FEWEST_LINES = 200, 4
#: What is said of a value that is the name of its column.
REPEATED = "repeats the header, as in files that were put together; remove the line."
AS_TEXT = (TEXT, LABEL, COPY)
TEMPORAL = pa.types.is_temporal


def read_delimited(
    source: Source, reading: Reading, position: Position, usual: str
) -> Iterator[pa.RecordBatch]:
    """Read delimited text; ``usual`` is the delimiter that the format implies, if any."""
    beginning = _beginning(source, reading)
    if source.is_cut and not _shows_a_row(beginning, reading):
        return
    dialect = detect(beginning, source.has_ended, reading, source.name, usual)
    check_present(reading.needed, dialect.names)
    table = DelimitedTable(dialect, reading, source.name)
    head = decoded(beginning, dialect.encoding, source.name).encode()
    head = head if source.has_ended else head[: records_end(head, table.quotes)]
    table.plan(head, by_any_rows=source.is_live)
    before = dialect.lines_before
    for text, line in pieces(source, dialect.encoding, table.quotes):
        start = first_lines(text, before) if before else 0
        if len(text) > start:
            yield from table.batches(text[start:], line + before, position)
        before = max(before - n_lines(text), 0)


def _beginning(source: Source, reading: Reading) -> bytes:
    """Enough to know what a file is like: some rows of it; of a pipe, what comes soon."""
    size = PIECE
    while True:
        enough = partial(_shows_a_row, reading=reading)
        found = source.ahead(size, PIPE_LINES if source.is_pipe else None, enough)
        lines = n_lines(found)
        if source.is_cut:
            return found[: found.rfind(b"\n") + 1]
        if source.is_pipe and lines >= PIPE_LINES:
            return found[: first_lines(found, PIPE_LINES)]
        if source.is_live and _shows_a_row(found, reading):
            return found
        if source.has_ended or lines > FEWEST_LINES or size >= LARGEST:
            return found
        size *= 4


def _shows_a_row(found: bytes, reading: Reading) -> bool:
    """Whether there is a whole row to go by, below the names if there may be some."""
    whole = found[: found.rfind(b"\n") + 1]
    lines = [line for line in whole.splitlines() if line.strip() and not line.startswith(b"#")]
    n_before = (reading.header is not False) + any(line.startswith(b"sep=") for line in lines[:1])
    return len(lines) > n_before and whole.count(b'"') % 2 == 0


class DelimitedTable:
    """The columns of one file, and how its pieces become batches of them."""

    def __init__(self, dialect: Dialect, reading: Reading, name: str) -> None:
        self.dialect, self.reading, self.name = dialect, reading, called(name)
        self.quotes = Quotes(dialect.delimiter)
        width = len(dialect.names) + dialect.trails
        self._ids = [str(number) for number in range(width)]
        self._parse = csv.ParseOptions(delimiter=dialect.delimiter, newlines_in_values=True)
        self._padded = dict(dialect.padded)
        self._plans: list[Plan] = []
        self._planned: csv.ConvertOptions = self._converting({})

    def plan(self, head: bytes, *, by_any_rows: bool = False) -> None:
        """Decide what each column is, by the first lines of the file.

        Where one of them is refused, the rows before it decide if they may (``by_any_rows``): they
        are wanted even so, and the refusal comes when its turn has come.
        """
        text = head[first_lines(head, self.dialect.lines_before) :]
        while True:
            try:
                notes = self._planned_by(text)
                break
            except LineError as refused:
                before = first_lines(text, refused.line - self.dialect.lines_before - 1)
                if not by_any_rows or not text[:before].strip():
                    raise
                text = text[:before]
        types = {i: plan.read_as for i, plan in zip(self._ids, self._plans, strict=False)}
        self._planned = self._converting(types)
        self.reading.tell(f"{self.name}: {'; '.join([self.dialect.described(), *notes])}")

    def _planned_by(self, text: bytes) -> list[str]:
        """Decide by some rows; return what might have been decided otherwise."""
        kinds = [self.reading.kind_of(name) for name in self.dialect.names]
        first = self._first(text, kinds)
        notes: list[str] = []
        self._plans = []
        for place, (name, kind) in enumerate(zip(self.dialect.names, kinds, strict=True)):
            try:
                self._plans.append(self._plan(name, kind, first.column(place), notes))
            except Unsure as doubt:
                raise self._doubted(doubt, name, text, first.column(place)) from doubt
        return notes

    def batches(self, text: bytes, line: int, position: Position) -> Iterator[pa.RecordBatch]:
        """Parse a piece that begins on a line; what is wrong in it is named after what is right."""
        try:
            arrays = self._arrays(text, line)
        except LineError as refused:
            before = text[: first_lines(text, refused.line - line)]
            if before.strip():
                yield from self.batches(before, line, position)
            raise
        found = pa.RecordBatch.from_arrays(arrays, names=list(self.dialect.names))
        if found.num_rows:
            steady = found.num_rows == n_lines(text) + (not text.endswith((b"\n", b"\r")))
            lines = None if steady else row_lines(text, line, self.quotes)
            position.note(self.name, found.num_rows, line, lines)
            yield found

    def _arrays(self, text: bytes, line: int) -> list[pa.Array]:
        """The columns of a piece."""
        try:
            return self._finished(self._parsed(text, self._planned))
        except (pa.ArrowInvalid, _Other):
            return self._with_care(text, line)

    def _plan(self, name: str, kind: str | None, column: pa.Array, notes: list[str]) -> Plan:
        """Decide what one column is, and note what might have been decided otherwise."""
        if kind == TEXT:
            return plans.text_plan() if name in self.reading.kinds else plans.RAW
        found = column.type
        if not pa.types.is_string(found) and kind in (None, NUMBER):
            if kind == NUMBER and TEMPORAL(found):
                raise Unsure(None, "holds dates or times, not numbers")
            plan = plans.input_plan(found, (), self.dialect.numerals, name)
            texts = [self._padded[name]] if name in self._padded else []
        else:
            texts = self._texts(column).drop_null().to_pylist()
            plan = self._plan_of_texts(name, kind, found, texts)
        notes += plans.notes_on(name, texts, kind, plan)
        return plan

    def _plan_of_texts(
        self, name: str, kind: str | None, found: pa.DataType, texts: list[str]
    ) -> Plan:
        """Decide what a column is that pyarrow takes as text, or a label."""
        numerals = self.dialect.numerals
        if kind == NUMBER:
            return plans.required_number(texts, numerals, name)
        if kind is None:
            return plans.input_plan(found, texts, numerals, name)
        return plans.label_plan(texts, numerals, name, kind)

    def _first(self, text: bytes, kinds: list[str | None]) -> pa.RecordBatch:
        """The first rows as pyarrow understands them; finding out takes long, so numbers first."""
        if not text.strip():
            nothing = [pa.array([], pa.null()) for _ in self._ids]
            return pa.RecordBatch.from_arrays(nothing, names=self._ids)
        known = zip(self._ids, kinds, strict=False)
        types = {i: pa.string() if kind in AS_TEXT else pa.float64() for i, kind in known}
        try:
            return self._parsed(text, self._converting(types))
        except pa.ArrowInvalid:
            types = {i: kind for i, kind in types.items() if kind == pa.string()}
        try:
            return self._parsed(text, self._converting(types))
        except pa.ArrowInvalid as failure:
            line = self.dialect.lines_before + 1
            raise self._broken(text, line, failure) from failure

    def _doubted(self, doubt: Unsure, name: str, text: bytes, column: Any) -> DataError:
        """Say what cannot be decided, and where."""
        told = doubt.told(self.reading)
        if doubt.value is None:
            return DataError(f"{self.name}, column {name!r} {told}")
        row = self._texts(column).to_pylist().index(doubt.value)
        sentence = REPEATED if doubt.value == name else told
        line = row_lines(text, self.dialect.lines_before + 1, self.quotes)[row]
        where = f"{self.name}, line {line:,}, column {name!r}"
        return LineError(f"{where}: {doubt.value!r} {sentence}", int(line))

    def _converting(self, types: dict[str, pa.DataType]) -> csv.ConvertOptions:
        """Options with these types of columns; the others are found out."""
        return csv.ConvertOptions(
            column_types=types,
            null_values=[*self.reading.missing_words, ""],
            strings_can_be_null=True,
            decimal_point=self.dialect.numerals.decimal,
            timestamp_parsers=[*self.reading.date_formats, csv.ISO8601],
        )

    def _parsed(self, text: bytes, options: csv.ConvertOptions) -> pa.RecordBatch:
        """Let pyarrow parse a piece as one."""
        text = _rewritten(text, self.dialect) if self.dialect.is_spaced else text
        read = csv.ReadOptions(column_names=self._ids, block_size=len(text) + 1, use_threads=False)
        table = csv.read_csv(pa.py_buffer(text), read, self._parse, options).combine_chunks()
        found = table.to_batches()
        return found[0] if found else pa.RecordBatch.from_pylist([], schema=table.schema)

    def _texts(self, column: Any) -> pa.Array:
        """Values without spaces around them, null where a word says that they are missing."""
        return cleaned(column.cast(pa.string()), self.reading.missing_words)

    def _finished(self, batch: pa.RecordBatch) -> list[pa.Array]:
        """Make of texts what they are planned to be."""
        arrays = batch.columns[: len(self._plans)]
        for place, plan in enumerate(self._plans):
            if plan.read_as == pa.string() and plan is not plans.RAW:
                texts = self._texts(arrays[place])
                if plan.first_other(texts) is not None:
                    raise _Other
                arrays[place] = plan.make(texts)
        return arrays

    def _with_care(self, text: bytes, line: int) -> list[pa.Array]:
        """Read a piece as text, name the first value that is not what it should be."""
        try:
            batch = self._parsed(text, self._converting(dict.fromkeys(self._ids, pa.string())))
        except pa.ArrowInvalid as failure:
            raise self._broken(text, line, failure) from failure
        arrays, wrong = [], []
        for place, plan in enumerate(self._plans):
            texts = batch.column(place) if plan is plans.RAW else self._texts(batch.column(place))
            is_temporal = TEMPORAL(plan.read_as)
            row = self._first_undated(texts) if is_temporal else plan.first_other(texts)
            if row is not None:
                wrong.append((row, place, texts[row].as_py()))
            elif not wrong:
                arrays.append(self._dates(text, place) if is_temporal else plan.make(texts))
        if wrong:
            raise self._wrong(*min(wrong), text, line)
        return arrays

    def _wrong(self, row: int, place: int, value: str, text: bytes, line: int) -> LineError:
        """Name a value that is not what it should be."""
        at = int(row_lines(text, line, self.quotes)[row])
        plan, name = self._plans[place], self.dialect.names[place]
        remedy = f"if it stands for a missing value, add --na '{value}'"
        if plan.remedy and TASK in self.reading.advised:
            remedy = plan.remedy
        if plan.noun == plans.A_NUMBER and looks_like_number(value):
            remedy = "if it is one, say how numbers are written with --decimal and --thousands"
        where = f"{self.name}, line {at:,}, column {name!r}"
        if value == name:
            return LineError(f"{where}: {value!r} {REPEATED}", at)
        return LineError(f"{where}: {value!r} is not {plan.noun}; {remedy}.", at)

    def _first_undated(self, texts: pa.Array) -> int | None:
        """The first text that is no date."""
        formats = self.reading.date_formats
        for row, value in enumerate(texts.to_pylist()):
            if value is not None and not plans.is_date(value, formats):
                return row
        return None

    def _dates(self, text: bytes, place: int) -> pa.Array:
        """One column of dates."""
        types = dict.fromkeys(self._ids, pa.string())
        types[self._ids[place]] = self._plans[place].read_as
        return self._parsed(text, self._converting(types)).column(place)

    def _broken(self, text: bytes, line: int, failure: pa.ArrowInvalid) -> DataError:
        """Say which record has too few or too many values, or what else is wrong."""
        try:
            decoded_text = text.decode()
        except UnicodeDecodeError as wrong:
            at = line + n_lines(text[: wrong.start])
            return LineError(wrong_bytes(self.name, at, self.dialect.encoding), at)
        for record, at in _records(decoded_text, line, self.dialect):
            if len(record) != len(self._ids):
                wanted, found = len(self._ids) - self.dialect.trails, len(record)
                told = f"has {found} value{'s' * (found != 1)}, but there are {wanted} columns"
                return LineError(f"{self.name}, line {at:,} {told}.", at)
        return DataError(f"{self.name}, from line {line:,} on: {reason(failure)}")


class _Other(Exception):  # noqa: N818
    """Some value is not what it should be."""


def _records(text: str, line: int, dialect: Dialect) -> Iterator[tuple[list[str], int]]:
    """Records and the lines on which they begin."""
    rows = plain_csv.reader(
        io.StringIO(text, newline=""),
        delimiter=dialect.delimiter,
        skipinitialspace=dialect.is_spaced,
    )
    at = line
    for record in rows:
        if record and dialect.delimiter == " " and not record[-1]:
            record.pop()  # spaces at the end of a line
        if record:
            yield record, at
        at = line + rows.line_num


def _rewritten(text: bytes, dialect: Dialect) -> bytes:
    """The same records without spaces after delimiters."""
    out = io.StringIO(newline="")
    writer = plain_csv.writer(out, delimiter=dialect.delimiter, lineterminator="\n")
    writer.writerows(record for record, _ in _records(text.decode(), 1, dialect))
    return out.getvalue().encode()
