"""Control charts: one panel for each statistic, limits, alarms, contributions."""

import numpy as np
import pytest
from numpy.random import RandomState

from okspca import OKSPCA
from okspca.errors import DataError

pyplot = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(scope="module")
def model() -> OKSPCA:
    X = RandomState(0).normal(size=(1500, 3))
    model = OKSPCA(1, n_random_features=32, random_state=0).fit(X[:500], X[:500, 0])
    return model.calibrate_monitor(X[500:], X[500:, 0])


@pytest.mark.parametrize("shift", [0.0, 3.0])
def test_charts_show_what_was_found(shift: float, model: OKSPCA) -> None:
    X = RandomState(1).normal(size=(300, 3))
    y = X[:, 0].copy()
    X[100:, 2] += shift
    found = model.monitor(X, y)
    figure = model.plot_monitor(found)
    assert len(figure.axes) == 4
    assert [axes.get_ylabel() for axes in figure.axes[:2]] == ["T² ÷ limit", "SPE ÷ limit"]
    marks = sum(len(axes.lines) for axes in figure.axes[:3]) - 4 * 3
    assert marks == len(found.alarms)
    assert (shift > 0.0) == bool(found.alarms)
    bars = figure.axes[3].patches
    named = figure.axes[3].get_yticklabels()[0].get_text()
    assert len(bars) == 3
    assert not shift or named == "x2"
    pyplot.close(figure)


def test_own_axes_are_drawn_on(model: OKSPCA) -> None:
    figure, axes = pyplot.subplots(4)
    found = model.monitor(RandomState(1).normal(size=(50, 3)))
    assert model.plot_monitor(found, axes=axes) is figure
    pyplot.close(figure)
    with pytest.raises(DataError, match="4 axes"):
        model.plot_monitor(found, axes=np.array([None, None]))
