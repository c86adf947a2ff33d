"""The figures of the rows past the paper.  Needs matplotlib; nothing global is changed."""

import numpy as np
from matplotlib.figure import Figure

from okspca_lab.studies.drawing import plain, png
from okspca_lab.studies.prediction.beyond.plan import LADDER, PAPER_TARGET, TRUE_INPUTS
from okspca_lab.studies.prediction.beyond.results import shares
from okspca_lab.studies.prediction.results import Results

USED, UNUSED = "#D55E00", "#9a9a9a"
CAPTIONS = {
    "rungs": (
        "Scores of every seed: the paper's target, then the predictive setting with frequencies of "
        "each rung of the ladder; lines join the means."
    ),
    "relevance": (
        "Share of each input in what the prediction depends on, all seeds; filled: inputs that the "
        "response really depends on."
    ),
}


def draw(results: Results) -> dict[str, bytes]:
    """Draw the rungs, and the shares of inputs where the true ones are known."""
    tasks = [t for t in results.tasks if t in TRUE_INPUTS and shares(results, t).size]
    drawn = {"rungs": rungs(results)}
    return drawn | ({"relevance": relevance(results, tasks)} if tasks else {})


def rungs(results: Results) -> bytes:
    """Draw a mark for each seed and rung, a panel for each task."""
    variants = (PAPER_TARGET, *LADDER)
    names = ["paper", *(variant.frequencies for variant in LADDER)]
    columns = min(3, len(results.tasks))
    lines = -(-len(results.tasks) // columns)
    figure = Figure(figsize=(3.8 * columns, 2.8 * lines), layout="constrained")
    panels = figure.subplots(lines, columns, squeeze=False).ravel()
    for axes, task in zip(panels, results.tasks, strict=False):
        means = []
        for place, variant in enumerate(variants):
            scores = results.scores(task, variant.name)
            axes.plot(np.full(scores.size, place), scores, "o", color=USED, ms=4, alpha=0.6)
            means.append(scores.mean())
        axes.plot(range(len(variants)), means, color=UNUSED, lw=1.2, zorder=0)
        axes.set_xticks(range(len(variants)), names)
        axes.set_title(task, fontsize=11)
        axes.set_ylabel("R²" if task in ("Friedman-1", "Kin8nm") else "macro-F1")
        plain(axes)
    for axes in panels[len(results.tasks) :]:
        axes.set_visible(False)
    return png(figure)


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
