"""What a text file is like: found out from its beginning, said in one line, never guessed.

Everything can be given instead of being found: see :class:`okspca.files.readers.Reading`.  Where
the beginning allows two readings, the file is refused, and the message says what to give.
"""

import codecs
import csv
import io
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from okspca.errors import DataError
from okspca.files.decimals import Value, numerals_of
from okspca.files.numerals import CURRENCIES, SPACES, Numerals
from okspca.files.reading import MISSING_WORDS, TEXT, Reading
from okspca.files.sources import called

DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar", " ": "space"}
ENCODINGS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
#: How pages begin, such as one that asks to sign in before the file can be had.
MARKUP = ("<!doctype", "<html", "<?xml")
#: So many records are looked at, and no more values than this in wide files.
PADDED = re.compile("0[0-9]+$")
RECORDS, VALUES, FEWEST = 200, 50_000, 3
STEADY = 0.8
#: The first line of some exports of spreadsheets.
SEPARATOR = re.compile(r"sep=(.)$")
LOOSE = re.compile(
    f"[+\\-\u2212]?[{CURRENCIES}]?[{SPACES}]?[.,]?[0-9][0-9.,{SPACES}']*"
    f"(?:[eEdD][+\\-\u2212]?[0-9]+)?[{SPACES}%{CURRENCIES}]*$"
)


class Dialect(NamedTuple):
    """How a text file is written."""

    encoding: str
    delimiter: str
    names: tuple[str, ...]
    has_header: bool
    numerals: Numerals
    #: Physical lines before the first row of values.
    lines_before: int
    #: Every row ends with a delimiter after which nothing follows.
    trails: bool = False
    #: Spaces stand between a delimiter and a quotation mark, or delimit in runs.
    is_spaced: bool = False
    seen_missing: tuple[str, ...] = ()
    #: Columns of numbers with zeros before them, and such a number.
    padded: tuple[tuple[str, str], ...] = ()

    def described(self) -> str:
        """Say it in a few words.

        Examples
        --------
        >>> Dialect("utf-8", ";", ("a", "b"), True, Numerals(","), 1).described()
        'semicolon, decimal comma, UTF-8, header'
        """
        numerals, words = self.numerals, [DELIMITERS.get(self.delimiter, repr(self.delimiter))]
        if len(self.names) == 1:
            words = ["one column"]
        words.append("decimal comma" if numerals.decimal == "," else "decimal point")
        if numerals.thousands:
            words.append(f"thousands {numerals.thousands!r}")
        words.append(ENCODING_NAMES.get(self.encoding, self.encoding))
        words.append("header" if self.has_header else "no header")
        if self.seen_missing:
            words.append("missing: " + ", ".join(map(repr, self.seen_missing)))
        return ", ".join(words)


ENCODING_NAMES = {"utf-8": "UTF-8", "utf-8-sig": "UTF-8 with a mark", "utf-16": "UTF-16"}


class Found(NamedTuple):
    """What is known of a file before its records are looked at."""

    encoding: str
    delimiter: str
    lines_before: int
    is_spaced: bool


class Sample(NamedTuple):
    """Records from the start of a file, each with the line on which it begins."""

    records: list[list[str]]
    lines: list[int]

    @property
    def width(self) -> int:
        """Values of the first record."""
        return len(self.records[0]) if self.records else 0

    @property
    def header_lines(self) -> int:
        """Lines from the first record to the second."""
        return self.lines[1] - self.lines[0] if len(self.lines) > 1 else 1

    @property
    def steadiness(self) -> float:
        """Share of the records that are as wide as the first."""
        wanted = (self.width, self.width + self.trails)
        return sum(len(record) in wanted for record in self.records) / max(len(self.records), 1)

    @property
    def trails(self) -> bool:
        """Whether every row ends in a delimiter, and the header has no name for what follows."""
        rows = self.records[1:] or self.records
        widths = (self.width, self.width + 1) if self.records[0][-1] else (self.width,)
        found = {len(row) for row in rows}
        if len(found) != 1 or not found <= set(widths) or any(row[-1] for row in rows):
            return False
        return self.width > 1 and (not self.records[0][-1] or found == {self.width + 1})

    @property
    def cleanness(self) -> float:
        """Share of the values that are numbers or hold no other delimiter."""
        values = [value for record in self.records for value in record]
        clean = sum(looks_like_number(v) or not any(s in v for s in ",;\t|") for v in values)
        return clean / max(len(values), 1)

    @property
    def is_numeric(self) -> bool:
        """Whether most values below the first record look like numbers."""
        values = [value for record in self.records[1:] for value in record]
        return 2 * sum(map(looks_like_number, values)) > len(values)


