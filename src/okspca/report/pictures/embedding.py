"""Rows in the coordinates of the embedding, coloured by their target."""

from collections import Counter
from itertools import combinations
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from numpy.random import RandomState
from numpy.typing import NDArray

from okspca.numerics.arrays import Floats
from okspca.report.pictures.style import COLOURS, MARKS, PALE, QUIET, SHADES, note, quiet, shortened

Groups = list[tuple[str, NDArray[np.bool_]]]
MOST_CLASSES = len(MARKS)
#: So many components are shown against one another; the rest would be too small to read.
MOST_SHOWN = 4


def draw_embedding(Z: Floats, y: NDArray[Any], target: str, *, classes: bool) -> Figure:
    """Draw rows: one component as a strip or against the target, more of them in pairs.

    Parameters
    ----------
    Z : ndarray of shape (n, k)
        Embedded rows; components that are zero throughout are left out.
    y : ndarray of shape (n,)
        Their targets.
    target : str
        What the target is called.
    classes : bool
        Whether the targets are classes rather than numbers.
    """
    shown = [j for j in range(Z.shape[1]) if np.any(Z[:, j] != 0.0)]
    if not shown or not len(Z):
        return note(Figure(figsize=(7.0, 2.0)), "There is no embedding to draw: rank 0.")
    beyond = f" (first {MOST_SHOWN} of {len(shown)} components)" if len(shown) > MOST_SHOWN else ""
    title = f"{len(Z):,} rows, coloured by {shortened(target)}{beyond}"
    groups = groups_of(y) if classes else None
    if len(shown) == 1:
        figure = _one_component(Z[:, shown[0]], y, groups, shown[0], target)
    else:
        figure = _pairs(Z, shown[:MOST_SHOWN], y, groups, target)
    figure.suptitle(title, fontsize=11)
    return figure


def groups_of(y: NDArray[Any]) -> Groups:
    """Classes by frequency, those that are too many in one group of the rest."""
    labels = np.array([str(value) for value in y.tolist()])
    ranked = [name for name, _ in Counter(labels.tolist()).most_common()]
    kept = ranked if len(ranked) <= MOST_CLASSES else ranked[: MOST_CLASSES - 1]
    kept = sorted(kept, key=_in_order)
    groups = [(name, labels == name) for name in kept]
    if len(kept) < len(ranked):
        rest = ~np.isin(labels, kept)
        groups.append((f"{len(ranked) - len(kept)} others", rest))
    return groups


def _in_order(name: str) -> tuple[float, str]:
    """Numbers by size, text by the alphabet."""
    try:
        return float(name), name
    except ValueError:
        return float("inf"), name


def _one_component(
    z: Floats, y: NDArray[Any], groups: Groups | None, number: int, target: str
) -> Figure:
    """Draw a single component: a strip for each class, or against a number."""
    figure = Figure(figsize=(7.5, 4.2), layout="constrained")
    axes = figure.subplots()
    if groups is None:
        axes.scatter(z, y.astype(float), s=8, c=y.astype(float), cmap=SHADES, alpha=0.7, lw=0.0)
        axes.set_ylabel(shortened(target))
    else:
        jitter = RandomState(0).uniform(-0.32, 0.32, len(z))
        for place, (_, own) in enumerate(groups):
            _marks(axes, z[own], place + jitter[own], place, len(groups))
        axes.set_yticks(range(len(groups)), [shortened(name) for name, _ in groups])
        axes.set_ylim(len(groups) - 0.5, -0.5)
    axes.set_xlabel(f"component {number + 1}")
    quiet(axes)
    return figure


def _pairs(
    Z: Floats, shown: list[int], y: NDArray[Any], groups: Groups | None, target: str
) -> Figure:
    """Draw each pair of components, later ones below."""
    side = len(shown) - 1
    size = (7.5, 5.6) if side == 1 else (3.0 * side + 1.6, 2.7 * side + 0.9)
    figure = Figure(figsize=size, layout="constrained")
    grid = figure.subplots(side, side, squeeze=False)
    for axes in grid.ravel():
        axes.set_visible(False)
    for across, down in combinations(range(len(shown)), 2):
        axes = grid[down - 1, across]
        axes.set_visible(True)
        drawn = _scatter(axes, Z[:, shown[across]], Z[:, shown[down]], y, groups)
        if groups is not None and side == 1:
            _name(axes, Z[:, shown], groups)
        if down == side:
            axes.set_xlabel(f"component {shown[across] + 1}")
        if across == 0:
            axes.set_ylabel(f"component {shown[down] + 1}")
        quiet(axes)
    if groups is None:
        bar = figure.colorbar(drawn, ax=list(grid.ravel()), label=shortened(target), shrink=0.8)
        bar.solids.set_alpha(1.0)  # type: ignore[union-attr]
        bar.outline.set_visible(False)
    else:
        _legend(figure, grid[0, 0], target)
    return figure


def _scatter(
    axes: Axes, first: Floats, second: Floats, y: NDArray[Any], groups: Groups | None
) -> Any:
    """Draw one panel."""
    if groups is None:
        numbers = y.astype(float)
        low, high = np.quantile(numbers, [0.01, 0.99])
        return axes.scatter(
            first, second, s=9, c=numbers, cmap=SHADES, vmin=low, vmax=high, alpha=0.8, lw=0.0
        )
    for place, (name, own) in enumerate(groups):
        _marks(axes, first[own], second[own], place, len(groups), shortened(name))
    return None


def _name(axes: Axes, Z: Floats, groups: Groups) -> None:
    """Write the name of each class where its rows are."""
    for name, own in groups:
        middle = float(np.median(Z[own, 0])), float(np.median(Z[own, 1]))
        words = axes.annotate(shortened(name, 10), middle, ha="center", va="center", weight="bold")
        words.set_path_effects([withStroke(linewidth=3.0, foreground="white")])


def _marks(
    axes: Axes, first: Floats, second: Floats, place: int, n_groups: int, label: str = ""
) -> None:
    """Draw the rows of one class with its own mark and colour."""
    mark, colour = MARKS[place % len(MARKS)], COLOURS[place % len(COLOURS)]
    colour = PALE if n_groups == MOST_CLASSES and label.endswith(" others") else colour
    # Colours are used a second time with hollow marks; crosses have no inside.
    is_line, is_hollow = mark in "x+", place >= len(COLOURS)
    axes.scatter(
        first,
        second,
        s=16,
        marker=mark,
        facecolors="none" if is_hollow and not is_line else colour,
        edgecolors=None if is_line else colour,
        linewidths=0.9 if is_line or is_hollow else 0.0,
        alpha=0.7,
        label=label,
    )


def _legend(figure: Figure, axes: Axes, target: str) -> None:
    """Name the classes beside the panels."""
    legend = figure.legend(
        *axes.get_legend_handles_labels(),
        loc="outside right upper",
        frameon=False,
        title=shortened(target),
        markerscale=1.6,
    )
    for handle in legend.legend_handles:
        if handle is not None:
            handle.set_alpha(1.0)
    legend.get_title().set_color(QUIET)
