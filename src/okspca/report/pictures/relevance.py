"""Which inputs drive each component, as bars or, for many components, as shades."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from okspca.numerics.arrays import Floats
from okspca.report.pictures.style import OURS, SHADES, component_names, note, quiet, shortened

MOST_INPUTS = 20
MOST_BARS = 3


def draw_relevance(relevance: Floats, names: Sequence[str]) -> Figure:
    """Draw relevance (components x inputs), most important inputs first."""
    there = np.flatnonzero(relevance.any(axis=1))
    if not there.size:
        return note(Figure(figsize=(7.0, 2.0)), "No component depends on any input: rank 0.")
    # The first components carry most of the target, so every one counts as much as its largest.
    weight = (relevance[there] / relevance[there].max(axis=1, keepdims=True)).max(axis=0)
    order = np.argsort(-weight, kind="stable")[:MOST_INPUTS]
    shown, labels = relevance[there][:, order], [shortened(names[i]) for i in order]
    height = 1.7 + 0.26 * len(order)
    left_out = len(names) - len(order)
    title = "Standard deviations that a component moves\nwhen an input moves by one of its own"
    if left_out:
        title += f" ({left_out} weaker inputs left out)"
    figure = (_bars if len(there) <= MOST_BARS else _shades)(shown, labels, there, height)
    figure.suptitle(title, fontsize=11)
    return figure


def _bars(shown: Floats, labels: list[str], numbers: NDArray[np.intp], height: float) -> Figure:
    """A panel of bars for each component."""
    figure = Figure(figsize=(3.6 + 2.4 * len(numbers), height), layout="constrained")
    panels = figure.subplots(1, len(numbers), sharey=True, squeeze=False)[0]
    for axes, values, number in zip(panels, shown, numbers, strict=True):
        axes.barh(range(len(labels)), values, color=OURS, height=0.65)
        axes.set_xlabel(component_names(number + 1)[-1])
        axes.set_xlim(left=0.0)
        axes.grid(axis="x", alpha=0.25)
        quiet(axes)
    panels[0].set_yticks(range(len(labels)), labels)
    panels[0].set_ylim(len(labels) - 0.5, -0.5)
    return figure


def _shades(shown: Floats, labels: list[str], numbers: NDArray[np.intp], height: float) -> Figure:
    """A field of shades: inputs down, components across."""
    figure = Figure(figsize=(3.6 + 0.42 * len(numbers), height + 0.3), layout="constrained")
    axes = figure.subplots()
    field = axes.imshow(shown.T, cmap=SHADES, vmin=0.0, aspect="auto")
    axes.set_yticks(range(len(labels)), labels)
    names = [component_names(number + 1)[-1] for number in numbers]
    axes.set_xticks(range(len(numbers)), names, rotation=90)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    figure.colorbar(field, ax=axes).outline.set_visible(False)
    return figure
