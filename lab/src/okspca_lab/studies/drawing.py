"""What figures share: quiet axes, and the file.  Needs matplotlib; nothing global is changed."""

import io
from typing import Any

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure


def plain(axes: Axes) -> None:
    """Keep only the lines that carry a scale."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", alpha=0.25)


def png(figure: Figure, dpi: int = 100, metadata: dict[str, Any] | None = None) -> bytes:
    """Return a figure as a PNG file."""
    buffer = io.BytesIO()
    FigureCanvasAgg(figure).print_figure(buffer, format="png", dpi=dpi, metadata=metadata)
    return buffer.getvalue()
