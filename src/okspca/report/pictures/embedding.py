"""Rows in the coordinates of the embedding, coloured by their target."""

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from numpy.random import RandomState
from numpy.typing import NDArray

from okspca.numerics.arrays import Floats
from okspca.report.pictures.style import (
    COLOURS,
    MARKS,
    OURS,
    PALE,
    QUIET,
    SHADES,
    component_names,
    note,
    quiet,
    shortened,
)

Groups = list[tuple[str, NDArray[np.bool_]]]
MOST_CLASSES = 24
#: So many classes are named in the picture itself; names of more would cover the rows.
MOST_NAMED = 12
#: Entries in one column of a legend.
LEGEND_ROWS = 14
#: So many components are shown against one another; the rest would be too small to read.
MOST_SHOWN = 4
UNSUPERVISED = "unsupervised: main direction of the inputs\nthat is uncorrelated with {}"


class Drawn(NamedTuple):
    """Rows to draw: coordinates, their names, and what colours them.

    Attributes
    ----------
    Z : ndarray of shape (n, k)
        Coordinates.
    names : sequence of str
        What they are called.
    y : ndarray of shape (n,) or None
        Targets; None draws all rows alike.
    groups : list or None
        The classes, where the targets are classes.
    target : str
        What the target is called.
    """

    Z: Floats
    names: Sequence[str]
    y: NDArray[Any] | None
    groups: Groups | None
    target: str

    @classmethod
    def of(
        cls,
        Z: Floats,
        y: NDArray[Any] | None,
        target: str,
        *,
        classes: bool,
        names: Sequence[str] | None = None,
        second: Floats | None = None,
    ) -> "Drawn":
        """Leave out components that are zero throughout; one that is alone may get a second axis.

        ``second`` holds coordinates that no target was used for.
        """
        names = component_names(Z.shape[1]) if names is None else names
        shown = [j for j in range(Z.shape[1]) if np.any(Z[:, j] != 0.0)]
        Z, names = Z[:, shown], [names[j] for j in shown]
        if len(shown) == 1 and second is not None:
            Z, names = np.column_stack([Z, second]), [names[0], UNSUPERVISED.format(names[0])]
        groups = groups_of(y) if classes and y is not None else None
        return cls(Z, names, y, groups, target)

    @property
    def title(self) -> str:
        """What is shown."""
        n = self.Z.shape[1]
        beyond = f" (first {MOST_SHOWN} of {n} components)" if n > MOST_SHOWN else ""
        colours = "" if self.y is None else f", coloured by {shortened(self.target)}"
        return f"{len(self.Z):,} rows{colours}{beyond}"


def draw_embedding(
    Z: Floats,
    y: NDArray[Any],
    target: str,
    *,
    classes: bool,
    second: Floats | None = None,
) -> Figure:
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
    second : ndarray of shape (n,), optional
        An axis for which no target was used, drawn where only one component is left.
    """
    rows = Drawn.of(Z, y, target, classes=classes, second=second)
    if not rows.Z.size:
        return note(Figure(figsize=(7.0, 2.0)), "There is no embedding to draw: rank 0.")
    figure = _one_component(rows) if rows.Z.shape[1] == 1 else _pairs(rows)
    figure.suptitle(rows.title, fontsize=11)
    return figure


def draw_pair(axes: Axes, rows: Drawn, across: int = 0, down: int = 1) -> Any:
    """Draw two coordinates into one panel; returns what a scale of colours can be made for."""
    drawn = _scatter(axes, rows.Z[:, across], rows.Z[:, down], rows.y, rows.groups)
    axes.set_xlabel(shortened_axis(rows.names[across]))
    axes.set_ylabel(shortened_axis(rows.names[down]))
    quiet(axes)
    return drawn


def draw_strip(axes: Axes, rows: Drawn) -> None:
    """Draw a single component: a strip for each class, or against a number."""
    z, groups = rows.Z[:, 0], rows.groups
    jitter = RandomState(0).uniform(-0.32, 0.32, len(z))
    if rows.y is None:
        axes.scatter(z, jitter, s=8, c=OURS, alpha=0.7, lw=0.0)
        axes.set_yticks([])
    elif groups is None:
        numbers = rows.y.astype(float)
        axes.scatter(z, numbers, s=8, c=numbers, cmap=SHADES, alpha=0.7, lw=0.0)
        axes.set_ylabel(shortened(rows.target))
    else:
        for place, (_, own) in enumerate(groups):
            _marks(axes, z[own], place + jitter[own], place, len(groups))
        axes.set_yticks(range(len(groups)), [shortened(name) for name, _ in groups])
        axes.set_ylim(len(groups) - 0.5, -0.5)
    axes.set_xlabel(shortened_axis(rows.names[0]))
    quiet(axes)


def shortened_axis(name: str) -> str:
    """A name of a component as it is, since components are told apart by their ends."""
    return name.replace("$", r"\$")


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


def _one_component(rows: Drawn) -> Figure:
    """Draw a single component."""
    figure = Figure(figsize=(7.5, 4.2), layout="constrained")
    draw_strip(figure.subplots(), rows)
    return figure


def _pairs(rows: Drawn) -> Figure:
    """Draw each pair of components, later ones below."""
    n = min(rows.Z.shape[1], MOST_SHOWN)
    side = n - 1
    size = (7.5, 5.6) if side == 1 else (3.0 * side + 1.6, 2.7 * side + 0.9)
    figure = Figure(figsize=size, layout="constrained")
    grid = figure.subplots(side, side, squeeze=False)
    for axes in grid.ravel():
        axes.set_visible(False)
    for across, down in combinations(range(n), 2):
        axes = grid[down - 1, across]
        axes.set_visible(True)
        drawn = draw_pair(axes, rows, across, down)
        if down != side:
            axes.set_xlabel("")
        if across != 0:
            axes.set_ylabel("")
    if side == 1:
        name_groups(grid[0, 0], rows)
    if rows.groups is None:
        add_scale(figure, list(grid.ravel()), drawn, rows.target)
    else:
        _legend(figure, grid[0, 0], rows.target)
    return figure


def add_scale(figure: Any, axes: Any, drawn: Any, target: str) -> None:
    """Show which colour is which number."""
    bar = figure.colorbar(drawn, ax=axes, label=shortened(target), shrink=0.8)
    bar.solids.set_alpha(1.0)
    bar.outline.set_visible(False)


def _scatter(
    axes: Axes, first: Floats, second: Floats, y: NDArray[Any] | None, groups: Groups | None
) -> Any:
    """Draw the rows of one panel."""
    if y is None:
        return axes.scatter(first, second, s=9, c=OURS, alpha=0.7, lw=0.0)
    if groups is None:
        numbers = y.astype(float)
        low, high = np.quantile(numbers, [0.01, 0.99])
        return axes.scatter(
            first, second, s=9, c=numbers, cmap=SHADES, vmin=low, vmax=high, alpha=0.8, lw=0.0
        )
    for place, (name, own) in enumerate(groups):
        _marks(axes, first[own], second[own], place, len(groups), shortened(name))
    return None


def name_groups(axes: Axes, rows: Drawn) -> None:
    """Write the name of each class where its rows are, unless there are many."""
    groups = rows.groups or []
    for name, own in groups if len(groups) <= MOST_NAMED else []:
        middle = float(np.median(rows.Z[own, 0])), float(np.median(rows.Z[own, 1]))
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
        ncols=-(-len(axes.get_legend_handles_labels()[1]) // LEGEND_ROWS),
    )
    for handle in legend.legend_handles:
        if handle is not None:
            handle.set_alpha(1.0)
    legend.get_title().set_color(QUIET)
