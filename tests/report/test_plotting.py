"""`model.plot`: the names of files, distinct marks, and a second axis for two classes."""

import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.collections import PathCollection
from numpy.random import RandomState
from typer.testing import CliRunner

from okspca import OKSPCA
from okspca.cli import app
from okspca.errors import DataError, RankWarning
from okspca.report.pictures.embedding import MOST_CLASSES, Drawn, draw_embedding
from okspca.report.portrait import Portrait
from okspca.report.second_axis import second_axis


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    backend = pyplot.get_backend()
    pyplot.switch_backend("Agg")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankWarning)
        yield
    pyplot.close("all")
    pyplot.switch_backend(backend)


@pytest.fixture(scope="module")
def rows() -> np.ndarray:
    return RandomState(0).normal(size=(600, 4))


def fitted(X: np.ndarray, y: np.ndarray, k: int = 2) -> OKSPCA:
    return OKSPCA(k, n_random_features=32, random_state=0).fit(X, y)


def test_axes_have_the_names_of_columns(rows: np.ndarray) -> None:
    model = fitted(rows, rows[:, 0], 3)
    axes = model.plot(rows, rows[:, 0], components=(2, 0))
    names = [str(name) for name in model.get_feature_names_out()]
    assert (axes.get_xlabel(), axes.get_ylabel()) == (names[2], names[0])
    np.testing.assert_allclose(
        axes.collections[0].get_offsets().data, model.transform(rows)[:, [2, 0]]
    )


def test_it_draws_where_it_is_told_to(rows: np.ndarray) -> None:
    figure, own = pyplot.subplots()
    assert fitted(rows, rows[:, 0]).plot(rows, ax=own) is own
    assert figure.axes[0] is own


def test_two_classes_get_an_unsupervised_axis(rows: np.ndarray) -> None:
    X = rows * [1.0, 1.0, 1.0, 1.0]
    X[:, 3] = X[:, 2] + 0.01 * X[:, 3]  # two inputs that go together are the main direction
    model = fitted(X, rows[:, 0] > 0.0)
    axes = model.plot(X, rows[:, 0] > 0.0)
    assert axes.get_ylabel().startswith("unsupervised")
    drawn = np.concatenate([part.get_offsets().data for part in axes.collections])
    assert abs(np.corrcoef(drawn.T)[0, 1]) < 1e-8
    axis = second_axis(model, X, model.transform(X))
    assert axis is not None
    assert abs(np.corrcoef(axis, X[:, 2])[0, 1]) > 0.95


def test_one_component_alone_stays_a_strip(rows: np.ndarray) -> None:
    axes = fitted(rows, rows[:, 0] > 0.0, 1).plot(rows, rows[:, 0] > 0.0)
    assert [label.get_text() for label in axes.get_yticklabels()] == ["False", "True"]


@pytest.mark.parametrize("n", [2, 11, 24])
def test_every_class_has_a_mark_of_its_own(n: int, rows: np.ndarray) -> None:
    y = np.arange(len(rows)) % n
    figure = draw_embedding(rows[:, :2], y, "y", classes=True)
    marks = {
        (
            str(np.round(np.asarray(part.get_paths()[0].vertices, float), 6)),
            str(part.get_edgecolor()),
            str(part.get_facecolor()),
        )
        for part in figure.axes[0].collections
        if isinstance(part, PathCollection)
    }
    assert len(marks) == n


def test_classes_beyond_the_marks_are_one_group(rows: np.ndarray) -> None:
    y = np.arange(len(rows)) % (MOST_CLASSES + 5)
    groups = Drawn.of(rows, y, "y", classes=True).groups
    assert groups is not None
    assert (len(groups), groups[-1][0]) == (MOST_CLASSES, "6 others")


def test_rank_zero_and_names_like_formulas_are_drawn(rows: np.ndarray) -> None:
    model = fitted(rows, np.zeros(len(rows)))
    model.plot(rows, np.zeros(len(rows)), target=r"$\foo{$").figure.canvas.draw()
    labels = np.where(rows[:, 0] > 0, r"$\a{$", r"\$b$")
    fitted(rows, labels).plot(rows, labels, target=r"$\foo{$").figure.canvas.draw()


@pytest.mark.parametrize("components", [(0, 1, 2), (), (0, 7), (-1,)])
def test_impossible_components_are_named(components: tuple[int, ...], rows: np.ndarray) -> None:
    with pytest.raises(DataError, match="components="):
        fitted(rows, rows[:, 0]).plot(rows, components=components)


def test_targets_must_match_rows(rows: np.ndarray) -> None:
    with pytest.raises(DataError, match="600 rows but y has 5"):
        fitted(rows, rows[:, 0]).plot(rows, rows[:5, 0])


def test_without_matplotlib_it_says_how_to_get_it(
    rows: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = fitted(rows, rows[:, 0])
    for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, "okspca.report.pictures.of_model", raising=False)
    with pytest.raises(ImportError, match=r"okspca\[plot\]"):
        model.plot(rows)


@pytest.mark.parametrize("target", ["constant", "$\\bar{$"])
def test_commands_draw_what_is_hard_to_draw(target: str, tmp_path: Path) -> None:
    X = RandomState(0).normal(size=(600, 2)).round(4)
    y = ["1.5"] * 600 if target == "constant" else ["$\\c{" + str(x > 0) for x in X[:, 0]]
    lines = [f"$\\foo{{$,$x$,{target}", *(f"{a},{b},{c}" for (a, b), c in zip(X, y, strict=True))]
    (tmp_path / "rows.csv").write_text("\n".join(lines) + "\n")
    place, model = tmp_path / "pictures", tmp_path / "m.okspca"
    fit = ["fit", str(tmp_path / "rows.csv"), "--target", target, "--random-features", "16"]
    for words in (
        [*fit, "--out", str(model), "--evaluate"],
        ["plot", str(model), "--out", str(place)],
        ["report", str(model), "--out", str(tmp_path / "r.html")],
    ):
        result = CliRunner().invoke(app, words)
        assert result.exit_code == 0, result.output
    assert len(list(place.glob("*.png"))) == 4


def test_singular_values_that_are_rounding_are_not_drawn() -> None:
    """Indicators of classes are centred, so the last direction is none."""
    X = RandomState(0).normal(size=(600, 3))
    model = OKSPCA(2, random_state=0).fit(X, np.digitize(X[:, 0], [-0.5, 0.5]))
    assert len(Portrait(Path("m"), model, None, None, ()).spectrum()) == 2
