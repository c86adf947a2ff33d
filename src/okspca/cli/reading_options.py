"""The flags that say how files are read, the same for every command that reads some."""

import inspect
import sys
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Annotated, Any, NamedTuple, get_type_hints

import typer

from okspca.cli.stopping import say
from okspca.files.reading import Reading, names, silent
from okspca.report.printable import printable
from okspca.state.said import objection, typed

#: What needs no mention where reading is not the point.
PLAIN = "comma, decimal point, UTF-8, header"


class ReadingFlags(NamedTuple):
    """What the command line says about reading files; what it does not say is found out."""

    file_format: Annotated[
        str | None, typer.Option("--format", help="csv, tsv, ndjson, parquet or arrow.")
    ] = None
    delimiter: Annotated[str | None, typer.Option(help="What separates values, as ';' or tab.")] = (
        None
    )
    decimal: Annotated[str | None, typer.Option(help="Sign before decimals, . or ,")] = None
    thousands: Annotated[
        str | None, typer.Option(help="Sign between thousands, as , or ' '; '' for none.")
    ] = None
    encoding: Annotated[str | None, typer.Option(help="Such as utf-8, cp1252 or utf-16.")] = None
    header: Annotated[
        bool | None,
        typer.Option("--header/--no-header", help="Whether names stand in the first line."),
    ] = None
    na: Annotated[
        list[str] | None,
        typer.Option(help="More words for missing values besides NA, ? and so on, as 'lost,-1'."),
    ] = None
    usual_na: Annotated[
        bool | None,
        typer.Option(
            "--usual-na/--no-usual-na",
            help="Whether NA, None, ?, - are missing, as they usually are.",
        ),
    ] = None
    date_format: Annotated[
        list[str] | None, typer.Option(help="How dates are written, as %d.%m.%Y; repeat it.")
    ] = None
    text: Annotated[
        list[str] | None, typer.Option(help="Columns to take as text, though they hold digits.")
    ] = None

    def reading(
        self,
        tell: Callable[[str], None] = silent,
        columns: Iterable[str] | None = None,
        drop: Iterable[str] = (),
    ) -> Reading:
        """Put it in the form that readers take, with the columns that will be used."""
        self._check()
        return (
            Reading()
            .saying(self.words())
            ._replace(
                columns=None if columns is None else frozenset(names(columns)),
                drop=frozenset(names(drop)),
                tell=tell,
            )
        )

    def words(self) -> list[str]:
        """What was given, as it is typed.

        Examples
        --------
        >>> ReadingFlags(delimiter=";", header=False, na=["lost"]).words()
        ['--delimiter', ';', '--no-header', '--na', 'lost']
        """
        said: dict[str, tuple[str, ...]] = {}
        for name, value in zip(self._fields, self, strict=True):
            flag = "format" if name == "file_format" else name.replace("_", "-")
            if isinstance(value, bool):
                said[f"--{flag}"] = (f"--{flag}" if value else f"--no-{flag}",)
            elif value is not None:
                said[f"--{flag}"] = tuple(value) if isinstance(value, list) else (str(value),)
        return list(typed(said))

    def _check(self) -> None:
        """Refuse signs that no number can be written with."""
        signs = {"--decimal": self.decimal, "--thousands": self.thousands}
        wrong = objection({flag: (sign,) for flag, sign in signs.items() if sign is not None})
        if wrong is not None:
            flag, message = wrong
            raise typer.BadParameter(message, param_hint=flag)


def reads_files(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the flags of :class:`ReadingFlags`; it takes them as its argument `flags`."""

    @wraps(command)
    def with_flags(**values: Any) -> None:
        given = {name: values.pop(name) for name in ReadingFlags._fields}
        command(**values, flags=ReadingFlags(**given))

    hints = get_type_hints(ReadingFlags, include_extras=True)
    own = inspect.signature(command)
    keyword = inspect.Parameter.KEYWORD_ONLY
    flags = [
        inspect.Parameter(name, keyword, default=default, annotation=hints[name])
        for name, default in ReadingFlags._field_defaults.items()
    ]
    kept = [each for name, each in own.parameters.items() if name != "flags"]
    parameters = [*(each.replace(kind=keyword) for each in kept), *flags]
    with_flags.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
    with_flags.__annotations__ = {each.name: each.annotation for each in parameters}
    return with_flags


def teller(
    *, quiet: bool, on_stderr: bool = False, only_odd: bool = False
) -> Callable[[str], None]:
    """Say how a file is read, once for all files that are read alike."""
    told = {PLAIN} if only_odd else set()

    def tell(line: str) -> None:
        what = line.partition(": ")[2] or line
        if what not in told:
            told.add(what)
            if on_stderr:
                print(printable(line), file=sys.stderr)
            else:
                say(line)

    return silent if quiet else tell
