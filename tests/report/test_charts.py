"""Data of live figures: the same rows and values as the pictures, in plain JSON."""

import json
import math

import numpy as np
import pytest
from numpy.random import RandomState

from okspca.report.charts import (
    embedding_chart,
    quality_chart,
    relevance_chart,
    spectrum_chart,
)
from okspca.state.streams import Standing


def test_every_row_of_every_class_is_there() -> None:
    random = RandomState(0)
    Z, y = random.normal(size=(60, 3)), np.array(["a", "<b>", "c"])[np.arange(60) % 3]
    (plot,) = embedding_chart(Z, y, "kind", classes=True)
    assert plot["components"] == ["okspca0", "okspca1", "okspca2"]
    assert {series["name"] for series in plot["series"]} == {"a", "<b>", "c"}
    assert plot["plain_y"]  # heights by class are no values
    for series in plot["series"]:
        np.testing.assert_allclose(series["z"], Z[y == series["name"]].T, rtol=1e-4)


def test_numbers_keep_their_values_and_zero_components_are_left_out() -> None:
    Z = np.column_stack([np.arange(5.0), np.zeros(5)])
    (plot,) = embedding_chart(Z, np.arange(5.0) * 10, "y", classes=False)
    assert plot["components"] == ["okspca0"]
    assert plot["series"][0]["value"] == [0.0, 10.0, 20.0, 30.0, 40.0]
    assert embedding_chart(np.zeros((4, 2)), np.zeros(4), "y", classes=False) == []


def test_what_is_not_known_is_null() -> None:
    history = [Standing(64.0, 0.5, 1.0, 1.0), Standing(128.0, 0.6, math.nan, 1.0, 0.4, math.nan)]
    plots = quality_chart(history, "R²")
    assert [plot["title"].split()[0] for plot in plots] == ["Running", "Objective", "Share"]
    assert plots[0]["series"][0]["y"] == [None, 0.4]
    assert len(plots[0]["series"]) == 1
    json.dumps(plots, allow_nan=False)
    assert quality_chart(history[:1], "R²") == []


@pytest.mark.parametrize("rank", [1, 3])
def test_the_spectrum_is_parted_at_the_rank(rank: int) -> None:
    (plot,) = spectrum_chart(np.array([4.0, 2.0, 1.0, 1e-30]), rank)
    assert [len(series["x"]) for series in plot["series"]] == ([1, 2] if rank == 1 else [3])
    assert plot["whole_x"]


def test_inputs_come_in_the_order_of_their_weight() -> None:
    (plot,) = relevance_chart(np.array([[0.1, 0.9], [0.0, 0.0]]), ["small", "large"])
    assert plot["names"] == ["large", "small"]
    assert plot["series"][0]["x"] == [0.9, 0.1]
    assert relevance_chart(np.zeros((1, 2)), ["a", "b"]) == []
