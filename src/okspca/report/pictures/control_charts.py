"""Control charts: statistics with their limits and alarms, and which inputs contributed."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.pyplot import figure as new_figure

from okspca.errors import DataError
from okspca.estimators.monitored import WORDS, Alarm, Monitored
from okspca.numerics.arrays import Floats
from okspca.report.pictures.style import OTHER, OURS, PALE, QUIET, quiet, shortened

MOST_INPUTS = 12
#: Charts begin here, in limits: how small a statistic is matters to nobody.
LEAST = 0.01


def draw_charts(found: Monitored, *, axes: Any = None) -> Any:
    """Draw a chart for each statistic, and contributions; see ``OKSPCA.plot_monitor``."""
    n = len(found.names) // 2
    panels = _panels(n + 1) if axes is None else list(np.ravel(axes))
    if len(panels) != n + 1:
        message = f"axes= must hold {n + 1} axes: one for each statistic, and the contributions."
        raise DataError(message)
    for place, panel in enumerate(panels[:n]):
        _chart(panel, found, place)
    panels[n - 1].set_xlabel("row")
    _contributions(panels[n], found)
    figure: Any = panels[0].figure
    if axes is None:
        figure.suptitle(_title(found), fontsize=11)
    return figure


def _panels(n: int) -> list[Axes]:
    """Charts below one another, contributions to their right."""
    figure = new_figure(figsize=(10.5, 1.2 + 2.0 * (n - 1)), layout="constrained")
    grid = figure.add_gridspec(n - 1, 2, width_ratios=(3.0, 1.0))
    charts = [figure.add_subplot(grid[0, 0])]
    charts += [figure.add_subplot(grid[place, 0], sharex=charts[0]) for place in range(1, n - 1)]
    for chart in charts[:-1]:
        chart.tick_params(labelbottom=False)
    return [*charts, figure.add_subplot(grid[:, 1])]


def _title(found: Monitored) -> str:
    """What there is to see."""
    if not found.alarms:
        return f"In control: no alarm in {len(found.values):,} rows"
    first, n = found.alarms[0], len(found.alarms)
    more = f" (the first of {n:,})" if n > 1 else ""
    return f"{WORDS[first.statistic]} raised an alarm at row {first.row:,}{more}"


def _chart(axes: Axes, found: Monitored, place: int) -> None:
    """One statistic in units of its limit, and its trend in units of the limit of that."""
    rows = found.first_row + np.arange(len(found.values))
    n = len(found.names) // 2
    name = found.names[place]
    for column, style in ((place, "row"), (place + n, "trend")):
        limit = float(found.limits[column])
        values = _drawable(found.values[:, column], limit)
        if style == "row":
            axes.plot(rows, values, ".", ms=2.5, color=PALE, label="rows", rasterized=True)
            over = values > 1.0
            axes.plot(rows[over], values[over], ".", ms=5.0, color=OTHER, label="beyond the limit")
        else:
            axes.plot(rows, values, color=OURS, lw=1.2, label="trend")
    axes.axhline(1.0, color=QUIET, lw=1.0, ls="--")
    for alarm in found.alarms:
        if alarm.statistic.split()[0] == name:
            axes.axvline(alarm.row, color=OTHER, lw=0.8, alpha=0.6)
    axes.set_yscale("log")
    axes.set_ylim(bottom=LEAST)
    axes.set_ylabel(f"{WORDS[name]} ÷ limit")
    quiet(axes)
    if place == 0:
        axes.legend(
            frameon=False, ncols=3, fontsize=8, loc="lower right", bbox_to_anchor=(1.0, 1.0)
        )


def _drawable(values: Floats, limit: float) -> Floats:
    """Values in units of a limit, but for what a logarithmic scale cannot show."""
    there = np.isfinite(values) & (values > 0.0) & (limit > 0.0)
    return np.divide(values, limit, out=np.full(len(values), np.nan), where=there)


def _contributions(axes: Axes, found: Monitored) -> None:
    """Bars of what the inputs added to the first alarm that names any, or to SPE in the mean."""
    told: Sequence[Alarm] = [alarm for alarm in found.alarms if alarm.inputs]
    if told:
        values, words = told[0].contributions, f"{WORDS[told[0].statistic]}, row {told[0].row:,}"
    else:
        values, words = found.spe_contributions.mean(axis=0), "SPE, mean of all rows"
    order = np.argsort(-np.abs(values), kind="stable")[:MOST_INPUTS]
    colours = [OTHER if told and found.inputs[i] == told[0].inputs[0] else OURS for i in order]
    axes.barh(range(len(order)), values[order], color=colours, height=0.65)
    axes.set_yticks(range(len(order)), [shortened(found.inputs[i]) for i in order])
    axes.set_ylim(len(order) - 0.5, -0.5)
    axes.set_title(f"contributions to\n{words}", fontsize=9)
    axes.grid(axis="x", alpha=0.25)
    quiet(axes)
