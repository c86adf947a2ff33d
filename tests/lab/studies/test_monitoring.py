"""The monitoring study: its streams, its process, and the quick form of the command."""

from pathlib import Path

import numpy as np
import pytest
from numpy.random import RandomState
from typer.testing import CliRunner

from okspca.cli import app
from okspca_lab.studies.monitoring.cells import QUIET, after_change
from okspca_lab.studies.monitoring.detectors import METHODS, MONITOR, Found
from okspca_lab.studies.monitoring.plan import SETTINGS
from okspca_lab.studies.monitoring.process import FAULTS, INPUTS, Reactor
from okspca_lab.studies.monitoring.streams import CHANGES, DRAWN, KINDS, N_BEFORE, stream
from okspca_lab.studies.rows import read_rows


@pytest.mark.parametrize("kind", DRAWN)
def test_changes_are_what_they_are_called(kind: str) -> None:
    found = stream(kind, 3)
    spread = found.learned.X.std(axis=0)
    before = {change: rows.X[:N_BEFORE] for change, rows in found.changed.items()}
    after = {change: rows.X[N_BEFORE:] for change, rows in found.changed.items()}
    moved = (after["mean"].mean(axis=0) - found.quiet.X.mean(axis=0)) / spread
    assert int(np.argmax(np.abs(moved))) == 3
    assert np.argmax(after["variance"].std(axis=0) / spread) == 3
    pair = [
        float(np.corrcoef(rows["correlation"][:, 0], rows["correlation"][:, 1])[0, 1])
        for rows in (before, after)
    ]
    assert pair[0] > 0.5 > abs(pair[1])
    np.testing.assert_allclose(after["correlation"].std(axis=0), spread, rtol=0.25)
    assert (after["stuck"][:, 3] == before["stuck"][-1, 3]).all()
    inputs = found.changed["relation"].X
    y = found.changed["relation"].y
    turned = [
        float(np.corrcoef(np.sin(2.0 * inputs[part, 0]), y[part])[0, 1])
        for part in (slice(N_BEFORE), slice(N_BEFORE, None))
    ]
    assert turned[0] > turned[1]


def test_the_reactor_is_in_control_until_it_is_not() -> None:
    reactor = Reactor(RandomState(0))
    X, _ = reactor.run(400)
    assert X.shape == (400, len(INPUTS))
    assert abs(X[:, 4].mean() - 1.0) < 0.01
    assert 0.05 < X[:, 6].min() <= X[:, 6].max() < 4.0
    same = [reactor.twin().run(100)[0] for _ in range(2)]
    np.testing.assert_array_equal(same[0], same[1])
    for fault in FAULTS:
        other = reactor.twin().run(600, fault=fault)[0]
        assert np.isfinite(other).all()
        assert not np.array_equal(other[:100], same[0])


def test_delays_count_from_the_change() -> None:
    found = Found([N_BEFORE - 1, N_BEFORE, N_BEFORE + 9], [1, 2, 3])
    assert after_change(found, (2,)) == {"false": 1, "delay": 1, "named": True}
    assert after_change(Found([3], [None]), (2,)) == {"false": 1, "delay": None, "named": None}


def test_the_quick_form_runs(tmp_path: Path) -> None:
    pytest.importorskip("river")
    told = ["reproduce", "monitoring", "--quick", "--out", str(tmp_path)]
    result = CliRunner().invoke(app, told)
    assert result.exit_code == 0, result.output
    rows = read_rows(tmp_path / "rows.jsonl", SETTINGS)
    n_changes = len(DRAWN) * len(CHANGES) + len(FAULTS) + len(KINDS)
    assert len(rows) == len(METHODS) * n_changes
    ours = [row for row in rows if row["method"] == MONITOR]
    assert sum(row["alarms"] for row in ours if row["change"] == QUIET) == 0
    assert all(row["delay"] for row in ours if row["change"] == "correlation")
    for name in ("tables.md", "index.html", "delays.png"):
        assert (tmp_path / name).stat().st_size > 0
