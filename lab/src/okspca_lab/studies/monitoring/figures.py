"""The figures of the monitoring study.  Need matplotlib; nothing global is changed."""

import numpy as np
from matplotlib import pyplot
from matplotlib.figure import Figure
from pandas import DataFrame

from okspca import OKSPCA
from okspca_lab.studies.drawing import plain, png
from okspca_lab.studies.monitoring.process import INPUTS
from okspca_lab.studies.monitoring.results import rows_of
from okspca_lab.studies.monitoring.streams import CHANGES, DRAWN, N_AFTER, PROCESS, stream
from okspca_lab.studies.monitoring.tables import methods_of
from okspca_lab.studies.rows import Row

COLOURS = ("#0072B2", "#56B4E9", "#9a9a9a", "#595959", "#D55E00", "#E69F00", "#009E73", "#CC79A7")
CHART_SEED, CHART_FAULT = 1002, "coolant valve gives 20 % less"
CAPTIONS = {
    "charts": "The simulated process: after row 250 the coolant valve gives a fifth less. "
    "Statistics in units of their limits, alarms as lines, and contributions to the first.",
    "delays": "Share of drawn streams (three kinds together) in which an alarm was raised within "
    "so many rows of a change. False alarms are in the first table.",
}


def draw(rows: list[Row]) -> dict[str, bytes]:
    """Draw shares of streams with an alarm over the rows since the change."""
    figure = Figure(figsize=(13.0, 3.9), layout="constrained")
    panels = figure.subplots(1, len(CHANGES), sharey=True)
    at = np.unique(np.geomspace(1.0, N_AFTER, 200).round())
    for axes, change in zip(panels, CHANGES, strict=True):
        for colour, method in zip(COLOURS, methods_of(rows), strict=False):
            own = rows_of(rows, change=change, method=method)
            late = [row["delay"] for row in own if row["stream"] in DRAWN]
            times = np.array([np.inf if delay is None else delay for delay in late])
            shares = [(times <= row).mean() for row in at]
            axes.plot(at, shares, color=colour, lw=1.6, label=method)
        axes.set_xscale("log")
        axes.set_title(change, fontsize=11)
        axes.set_xlabel("rows since the change")
        plain(axes)
    panels[0].set_ylabel("streams with an alarm")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
    return {"charts": charts(), "delays": png(figure)}


def charts() -> bytes:
    """Draw what the monitor finds in one fault of the process, of a seed the study leaves out."""
    found = stream(PROCESS, CHART_SEED)
    (first, calibration), rows = (found.learned, found.calibration), found.changed[CHART_FAULT]
    frames = [DataFrame(part.X, columns=list(INPUTS)) for part in (first, calibration, rows)]
    model = OKSPCA(2, n_random_features=128, objective="whitened", random_state=0)
    model.fit(frames[0], first.y).calibrate_monitor(frames[1], calibration.y)
    figure = model.plot_monitor(model.monitor(frames[2], rows.y))
    drawn = png(figure, dpi=80)
    pyplot.close(figure)
    return drawn
