"""Tables and the figure of the drift study."""

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from okspca import outputs
from okspca.report.page import Code, Picture, Section, page
from okspca.report.printable import printable
from okspca.report.provenance import as_lines
from okspca.report.tables import Table
from okspca_lab.studies.drift.run import FINE, LOOK_EVERY, METHODS
from okspca_lab.studies.drift.setting import SCENARIOS, WINDOW
from okspca_lab.studies.rows import Row

COLOURS = ("#9a9a9a", "#D55E00", "#0072B2", "#009E73", "#CC79A7")
LEAD = (
    "Two signal directions in twenty inputs turn by 90 degrees: at once, slowly or back and forth. "
    f"A window is {WINDOW:,} rows, 1 / (1 − forgetting)."
)
CAPTION = "Largest angle to the true directions at the time, median over seeds."
NOTE = (
    "Steady: median angle before the first change. Recovery: windows from the end of a change to "
    "where the angle stays within 10 degrees of steady; then, until it first is below 5 and 2. "
    "Medians and largest values over seeds and changes; – means never."
)


def report(rows: list[Row], out: Path, console: Console, told: dict[str, str]) -> None:
    """Write tables, figure and page, and print the main table."""
    tables = [recovery(rows), alarms(rows)]
    text = [as_lines(told), "", *(table.markdown() for table in tables)]
    outputs.write(out / "tables.md", "\n".join(text))
    sections = [Section("How it was made", [Code(as_lines(told))]), Section("Tables", tables)]
    png = _picture(rows)
    if png is not None:
        outputs.write(out / "drift.png", png)
        sections.insert(1, Section("Figure", [Picture(png, CAPTION)]))
    outputs.write(out / "index.html", page("Drift", LEAD, sections))
    console.print(tables[0].rich())
    console.print(f"Rows, tables, figure and index.html are in {printable(out)}", markup=False)


def recovery(rows: list[Row]) -> Table:
    """How large the steady error is, and how soon it is reached again."""
    lines = []
    for scenario in SCENARIOS:
        for method in METHODS:
            own = _of(rows, scenario, method)
            steady = float(np.median([row["steady"] for row in own]))
            again = _pooled(own, "recovery")
            fine = (_median(_pooled(own, f"to_{limit:g}")) for limit in FINE)
            cells = (f"{steady:.1f}°", _median(again), _largest(again), *fine)
            lines.append((scenario, method, *cells))
    header = ("scenario", "method", "steady", "recovery", "largest", "to 5°", "to 2°")
    return Table("Recovery, in windows", header, lines, NOTE, words=(1,))


def alarms(rows: list[Row]) -> Table:
    """How soon the alarm was raised after a change began, and how often without one."""
    lines = []
    for scenario, setting in SCENARIOS.items():
        for method in METHODS:
            own, delays, missed, false = _of(rows, scenario, method), [], 0, 0
            for row in own:
                left = list(row["alarms"])
                for start, stop in setting.changes:
                    caused = [t for t in left if start < t <= stop + 3.0]
                    left = [t for t in left if t not in caused]
                    delays += [caused[0] - start] if caused else []
                    missed += not caused
                false += len(left)
            delay = f"{float(np.median(delays)):.2f}" if delays else "–"
            lines.append((scenario, method, delay, str(missed), str(false), str(len(own))))
    header = ("scenario", "method", "windows until the alarm", "missed", "false", "streams")
    return Table("The alarm", header, lines, words=(1,))


def _of(rows: list[Row], scenario: str, method: str) -> list[Row]:
    """Rows of one scenario and method."""
    return [row for row in rows if (row["scenario"], row["method"]) == (scenario, method)]


def _pooled(rows: list[Row], name: str) -> list[float]:
    """Times over seeds and changes; what never came is infinite."""
    return [np.inf if time is None else time for row in rows for time in row[name]]


def _median(times: list[float]) -> str:
    """Write the median."""
    middle = float(np.median(times))
    return f"{middle:.2f}" if np.isfinite(middle) else "–"


def _largest(times: list[float]) -> str:
    """Write the largest."""
    return f"{max(times):.2f}" if np.isfinite(max(times)) else "–"


def _picture(rows: list[Row]) -> bytes | None:
    """Draw the angles over the stream, where matplotlib is there to draw them."""
    try:
        figures: Any = import_module("matplotlib.figure")
        shared: Any = import_module("okspca_lab.studies.figures")
    except ImportError:
        return None
    figure = figures.Figure(figsize=(12.0, 3.8), layout="constrained")
    panels = figure.subplots(1, len(SCENARIOS), sharey=True)
    for axes, (name, scenario) in zip(panels, SCENARIOS.items(), strict=True):
        for start, stop in scenario.changes:
            axes.axvspan(start, max(stop, start + 0.05), color="#e6e6e6", lw=0)
        for colour, method in zip(COLOURS, METHODS, strict=True):
            angles = np.median([row["angles"] for row in _of(rows, name, method)], axis=0)
            at = (np.arange(len(angles)) + 1.0) * LOOK_EVERY / WINDOW
            axes.plot(at, angles, color=colour, lw=1.4, label=method)
        axes.set_yscale("log")
        axes.set_title(name, fontsize=11)
        axes.set_xlabel("windows of rows")
        shared.plain(axes)
    panels[0].set_ylabel("angle to the truth (degrees)")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=5, frameon=False)
    return bytes(shared.png(figure))
