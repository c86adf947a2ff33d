"""The tables: the same ones for the terminal and as Markdown."""

import platform
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Literal

from rich.box import SIMPLE_HEAD
from rich.table import Table

from okspca.bench.entries import ENTRIES
from okspca.bench.measure import Timed
from okspca.bench.ratios import Ratio

VERSIONED = ("okspca", "numpy", "scipy", "scikit-learn", "numba")


@dataclass(frozen=True)
class Grid:
    """A table of text: a column of names, then columns of numbers (or of words)."""

    title: str
    header: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    justify: Literal["left", "right"] = "right"

    def rich(self) -> Table:
        """Return it for the terminal."""
        table = Table(title=self.title, title_justify="left", box=SIMPLE_HEAD)
        for number, heading in enumerate(self.header):
            table.add_column(heading, justify=self.justify if number else "left")
        for row in self.rows:
            table.add_row(*row)
        return table

    def markdown(self) -> str:
        """Return it as Markdown."""
        mark = "---:" if self.justify == "right" else "---"
        rule = ("---", *[mark] * (len(self.header) - 1))
        lines = [f"| {' | '.join(cells)} |" for cells in (self.header, rule, *self.rows)]
        return "\n".join([f"## {self.title}", "", *lines, ""])


def grids(rows: list[Timed], ratios: list[Ratio]) -> list[Grid]:
    """Make all tables that there are rows for."""
    made = [claims(ratios), pairings(ratios), row_times(rows), curves(rows), names(rows)]
    return [grid for grid in made if grid.rows]


def claims(ratios: list[Ratio]) -> Grid:
    """Set what was claimed beside what was found."""
    header = ("work", "median (min–max)", "must / aim", "verdict", "quality")
    rows = [
        (
            ratio.claim.title,
            spread(ratio),
            f"{ratio.claim.must:g} / {ratio.claim.aim:g}",
            ratio.verdict,
            quality(ratio),
        )
        for ratio in ratios
        if ratio.claim is not None
    ]
    return Grid("Ratios with a bound: time of ours ÷ time of the other", header, rows)


def pairings(ratios: list[Ratio]) -> Grid:
    """List every ratio outside the scaling curves."""
    header = ("case: who ÷ whom", "median (min–max)", "µs", "other µs", "angle")
    rows = [
        (
            f"{ratio.cell}: {ratio.ours} ÷ {ratio.other}",
            spread(ratio),
            number(ratio.ours_us),
            number(ratio.other_us),
            angle(ratio.angle_degrees),
        )
        for ratio in ratios
        if not ratio.cell.startswith("scaling/")
    ]
    return Grid("All ratios, with the times per row and the worst angle of ours", header, rows)


def names(rows: list[Timed]) -> Grid:
    """Explain the names of the contenders."""
    present = dict.fromkeys(row.contender for row in rows)
    explained = [(name, ENTRIES[name].label) for name in ENTRIES if name in present]
    return Grid("Who is who", ("name", "what it is"), explained, justify="left")


def row_times(rows: list[Timed]) -> Grid:
    """Show what a single row costs, at the median over rows."""
    found = _by_contender(row for row in rows if row.cell.startswith("row/"))
    return Grid(
        "Learning one row, without a request",
        ("case and contender", "median µs"),
        [
            (f"{cell}: {ENTRIES[name].label}", number(median(row.median_us for row in own)))
            for (cell, name), own in found.items()
        ],
    )


def curves(rows: list[Timed]) -> Grid:
    """Show the points of the scaling curves, in microseconds per row."""
    found = _by_contender(row for row in rows if row.curve)
    contenders = list(dict.fromkeys(name for _, name in found))
    lines = []
    for cell in dict.fromkeys(cell for cell, _ in found):
        first = found[cell, contenders[0]]
        angles = [row.angle_degrees for row in first if row.angle_degrees is not None]
        times = [number(median(row.mean_us for row in found[cell, name])) for name in contenders]
        point = f"{first[0].curve} = {first[0].value}"
        lines.append((point, *times, angle(max(angles, default=None))))
    header = ("point", *contenders, "angle")
    return Grid("Scaling, one dimension at a time: µs per row, worst angle of ours", header, lines)


def setting(repeats: int, *, quick: bool) -> str:
    """Say on what and how it was measured."""
    versions = ", ".join(f"{name} {version(name)}" for name in VERSIONED)
    effort = f"{repeats} interleaved repetition{'s' if repeats > 1 else ''}, one thread"
    lines = [f"{effort}. {processor()}; Python {platform.python_version()}, {versions}."]
    if quick:
        lines.append("This was a quick run: it shows that everything works and measures nothing.")
    return "\n".join(lines)


def processor() -> str:
    """Name the processor as far as the system tells.

    Examples
    --------
    >>> len(processor()) > 0
    True
    """
    told = Path("/proc/cpuinfo")
    if told.is_file():
        for line in told.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine() or "unknown processor"


def number(value: float) -> str:
    """Write a number with three digits and no exponent.

    Examples
    --------
    >>> number(0.0123456), number(16997.2), number(3.14159)
    ('0.0123', '16,997', '3.14')
    """
    if abs(value) >= 100.0:
        return f"{value:,.0f}"
    digits = 2 if abs(value) >= 1.0 else 2 - _exponent(value)
    return f"{value:.{digits if abs(value) < 10.0 else 1}f}"


def spread(ratio: Ratio) -> str:
    """Write the median ratio, the smallest and the largest."""
    low, high = ratio.spread
    return f"{number(ratio.middle)} ({number(low)}–{number(high)})"


def quality(ratio: Ratio) -> str:
    """Write what the claim asks of the answers."""
    if ratio.span_radians is not None:
        return f"{ratio.span_radians:.1e} rad"
    return angle(ratio.angle_degrees)


def angle(degrees: float | None) -> str:
    """Write an angle in degrees, or that there is none."""
    return "–" if degrees is None else f"{degrees:.1e}°"


def _exponent(value: float) -> int:
    """Return the decimal exponent of a number; 0 for zero."""
    return int(f"{value:e}".partition("e")[2]) if value else 0


def _by_contender(rows: Iterable[Timed]) -> dict[tuple[str, str], list[Timed]]:
    """Group the repetitions."""
    found: dict[tuple[str, str], list[Timed]] = {}
    for row in rows:
        found.setdefault((row.cell, row.contender), []).append(row)
    return found
