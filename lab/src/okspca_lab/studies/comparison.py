r"""A published number beside ours: how close counts as agreement, and whether it agrees.

Every study writes one `comparison.csv`.  A line names the artefact (a table, a figure, the running
text), the row and column in it, the published value, ours, the tolerance in words and the verdict.

A tolerance is an object with ``accepts(paper, ours)`` and words for people (``str``)::

    Within(width)         |ours - paper| <= width
    Factor(factor, seen)  ours within that factor of paper, or paper inside our seeds' range
    Decades(width)        |log10(1 - ours) - log10(1 - paper)| <= width, for shares close to one
    Same()                equal, for counts and ranks
    Given()               equal by construction, for settings and sizes
    Holds()               the statement holds, for orderings
    AtMost(limit)         ours <= limit, where the published value is rounding
    SameSide(of)          ours and paper on the same side of a number, for ratios of times

A published number is rounded, so every tolerance is widened by half a unit of its last digit.

Results, settings and orderings are counted apart: a setting that was copied from the paper says
nothing about whether its results come out again.  A tolerance follows from a reason that could have
been given before the run: sampling error, the draws of another stream, another machine.
"""

import csv
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from okspca import outputs
from okspca.report.tables import Table

#: What a line is about, and how such lines are counted in words.
RESULT, ORDERING, SETTING = "result", "ordering", "setting"
WORDS = {
    RESULT: "{} published results agree",
    ORDERING: "{} orderings hold",
    SETTING: "{} settings are equal (by construction)",
}


class Verdict(StrEnum):
    """What became of a published number.

    Examples
    --------
    >>> str(Verdict.AGREES)
    'agrees'
    """

    AGREES = "agrees"
    DIFFERS = "differs"
    #: This run did not produce the number (a part was left out with --tasks or --quick).
    NOT_RUN = "not run"


@dataclass(frozen=True)
class Within:
    """Agreement to an absolute width.

    Examples
    --------
    >>> Within(0.02).accepts(0.66, 0.67), Within(0.02).accepts(0.66, 0.63)
    (True, False)
    """

    width: float
    words: str = ""
    kind: ClassVar[str] = RESULT

    def accepts(self, paper: float, ours: float, rounding: float = 0.0) -> bool:
        """Whether ours is close enough."""
        return abs(ours - paper) <= self.width + rounding

    def __str__(self) -> str:
        """Say it."""
        return f"±{self.width:.3g}{' ' if self.words else ''}{self.words}"


@dataclass(frozen=True)
class Factor:
    """Agreement up to a factor, or the published value inside what our seeds gave.

    Examples
    --------
    >>> Factor(2.0).accepts(1.0, 1.9), Factor(2.0, (0.1, 9.0)).accepts(1.0, 3.0)
    (True, True)
    """

    factor: float
    seen: tuple[float, float] | None = None
    kind: ClassVar[str] = RESULT

    def accepts(self, paper: float, ours: float, rounding: float = 0.0) -> bool:
        """Whether ours is close enough."""
        if abs(ours - paper) <= rounding:
            return True
        low, high = sorted((abs(paper), abs(ours)))
        near = paper * ours > 0.0 and high - rounding <= self.factor * low
        return near or (self.seen is not None and self.seen[0] <= paper <= self.seen[1])

    def __str__(self) -> str:
        """Say it."""
        if self.seen is None:
            return f"factor {self.factor:g}"
        return f"factor {self.factor:g}, or in our range {self.seen[0]:.4g} to {self.seen[1]:.4g}"


@dataclass(frozen=True)
class Decades:
    """Agreement of how much a share lacks to one, in decades.

    Examples
    --------
    >>> Decades(0.5).accepts(0.9999, 0.9998), Decades(0.5).accepts(0.9999, 0.999)
    (True, False)
    """

    width: float
    kind: ClassVar[str] = RESULT

    def accepts(self, paper: float, ours: float, rounding: float = 0.0) -> bool:
        """Whether ours is close enough; a printed 1.000000 is anything that rounds to it."""
        lacking = max(1.0 - ours, 1e-16)
        low = math.log10(max(1.0 - paper - rounding, 1e-16)) - self.width
        high = math.log10(max(1.0 - paper + rounding, 1e-16)) + self.width
        return low <= math.log10(lacking) <= high

    def __str__(self) -> str:
        """Say it."""
        return f"log10(1-value) ±{self.width:g}"


