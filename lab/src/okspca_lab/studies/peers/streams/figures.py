"""The figure of the streams.  Needs matplotlib; nothing global is changed."""

from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from okspca_lab.studies.drawing import plain, png
from okspca_lab.studies.peers.streams.data import STREAMS
from okspca_lab.studies.peers.streams.methods import MAJORITY, NO_CHANGE, OURS, Method
from okspca_lab.studies.peers.streams.results import Results

ACROSS = 2
OWN_COLOURS = ("#0072B2", "#009E73", "#56B4E9", "#003a5c")
OTHER_COLOURS = ("#E69F00", "#CC79A7", "#7a5195", "#D55E00", "#f0a58f")
GREYS = {NO_CHANGE: "#333333", MAJORITY: "#999999"}
CAPTIONS = {
    "streams": (
        "Share of every thousand rows that was predicted right before they were learned, mean over "
        "seeds. Dotted: the stream changes at once. Thick: ours, which learns in blocks."
    )
}


def draw(results: Results) -> dict[str, bytes]:
    """Draw what there are rows for."""
    return {"streams": over_time(results)} if results.data else {}


def over_time(results: Results) -> bytes:
    """Draw a panel for each stream and a line for each method."""
    down = -(-(len(results.data) + 1) // ACROSS)
    figure = Figure(figsize=(13.0, 3.6 * down), layout="constrained")
    panels = figure.subplots(down, ACROSS, squeeze=False).ravel()
    for axes, name in zip(panels, results.data, strict=False):
        _panel(axes, results, name)
    for axes in panels[len(results.data) :]:
        axes.set_axis_off()
    lines = {line.get_label(): line for axes in panels for line in axes.get_lines()}
    shown = {one.name: lines[one.name] for one in results.methods}
    panels[-1].legend(shown.values(), shown.keys(), loc="center", frameon=False, ncols=2)
    return png(figure)


def _panel(axes: Axes, results: Results, name: str) -> None:
    """Draw one stream."""
    stream = STREAMS[name]
    last = 0.0
    for one in results.methods:
        if results.of(name, one):
            ends, shares = results.over_time(name, one)
            axes.plot(ends, shares, label=one.name, **_style(results, one))
            last = max(last, ends[-1])
    for jump in stream.jumps:
        axes.axvline(jump * last, color="#333333", ls=":", lw=1.0)
    axes.set_title(f"{name}: {stream.says}", fontsize=11)
    axes.set_xlabel("rows")
    axes.set_ylabel("predicted right")
    plain(axes)


def _style(results: Results, method: Method) -> dict[str, Any]:
    """Ours thick, the baselines grey."""
    if method in OURS:
        return {"color": OWN_COLOURS[OURS.index(method)], "lw": 2.2, "zorder": 3}
    if method in GREYS:
        return {"color": GREYS[method], "lw": 1.0, "ls": "--"}
    others = [one for one in results.methods if one not in OURS and one not in GREYS]
    return {"color": OTHER_COLOURS[others.index(method)], "lw": 1.2}
