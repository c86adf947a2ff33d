"""The verdict says what the scores say, and nothing that noise could have said."""

from typing import Any

import numpy as np
import pytest
from numpy.random import RandomState

from okspca.files.comparison import Entry, Gap, Scores, scores
from okspca.files.losses import tallied
from okspca.files.verdict import Setting, in_words, left_out
from okspca.state.evaluations import (
    CONSTANT,
    EMBEDDING,
    LEVELS,
    LINEAR,
    METHODS,
    N_METHODS,
    PCA,
    Evaluation,
    Tally,
)

SETTING = Setting("class", 2, 48, 10)
NOBODY = Gap(0.0, 0.0)


def compared(
    measure: str = "accuracy", error: float = 0.002, levels: Any = (), **found: Any
) -> Scores:
    """Scores of some methods, all differences with the same standard error."""

    def entry(score: float) -> Entry:
        above = Gap(score - found["embedding"], error)
        over = Gap(score - found["constant"], error)
        return Entry(score, None, None, above, over, NOBODY)

    more = {k: entry(score) for k, score in dict(levels).items()}
    entries = {name: entry(score) for name, score in found.items()}
    inputs = found.get("inputs")
    return Scores(measure, found["embedding"], inputs, found["constant"], 9000, entries, more)


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (
            {"embedding": 0.73, "inputs": 0.52, "linear": 0.61},
            "predicts better than a linear model",
        ),
        ({"embedding": 0.73, "inputs": 0.73, "linear": 0.61}, "helps and keeps what the inputs"),
        ({"embedding": 0.61, "inputs": 0.61, "linear": 0.61}, "keeps what the inputs tell, as the"),
        ({"embedding": 0.73, "inputs": 0.84, "linear": 0.61}, "keeps more than the classical ones"),
        ({"embedding": 0.61, "inputs": 0.84, "linear": 0.61}, "is small, but loses part of what"),
        ({"embedding": 0.27, "inputs": 0.52, "linear": 0.61}, "does not pay, since LDA with 2"),
        ({"embedding": 0.09, "inputs": 0.52, "linear": 0.09}, "no better than a constant"),
        ({"embedding": 0.09, "inputs": 0.09, "linear": 0.09}, "Nothing here predicts 'class'"),
    ],
)
def test_the_first_words(found: dict[str, Any], words: str) -> None:
    told = in_words(compared(pca=0.09, constant=0.09, **found), SETTING)
    assert words in told.split(":")[0]
    assert f"right in {100 * found['embedding']:.0f} % of rows" in told
    assert "always guessing the most frequent class 9 %" in told


def test_two_classes_have_one_component() -> None:
    """Two were asked for; PCA has them, but neither LDA nor the model."""
    scores: dict[str, Any] = {"embedding": 0.7, "inputs": 0.8, "linear": 0.8, "pca": 0.6}
    told = in_words(compared(constant=0.5, **scores), Setting("class", 1, 48, 1, 2, 2))
    assert "since LDA with 1 component predicts better: 1 component predicts 'class'" in told
    assert "LDA with 1 component 80 %, PCA with 2 components 60 %" in told
    narrow = in_words(compared("R²", constant=0.0, **scores), Setting("price", 2, 1, 6, 2))
    assert "PLS with 1 component 80 %, PCA with 1 component 60 %" in narrow


def test_a_difference_within_the_noise_is_no_difference() -> None:
    numbers: dict[str, Any] = {
        "embedding": 0.60,
        "inputs": 0.55,
        "linear": 0.55,
        "pca": 0.5,
        "constant": 0.5,
    }
    assert "helps and predicts better" in in_words(compared(error=0.01, **numbers), SETTING)
    assert "predicts better" not in in_words(compared(error=0.02, **numbers), SETTING)
    assert "Nothing here predicts" in in_words(compared(error=0.04, **numbers), SETTING)