def detect(beginning: bytes, is_whole: bool, reading: Reading, name: str, usual: str) -> Dialect:
    """Find out what a file is like; ``is_whole`` says that nothing follows its beginning."""
    encoding = encoding_of(beginning, reading.encoding, name)
    text = decoded(beginning, encoding, name)
    before, given, comment = _preamble(text)
    rest = "".join(list(io.StringIO(text, newline=""))[before:])
    if not rest.strip():
        message = f"{called(name)} is empty."
        raise DataError(message)
    if rest.lstrip()[:9].lower().startswith(MARKUP):
        what = "a page of HTML or XML, not a table"
        message = f"{called(name)}, line {before + 1:,} begins {what}; look at it in a browser."
        raise DataError(message)
    delimiter = reading.delimiter or given or usual
    if len(delimiter) > 1:
        message = f"--delimiter {delimiter!r} is not a single sign."
        raise DataError(message)
    if delimiter:
        sample = sampled(rest, delimiter, before, is_whole, name)
    else:
        delimiter, sample = _delimiter_of(rest, before, is_whole, name)
    is_spaced = delimiter == " " or re.search(f'{re.escape(delimiter)} +"', rest) is not None
    found = Found(encoding, delimiter, before, is_spaced)
    return _dialect(sample, found, comment, reading, name)


def encoding_of(beginning: bytes, given: str | None, name: str) -> str:
    """Tell the encoding: by a mark, else UTF-8 if it is that, else Windows' Western one."""
    if given is not None:
        try:
            codecs.lookup(given)
        except LookupError:
            message = f"--encoding {given} is not known; give one such as utf-8, cp1252 or utf-16."
            raise DataError(message) from None
        return given
    for mark, encoding in ENCODINGS.items():
        if beginning.startswith(mark):
            return encoding
    if b"\x00" in beginning:
        line = 1 + beginning[: beginning.index(b"\x00")].count(b"\n")
        message = (
            f"{called(name)}, line {line:,} holds zero bytes: it is not a text file, or in UTF-16 "
            "without a mark (see --encoding), or whatever wrote it broke off there."
        )
        raise DataError(message)
    try:
        codecs.getincrementaldecoder("utf-8")().decode(beginning)
    except UnicodeDecodeError:
        undefined = any(byte in beginning for byte in b"\x81\x8d\x8f\x90\x9d")
        return "latin-1" if undefined else "cp1252"
    return "utf-8"


def decoded(beginning: bytes, encoding: str, name: str) -> str:
    """The text of the first bytes, which may end inside a character."""
    try:
        return codecs.getincrementaldecoder(encoding)().decode(beginning)
    except UnicodeError as failure:
        line = 1 + beginning[: getattr(failure, "start", 0)].count(b"\n")
        raise DataError(wrong_bytes(called(name), line, encoding)) from failure


def wrong_bytes(name: str, line: int, encoding: str) -> str:
    """Say that a line is not in the encoding."""
    return f"{name}, line {line:,}: this is not {encoding}; say what it is with --encoding."


def sampled(text: str, delimiter: str, before: int, is_whole: bool, name: str) -> Sample:
    """Cut the beginning into records; the last one may be cut off and is left out."""
    records: list[list[str]] = []
    lines: list[int] = []
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True)
    line, values = before + 1, 0
    try:
        for record in rows:
            if record and delimiter == " " and not record[-1]:
                record.pop()  # spaces at the end of a line
            if record:
                records.append([value.strip() for value in record])
                lines.append(line)
                values += len(record)
            line = before + rows.line_num + 1
            if len(records) > RECORDS or (values > VALUES and len(records) > FEWEST):
                return Sample(records, lines)
    except csv.Error as failure:
        message = f"{called(name)}, line {line:,} cannot be read: {failure}."
        raise DataError(message) from failure
    is_cut = not is_whole and not text.endswith("\n") and len(records) > 1
    return Sample(records[:-1], lines[:-1]) if is_cut else Sample(records, lines)


def looks_like_number(text: str) -> bool:
    """Whether a text is a number in some way of writing.

    Examples
    --------
    >>> looks_like_number("1.234,5 %"), looks_like_number("x1")
    (True, False)
    """
    return LOOSE.match(text) is not None


