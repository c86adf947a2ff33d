"""A model's embedding of given rows as one panel: what ``model.plot`` draws."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.pyplot import subplots
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray

from okspca.errors import DataError
from okspca.estimators import OKSPCA
from okspca.estimators.data import CLASSIFICATION
from okspca.estimators.explaining import rows_at
from okspca.report.pictures.embedding import Drawn, add_scale, draw_pair, draw_strip, name_groups
from okspca.report.second_axis import second_axis

MOST_ROWS = 5000
LEGEND: dict[str, Any] = {
    "loc": "upper left",
    "bbox_to_anchor": (1.0, 1.0),
    "frameon": False,
    "markerscale": 1.6,
}


def draw_model(
    model: OKSPCA,
    X: ArrayLike,
    y: ArrayLike | None,
    *,
    components: Sequence[int] | None,
    target: str,
    ax: Any,
) -> Axes:
    """Draw rows in two coordinates; see :meth:`okspca.OKSPCA.plot`."""
    rows, targets = _drawn_rows(X, y)
    Z = np.asarray(model.transform(rows))
    chosen = _checked(components, Z.shape[1])
    Z, names = Z[:, chosen], [str(model.get_feature_names_out()[j]) for j in chosen]
    second = second_axis(model, rows, Z) if Z.shape[1] > 1 else None
    classes = model.task_ == CLASSIFICATION
    drawn = Drawn.of(Z, targets, target, classes=classes, names=names, second=second)
    axes: Axes = subplots(figsize=(7.5, 5.6), layout="constrained")[1] if ax is None else ax
    axes.set_title(drawn.title, fontsize=11)
    if not drawn.Z.size:
        axes.text(0.5, 0.5, "rank 0: there is no embedding", transform=axes.transAxes, ha="center")
    elif drawn.Z.shape[1] == 1:
        draw_strip(axes, drawn)
    else:
        _draw_plane(axes, drawn)
    return axes


def _draw_plane(axes: Axes, drawn: Drawn) -> None:
    """Draw two coordinates with names of classes, or a scale."""
    found = draw_pair(axes, drawn)
    if drawn.groups is not None:
        name_groups(axes, drawn)
        legend = axes.legend(title=drawn.target.replace("$", r"\$"), **LEGEND)
        for handle in legend.legend_handles:
            if handle is not None:
                handle.set_alpha(1.0)
    elif drawn.y is not None:
        add_scale(axes.figure, axes, found, drawn.target)


def _drawn_rows(X: Any, y: ArrayLike | None) -> tuple[Any, NDArray[Any] | None]:
    """All rows, or some of many: chosen at random, but always the same ones."""
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    targets = None if y is None else np.asarray(y)
    if targets is not None and len(targets) != n:
        message = f"X has {n} rows but y has {len(targets)}; give one target per row."
        raise DataError(message)
    if n <= MOST_ROWS:
        return X, targets
    kept = np.sort(RandomState(0).choice(n, MOST_ROWS, replace=False))
    return rows_at(X, kept), None if targets is None else targets[kept]


def _checked(components: Sequence[int] | None, n: int) -> list[int]:
    """Which components to draw: two that there are, or one."""
    chosen = list(range(min(n, 2))) if components is None else list(components)
    if not 1 <= len(chosen) <= 2 or not all(0 <= j < n for j in chosen):
        message = f"components={components!r} must be one or two numbers from 0 to {n - 1}."
        raise DataError(message)
    return chosen
