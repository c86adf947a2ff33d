"""The figures of the population study.  Needs matplotlib; nothing global is changed."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from okspca_lab.studies.drawing import png
from okspca_lab.studies.population.models import RANK
from okspca_lab.studies.population.results import (
    DELTA,
    RATIO_RANGE,
    bound_on,
    part,
    quartiles,
    sizes_of,
    values,
)
from okspca_lab.studies.rows import Row

BLUE, ORANGE, GREEN, PINK, QUIET = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#595959"
#: Distances below this are rounding and are drawn here.
FLOOR = 1e-16
CAPTIONS = {
    "recovery": "Thin: all seeds. Bold: medians; bands: quartiles. Distances do not add up.",
    "calibration": "The stability estimate over the truth it does not know, one mark per seed and "
    "size with its 90% interval. Green: the range wanted for medians.",
    "bounds": "The propositions' bounds (dashed) beside the quantities they bound.",
}


def draw(rows: Sequence[Row]) -> dict[str, bytes]:
    """Draw all figures, by name."""
    return {
        "recovery": recovery_figure(rows),
        "calibration": calibration_figure(rows),
        "bounds": bounds_figure(rows),
    }


def recovery_figure(rows: Sequence[Row]) -> bytes:
    """Draw objective ratios and distances: all seeds thin, medians and quartiles bold."""
    own = part(rows, "bounded")
    figure = Figure(figsize=(11.0, 5.0), layout="constrained")
    FigureCanvasAgg(figure)
    grid = figure.add_gridspec(4, 2)
    left = figure.add_subplot(grid[:, 0])
    right, below = figure.add_subplot(grid[:3, 1]), figure.add_subplot(grid[3, 1])
    for panel, title in ((left, "Objective ratios"), (right, "Projector distances"), (below, "")):
        _over_sizes(panel, title)
    for column, label, colour, style in (
        ("rho_sample_online", "tracker, on the sample", BLUE, "o-"),
        ("rho_population_exact", "exact, on the population", GREEN, "o-"),
        ("rho_population_online", "tracker, on the population", ORANGE, "o:"),
    ):
        _traces(left, own, column, label, colour, style)
    for column, label, colour, style in (
        ("d_stat", "d_stat: exact to population", GREEN, "o-"),
        ("d_total_online", "d_total: tracker to population", ORANGE, "o:"),
        ("d_opt_online", "d_opt: tracker to exact", BLUE, "o-"),
    ):
        _traces(right, own, column, label, colour, style)
    # Thirteen decades below: a panel of its own keeps the others readable.
    _traces(below, own, "d_opt_ours", "d_opt: our exact service to exact", PINK)
    below.set_ylim(1e-16, 1e-12)
    left.set_ylabel("share of the best objective")
    right.set_ylabel("Frobenius distance")
    right.set_xlabel("")
    for panel in (right, below):
        panel.set_yscale("log")
    return _png(figure)


def calibration_figure(rows: Sequence[Row]) -> bytes:
    """Draw the estimate over the truth for every seed and size, for both sources."""
    truth_rows = part(rows, "random features")[0]["truth_rows"]
    figure, axes = _panels(
        "Bounded pairs (truth known)", f"Random features (truth: {truth_rows:,} rows)"
    )
    for panel, name in zip(axes, ("bounded", "random features"), strict=True):
        _calibration(panel, part(rows, name))
    axes[0].set_ylabel("estimate / true d_stat")
    return _png(figure)


def bounds_figure(rows: Sequence[Row]) -> bytes:
    """Draw the propositions' bounds beside what they bound."""
    own = part(rows, "bounded")
    figure, (left, right) = _panels("Error of the moment", "Distance to the population subspace")
    sizes = sizes_of(own)
    medians = {
        name: [np.median([bound_on(r)[name] for r in own if r["n"] == n]) for n in sizes]
        for name in ("moment", "combination", "two steps", "perturbation")
    }
    left.plot(sizes, medians["moment"], "--", color=ORANGE, label=f"bound, delta = {DELTA}")
    _traces(left, own, "moment_error", "true operator norm", GREEN)
    for name, label, colour in (
        ("combination", f"all combined, delta = {DELTA}", ORANGE),
        ("two steps", "from the true moment error", PINK),
        ("perturbation", "from the true operator error", BLUE),
    ):
        right.plot(sizes, medians[name], "--", color=colour, label=f"bound: {label}")
    right.axhline(np.sqrt(2.0 * RANK), color=QUIET, lw=1.0, label="largest possible")
    _traces(right, own, "d_stat", "true d_stat", GREEN)
    for panel in (left, right):
        panel.set_yscale("log")
        panel.legend(frameon=False, fontsize=8)
    return _png(figure)


def _calibration(axes: Axes, rows: Sequence[Row]) -> None:
    """Show each cell's ratio with its interval; cells whose interval misses the truth stand out."""
    for i, n in enumerate(sizes_of(rows)):
        truth = values(rows, "d_stat", n)
        ratio, low, high = (values(rows, c, n) / truth for c in ("estimate", "low", "high"))
        spots = n * 2.0 ** np.linspace(-0.3, 0.3, len(truth))
        missed = (low > 1.0) | (high < 1.0)
        for covers, colour, label in ((~missed, BLUE, "covers"), (missed, ORANGE, "misses")):
            axes.vlines(spots[covers], low[covers], high[covers], color=colour, lw=1.2, alpha=0.55)
            named = f"one seed; its 90% interval {label} the truth" if i == 0 else None
            axes.plot(spots[covers], ratio[covers], "o", color=colour, ms=2.5, label=named)
        median = float(np.median(ratio))
        axes.hlines(median, spots[0], spots[-1], color="black", lw=2.0, label="" if i else "median")
    axes.axhspan(*RATIO_RANGE, color=GREEN, alpha=0.12, lw=0.0)
    axes.axhline(1.0, color=QUIET, lw=1.0)
    axes.set_ylim(0.3, 2.2)
    axes.legend(frameon=False, fontsize=8, loc="upper right")


def _traces(
    axes: Axes, rows: Sequence[Row], column: str, label: str, colour: str, style: str = "o-"
) -> None:
    """Draw all seeds as thin lines, the median bold, the quartiles as a band."""
    sizes = sizes_of(rows)
    columns = np.maximum([values(rows, column, n) for n in sizes], FLOOR)
    axes.plot(sizes, columns, color=colour, lw=0.5, alpha=0.3)
    low, median, high = np.maximum(quartiles(rows, column), FLOOR)
    axes.fill_between(sizes, low, high, color=colour, alpha=0.2, lw=0.0)
    axes.plot(sizes, median, style, color=colour, lw=2.0, ms=3.5, label=label)
    axes.legend(frameon=False, fontsize=8)


def _panels(*titles: str) -> tuple[Figure, list[Axes]]:
    """Make two panels over the sample size."""
    figure = Figure(figsize=(11.0, 4.6), layout="constrained")
    FigureCanvasAgg(figure)
    axes = list(figure.subplots(1, len(titles)))
    for panel, title in zip(axes, titles, strict=True):
        _over_sizes(panel, title)
    return figure, axes


def _over_sizes(axes: Axes, title: str) -> None:
    """Prepare a panel whose horizontal axis is the number of rows."""
    axes.set_title(title, fontsize=11)
    axes.set_xscale("log", base=2)
    axes.set_xlabel("rows n")
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(colors=QUIET)


def _png(figure: Figure) -> bytes:
    """Render; nothing that changes from run to run is written into the file."""
    return png(figure, dpi=110, metadata={"Software": None})
