"""The picture of a stability report: estimated angles, and what disjoint halves agree on.

Needs matplotlib.  Only its object-oriented interface is used, so nothing global changes.
"""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from okspca.diagnostics.stability import REPRODUCIBLE, Stability

AGREED, NOISE, QUIET = "#0072B2", "#D55E00", "#595959"


def draw(stability: Stability, axes: Any = None) -> Figure:
    """Draw both panels.

    Parameters
    ----------
    stability : Stability
        What to draw.
    axes : sequence of two Axes, optional
        Where; a new figure by default.
    """
    if axes is None:
        figure = Figure(figsize=(9.5, 3.8), layout="constrained")
        axes = figure.subplots(1, 2)
    draw_angles(axes[0], stability)
    draw_agreement(axes[1], stability)
    for panel in axes:
        panel.spines[["top", "right"]].set_visible(False)
        panel.tick_params(colors=QUIET)
        panel.xaxis.get_major_locator().set_params(integer=True)
    return axes[0].figure


def draw_angles(axes: Axes, stability: Stability) -> None:
    """Show each principal angle to the population with its interval."""
    numbers = np.arange(1, len(stability.angles) + 1)
    for number, angle, (low, high) in zip(
        numbers, stability.angles, stability.angle_intervals, strict=True
    ):
        axes.plot([number, number], [low, high], color=AGREED, lw=4.0, alpha=0.3)
        axes.plot(number, angle, "o", color=AGREED, ms=6.0)
    axes.set_xlim(0.5, max(len(numbers), 1) + 0.5)
    axes.set_ylim(bottom=0.0)
    axes.set_title(f"Estimated error after {stability.n_samples_seen:,} rows", fontsize=11)
    axes.set_xlabel("principal angle, largest first")
    axes.set_ylabel(f"degrees to the population\n({stability.level:.0%} interval)")


def draw_agreement(axes: Axes, stability: Stability) -> None:
    """Show by rank how far apart disjoint halves are, and where noise takes over."""
    ranks = np.arange(1, len(stability.disagreement) + 1)
    kept = [AGREED if r <= stability.recommended_rank else NOISE for r in ranks]
    axes.bar(ranks, stability.disagreement, color=kept, width=0.6)
    axes.axhline(REPRODUCIBLE, color=QUIET, lw=1.0, ls="--")
    axes.set_ylim(0.0, 95.0)
    axes.set_xlim(0.4, max(len(ranks), 1) + 0.6)
    axes.set_title(f"Recommended rank: {stability.recommended_rank}", fontsize=11)
    axes.set_xlabel("rank (number of leading directions)")
    axes.set_ylabel("degrees between disjoint halves\n(dashed: reproducible below)")
