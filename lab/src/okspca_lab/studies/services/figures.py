"""The figures: trajectories along the streams, and cost against error with its frontier.

Needs matplotlib.  Only its object-oriented interface is used, so nothing global changes.
"""

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import NullFormatter

from okspca_lab.studies.drawing import plain, png
from okspca_lab.studies.services.frontier import Point, frontier, points
from okspca_lab.studies.services.methods import LABELS
from okspca_lab.studies.services.quality import DRAWN
from okspca_lab.studies.services.results import Results, Trajectories, read_trajectories
from okspca_lab.studies.workloads import REGIMES

# Colours that readers with any colour vision can tell apart (Okabe and Ito), and two greys.
COLOURS = {
    "adam": "#D55E00",
    "projected-gradient": "#E69F00",
    "exact-on-request": "#0072B2",
    "full-svd": "#0072B2",
    "cache-10": "#009E73",
    "cache-100": "#CC79A7",
    "exact": "#000000",
    "warm-block": "#56B4E9",
    "incremental": "#8A6D00",
    "exact-each": "#7F7F7F",
    "binary": "#6A3D9A",
    "contrast": "#6A3D9A",
    "arpack": "#B2B2B2",
    "propack": "#595959",
}
STYLES = ("-", "--", ":", "-.", (0, (6, 1, 1, 1, 1, 1)))
QUANTITIES = (("rho", "ρ"), ("angle", "largest angle (°)"), ("distance", "d_P"))
COLUMNS = (("adam", "projected-gradient"), ("exact-on-request", "cache-10", "cache-100"))
#: Errors below this are rounding.
SMALLEST_ANGLE = 1e-13

CAPTIONS = {
    "R256": "R256, a request after every observation, all seeds. Undefined stays a gap.",
    "R128": "R128, a request after every observation, all seeds. Undefined stays a gap.",
    "frontier": "Cost against error, every method of both builds. Hollow: some answers are old or "
    "short of a rank. Line: what no fresh service of full rank beats in both.",
}
FRONTIER_SCHEDULES = ("every-1", "every-100")


def draw(paper: Results, ours: Results, out: Path) -> dict[str, bytes]:
    """Draw what there are rows or trajectories of, by name."""
    walks = {name: read_trajectories(out / "paper" / "trajectories", name) for name in DRAWN}
    drawn = {name: trajectories(found) for name, found in walks.items() if found}
    if paper.kind("A0") or ours.kind("A0"):
        drawn["frontier"] = cost_and_error(paper, ours, FRONTIER_SCHEDULES)
    return drawn


def trajectories(found: Trajectories) -> bytes:
    """Draw all seeds: trackers left, exact and cached right; what is undefined stays a gap."""
    figure = Figure(figsize=(10.5, 8.4), layout="constrained")
    panels = figure.subplots(3, 2, sharex=True, sharey="row")
    seeds = sorted({seed for seed, _ in found})
    for row, (name, label) in enumerate(QUANTITIES):
        for axes, methods in zip(panels[row], COLUMNS, strict=True):
            for method in methods:
                for seed in seeds:
                    if (seed, method) not in found:
                        continue
                    values = found[seed, method][name]
                    style = STYLES[seeds.index(seed) % len(STYLES)]
                    at = np.arange(1, values.size + 1)
                    axes.plot(at, values, ls=style, color=COLOURS[method], lw=0.8)
            plain(axes)
            axes.set_xscale("log")
        panels[row, 0].set_ylabel(label)
    for axes in panels[-1]:
        axes.set_xlabel("observation")
    services = [
        Line2D([], [], color=COLOURS[m], label=LABELS[m]) for group in COLUMNS for m in group
    ]
    lines = [
        Line2D([], [], color="black", lw=0.9, ls=STYLES[i % len(STYLES)], label=f"seed {seed}")
        for i, seed in enumerate(seeds)
    ]
    figure.legend(handles=services + lines, loc="outside lower center", ncols=5, frameon=False)
    return png(figure)


def cost_and_error(paper: Results, ours: Results, schedules: tuple[str, ...]) -> bytes:
    """Draw every method's time against its mean angle, with the frontier of sound services."""
    figure = Figure(figsize=(15.0, 3.6 * len(schedules) + 1.0), layout="constrained")
    panels = figure.subplots(len(schedules), len(REGIMES), sharey=True, squeeze=False)
    drawn: set[str] = set()
    for row, schedule in enumerate(schedules):
        for axes, regime in zip(panels[row], REGIMES, strict=True):
            there = points(paper, ours, regime, schedule)
            for point in there:
                _mark(axes, point)
                drawn.add(point.method)
            _draw_frontier(axes, [p for p in there if p.is_sound])
            axes.set_xscale("log")
            axes.set_yscale("log")
            axes.xaxis.set_minor_formatter(NullFormatter())
            axes.set_title(f"{regime}, {schedule}", fontsize=10)
            plain(axes)
        panels[row, 0].set_ylabel("mean angle (°)")
    for axes in panels[-1]:
        axes.set_xlabel("µs per observation")
    handles = [
        Line2D([], [], ls="", marker="o", color=COLOURS[m], label=LABELS[m])
        for m in COLOURS
        if m in drawn
    ]
    marks = (("o", "black", "okspca's build"), ("^", "black", "paper's build"))
    handles += [Line2D([], [], ls="", marker=m, color=c, label=t) for m, c, t in marks]
    handles.append(
        Line2D([], [], ls="", marker="o", mfc="none", color="black", label="stale or short of rank")
    )
    handles.append(Line2D([], [], color="black", lw=0.9, label="frontier: fresh, full rank"))
    figure.legend(handles=handles, loc="outside lower center", ncols=6, frameon=False)
    return png(figure)


def _mark(axes: Axes, point: Point) -> None:
    """Draw one service; hollow where some answers are old or short of a rank."""
    colour = COLOURS[point.method]
    axes.plot(
        point.microseconds,
        max(point.angle, SMALLEST_ANGLE),
        marker="o" if point.build == "ours" else "^",
        color=colour,
        mfc=colour if point.is_sound else "none",
        ms=6,
        ls="",
    )


def _draw_frontier(axes: Axes, sound: list[Point]) -> None:
    """Draw what no sound service beats in both cost and error."""
    best = frontier(sound)
    if best:
        x = [p.microseconds for p in best]
        y = [max(p.angle, SMALLEST_ANGLE) for p in best]
        axes.step([*x, 2.0 * max(x)], [*y, y[-1]], where="post", color="black", lw=0.9, zorder=0)
