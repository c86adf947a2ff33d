"""The figure of the drift study.  Needs matplotlib; nothing global is changed."""

import numpy as np
from matplotlib.figure import Figure

from okspca_lab.studies.drawing import plain, png
from okspca_lab.studies.drift.cells import LOOK_EVERY, METHODS
from okspca_lab.studies.drift.results import rows_of
from okspca_lab.studies.drift.streams import SCENARIOS, WINDOW
from okspca_lab.studies.rows import Row

COLOURS = ("#9a9a9a", "#D55E00", "#0072B2", "#009E73", "#CC79A7")
CAPTIONS = {"drift": "Largest angle to the true directions at the time, median over seeds."}


def draw(rows: list[Row]) -> dict[str, bytes]:
    """Draw the angles over the stream, a panel for each scenario."""
    figure = Figure(figsize=(12.0, 3.8), layout="constrained")
    panels = figure.subplots(1, len(SCENARIOS), sharey=True)
    for axes, (name, scenario) in zip(panels, SCENARIOS.items(), strict=True):
        for start, stop in scenario.changes:
            axes.axvspan(start, max(stop, start + 0.05), color="#e6e6e6", lw=0)
        for colour, method in zip(COLOURS, METHODS, strict=True):
            angles = np.median([row["angles"] for row in rows_of(rows, name, method)], axis=0)
            at = (np.arange(len(angles)) + 1.0) * LOOK_EVERY / WINDOW
            axes.plot(at, angles, color=colour, lw=1.4, label=method)
        axes.set_yscale("log")
        axes.set_title(name, fontsize=11)
        axes.set_xlabel("windows of rows")
        plain(axes)
    panels[0].set_ylabel("angle to the truth (degrees)")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=5, frameon=False)
    return {"drift": png(figure)}
