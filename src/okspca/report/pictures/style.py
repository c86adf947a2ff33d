"""What all pictures share: colours that anyone can tell apart, marks for print, quiet axes."""

import io

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from okspca.report.printable import printable

# Okabe and Ito's colours, dark ones first; with the marks, classes differ in a grey print too.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#000000", "#CC79A7", "#E69F00", "#56B4E9")
MARKS = ("o", "^", "s", "x", "D", "v", "+", "P", "<", "*", ">", "d")
OURS, OTHER, QUIET, PALE = "#0072B2", "#D55E00", "#595959", "#B8B8B8"
#: Runs from dark to light alone, so it survives colour blindness and grey print.
SHADES = "cividis"
DPI = 120


def component_names(n: int) -> list[str]:
    """Components by the names that `transform` and files give their columns.

    Examples
    --------
    >>> component_names(2)
    ['okspca0', 'okspca1']
    """
    return [f"okspca{number}" for number in range(n)]


def quiet(axes: Axes) -> None:
    """Keep only the lines that carry a scale, in a quiet colour."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(QUIET)
    axes.tick_params(colors=QUIET)


def note(figure: Figure, text: str) -> Figure:
    """Fill a figure with a sentence where there is nothing to draw."""
    axes = figure.subplots()
    axes.axis("off")
    axes.text(0.5, 0.5, text, ha="center", va="center", wrap=True, color=QUIET)
    return figure


def file_of(figure: Figure, ending: str = "png") -> bytes:
    """Return a figure as a PNG, SVG or PDF file."""
    buffer = io.BytesIO()
    FigureCanvasAgg(figure).print_figure(buffer, format=ending, dpi=DPI)
    return buffer.getvalue()


def shortened(name: str, most: int = 22) -> str:
    """Cut a long name in its middle; signs that do not print, and formulas, are shown as written.

    Examples
    --------
    >>> shortened("a_very_long_name_of_a_column", 13)
    'a_very…column'
    """
    name = printable(name)
    if len(name) > most:
        tail = (most - 1) // 2
        name = f"{name[: most - 1 - tail]}…{name[-tail:]}"
    return name.replace("$", r"\$")
