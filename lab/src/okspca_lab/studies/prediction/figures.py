"""The figures: scores of the classification tasks, and the checkpoints over the stream.

Needs matplotlib.  Only its object-oriented interface is used, so nothing global changes.
"""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from okspca_lab.studies.drawing import plain, png
from okspca_lab.studies.prediction import methods
from okspca_lab.studies.prediction.results import Results
from okspca_lab.studies.prediction.tables import labelled

# Colours that readers with any colour vision can tell apart (Okabe and Ito).
COLOURS = ("#0072B2", "#D55E00", "#E69F00", "#009E73", "#CC79A7")
PROVEN = "#595959"
SMALLEST_LOSS = 1e-8
RIGHT_ANGLE = 90.0
CAPTIONS = {
    "classification": (
        "Macro-F1 at the rank cap: points are seeds, diamonds their means (the paper's figure 1)."
    ),
    "checkpoints": (
        "The same-target comparison over the stream: five checkpoints of every seed, the path "
        "between them at fifty points, and what the certificate proved there and then."
    ),
}


def draw(results: Results) -> dict[str, bytes]:
    """Draw what there are classification tasks for, by name."""
    tasks = labelled(results)
    by_name = {"classification": classification, "checkpoints": checkpoints}
    return {name: figure(results, tasks) for name, figure in by_name.items() if tasks}


def classification(results: Results, tasks: list[str]) -> bytes:
    """Draw all seeds as points and their mean as a diamond, for every reduced pipeline."""
    figure = Figure(figsize=(3.2 * len(tasks) + 1.0, 3.9), layout="constrained")
    panels = figure.subplots(1, len(tasks), squeeze=False)[0]
    for axes, task in zip(panels, tasks, strict=True):
        for place, method in enumerate(methods.REDUCED):
            scores = results.scores(task, method)
            jitter = place + np.linspace(-0.16, 0.16, scores.size)
            axes.plot(jitter, scores, "o", color=COLOURS[place], ms=3.5, alpha=0.6)
            axes.plot(place, scores.mean(), "D", color=COLOURS[place], ms=8, mec="black")
        axes.set_xticks(range(len(methods.REDUCED)), _labels(task), rotation=40, ha="right")
        axes.set_title(task, fontsize=11)
        plain(axes)
    panels[0].set_ylabel("macro-F1 on held-out rows")
    return png(figure)


def _labels(task: str) -> list[str]:
    """Names of the pipelines; several classes go through the adapter."""
    adapted = task != "XOR-Gauss"
    return [m.replace("CIPLS", "OVR–RP–CIPLS") if adapted else m for m in methods.REDUCED]


def checkpoints(results: Results, tasks: list[str]) -> bytes:
    """Draw what is lacking to rho = 1 and the largest angle over the stream, for all seeds."""
    figure = Figure(figsize=(3.2 * len(tasks) + 1.0, 6.4), layout="constrained")
    panels = figure.subplots(2, len(tasks), squeeze=False, sharex="col")
    for column, task in enumerate(tasks):
        for place, seed in enumerate(results.seeds):
            path = [r for r in results.geometry(task, checkpoints=False) if r["seed"] == seed]
            first = place == 0 and column == 0
            _path(panels[0, column], path, "rho", first)
            _path(panels[1, column], path, "angle", first)
        panels[0, column].set_title(task, fontsize=11)
        panels[1, column].set_xlabel("observations")
        for axes in panels[:, column]:
            axes.set_yscale("log")
            plain(axes)
        panels[1, column].axhline(RIGHT_ANGLE, color=PROVEN, lw=0.8, ls=":")
    panels[0, 0].set_ylabel("1 − ρ")
    panels[1, 0].set_ylabel("largest angle (degrees)")
    handles, labels = panels[1, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
    return png(figure)


def _path(axes: Axes, path: list[dict[str, Any]], name: str, label: bool) -> None:
    """Draw one seed: thin lines for the path, points for the checkpoints, dashes for the proof."""
    at = [row["observation"] for row in path]
    proof = "rho_lower" if name == "rho" else "angle_upper"
    words = ("measured, one line per seed", "the five checkpoints", "bound of the certificate")
    texts = words if label else (None, None, None)
    axes.plot(at, _drawn(path, proof), "--", color=PROVEN, lw=0.5, alpha=0.5, label=texts[2])
    axes.plot(at, _drawn(path, name), "-", color=COLOURS[0], lw=0.7, alpha=0.7, label=texts[0])
    if name == "angle":
        unproven = [row["observation"] for row in path if row["angle_upper"] is None]
        words_there = "no angle proven" if label else None
        axes.plot(
            unproven, [RIGHT_ANGLE] * len(unproven), "x", color=PROVEN, ms=4, label=words_there
        )
    marked = [row for row in path if row["checkpoint"]]
    points = [row["observation"] for row in marked]
    axes.plot(points, _drawn(marked, name), "o", color=COLOURS[1], ms=3.0, label=texts[1])


def _drawn(path: list[dict[str, Any]], name: str) -> Any:
    """Values as they are drawn; what is undefined leaves a gap."""
    values = np.array([np.nan if row[name] is None else row[name] for row in path])
    return np.maximum(1.0 - values, SMALLEST_LOSS) if name.startswith("rho") else values
