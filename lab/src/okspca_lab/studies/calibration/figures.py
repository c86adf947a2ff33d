"""The figure of the calibration study.  Needs matplotlib; nothing global is changed."""

import numpy as np
from matplotlib.figure import Figure

from okspca_lab.studies.calibration.cells import METHODS
from okspca_lab.studies.calibration.results import rows_of
from okspca_lab.studies.drawing import plain, png
from okspca_lab.studies.rows import Row

COLOURS, MARKS = ("#0072B2", "#D55E00", "#9a9a9a"), ("o", "s", "^")
#: Bins of fewer rows would show chance.
LEAST_ROWS = 30
COLUMNS = 4
CAPTIONS = {
    "reliability": "How often guesses are right, by the probability they were given; all seeds "
    "together, bins of 30 rows or more. On the diagonal probabilities are frequencies."
}


def draw(rows: list[Row]) -> dict[str, bytes]:
    """Draw reliability curves, a panel for each data set."""
    sets = list(dict.fromkeys(row["data"] for row in rows))
    n_rows = -(-len(sets) // COLUMNS)
    figure = Figure(figsize=(12.0, 3.1 * n_rows + 0.4), layout="constrained")
    panels = figure.subplots(n_rows, COLUMNS, squeeze=False).ravel()
    for axes, data in zip(panels, sets, strict=False):
        axes.plot([0.0, 1.0], [0.0, 1.0], color="#cccccc", lw=1.0)
        for colour, mark, method in zip(COLOURS, MARKS, METHODS, strict=True):
            own = rows_of(rows, data, method)
            counts, claimed, right = (
                np.sum([row[name] for row in own], axis=0)
                for name in ("counts", "claimed", "right")
            )
            full = counts >= LEAST_ROWS
            x, y = claimed[full] / counts[full], right[full] / counts[full]
            axes.plot(x, y, color=colour, marker=mark, ms=4.0, lw=1.3, label=method)
        axes.set_title(data, fontsize=11)
        axes.set_xlim(0.2, 1.02)
        axes.set_ylim(0.2, 1.02)
        plain(axes)
    for axes in panels[len(sets) :]:
        axes.set_visible(False)
    figure.supxlabel("probability of the guess", fontsize=10)
    figure.supylabel("share that is right", fontsize=10)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3, frameon=False)
    return {"reliability": png(figure)}