def _preamble(text: str) -> tuple[int, str | None, str]:
    """Lines before the first record, a delimiter that the first names, the last comment."""
    before, delimiter, comment = 0, None, ""
    for line in io.StringIO(text, newline=""):
        separator = SEPARATOR.match(line.strip()) if not before else None
        if separator:
            delimiter = separator[1]
        elif line.startswith("#"):
            comment = line
        elif line.strip():
            break
        before += 1
    return before, delimiter, comment


def _delimiter_of(text: str, before: int, is_whole: bool, name: str) -> tuple[str, Sample]:
    """Choose the delimiter that cuts records into equally many and cleaner values than others."""
    first = next(io.StringIO(text, newline=""))
    present = [sign for sign in DELIMITERS if sign in first]
    samples = {sign: sampled(text, sign, before, is_whole, name) for sign in present}
    wide = [sign for sign in present if sign != " " and samples[sign].width > 1]
    steady = [sign for sign in wide if samples[sign].steadiness >= STEADY]
    ranked = sorted(steady, key=lambda sign: -samples[sign].cleanness)
    if len(ranked) > 1 and samples[ranked[0]].cleanness == samples[ranked[1]].cleanness:
        message = (
            f"The values of {called(name)} may be separated by {ranked[0]!r} or {ranked[1]!r}; "
            "say which with --delimiter."
        )
        raise DataError(message)
    if not wide and " " in samples and samples[" "].width > 1 and samples[" "].is_numeric:
        return " ", samples[" "]
    absent = next((sign for sign in (",", ";", "\t", "|") if sign not in text), ",")
    best = next(iter(ranked), max(wide, key=lambda s: samples[s].steadiness, default=absent))
    return best, samples.get(best) or sampled(text, best, before, is_whole, name)


def _dialect(sample: Sample, found: Found, comment: str, reading: Reading, name: str) -> Dialect:
    """Tell names and numbers from the records."""
    trails = sample.trails
    width = max(sample.width, max(map(len, sample.records[1:2]), default=0) if trails else 0)
    width -= trails
    has_header = _has_header(sample, reading.header, name)
    given = sample.records[0] if has_header else _names_in(comment, found.delimiter, width)
    given = [*given, *[""] * width][:width]
    names = tuple(text or f"c{number}" for number, text in enumerate(given, start=1))
    rows = Sample(sample.records[has_header:], sample.lines[has_header:])
    used = [reading.kind_of(each) != TEXT for each in names]
    values = list(_values(rows, names, used))
    numerals = numerals_of(values, reading, called(name))
    words = {value: None for record in rows.records for value in record}
    return Dialect(
        found.encoding,
        found.delimiter,
        names,
        has_header or any(given),
        numerals,
        found.lines_before + sample.header_lines if has_header else found.lines_before,
        trails,
        found.is_spaced,
        tuple(word for word in words if word in reading.missing_words),
        tuple({value.column: value.text for value in values if PADDED.match(value.text)}.items()),
    )


def _has_header(sample: Sample, given: bool | None, name: str) -> bool:
    """Whether the first record holds names: words above numbers say so, numbers deny it."""
    if given is not None:
        return given
    first, rows = sample.records[0], sample.records[1:]
    numbers = [looks_like_number(text) for text in first]
    if not rows:
        return not all(numbers)
    words = [
        bool(text) and not is_number and text not in MISSING_WORDS and _is_numeric(rows, place)
        for place, (text, is_number) in enumerate(zip(first, numbers, strict=True))
    ]
    if any(words) and any(numbers):
        message = (
            f"{called(name)}, line {sample.lines[0]:,} may hold names or values; say which with "
            "--header or --no-header."
        )
        raise DataError(message)
    return not any(numbers)


def _is_numeric(rows: list[list[str]], place: int) -> bool:
    """Whether most values of a column look like numbers."""
    there = [row[place] for row in rows if place < len(row) and row[place]]
    return 2 * sum(map(looks_like_number, there)) > len(there)


def _names_in(comment: str, delimiter: str, width: int) -> list[str]:
    """Names from a comment above the values, if there are as many."""
    names = [name.strip() for name in comment.lstrip("# ").split(delimiter)]
    return names if len(names) == width and not any(map(looks_like_number, names)) else []


def _values(rows: Sample, names: Sequence[str], used: Sequence[bool]) -> Iterator[Value]:
    """Values of the used columns, with their places."""
    for record, line in zip(rows.records, rows.lines, strict=True):
        for text, name, is_used in zip(record, names, used, strict=False):
            if is_used and text:
                yield Value(text, line, name)
