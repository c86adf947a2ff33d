"""What cannot fit into memory is refused by its size, before any of it is asked for."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.random import RandomState
from typer.testing import CliRunner

from okspca import OKSPCA, StateError
from okspca.cli import app
from okspca.comparators import CIPLS
from okspca.features import FourierMap
from okspca.numerics import room
from okspca_lab.ordeals.mutations import assembled, header_of

X = RandomState(0).normal(size=(30, 3))
HUGE = 10**12


@pytest.mark.parametrize(
    "options",
    [
        {"n_random_features": HUGE},
        {"n_random_features": HUGE, "n_components": HUGE},
        {"n_random_features": np.int64(HUGE), "random_state": 0},
        {"n_random_features": 10**7, "objective": "whitened"},
        {"n_target_features": HUGE},
        {"n_random_features": 10**7, "compress": False},
    ],
)
def test_a_model_that_is_too_large(options: dict[str, Any]) -> None:
    model = OKSPCA(**options)
    with pytest.raises(ValueError, match=r"needs at least [\d,]+ bytes, .*; ask for fewer"):
        model.partial_fit(X, X[:, 0])
    assert not model.__sklearn_is_fitted__()


def test_other_maps_and_made_up_rows_that_are_too_large() -> None:
    with pytest.raises(ValueError, match="A map of 3 inputs to 1000000000000 features needs"):
        FourierMap.sample(3, HUGE, bandwidth=1.0)
    with pytest.raises(ValueError, match="needs at least"):
        CIPLS(1, n_random_features=HUGE).partial_fit(X, X[:, 0])
    for option in ("--inputs", "--outputs", "--classes", "--random-features"):
        result = CliRunner().invoke(app, ["advise", option, str(HUGE)])
        assert result.exit_code == 1
        assert "needs at least" in result.stderr
        assert len(result.stderr.splitlines()) == 1


def test_a_file_that_asks_for_too_much() -> None:
    header = header_of(OKSPCA(1).to_bytes())
    header["state"]["parameters"].update(n_random_features=HUGE, n_components=HUGE)
    with pytest.raises(StateError, match="something impossible: n_random_features=1000000000000"):
        OKSPCA.from_bytes(assembled(header, {}))


def test_the_limit_of_a_container_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limit = tmp_path / "memory.max"
    monkeypatch.setattr(room, "LIMITS", (str(limit), str(tmp_path / "absent")))
    free = room.memory()
    for text, expected in (("max\n", free), ("1048576\n", 1048576.0)):
        limit.write_text(text)
        assert room.memory() == expected
    room.check_room(room.MODEST // 8, "What is modest", "")  # goes without a question
    with pytest.raises(ValueError, match="What is not needs at least 1,073,741,832 bytes"):
        room.check_room(room.MODEST // 8 + 1, "What is not", "")
