"""How numbers are written in a file, and how such texts become numbers.

One way of writing holds for a whole file: a sign for decimals and one for thousands.  A column may
besides carry a percent sign or a currency in all its values.  A text that is not written so is
never made a number.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

#: A space, a no-break space, a narrow one and a thin one all stand for ``" "``.
SPACES = " \u00a0\u202f\u2009"
CURRENCIES = "$€£¥₹"
_SIGN, _EXPONENT = "[+\\-\u2212]?", "(?:[eEdD][+\\-\u2212]?[0-9]+)?"


class Numerals(NamedTuple):
    """How the numbers of a column are written.

    Examples
    --------
    >>> Numerals(",", ".").matches("-1.234,5"), Numerals().matches("1,5")
    (True, False)
    """

    decimal: str = "."
    thousands: str = ""
    #: ``"%"``, a currency, or nothing.
    unit: str = ""

    @property
    def pattern(self) -> str:
        """A regular expression for one value, understood by Python and by pyarrow alike."""
        point = re.escape(self.decimal)
        whole = "[0-9]+"
        if self.thousands:
            group = f"[{SPACES}]" if self.thousands == " " else re.escape(self.thousands)
            whole = f"(?:[0-9]{{1,3}}(?:{group}[0-9]{{3}})+|[0-9]+)"
        number = f"(?:{whole}(?:{point}[0-9]*)?|{point}[0-9]+){_EXPONENT}"
        if not self.unit:
            return f"^{_SIGN}{number}$|^{_SIGN}(?i:inf|infinity)$"
        unit, gap = re.escape(self.unit), f"[{SPACES}]?"
        if self.unit == "%":
            return f"^{_SIGN}{number}{gap}{unit}$"
        return f"^{_SIGN}(?:{unit}{gap}{number}|{number}{gap}{unit})$"

    def matches(self, text: str) -> bool:
        """Whether a text is a number written so."""
        return re.match(self.pattern, text) is not None

    def numbers(self, texts: pa.Array) -> pa.Array:
        """Make numbers of texts that all match; percent become shares of one."""
        plain = texts
        if self.thousands:
            group = f"[{SPACES}]" if self.thousands == " " else re.escape(self.thousands)
            plain = pc.replace_substring_regex(plain, group, "")
        if self.unit:
            plain = pc.replace_substring(plain, self.unit, "")
        for pattern, sign in (
            ("\u2212", "-"),
            ("^\\+", ""),
            (f"[{SPACES}]", ""),
            ("[dD]", "e"),
            (re.escape(self.decimal), "."),
        ):
            plain = pc.replace_substring_regex(plain, pattern, sign)
        found = plain.cast(pa.float64())
        return pc.divide(found, 100.0) if self.unit == "%" else found

    def first_other(self, texts: pa.Array) -> int | None:
        """The place of the first text that is there and no such number."""
        fits = pc.fill_null(pc.match_substring_regex(texts, self.pattern), True)
        at = pc.index(fits, pa.scalar(False)).as_py()
        return None if at < 0 else int(at)


def cleaned(texts: pa.Array, missing: Sequence[str]) -> pa.Array:
    """Texts without the spaces around them, and null where a word says that a value is missing."""
    bare = pc.utf8_trim_whitespace(texts)
    words = pa.array([*missing, ""], bare.type)
    return pc.if_else(pc.is_in(bare, value_set=words), pa.scalar(None, bare.type), bare)


def unit_of(text: str) -> str:
    """The percent sign or currency that a text carries."""
    bare = text.lstrip("+-\u2212")
    if bare.endswith("%"):
        return "%"
    return next((unit for unit in CURRENCIES if bare.startswith(unit) or bare.endswith(unit)), "")
