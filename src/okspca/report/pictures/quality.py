"""How good the basis was on the way: objective, what was proven, and the running scores."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, NullFormatter

from okspca.numerics.arrays import Floats
from okspca.report.pictures.style import OTHER, OURS, note, quiet
from okspca.state.streams import Standing

SMALLEST = 1e-16


def draw_quality(history: Sequence[Standing], measure: str = "score") -> Figure:
    """Draw the course of a fit.

    Parameters
    ----------
    history : sequence of Standing
        What `okspca fit` noted on the way.
    measure : str
        What the scores are.
    """
    if len(history) < 2:
        words = "Quality over time is noted by okspca fit; this model has no more than one note."
        return note(Figure(figsize=(7.0, 2.0)), words)
    rows, objective, rho, rank, embedding, inputs = np.array(history, dtype=np.float64).T
    is_scored = bool(np.isfinite(embedding).any())
    figure = Figure(figsize=(10.5 if is_scored else 7.5, 3.8), layout="constrained")
    panels = figure.subplots(1, 3 if is_scored else 2, squeeze=False)[0]
    _objective(panels[0], rows, objective, rank)
    _proven(panels[1], rows, rho)
    if is_scored:
        _scores(panels[2], rows, (embedding, inputs), measure)
    for axes in panels:
        axes.set_xscale("log")
        axes.set_xticks(_round_rows(rows))
        axes.xaxis.set_major_formatter(EngFormatter(places=0, sep=""))
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.set_xlabel("rows read")
        axes.grid(axis="y", alpha=0.25)
        quiet(axes)
    return figure


def _round_rows(rows: Floats) -> list[float]:
    """At most four round numbers within the range of a logarithmic axis.

    Examples
    --------
    >>> _round_rows(np.array([256.0, 12000.0]))
    [500.0, 2000.0, 10000.0]
    """
    low, high = rows.min(), rows.max()
    exponents = range(int(np.log10(low)), int(np.log10(high)) + 1)
    found = [float(lead * 10**e) for e in exponents for lead in (1, 2, 5)]
    inside = [value for value in found if low <= value <= high] or [float(high)]
    return inside[:: -(-len(inside) // 4)]


def _objective(axes: Axes, rows: Floats, objective: Floats, rank: Floats) -> None:
    """Draw the captured objective; a mark where the rank changed."""
    axes.plot(rows, objective, "o-", color=OURS, ms=3.5, lw=1.5)
    changed = np.flatnonzero(np.diff(rank)) + 1
    words = "Objective captured"
    if changed.size:
        axes.plot(rows[changed], objective[changed], "s", mfc="none", color=OTHER, ms=8)
        words += f"\n(squares: new rank, {rank[0]:.0f} at first, {rank[-1]:.0f} now)"
    axes.set_ylim(0.0, 1.15 * max(objective.max(), np.finfo(np.float64).tiny))
    axes.set_title(words, fontsize=11)


def _proven(axes: Axes, rows: Floats, rho: Floats) -> None:
    """Draw how much of the best objective may be missing at most."""
    missing = np.maximum(1.0 - rho, SMALLEST)
    if np.isnan(missing).all():
        # A logarithmic axis without a number cannot be drawn.
        axes.text(0.5, 0.5, "nothing to certify", ha="center", transform=axes.transAxes)
        axes.set_yticks([])
        return
    axes.plot(rows, missing, "o-", color=OURS, ms=3.5, lw=1.5)
    axes.set_yscale("log")
    axes.set_ylim(SMALLEST / 2.0, 2.0)
    axes.set_title("Share of the best objective\nthat may be missing (proven)", fontsize=11)


def _scores(axes: Axes, rows: Floats, found: tuple[Floats, Floats], measure: str) -> None:
    """Draw both running scores."""
    axes.plot(rows, found[0], "o-", color=OURS, ms=3.5, lw=1.5, label="from the embedding")
    axes.plot(rows, found[1], "s--", color=OTHER, ms=3.5, lw=1.5, label="from all inputs")
    axes.set_title(f"Running {measure} of predictions\nmade before learning", fontsize=11)
    axes.legend(frameon=False)
