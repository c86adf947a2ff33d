"""Pictures of what was measured.

Needs matplotlib.  Only its object-oriented interface is used, so nothing global changes.
"""

from statistics import median

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from okspca_lab.bench.entries import ENTRIES
from okspca_lab.bench.measure import Timed
from okspca_lab.bench.memory import MEBIBYTE, MemoryPoint
from okspca_lab.bench.ratios import Ratio
from okspca_lab.studies.drawing import png

# Colours that readers with any colour vision can tell apart (Okabe and Ito), and markers for print.
OURS, MUST, AIM = "#0072B2", "#D55E00", "#009E73"
OTHERS = ("#D55E00", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#000000", "#8C6D1F")
MARKERS = "osD^v<>"
QUIET = "#595959"
WIDTH = 11.0
INCHES_PER_LINE = 0.3
SAME_SPEED = 1.0


def draw_claims(ratios: list[Ratio]) -> bytes:
    """Draw the ratios with a bound: a dot for each repetition, and the bounds."""
    figure, axes = _lines([ratio.claim.title for ratio in ratios if ratio.claim is not None])
    for place, ratio in enumerate(ratios):
        assert ratio.claim is not None
        low, high, first = place - 0.4, place + 0.4, place == 0
        axes.vlines(ratio.claim.must, low, high, color=MUST, lw=2.5, label="must" * first)
        axes.vlines(ratio.claim.aim, low, high, color=AIM, lw=2.5, ls=":", label="aim" * first)
        places = [place] * len(ratio.ratios)
        label = "one repetition" * first
        axes.plot(ratio.ratios, places, "o", color=OURS, ms=5, alpha=0.7, label=label)
    axes.set_title("Ratios with a bound", fontsize=11)
    figure.legend(loc="outside lower center", ncols=3, frameon=False)
    return _png(figure)


def draw_ratios(ratios: list[Ratio]) -> bytes:
    """Draw all cases: a line for each, a mark for everyone that ours is divided by."""
    lines = list(dict.fromkeys(f"{ratio.cell}: {ratio.ours}" for ratio in ratios))
    figure, axes = _lines(lines)
    for number, other in enumerate(dict.fromkeys(ratio.other for ratio in ratios)):
        own = [ratio for ratio in ratios if ratio.other == other]
        places = [lines.index(f"{ratio.cell}: {ratio.ours}") for ratio in own]
        axes.plot(
            [value for ratio in own for value in ratio.ratios],
            [place for place, ratio in zip(places, own, strict=True) for _ in ratio.ratios],
            MARKERS[(number + number // len(OTHERS)) % len(MARKERS)],
            color=OTHERS[number % len(OTHERS)],
            ms=4,
            alpha=0.6,
            label=ENTRIES[other].label,
        )
    axes.set_title("Every case, divided by ...", fontsize=11)
    figure.legend(loc="outside lower center", ncols=3, frameon=False)
    return _png(figure)


def draw_scaling(rows: list[Timed]) -> bytes:
    """Draw the time per row along each curve."""
    curves = list(dict.fromkeys(row.curve for row in rows))
    figure = Figure(figsize=(3.4 * len(curves) + 0.6, 3.9), layout="constrained")
    panels = figure.subplots(1, len(curves), sharey=True, squeeze=False)[0]
    for axes, curve in zip(panels, curves, strict=True):
        _curve(axes, [row for row in rows if row.curve == curve])
        axes.set_xlabel(curve)
    panels[0].set_ylabel("µs per row")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False)
    return _png(figure)


def draw_heavy_tails(points: list[MemoryPoint]) -> bytes:
    """Draw the memory in use along a stream whose response has heavy tails."""
    return draw_memory(points, "rows with heavy-tailed responses")


def draw_memory(points: list[MemoryPoint], what: str = "rows") -> bytes:
    """Draw the memory in use along the stream."""
    figure = Figure(figsize=(8.0, 3.6), layout="constrained")
    axes = figure.subplots()
    axes.plot(
        [point.rows for point in points],
        [point.resident_bytes / MEBIBYTE for point in points],
        color=OURS,
        lw=1.5,
    )
    most = max(point.resident_bytes for point in points) / MEBIBYTE
    axes.set_ylim(0.0, 1.15 * most)
    axes.set_xlabel("rows learned")
    axes.set_ylabel("memory in use (MiB)")
    axes.set_title(f"Memory of a stream of {points[-1].rows:,} {what}", fontsize=11)
    axes.grid(alpha=0.25)
    return _png(figure)


def _lines(names: list[str]) -> tuple[Figure, Axes]:
    """Make a picture with one line for each name, from top to bottom, over ratios."""
    height = 2.0 + INCHES_PER_LINE * len(names)
    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    axes = figure.subplots()
    axes.axvline(SAME_SPEED, color=QUIET, lw=0.8)
    axes.set_xscale("log")
    axes.set_yticks(range(len(names)), names, fontsize=8)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.set_xlabel("time of ours ÷ time of the other, one mark per repetition; left is faster")
    axes.grid(alpha=0.25)
    return figure, axes


def _curve(axes: Axes, rows: list[Timed]) -> None:
    """Draw one panel: a line for each contender."""
    others = iter(OTHERS)
    for name in dict.fromkeys(row.contender for row in rows):
        own = [row for row in rows if row.contender == name]
        values = sorted({row.value for row in own})
        times = [median(row.mean_us for row in own if row.value == value) for value in values]
        is_ours = name.startswith("ours")
        axes.plot(
            values,
            times,
            "o--" if name in ("ours-ingest", "paper-accumulate") else "o-",
            color=OURS if is_ours else next(others),
            ms=4,
            lw=1.5,
            label=ENTRIES[name].label,
        )
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.grid(alpha=0.25)


def _png(figure: Figure) -> bytes:
    """Return a figure as a PNG file, with only the lines that carry a scale."""
    for axes in figure.axes:
        axes.spines[["top", "right"]].set_visible(False)
        axes.spines[["left", "bottom"]].set_color(QUIET)
        axes.tick_params(colors=QUIET)
    return png(figure, dpi=110)
