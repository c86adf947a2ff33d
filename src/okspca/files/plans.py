"""What each column of a text file is read as, decided by its first values.

Numbers, truth values and dates that pyarrow knows are left to it.  Anything else is read as text
and made what it must be here: numbers written in another way, labels without losing a digit, texts
without the spaces around them.  A column that is nearly all numbers is refused, not taken as text.
"""

import re
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from okspca.files.numerals import Numerals, unit_of
from okspca.files.reading import COPY, DROP, LABEL, Reading

#: A column with at least this share of numbers must hold nothing else.
NEARLY = 0.5
WHOLE = "^(?:0|-?[1-9][0-9]{0,17})$"
PADDED = re.compile("0[0-9]+$")
DIGITS = re.compile("[+-]?[0-9]+$")
A_NUMBER = "a number"
TRUTH = "^(?i:true|false)$"
DATE_LIKE = re.compile(r"(\d{1,4})([./-])(\d{1,2})\2(\d{1,4})(?:[ T](\d{1,2}:\d{2}(?::\d{2})?))?$")


class Plan(NamedTuple):
    """How a column is read, and what its values must be."""

    #: What pyarrow reads it as; text is finished by ``make``.
    read_as: pa.DataType
    #: What every value must be, for a message.
    noun: str
    first_other: Callable[[pa.Array], int | None]
    make: Callable[[pa.Array], pa.Array]
    #: What else one may do about a value that is not.
    remedy: str = ""


class Unsure(Exception):  # noqa: N818
    """A column that is not read before something is said about it."""

    def __init__(self, value: str | None, sentence: str, instead: str = "") -> None:
        super().__init__(sentence)
        self.value, self._sentence, self._instead = value, sentence, instead

    def told(self, reading: Reading) -> str:
        """What is to be said; that the column may be left out, where the command can do that."""
        return f"{self._sentence}{self._instead if DROP in reading.advised else ''}."


def as_it_is(values: pa.Array) -> pa.Array:
    """Leave values alone."""
    return values


def nothing_wrong(_: pa.Array) -> None:
    """Accept every text."""


RAW = Plan(pa.string(), "text", nothing_wrong, as_it_is)


def text_plan() -> Plan:
    """Texts, without the spaces around them."""
    return Plan(pa.string(), "a text", nothing_wrong, _same)


def number_plan(numerals: Numerals, read_as: pa.DataType, remedy: str = "") -> Plan:
    """Numbers, which pyarrow may be able to read itself."""
    return Plan(read_as, A_NUMBER, numerals.first_other, numerals.numbers, remedy)


def input_plan(kind: pa.DataType, texts: Sequence[str], numerals: Numerals, name: str) -> Plan:
    """What an input is read as: ``kind`` is what pyarrow makes of it, ``texts`` if that is text."""
    if pa.types.is_boolean(kind):
        return Plan(pa.string(), "true or false", _matching(TRUTH), _truth)
    if pa.types.is_temporal(kind):
        return date_plan(kind)
    if not pa.types.is_string(kind):
        return number_plan(numerals, pa.float64())
    if texts and all(map(DATE_LIKE.match, texts)):
        raise Unsure(texts[0], _date_question(texts), f", or use --drop {name}")
    return loose_plan(texts, numerals, name) or text_plan()


def required_number(texts: Sequence[str], numerals: Numerals, name: str) -> Plan:
    """Numbers, and nothing else will do."""
    written = _written(texts, numerals, name)
    other = next((text for text in texts if not written.matches(text)), None)
    if other is not None:
        raise Unsure(other, f"is not a number{_na(other)}")
    return number_plan(written, pa.string())


def label_plan(texts: Sequence[str], numerals: Numerals, name: str, kind: str) -> Plan:
    """Labels of classes, or numbers if that is what they are; no digit is lost."""
    if texts and all(re.match(WHOLE, text) for text in texts):
        remedy = "use --task regression for numbers, or --text for labels"
        return Plan(pa.string(), "a whole number", _matching(WHOLE), _whole, remedy)
    if texts and all(re.match(TRUTH, text) for text in texts):
        return Plan(pa.string(), "true or false", _matching(TRUTH), _truth_value)
    if all(map(DIGITS.match, texts)):
        return text_plan()
    if kind == COPY:
        exact = all(map(numerals.matches, texts))
        return number_plan(numerals, pa.string()) if exact else text_plan()
    return loose_plan(texts, numerals, name) or text_plan()


