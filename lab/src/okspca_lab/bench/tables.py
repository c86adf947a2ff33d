"""The tables: the same ones for the terminal and as Markdown."""

import os
import platform
from collections.abc import Iterable
from statistics import median

from okspca.report.provenance import processor, versions
from okspca.report.tables import Table
from okspca_lab.bench.entries import ENTRIES
from okspca_lab.bench.measure import Timed
from okspca_lab.bench.plain import thread_settings
from okspca_lab.bench.ratios import Ratio


def grids(rows: list[Timed], ratios: list[Ratio]) -> list[Table]:
    """Make all tables that there are rows for."""
    made = [claims(ratios), pairings(ratios), row_times(rows), curves(rows), names(rows)]
    return [grid for grid in made if grid.rows]


def claims(ratios: list[Ratio]) -> Table:
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
    return Table("Ratios with a bound: time of ours ÷ time of the other", header, rows)


def pairings(ratios: list[Ratio]) -> Table:
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
    return Table("All ratios, with the times per row and the worst angle of ours", header, rows)


def names(rows: list[Timed]) -> Table:
    """Explain the names of the contenders."""
    present = dict.fromkeys(row.contender for row in rows)
    explained = [(name, ENTRIES[name].label) for name in ENTRIES if name in present]
    return Table("Who is who", ("name", "what it is"), explained, words=(1,))


def row_times(rows: list[Timed]) -> Table:
    """Show what a single row costs, at the median over rows."""
    found = _by_contender(row for row in rows if row.cell.startswith("row/"))
    return Table(
        "Learning one row, without a request",
        ("case and contender", "median µs"),
        [
            (f"{cell}: {ENTRIES[name].label}", number(median(row.median_us for row in own)))
            for (cell, name), own in found.items()
        ],
    )


def curves(rows: list[Timed]) -> Table:
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
    return Table("Scaling, one dimension at a time: µs per row, worst angle of ours", header, lines)


def setting(
    repeats: int,
    *,
    quick: bool,
    threads: str = "limited to one thread, or two in threads/, by the benchmark",
) -> str:
    """Say on what and how it was measured."""
    effort = f"{repeats} interleaved repetition{'s' if repeats > 1 else ''}, {threads}"
    lines = [
        f"{effort}. {processor()}; Python {platform.python_version()}, {versions()}.",
        f"{thread_settings()} in the shell that ran it; {_load()}.",
    ]
    if quick:
        lines.append("This was a quick run: it shows that everything works and measures nothing.")
    return "\n".join(lines)


def _load() -> str:
    """Say how busy the machine is: on a busy one, few of these figures mean anything."""
    cores = os.cpu_count() or 1
    if not hasattr(os, "getloadavg"):  # Windows
        return f"{cores} cores"
    return f"{cores} cores, load {os.getloadavg()[0]:.1f} at the end"


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
