"""The figure of the precision study.  Needs matplotlib; nothing global is changed."""

from matplotlib.figure import Figure

from okspca_lab.studies.drawing import plain, png
from okspca_lab.studies.precision.cells import AS_THEY_ARE, MODELS, ROUNDED, SINGLE
from okspca_lab.studies.precision.results import by_form, largest_change
from okspca_lab.studies.precision.tables import MOST
from okspca_lab.studies.rows import Row

COLOURS = {ROUNDED: "#9a9a9a", SINGLE: "#0072B2"}
#: Where changes that are exactly zero are drawn.
LEAST = 1e-12
CAPTIONS = {
    "changes": "Largest change of the score of a seed, by task: by rounded rows (grey) and by rows "
    "of float32 (blue). The line is 0.001; no change at all is drawn at the left edge."
}


def draw(rows: list[Row]) -> dict[str, bytes]:
    """Draw the changes of scores, a panel for each model."""
    tasks = list(dict.fromkeys(row["task"] for row in rows))
    figure = Figure(figsize=(10.0, 3.4), layout="constrained")
    for axes, model in zip(figure.subplots(1, len(MODELS), squeeze=False)[0], MODELS, strict=True):
        for given, colour in COLOURS.items():
            forms = [by_form(rows, task, model) for task in tasks]
            changes = [max(largest_change(f[given], f[AS_THEY_ARE]), LEAST) for f in forms]
            axes.plot(changes, range(len(tasks)), "o", color=colour, ms=6.0, label=given)
        axes.axvline(MOST, color="#D55E00", lw=1.0)
        axes.set_xscale("log")
        axes.set_xlim(LEAST / 2.0, 1e-2)
        axes.set_yticks(range(len(tasks)), tasks)
        axes.set_title(model, fontsize=11)
        plain(axes)
    return {"changes": png(figure)}