@dataclass(frozen=True)
class Same:
    """Equality, for counts and ranks that a run could have got wrong.

    Examples
    --------
    >>> Same().accepts(4000, 4000)
    True
    """

    kind: ClassVar[str] = RESULT

    def accepts(self, paper: float, ours: float, rounding: float = 0.0) -> bool:
        """Whether ours is the same number."""
        return abs(ours - paper) <= rounding * (1.0 + 1e-9)

    def __str__(self) -> str:
        """Say it."""
        return "equal"


@dataclass(frozen=True)
class Given(Same):
    """Equality of what was taken over from the paper.

    Examples
    --------
    >>> str(Given()), Given().kind
    ('equal by construction', 'setting')
    """

    kind: ClassVar[str] = SETTING

    def __str__(self) -> str:
        """Say it."""
        return "equal by construction"


@dataclass(frozen=True)
class Holds(Same):
    """Truth of a published statement: 1 here as there.

    Examples
    --------
    >>> Holds().accepts(1, 0), Holds().kind
    (False, 'ordering')
    """

    kind: ClassVar[str] = ORDERING

    def __str__(self) -> str:
        """Say it."""
        return "holds"


@dataclass(frozen=True)
class AtMost:
    """Smallness: the published value is rounding, and ours must not exceed a limit.

    Examples
    --------
    >>> AtMost(1e-5).accepts(1.8e-6, 3e-14), AtMost(1e-5).accepts(1.8e-6, 1e-4)
    (True, False)
    """

    limit: float
    kind: ClassVar[str] = RESULT

    def accepts(self, paper: float, ours: float, rounding: float = 0.0) -> bool:
        """Whether ours is small enough."""
        return ours <= self.limit

    def __str__(self) -> str:
        """Say it."""
        return f"at most {self.limit:g}"


@dataclass(frozen=True)
class SameSide:
    """Agreement on who is ahead: both below a number, or both above it.

    Examples
    --------
    >>> SameSide(1.0).accepts(1.8, 3.0), SameSide(1.0).accepts(1.8, 0.9)
    (True, False)
    """

    of: float
    kind: ClassVar[str] = ORDERING

    def accepts(self, paper: float, ours: float, rounding: float = 0.0) -> bool:
        """Whether ours lies on the side of the published value."""
        return (paper - self.of) * (ours - self.of) > 0.0

    def __str__(self) -> str:
        """Say it."""
        return f"same side of {self.of:g}"


Tolerance = Within | Factor | Decades | Same | AtMost | SameSide


@dataclass(frozen=True)
class Comparison:
    """One line of `comparison.csv`.

    Attributes
    ----------
    artefact, row, column : str
        Where the number stands in the paper.
    paper : str
        The number as printed there.
    ours : float or None
        What this run gave; None where it did not produce it.
    tolerance : str
        In words.
    verdict : Verdict
        Agrees, differs, or not run.
    note : str
        Anything a reader must know, such as other data than the paper's.
    kind : str
        A result, a setting or an ordering.

    Examples
    --------
    >>> compared("tab", "Kin8nm", "Raw-X", "0.404", 0.4043, Within(0.02)).verdict.value
    'agrees'
    """

    artefact: str
    row: str
    column: str
    paper: str
    ours: float | None
    tolerance: str
    verdict: Verdict
    note: str = ""
    kind: str = RESULT


def compared(
    artefact: str,
    row: str,
    column: str,
    paper: str,
    ours: float | None,
    tolerance: Tolerance,
    note: str = "",
    kind: str | None = None,
) -> Comparison:
    """Compare a number as the paper prints it (text, so that its digits are known) with ours.

    The tolerance tells what kind of line it is, where nothing else is said.
    """
    if ours is None or math.isnan(ours):
        verdict = Verdict.NOT_RUN
    else:
        close = tolerance.accepts(float(paper.replace(",", "")), ours, rounding_of(paper))
        verdict = Verdict.AGREES if close else Verdict.DIFFERS
    ours = None if verdict is Verdict.NOT_RUN else ours
    if kind is None:
        kind = tolerance.kind
    return Comparison(artefact, row, column, paper, ours, str(tolerance), verdict, note, kind)