@pytest.mark.parametrize(
    ("levels", "features", "words"),
    [
        ({1: 0.3, 2: 0.5, 4: 0.7, 8: 0.83, 16: 0.84}, 0.85, "More components would help: 8 reach"),
        ({1: 0.3, 2: 0.5, 4: 0.7, 8: 0.8, 16: 0.84}, 0.85, "More components would help: 10 reach"),
        ({1: 0.3, 2: 0.5, 4: 0.505, 8: 0.505}, 0.51, "2 components are enough: more would add at"),
        ({1: 0.5, 2: 0.5, 4: 0.5}, 0.5, "1 component would do as well."),
        ({1: 0.3, 2: 0.5, 4: 0.505}, 0.8, "though all random features together reach 80 %"),
    ],
)
def test_whether_there_are_enough_components(levels: Any, features: float, words: str) -> None:
    found = compared(
        levels=levels, features=features, embedding=0.5, inputs=0.4, linear=0.4, constant=0.1
    )
    assert words in in_words(found, SETTING)


def test_a_number_is_explained_in_shares_of_its_variance() -> None:
    found = compared("R²", embedding=0.76, inputs=0.41, linear=0.41, pca=-0.03, constant=0.0)
    told = in_words(found, SETTING)
    assert "2 components explain 76 % of the variance of 'class'" in told
    assert "a linear model of all 48 inputs reaches 41 %, PLS with 2 components 41 %" in told
    assert "PCA with 2 components 0 % (R² -0.03)" in told


def test_almost_all_is_not_all() -> None:
    found = compared(embedding=0.9999, inputs=0.5, linear=0.5, constant=0.5, pca=0.5)
    assert "right in more than 99.9 % of rows" in in_words(found, SETTING)


def test_what_was_left_out_is_said() -> None:
    assert "1,024 input columns" in left_out(compared(embedding=0.5, constant=0.1, features=0.5))
    whole: dict[str, Any] = dict.fromkeys(METHODS, 0.5)
    assert left_out(compared(**whole)) == ""


def test_scores_and_errors_are_those_of_the_rows() -> None:
    """Against means and standard deviations of all rows, and of blocks that have much in common."""
    random, tally, parts = RandomState(0), Tally.start(), []
    for size in (300, 100, 200, 250, 150, 120, 180, 220, 310):
        losses = np.full((2, N_METHODS, size), np.nan)
        drift = random.normal(0.0, 0.5)
        losses[:, EMBEDDING] = random.uniform(0.0, 1.0, size)
        losses[:, CONSTANT] = random.uniform(1.0, 2.0, size)
        losses[:, LINEAR] = losses[0, EMBEDDING] + random.normal(0.2, 0.1, size)
        losses[:, PCA] = losses[0, EMBEDDING] + drift + random.normal(2.0, 0.1, size)
        tally = tallied(tally, losses, None, 1)
        parts.append(losses[0])
    found = scores(Evaluation.start(1, 1)._replace(tally=tally), classes=False)
    assert found is not None
    rows = np.concatenate(parts, axis=1)
    n, unit = rows.shape[1], rows[CONSTANT].mean()
    assert found.rows == n
    assert found.embedding == pytest.approx(1.0 - rows[EMBEDDING].mean() / unit)
    apart = rows[LINEAR] - rows[EMBEDDING]
    gap = found.entries["linear"].above_embedding
    assert gap.size == pytest.approx(-apart.mean() / unit)
    assert apart.std(ddof=1) / np.sqrt(n) / unit <= gap.error * (1.0 + 1e-9)
    sums = np.array([(part[PCA] - part[EMBEDDING]).sum() for part in parts])
    sizes = np.array([part.shape[1] for part in parts])
    own = (sums - sizes * sums.sum() / n) ** 2
    by_blocks = np.sqrt(own.sum() * 9 / 8) / n / unit
    assert found.entries["pca"].above_embedding.error == pytest.approx(by_blocks)
    assert "inputs" not in found.entries
    assert LEVELS[0] not in found.levels
