"""How well more or fewer components of the same objective predict."""

from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from okspca.files.comparison import Scores
from okspca.report.pictures.style import OTHER, OURS, QUIET, note, quiet


def draw_levels(found: Scores, k: int, most: int) -> Figure:
    """Draw scores by the number of components.

    Parameters
    ----------
    found : Scores
        What was compared.
    k, most : int
        Components of the model, and those that the target has.
    """
    kept = {min(level, most): entry.score for level, entry in found.levels.items()}
    kept[k] = found.embedding
    if len(kept) < 2:
        words = "The target has no more components than these."
        return note(Figure(figsize=(7.0, 1.2)), words)
    numbers = sorted(kept)
    figure = Figure(figsize=(7.5, 3.8), layout="constrained")
    axes = figure.subplots()
    axes.plot(numbers, [kept[n] for n in numbers], "o-", color=OURS, lw=1.5, label="this objective")
    axes.plot([k], [found.embedding], "o", ms=11, mfc="none", color=OURS, label=f"this model: {k}")
    for name, words, colour in (("inputs", "all inputs", OTHER), ("constant", "constant", QUIET)):
        if name in found.entries:
            score = found.entries[name].score
            axes.axhline(score, color=colour, ls="--", lw=1.2, label=words)
    axes.set_xscale("log")
    axes.set_xticks(numbers, [str(n) for n in numbers])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel("components")
    axes.set_ylabel(found.measure)
    axes.grid(axis="y", alpha=0.25)
    axes.legend(frameon=False)
    quiet(axes)
    return figure
