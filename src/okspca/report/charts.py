"""Data of the figures that a reader can zoom into, hover over and select in.

Every chart is plain JSON for ``interactive.js``: a list of plots, each with a ``title``, a ``kind``
("scatter", "lines" or "bars") and ``series``.  The picture of the same figure stays beside it, for
print and for readers without scripts.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from okspca.files.comparison import Scores
from okspca.numerics.arrays import Floats
from okspca.report.pictures.embedding import groups_of
from okspca.report.pictures.quality import SMALLEST
from okspca.report.pictures.style import COLOURS, OTHER, OURS, QUIET, component_names
from okspca.report.printable import printable
from okspca.state.streams import Standing

MOST_COMPONENTS, MOST_INPUTS, MOST_VALUES = 8, 20, 60
Plot = dict[str, Any]


def embedding_chart(Z: Floats, y: NDArray[Any], target: str, *, classes: bool) -> list[Plot]:
    """Rows in the coordinates of the embedding; none where it has no components."""
    there = [j for j in range(Z.shape[1]) if np.any(Z[:, j] != 0.0)][:MOST_COMPONENTS]
    if not there or not len(Z):
        return []
    plot = _plot("scatter", f"{len(Z):,} rows, by {printable(target)}")
    plot["components"] = [component_names(j + 1)[-1] for j in there]
    plot["y_label"] = printable(target)
    if classes:
        # With one component classes lie one above the other, and heights are no values.
        plot["plain_y"] = True
        plot["series"] = _class_series(Z[:, there], y)
        return [plot]
    numbers = y.astype(np.float64)
    plot["value_label"], plot["range"] = (
        printable(target),
        _numbers(np.quantile(numbers, [0.01, 0.99])),
    )
    rows = {"z": [_numbers(z) for z in Z[:, there].T], "value": _numbers(numbers)}
    plot["series"] = [_series(0, "rows") | rows | {"y": _numbers(numbers)}]
    return [plot]


def levels_chart(found: Scores, k: int, most: int) -> list[Plot]:
    """Scores by the number of components, with those of the other methods as level lines."""
    kept = {min(level, most): entry.score for level, entry in found.levels.items()}
    kept[k] = found.embedding
    if len(kept) < 2:
        return []
    numbers = sorted(kept)
    plot = _plot(
        "lines",
        f"{found.measure.capitalize()} by number of components",
        "components",
        found.measure,
    )
    plot["log_x"] = True
    plot["series"] = [_line(0, "this objective", numbers, [kept[n] for n in numbers])]
    ends = [numbers[0], numbers[-1]]
    for name, words in (("inputs", "all inputs"), ("constant", "constant")):
        if name in found.entries:
            score = found.entries[name].score
            line = _line(len(plot["series"]), words, ends, [score, score])
            plot["series"].append(line | {"dashed": True})
    return [plot]


def quality_chart(history: Sequence[Standing], measure: str) -> list[Plot]:
    """How things stood on the way: scores first, then objective and what is proven."""
    if len(history) < 2:
        return []
    rows, objective, rho, _, embedding, inputs = np.array(history, dtype=np.float64).T
    plots = []
    if np.isfinite(embedding).any():
        plot = _plot("lines", f"Running {measure} of predictions", "rows read", measure)
        plot["series"] = [_line(0, "from the embedding", rows, embedding)]
        if np.isfinite(inputs).any():
            plot["series"].append(_line(1, "from all inputs", rows, inputs) | {"dashed": True})
        plots.append(plot)
    captured = _plot("lines", "Objective captured", "rows read", "objective")
    captured["series"], captured["from_zero"] = [_line(0, "objective", rows, objective)], True
    words = "Share of the best objective that may be missing (proven)"
    proven = _plot("lines", words, "rows read", "share") | {"log_y": True}
    missing = np.maximum(1.0 - rho, SMALLEST)
    proven["series"] = [_line(0, "may be missing", rows, missing)]
    return [plot | {"log_x": True} for plot in (*plots, captured, proven)]


def spectrum_chart(values: Floats, rank: int) -> list[Plot]:
    """Singular values, those of the delivered basis apart from the rest."""
    there = values[values > np.finfo(np.float64).eps * values.max(initial=0.0)][:MOST_VALUES]
    if not rank or len(there) < 2:
        return []
    plot = _plot("lines", "Singular values", "number", "singular value")
    plot |= {"log_y": True, "whole_x": True}
    numbers = np.arange(1, len(there) + 1)
    plot["series"] = [_line(0, "delivered", numbers[:rank], there[:rank])]
    if len(there) > rank:
        rest = _line(1, "left out", numbers[rank:], there[rank:])
        plot["series"].append(rest | {"colour": QUIET, "hollow": True})
    return [plot]


def relevance_chart(relevance: Floats, names: Sequence[str]) -> list[Plot]:
    """Bars of the inputs that count most, one for each component."""
    there = np.flatnonzero(relevance.any(axis=1))[:MOST_COMPONENTS]
    if not there.size:
        return []
    weight = (relevance[there] / relevance[there].max(axis=1, keepdims=True)).max(axis=0)
    order = np.argsort(-weight, kind="stable")[:MOST_INPUTS]
    label = "standard deviations per standard deviation"
    plot = _plot("bars", "What moves each component", label)
    plot["names"] = [printable(names[i]) for i in order]
    plot["series"] = [
        _series(place, component_names(number + 1)[-1]) | {"x": _numbers(relevance[number, order])}
        for place, number in enumerate(there)
    ]
    return [plot]


def _class_series(Z: Floats, y: NDArray[Any]) -> list[Plot]:
    """A series for each class; with one component, classes are told apart by height."""
    found = []
    for place, (name, own) in enumerate(groups_of(y)):
        spread = np.random.RandomState(place).uniform(-0.3, 0.3, int(own.sum()))
        rows = {"z": [_numbers(z) for z in Z[own].T], "y": _numbers(place + spread)}
        found.append(_series(place, printable(name)) | rows)
    return found


def _plot(kind: str, title: str, x_label: str = "", y_label: str = "") -> Plot:
    """A plot without series."""
    return {"kind": kind, "title": title, "x_label": x_label, "y_label": y_label, "series": []}


def _series(place: int, name: str) -> Plot:
    """Name, colour and mark of a series; colours come again with other, hollow marks."""
    first = (OURS, OTHER) if place < 2 else ()
    colour = first[place] if first else COLOURS[place % len(COLOURS)]
    return {"name": name, "colour": colour, "mark": place, "hollow": place >= len(COLOURS)}


def _line(place: int, name: str, x: Any, y: Any) -> Plot:
    """A series of points in order."""
    return _series(place, name) | {"x": _numbers(x), "y": _numbers(y)}


def _numbers(values: Any) -> list[float | None]:
    """Numbers with five digits; what is not finite is None."""
    found = np.asarray(values, dtype=np.float64).tolist()
    return [float(f"{v:.5g}") if np.isfinite(v) else None for v in found]
