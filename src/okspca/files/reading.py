"""How inputs are to be read: what the user has said, and what a model needs."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from okspca.files.live import Live
from okspca.state.said import completed, parsed

#: Words for a value that is missing; an empty value always is.
MISSING_WORDS = (
    *("?", "-", "--", ".", "NA", "N/A", "n/a", "na", "#N/A", "#NA", "<NA>", "#DIV/0!", "#VALUE!"),
    *("NULL", "Null", "null", "None", "none", "NaN", "Nan", "NAN", "nan", "-nan"),
)
#: What a column of text is read as: numbers, labels of classes, texts, or whatever it looks like.
NUMBER, LABEL, TEXT, COPY = "number", "label", "text", "copy"
#: Words for delimiters that are awkward to type.
DELIMITERS = {"tab": "\t", "\\t": "\t", "space": " ", "comma": ",", "semicolon": ";", "bar": "|"}
#: Flags of some commands that a message may advise, besides those about reading.
DROP, COLUMNS, TASK = "--drop", "--columns", "--task"


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
    #: What was said about all this, as it is typed.
    said: tuple[str, ...] = ()
    #: Columns that must be there; that is told before anything else about the first file.
    needed: tuple[str, ...] = ()
    #: Which of the flags that messages advise the command has.
    advised: frozenset[str] = frozenset({DROP, COLUMNS, TASK})

    def saying(self, words: Sequence[str]) -> "Reading":
        """Read as flags say; see :mod:`okspca.state.said`.

        Examples
        --------
        >>> Reading().saying(["--delimiter", "tab", "--na", "lost,-1"]).na
        ('lost', '-1')
        """
        told = parsed(words) or {}
        fields: dict[str, Any] = {"said": tuple(words)}
        for name in ("format", "delimiter", "decimal", "thousands", "encoding"):
            for value in told.get(f"--{name}", ()):
                fields["given" if name == "format" else name] = value
        if "delimiter" in fields:
            fields["delimiter"] = DELIMITERS.get(fields["delimiter"], fields["delimiter"])
        if "--header" in told:
            fields["header"] = told["--header"] == ("--header",)
        if "--na" in told:
            fields["na"] = tuple(word for each in told["--na"] for word in each.split(","))
        if "--usual-na" in told:
            fields["usual_na"] = told["--usual-na"] == ("--usual-na",)
        if "--date-format" in told:
            fields["date_formats"] = told["--date-format"]
        texts = dict.fromkeys(names(told.get("--text", ())), TEXT)
        return self._replace(kinds={**self.kinds, **texts}, **fields)

    def remembering(self, words: Sequence[str], *, own: bool) -> "Reading":
        """Read as a model remembers it, except where something else was said.

        Of files that are not the model's ``own``, only the content is known.
        """
        return self.saying(completed(self.said, words, own=own))

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


def names(given: Iterable[str]) -> list[str]:
    """Names from lists such as ``a,b``; a name may hold a comma itself.

    Examples
    --------
    >>> names(["a,b"])
    ['a,b', 'a', 'b']
    """
    return [name for each in given for name in dict.fromkeys((each, *each.split(",")))]
