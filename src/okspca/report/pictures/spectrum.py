"""Singular values of the moment, with the rank that was asked for and the one that is there."""

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from okspca.numerics.arrays import Floats
from okspca.report.pictures.style import OURS, PALE, QUIET, note, quiet

MOST_SHOWN = 40


def draw_spectrum(values: Floats, rank: int, asked: int, recommended: int | None = None) -> Figure:
    """Draw the leading values; those of the delivered basis are filled.

    Parameters
    ----------
    values : ndarray
        Singular values, largest first.
    rank : int
        Columns of the delivered basis.
    asked : int
        Components asked for.
    recommended : int, optional
        How many directions are reproducible, where that was estimated.
    """
    there = values[values > 0.0]
    if not rank or not there.size:
        return note(Figure(figsize=(7.0, 2.0)), "There is no spectrum to draw: rank 0.")
    # Below rounding of the largest there is only noise.
    there = there[there > np.finfo(np.float64).eps * there[0]]
    shown = there[: max(MOST_SHOWN, asked + 5)]
    numbers = np.arange(1, len(shown) + 1)
    figure = Figure(figsize=(7.5, 3.8), layout="constrained")
    axes = figure.subplots()
    axes.vlines(numbers, shown[-1] / 3.0, shown, color=PALE, lw=1.0)
    axes.plot(numbers[:rank], shown[:rank], "o", color=OURS, ms=6, label=f"delivered: {rank}")
    if len(shown) > rank:
        rest = numbers[rank:], shown[rank:]
        axes.plot(*rest, "o", mfc="white", color=QUIET, ms=5, label="left out")
    axes.axvline(rank + 0.5, color=QUIET, lw=1.0, ls="--")
    if recommended is not None:
        axes.axvline(recommended + 0.5, color=OURS, lw=1.5, ls=":", label="reproducible up to here")
    axes.set_yscale("log")
    axes.set_ylim(shown[-1] / 3.0, 2.0 * shown[0])
    axes.set_xlim(0.3, len(shown) + 0.9)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    share = float((shown[:rank] ** 2).sum() / (there**2).sum())
    words = f"Rank {rank} of {asked} asked for: {_percent(share)} of the squared spectrum"
    axes.set_title(words, fontsize=11)
    axes.set_xlabel("number of the singular value")
    axes.set_ylabel("singular value")
    axes.legend(frameon=False)
    axes.grid(axis="y", alpha=0.25)
    quiet(axes)
    return figure


def _percent(share: float) -> str:
    """Write a share, never rounded up to all.

    Examples
    --------
    >>> _percent(0.99999), _percent(1.0)
    ('99.9 %', '100 %')
    """
    return "100 %" if share >= 1.0 else f"{int(share * 1000.0) / 10.0:.1f} %"
