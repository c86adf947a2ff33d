"""The figure of this study.  Needs matplotlib; nothing global is changed."""

from matplotlib.figure import Figure

from okspca_lab.studies.drawing import plain, png
from okspca_lab.studies.drift.features.cells import METHODS, rows_at
from okspca_lab.studies.drift.features.results import met, rows_of, scores_of
from okspca_lab.studies.drift.features.streams import END
from okspca_lab.studies.rows import Row

#: Colour and dashes: what becomes of the features, and of the rows.
STYLES = dict(
    zip(
        METHODS,
        (
            ("#9a9a9a", "-"),
            ("#D55E00", ":"),
            ("#D55E00", "--"),
            ("#D55E00", "-"),
            ("#0072B2", ":"),
            ("#0072B2", "-"),
            ("#009E73", ":"),
            ("#009E73", "-"),
        ),
        strict=True,
    )
)
LOWEST = -0.2
CAPTIONS = {
    "features": "Score of blocks of 512 rows predicted before they were learned, mean over seeds. "
    "Grey: the change."
}


def draw(rows: list[Row]) -> dict[str, bytes]:
    """Draw the scores over the stream, a panel for each scenario."""
    figure = Figure(figsize=(12.0, 6.8), layout="constrained")
    panels = figure.subplots(2, 3).ravel()
    for axes, scenario in zip(panels, met(rows), strict=False):
        start, stop = scenario.change
        if start < END:
            axes.axvspan(start, max(stop, start + 100), color="#e6e6e6", lw=0)
        for method, (colour, dashes) in STYLES.items():
            scores = scores_of(rows_of(rows, scenario.name, method)).mean(axis=0)
            axes.plot(rows_at(len(scores)), scores, color=colour, ls=dashes, lw=1.4, label=method)
        axes.set_ylim(0.5 if scenario.has_classes else LOWEST, 1.0)
        axes.set_ylabel("share right" if scenario.has_classes else "R²")
        axes.set_title(scenario.name, fontsize=11)
        axes.set_xlabel("rows")
        plain(axes)
    handles, labels = panels[0].get_legend_handles_labels()
    panels[-1].set_axis_off()
    panels[-1].legend(handles, labels, loc="center", frameon=False)
    return {"features": png(figure)}
