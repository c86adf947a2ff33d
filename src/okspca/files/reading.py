"""How inputs are to be read: what the user has said, and what a model needs."""

from collections.abc import Callable
from typing import NamedTuple

from okspca.files.live import Live

#: Words for a value that is missing; an empty value always is.
MISSING_WORDS = (
    *("?", "-", "--", ".", "NA", "N/A", "n/a", "na", "#N/A", "#NA", "<NA>", "#DIV/0!", "#VALUE!"),
    *("NULL", "Null", "null", "None", "none", "NaN", "Nan", "NAN", "nan", "-nan"),
)
#: What a column of text is read as: numbers, labels of classes, texts, or whatever it looks like.
NUMBER, LABEL, TEXT, COPY = "number", "label", "text", "copy"


def silent(_: str) -> None:
    """Say nothing."""


class Reading(NamedTuple):
    """How inputs are read; what is None is found out from the first bytes of each file.

    Examples
    --------
    >>> Reading("csv", na=("lost",), usual_na=False).missing_words
    ('lost',)
    """

    #: csv, tsv, ndjson, parquet or arrow.
    given: str | None = None
    #: What some columns are read as; the others are inputs.
    kinds: dict[str, str] = {}  # noqa: RUF012
    delimiter: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    encoding: str | None = None
    header: bool | None = None
    #: Words for missing values, besides the usual ones.
    na: tuple[str, ...] = ()
    usual_na: bool = True
    date_formats: tuple[str, ...] = ()
    #: The columns that will be used; all others are read as text and nothing is asked of them.
    columns: frozenset[str] | None = None
    drop: frozenset[str] = frozenset()
    tell: Callable[[str], None] = silent
    #: How inputs are read that are still on their way; if absent, like all others.
    live: Live | None = None

    @property
    def is_cut(self) -> bool:
        """Whether an input was left before its end."""
        return self.live is not None and self.live.is_cut

    @property
    def missing_words(self) -> tuple[str, ...]:
        """Words for a value that is missing, besides the empty one."""
        return (*self.na, *(MISSING_WORDS if self.usual_na else ()))

    def kind_of(self, name: str) -> str | None:
        """What a column is read as; None for an input that may hold anything."""
        if name in self.kinds:
            return self.kinds[name]
        unused = name in self.drop or (self.columns is not None and name not in self.columns)
        return TEXT if unused else None
