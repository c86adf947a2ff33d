"""The tables of the streams."""

from collections.abc import Callable

import numpy as np

from okspca.numerics.arrays import Floats
from okspca.report.tables import Table
from okspca_lab.studies.peers.streams.cells import BLOCK
from okspca_lab.studies.peers.streams.data import STREAMS
from okspca_lab.studies.peers.streams.methods import (
    FORGETTING,
    MAJORITY,
    METHODS,
    NO_CHANGE,
    TREES,
    WINDOW,
    Method,
)
from okspca_lab.studies.peers.streams.results import Results

SETTINGS = (
    f"Every row is predicted before it is learned; the first {BLOCK} are not scored. river's "
    f"models learn row by row; ours predicts {BLOCK} rows, then learns them, and so does the "
    f"forest in blocks. The forest has {TREES} trees, forgetting is {FORGETTING}, the window "
    f"{WINDOW:,} rows, with which features are also learned again after an alarm (relearning); "
    "everything else is the default. Mean over seeds."
)


def every(results: Results) -> list[Table]:
    """All tables, where there are rows."""
    if not results.data:
        return []
    return [
        shares(results),
        _kappas(results, "no change", NO_CHANGE),
        _kappas(results, "the majority", MAJORITY),
        _by_stream(
            results,
            "Streams: processor µs per row",
            lambda data, one: f"{np.median(results.cost(data, one)):.3g}",
            "To predict a row and to learn it, median over seeds; training our map is included.",
        ),
        sizes(results),
    ]


def shares(results: Results) -> Table:
    """Who was right how often."""
    return _by_stream(
        results,
        "Streams: share predicted right",
        lambda data, one: _mean(np.array(list(results.accuracy(data, one).values()))),
        SETTINGS + missing(),
    )


def missing() -> str:
    """Say who could not be run."""
    names = [one.name for one in METHODS if not one.is_installed]
    return f" Not run, since river is not installed: {', '.join(names)}." if names else ""


def sizes(results: Results) -> Table:
    """What the streams are."""
    lines = []
    for name in results.data:
        stream = STREAMS[name]
        rows = max(row["until"] for row in results.rows if row["data"] == name)
        most = "–" if stream.noise is None else f"{1.0 - stream.noise:.2f}"
        seeds = {row["seed"] for row in results.rows if row["data"] == name}
        lines.append((name, stream.says, f"{rows:,}", str(len(seeds)), most))
    header = ("stream", "what changes", "rows", "seeds", "most that can be right")
    return Table("The streams", header, lines, words=(1,))


def _kappas(results: Results, words: str, baseline: Method) -> Table:
    """How many errors of a baseline are avoided."""
    return _by_stream(
        results,
        f"Streams: kappa against {words}",
        lambda data, one: _mean(results.kappa(data, one, baseline)),
        "Share of its errors that is avoided; below zero there are more.",
    )


def _by_stream(
    results: Results, title: str, cell: Callable[[str, Method], str], note: str
) -> Table:
    """A line for every method, a column for every stream."""
    lines = [
        (one.name, *(cell(data, one) if results.of(data, one) else "–" for data in results.data))
        for one in results.methods
    ]
    return Table(title, ("method", *results.data), lines, note)


def _mean(values: Floats) -> str:
    """Write a mean."""
    return f"{values.mean():.3f}" if values.size else "–"
