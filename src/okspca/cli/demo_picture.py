"""The picture of the demo: the embedding, and how good it was along the way.

Needs matplotlib.  Only its object-oriented interface is used, so nothing global changes.
"""

import io

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from okspca.cli.demo import CLASSES, N_CLASSES, N_INPUTS, Contender, DemoResult, late_rows
from okspca.numerics.arrays import Floats

# Colours that readers with any colour vision can tell apart (Okabe and Ito), and markers for print.
COLOURS = ("#0072B2", "#009E73", "#D55E00")
MARKERS = ("o", "s", "^")
SOLVER_COLOURS = {"exact": "#0072B2", "adam": "#D55E00"}
LABELS = {"exact": "exact", "adam": "Adam tracker"}
# An angle of exactly zero has no place on a logarithmic axis.
SMALLEST_ANGLE = 1e-16
QUIET = "#595959"


def draw(result: DemoResult) -> bytes:
    """Draw the picture and return it as a PNG file.

    Parameters
    ----------
    result : DemoResult
        What the demo found.
    """
    figure = Figure(figsize=(15.0, 5.0), layout="constrained")
    canvas = FigureCanvasAgg(figure)
    panels = figure.subplots(1, 3)
    for place, contender in enumerate(result.contenders):
        draw_embedding(panels[place], result, place)
        faults = f"{LABELS[contender.name]}: finds {result.found[place]:.0%} of the new faults"
        panels[place].set_title(faults, fontsize=11)
    draw_quality(panels[2], result.contenders)
    rows = result.contenders[0].history[-1].rows
    figure.suptitle(
        f"{rows:,} rows, {N_INPUTS} readings of which {N_INPUTS - 2} are noise; a fault turned up "
        f"in the last {late_rows(rows)} rows"
    )
    buffer = io.BytesIO()
    canvas.print_figure(buffer, format="png", dpi=110)
    return buffer.getvalue()


def draw_embedding(axes: Axes, result: DemoResult, place: int) -> None:
    """Scatter the held-out rows in the coordinates of one solver, coloured by class."""
    first, second = result.embeddings[place].T
    for c, name in enumerate(CLASSES):
        own = result.labels == c
        axes.scatter(
            first[own],
            second[own],
            s=14,
            c=COLOURS[c],
            marker=MARKERS[c],
            alpha=0.75,
            linewidths=0.0,
            label=name,
        )
    axes.set_xlabel("first coordinate")
    axes.set_ylabel("second coordinate")
    axes.set_aspect("equal", adjustable="datalim")
    axes.legend(
        ncols=N_CLASSES,
        loc="upper center",
        bbox_to_anchor=(0.5, -0.12),
        handletextpad=0.1,
        columnspacing=1.2,
        frameon=False,
        markerscale=1.5,
    )
    _unclutter(axes)


def draw_quality(axes: Axes, contenders: list[Contender]) -> None:
    """Plot each solver's angle to the exact subspace: measured, and as proven at the time."""
    for contender in contenders:
        rows = [point.rows for point in contender.history]
        colour, label = SOLVER_COLOURS[contender.name], LABELS[contender.name]
        proven = _drawable([point.angle_upper for point in contender.history])
        measured = _drawable([point.angle for point in contender.history])
        axes.plot(rows, measured, "o-", color=colour, ms=3.5, lw=1.5, label=f"{label}: measured")
        axes.plot(rows, proven, "--", color=colour, lw=1.5, label=f"{label}: proven bound")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_ylim(SMALLEST_ANGLE, 300.0)
    axes.set_title("Angle to the exact subspace of the rows so far", fontsize=11)
    axes.set_xlabel("rows learned")
    axes.set_ylabel("largest angle (degrees)")
    axes.grid(axis="y", alpha=0.25)
    # Listed from top to bottom as the lines are.
    axes.legend(frameon=False, loc="center", bbox_to_anchor=(0.6, 0.6), reverse=True)
    _unclutter(axes)


def _drawable(angles: list[float | None]) -> Floats:
    """Turn what is undefined into gaps and zeros into the bottom of the axis."""
    return np.maximum([np.nan if angle is None else angle for angle in angles], SMALLEST_ANGLE)


def _unclutter(axes: Axes) -> None:
    """Keep only the lines that carry a scale, in a quiet colour."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(QUIET)
    axes.tick_params(colors=QUIET)