def date_plan(kind: pa.DataType) -> Plan:
    """Dates and times; a day alone may later be followed by one with a time."""
    is_plain = pa.types.is_date(kind) or (pa.types.is_timestamp(kind) and kind.tz is None)
    kind = pa.timestamp("ns" if "ns" in str(kind) else "us") if is_plain else kind
    return Plan(kind, "a date or time like those before it", nothing_wrong, as_it_is)


def loose_plan(texts: Sequence[str], numerals: Numerals, name: str) -> Plan | None:
    """Numbers written in another way; None for text, and nearly numbers are refused."""
    written = _written(texts, numerals, name)
    others = [text for text in texts if not written.matches(text)]
    if texts and not others:
        return number_plan(written, pa.string())
    if len(texts) - len(others) >= NEARLY * len(texts) > 0:
        share = int(100 * (1 - len(others) / len(texts)))
        told = f"is not a number, as {share} % of the first values are{_na(others[0])}"
        raise Unsure(others[0], f"{told}, or if the column is text, --text {name}")
    return None


def notes_on(name: str, texts: Sequence[str], kind: str | None, plan: Plan) -> list[str]:
    """What is decided about a column that might have been decided otherwise."""
    padded = next((text for text in texts if PADDED.match(text)), None)
    if padded is not None and kind == LABEL:
        return [f"column {name!r} has labels such as {padded!r}, which are taken as text"]
    if padded is not None and plan.noun == A_NUMBER:
        how = f"--text {name} keeps its zeros"
        return [f"column {name!r} has values such as {padded!r}, which are taken as numbers; {how}"]
    unit = unit_of(texts[0]) if texts and plan.noun == A_NUMBER else ""
    if unit:
        how = "percent, taken as shares of one" if unit == "%" else unit
        return [f"column {name!r} in {how}"]
    long = next((text for text in texts if len(text) > 18 and DIGITS.match(text)), None)
    if long is not None and kind == LABEL:
        return [f"column {name!r} has labels such as {long}, which are taken as text"]
    return []


def is_date(text: str, formats: Sequence[str]) -> bool:
    """Whether a text is a date in one of the formats, or as ISO writes it."""
    for form in formats:
        try:
            datetime.strptime(text, form)
        except ValueError:
            continue
        return True
    try:
        pa.scalar(text).cast(pa.timestamp("us"))
    except pa.ArrowInvalid:
        return False
    return True


def _written(texts: Sequence[str], numerals: Numerals, name: str) -> Numerals:
    """The way of writing with the unit that the values carry; all must carry the same."""
    units = {unit_of(text): text for text in reversed(texts)}
    units = {u: text for u, text in units.items() if numerals._replace(unit=u).matches(text)}
    if len(units) > 1:
        (_, first), (_, second) = list(units.items())[:2]
        told = f"is written otherwise than {first!r} in the same column; mend it"
        raise Unsure(second, told, f", or leave it out with --drop {name}")
    return numerals._replace(unit=next(iter(units), ""))


def _date_question(texts: Sequence[str]) -> str:
    """Say which formats dates may have."""
    formats = [form for form in _formats(texts[0]) if all(is_date(t, [form]) for t in texts)]
    shown = " or ".join(f"--date-format '{form}'" for form in formats) or "--date-format"
    return f"seems to be a date; say how it is written with {shown}"


def _formats(text: str) -> list[str]:
    """Ways in which a date may be written."""
    found = DATE_LIKE.match(text)
    assert found is not None
    sign, time = found[2], found[5]
    clock = "" if time is None else " %H:%M:%S" if time.count(":") > 1 else " %H:%M"
    year = "%Y" if max(len(found[1]), len(found[4])) > 2 else "%y"
    orders = (("%d", "%m", year), ("%m", "%d", year), (year, "%m", "%d"))
    return [sign.join(order) + clock for order in orders]


def _na(text: str) -> str:
    """Say what to do if a text stands for a missing value."""
    return f"; if it stands for a missing value, add --na '{text}'"


def _matching(pattern: str) -> Callable[[pa.Array], int | None]:
    """Find the first text that does not match."""

    def first_other(texts: pa.Array) -> int | None:
        fits = pc.fill_null(pc.match_substring_regex(texts, pattern), True)
        at = int(pc.index(fits, pa.scalar(False)).as_py())
        return None if at < 0 else at

    return first_other


def _same(values: pa.Array) -> pa.Array:
    """Texts that are finished."""
    return values


def _whole(texts: pa.Array) -> pa.Array:
    return texts.cast(pa.int64())


def _truth_value(texts: pa.Array) -> pa.Array:
    return pc.equal(pc.utf8_lower(texts), "true")


def _truth(texts: pa.Array) -> pa.Array:
    return _truth_value(texts).cast(pa.float64())
