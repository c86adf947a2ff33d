"""The figure of the rows past the paper.  Needs matplotlib; nothing global is changed."""

import numpy as np
from matplotlib.figure import Figure

from okspca_lab.studies.drawing import plain, png
from okspca_lab.studies.prediction.beyond.plan import TRUE_INPUTS
from okspca_lab.studies.prediction.beyond.results import shares
from okspca_lab.studies.prediction.results import Results

USED, UNUSED = "#D55E00", "#9a9a9a"
CAPTIONS = {
    "relevance": (
        "Share of each input in what the prediction depends on, all seeds; filled: inputs that the "
        "response really depends on."
    )
}


def draw(results: Results) -> dict[str, bytes]:
    """Draw the shares, where there are any."""
    tasks = [t for t in results.tasks if t in TRUE_INPUTS and shares(results, t).size]
    return {"relevance": relevance(results, tasks)} if tasks else {}


def relevance(results: Results, tasks: list[str]) -> bytes:
    """Draw a mark for each input and seed, a panel for each task."""
    figure = Figure(figsize=(4.2 * len(tasks), 3.2), layout="constrained")
    for axes, task in zip(figure.subplots(1, len(tasks), squeeze=False)[0], tasks, strict=True):
        found = shares(results, task)
        for j, column in enumerate(found.T):
            is_true = j < TRUE_INPUTS[task]
            colour = USED if is_true else UNUSED
            axes.plot(
                np.full(len(column), j + 1), column, "o" if is_true else "x", color=colour, ms=4
            )
        total = found[:, : TRUE_INPUTS[task]].sum(axis=1).mean()
        axes.set_title(f"{task}: true inputs hold {total:.1%}", fontsize=11)
        axes.set_xlabel("input")
        plain(axes)
        axes.set_ylim(bottom=-0.02)
    figure.axes[0].set_ylabel("share of relevance")
    return png(figure)
