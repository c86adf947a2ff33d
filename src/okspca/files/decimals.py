"""Which signs separate decimals and thousands in a file, by the evidence of its first values.

``1,5`` proves a decimal comma, ``1,234,567`` a comma for thousands; ``1,234`` alone proves nothing,
and where nothing else does, the file is refused.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from okspca.errors import DataError
from okspca.files.numerals import CURRENCIES, SPACES, Numerals
from okspca.files.reading import Reading

_EXPONENT = "(?:[eEdD][+\\-\u2212]?[0-9]+)?"
#: What a value proves; the first pattern that matches counts.
EVIDENCE = {
    "comma for either": r"[1-9]\d{0,2},\d{3}",
    "point for either": r"[1-9]\d{0,2}\.\d{3}",
    "decimal comma": rf"\d*,\d+{_EXPONENT}|\d+,{_EXPONENT}",
    "decimal point": rf"\d*\.\d+{_EXPONENT}|\d+\.{_EXPONENT}",
    "thousands comma": r"\d{1,3}(?:,\d{3}){2,}",
    "thousands comma, decimal point": r"\d{1,3}(?:,\d{3})+\.\d*",
    "thousands point": r"\d{1,3}(?:\.\d{3}){2,}",
    "thousands point, decimal comma": r"\d{1,3}(?:\.\d{3})+,\d*",
    "thousands space": rf"\d{{1,3}}(?:[{SPACES}]\d{{3}})+",
    "thousands space, decimal comma": rf"\d{{1,3}}(?:[{SPACES}]\d{{3}})+,\d+",
    "thousands space, decimal point": rf"\d{{1,3}}(?:[{SPACES}]\d{{3}})+\.\d+",
    "thousands apostrophe, decimal point": r"\d{1,3}(?:'\d{3})+(?:\.\d*)?",
}
_PATTERNS = {kind: re.compile(pattern) for kind, pattern in EVIDENCE.items()}
_BARE = f"+-\u2212%{CURRENCIES}{SPACES}"
SIGNS = {"comma": ",", "point": ".", "space": " ", "apostrophe": "'"}


class Value(NamedTuple):
    """A value, and where it stands."""

    text: str
    line: int
    column: str

    @property
    def place(self) -> str:
        """Say where it is and what."""
        return f"line {self.line:,}, column {self.column!r}: {self.text!r}"


def numerals_of(values: Iterable[Value], reading: Reading, name: str) -> Numerals:
    """Tell the signs for decimals and thousands, or refuse what can be read in two ways."""
    if reading.decimal is not None and reading.thousands is not None:
        return Numerals(reading.decimal, reading.thousands)
    found: dict[str, Value] = {}
    for value in values:
        for kind in evidence(value.text):
            found.setdefault(kind, value)
    decimal = reading.decimal or _decimal(found, reading.thousands, name)
    if reading.thousands is not None:
        return Numerals(decimal, reading.thousands)
    return Numerals(decimal, _thousands(found, decimal, name))


def evidence(text: str) -> list[str]:
    """What one value proves.

    Examples
    --------
    >>> evidence("1.234,5"), evidence("1,234"), evidence("red")
    (['thousands point', 'decimal comma'], ['comma for either'], [])
    """
    bare = text.strip(_BARE)
    for kind, pattern in _PATTERNS.items():
        if pattern.fullmatch(bare):
            return kind.split(", ")
    return []


def _decimal(found: dict[str, Value], thousands: str | None, name: str) -> str:
    """The sign for decimals."""
    comma = found.get("decimal comma") or found.get("thousands point")
    point = found.get("decimal point") or found.get("thousands comma")
    if comma and point:
        message = (
            f"{name} writes decimals in two ways ({comma.place}; {point.place}); say which is "
            "right with --decimal."
        )
        raise DataError(message)
    either = found.get("comma for either")
    if either and not comma and not point and thousands is None:
        whole, rest = either.text.strip(_BARE).split(",")
        message = (
            f"{name}, {either.place} may be {whole}.{rest} or {whole}{rest}; say which with "
            "--decimal , or --thousands ,."
        )
        raise DataError(message)
    return "," if comma or thousands == "." else "."


def _thousands(found: dict[str, Value], decimal: str, name: str) -> str:
    """The sign for thousands, or nothing."""
    other = "comma" if decimal == "." else "point"
    signs = {f"thousands {sign}": SIGNS[sign] for sign in (other, "space", "apostrophe")}
    signs[f"{other} for either"] = SIGNS[other]
    seen = {signs[kind]: value for kind, value in found.items() if kind in signs}
    if len(seen) > 1:
        first, second, *_ = seen.values()
        message = (
            f"{name} separates thousands in two ways ({first.place}; {second.place}); say "
            "which is right with --thousands."
        )
        raise DataError(message)
    return next(iter(seen), "")