def rounding_of(printed: str) -> float:
    """Half a unit of the last printed digit.

    Examples
    --------
    >>> rounding_of("0.413"), rounding_of("-3.897e-07"), rounding_of("4,000")
    (0.0005, 5e-11, 0.0)
    """
    mantissa, _, exponent = printed.replace(",", "").lower().partition("e")
    decimals = len(mantissa.partition(".")[2])
    if decimals == 0 and not exponent:
        return 0.0
    return 0.5 * 10.0 ** (int(exponent or 0) - decimals)


def score_tolerance(ours: ArrayLike, paper_sd: float | None = None, least: float = 0.02) -> Within:
    """Two standard errors of the difference of two means over as many seeds, or ``least``.

    The paper's standard deviation is used for its side where it is printed, ours otherwise.

    Examples
    --------
    >>> str(score_tolerance([0.6, 0.7, 0.8, 0.5]))
    '±0.183 (2 SE)'
    """
    values = np.asarray(ours, dtype=np.float64)
    if values.size < 2:
        return Within(least)
    variance = float(np.var(values, ddof=1))
    theirs = variance if paper_sd is None else paper_sd**2
    width = 2.0 * math.sqrt((variance + theirs) / values.size)
    return Within(width, "(2 SE)") if width > least else Within(least)


def count_tolerance(paper: str, of: int | None = None) -> Within:
    """Two standard deviations of the difference of two counts: binomial, or rare among many.

    Examples
    --------
    >>> str(count_tolerance("3", of=5)), str(count_tolerance("3,044"))
    ('±3.1 (2 SD)', '±156 (2 SD)')
    """
    count = float(paper.replace(",", ""))
    variance = count if of is None else count * (1.0 - count / of)
    return Within(2.0 * math.sqrt(2.0 * variance), "(2 SD)")


def seeds_range(values: ArrayLike) -> tuple[float, float]:
    """Smallest and largest value over the seeds."""
    array = np.asarray(values, dtype=np.float64)
    return float(array.min()), float(array.max())


def agreement(lines: Iterable[Comparison]) -> tuple[int, int]:
    """How many lines agree, of how many that were run."""
    verdicts = [line.verdict for line in lines if line.verdict is not Verdict.NOT_RUN]
    return verdicts.count(Verdict.AGREES), len(verdicts)


def counted(lines: Sequence[Comparison]) -> str:
    """Say how many results agree, orderings hold and settings are equal, each by itself.

    Examples
    --------
    >>> counted([compared("tab", "Kin8nm", "Raw-X", "0.404", 0.4043, Within(0.02))])
    '1 of 1 published results agree.'
    """
    said = []
    for kind, words in WORDS.items():
        agree, of = agreement(line for line in lines if line.kind == kind)
        if of:
            said.append(words.format(f"{agree} of {of}"))
    return f"{', '.join(said)}." if said else "Nothing was run."


def write_comparison(path: Path, lines: Sequence[Comparison]) -> None:
    """Write `comparison.csv`."""
    names = [field.name for field in fields(Comparison)]
    with outputs.replacing_text(path) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(names)
        for line in lines:
            values = [getattr(line, name) for name in names]
            writer.writerow(["" if v is None else _plain(v) for v in values])


def _plain(value: object) -> object:
    """Write floats with enough digits for any reader, and not more."""
    return f"{value:.7g}" if isinstance(value, float) else value


def comparison_table(title: str, lines: Sequence[Comparison]) -> Table:
    """Show lines of a comparison side by side."""
    rows = [
        (
            line.row,
            line.column,
            line.paper,
            "–" if line.ours is None else f"{line.ours:.6g}",
            line.tolerance,
            line.verdict.value,
            line.note,
        )
        for line in lines
    ]
    header = ("row", "column", "paper", "ours", "tolerance", "verdict", "note")
    return Table(title, header, rows, words=(1, 4, 5, 6))


def side_by_side(lines: Sequence[Comparison]) -> list[Table]:
    """Show all lines, one table per artefact."""
    return [
        comparison_table(artefact, [line for line in lines if line.artefact == artefact])
        for artefact in dict.fromkeys(line.artefact for line in lines)
    ]
