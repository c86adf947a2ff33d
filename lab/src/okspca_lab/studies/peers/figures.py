"""The figures of the comparison.  Needs matplotlib; nothing global is changed."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from okspca_lab.studies.drawing import plain, png
from okspca_lab.studies.peers.data import LARGE, shown
from okspca_lab.studies.peers.methods import AUTO, OURS, PREDICTORS, REDUCERS, Method
from okspca_lab.studies.peers.results import MARGIN, Results
from okspca_lab.studies.peers.tables import BELOW, judged, own_side, ratio

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7a5195", "#5f5f5f")
MARKS = "osD^vP*X"
Below = Literal["outside lower left", "outside lower center", "outside lower right"]
#: Differences below this are drawn on a linear scale.
LINEAR_BELOW = 0.01
CAPTIONS = {
    "rivals": (
        "How much our score is above that of others, mean over shared seeds: right of zero ours is "
        "better. Reducers are compared with the embedding of the same rank, predictors with the "
        "head. Within the grey band of ±0.01 the scale is linear, outside logarithmic."
    ),
    "ladder": (
        'What "auto" loses against the rungs below it and the covariance target, with two standard '
        'errors: left of zero "auto" is better. The verdict is "held" where a bar begins left of '
        "the dashed line, at 0.005. Within ±0.01 the scale is linear, outside logarithmic."
    ),
    "costs": (
        "What others gain over ours, and at which cost: median difference of scores over the data "
        "sets, and geometric mean of the ratio of processor times to fit. Below zero ours is "
        "better, right of one ours is cheaper. Red: reducers, blue: predictors."
    ),
}


def draw(results: Results) -> dict[str, bytes]:
    """Draw what there are rows for."""
    drawn = {}
    if results.methods(REDUCERS, PREDICTORS) and results.methods(OURS):
        drawn = {"rivals": rivals(results), "costs": fit_costs(results)}
    if results.methods(OURS):
        drawn["ladder"] = losses(results)
    return drawn


def rivals(results: Results) -> bytes:
    """Draw differences to ours, a line for each data set and a mark for each rival."""
    names = [name for name in results.data if name != LARGE][::-1]
    figure = Figure(figsize=(12.5, 1.8 + 0.33 * len(names)), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    for axes, group in zip(panels, (REDUCERS, PREDICTORS), strict=True):
        for number, rival in enumerate(results.methods(group)):
            found = [(n, results.difference(n, own_side(rival), rival)) for n in names]
            points = [(pair.mean, names.index(n)) for n, pair in found if pair is not None]
            _marks(axes, points, number, rival.name)
        _about_zero(axes, names)
        axes.axvspan(-LINEAR_BELOW, LINEAR_BELOW, color="#eeeeee", lw=0, zorder=0)
        axes.set_title(group, fontsize=11)
        axes.set_xlabel("ours − other (right: ours is better)")
        is_left = group == REDUCERS
        _legend(figure, axes, "outside lower left" if is_left else "outside lower right")
    return png(figure)


def losses(results: Results) -> bytes:
    """Draw what "auto" loses against what is below it."""
    names = [n for n in results.data if results.of(n, AUTO)][::-1]
    figure = Figure(figsize=(9.0, 1.8 + 0.33 * len(names)), layout="constrained")
    axes = figure.subplots()
    for number, below in enumerate(BELOW):
        found = [(n, results.difference(n, below, AUTO)) for n in names]
        known = [(names.index(n), pair) for n, pair in found if pair is not None]
        places = [place + 0.12 * (number - 1.5) for place, _ in known]
        means = [pair.mean for _, pair in known]
        errors = [2.0 * np.nan_to_num(pair.error) for _, pair in known]
        style: dict[str, Any] = {"fmt": MARKS[number], "color": COLOURS[number], "ms": 4.5}
        axes.errorbar(means, places, xerr=errors, label=f"{below.name} − auto", **style)
    _about_zero(axes, names)
    axes.axvline(MARGIN, color="#333333", ls="--", lw=1.0)
    axes.set_xlabel('score − that of "auto" (left: "auto" is better)')
    _legend(figure, axes, "outside lower center")
    return png(figure)


def fit_costs(results: Results) -> bytes:
    """Draw a mark for each rival: what it gains and what it costs."""
    figure = Figure(figsize=(9.5, 4.6), layout="constrained")
    axes = figure.subplots()
    for group, colour in ((REDUCERS, COLOURS[1]), (PREDICTORS, COLOURS[0])):
        for number, rival in enumerate(results.methods(group)):
            point, mark = _gain_and_cost(results, rival), MARKS[number % len(MARKS)]
            if point is not None:
                axes.plot(*point, mark, color=colour, ms=8, alpha=0.85, label=rival.name, ls="none")
    figure.legend(loc="outside right upper", frameon=False, fontsize=9)
    axes.axhline(0.0, color="#333333", lw=0.8)
    axes.axvline(1.0, color="#333333", lw=0.8)
    axes.set_xscale("log")
    axes.margins(x=0.15)
    axes.set_xlabel("processor time to fit, in units of ours")
    axes.set_ylabel("score − ours, median over data sets")
    plain(axes)
    return png(figure)


def _gain_and_cost(results: Results, rival: Method) -> tuple[float, float] | None:
    """Ratio of times to fit, and median difference of scores."""
    known = judged(results, rival)
    if not known:
        return None
    gain = -float(np.median([pair.mean for pair in known.values()]))
    return ratio(results, list(known), rival, "fit_seconds"), gain


def _marks(axes: Axes, points: Sequence[tuple[float, int]], number: int, label: str) -> None:
    """Draw the marks of one method."""
    xs, ys = [x for x, _ in points], [y for _, y in points]
    mark, colour = MARKS[number % len(MARKS)], COLOURS[number % len(COLOURS)]
    axes.plot(xs, ys, mark, color=colour, ms=5.5, alpha=0.85, label=label, ls="none")


def _legend(figure: Figure, axes: Axes, place: Below) -> None:
    """Name the marks of a panel below the figure."""
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc=place, ncols=4, frameon=False, fontsize=9)


def _about_zero(axes: Axes, names: Sequence[str]) -> None:
    """A line for each data set, and a scale that shows small and large differences."""
    plain(axes)
    axes.axvline(0.0, color="#333333", lw=0.8)
    axes.set_xscale("symlog", linthresh=LINEAR_BELOW)
    ticks = (-1.0, -0.1, -0.01, 0.0, 0.01, 0.1, 1.0)
    axes.set_xticks(ticks, [f"{tick:+g}" if tick else "0" for tick in ticks])
    axes.set_yticks(range(len(names)), [shown(name) for name in names])
