"""The study of many processes: its quick form runs, is resumed, and says what fails."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console
from typer.testing import CliRunner

from okspca.cli import app
from okspca_lab.studies.distributed import cells, page
from okspca_lab.studies.distributed.large_runs import large_runs
from okspca_lab.studies.distributed.plan import Plan
from okspca_lab.studies.distributed.results import read
from okspca_lab.studies.distributed.stream import RowRange, ranges, rows
from okspca_lab.studies.distributed.tables import equality, throughput, turns
from okspca_lab.studies.rows import RowFile
from okspca_lab.studies.runner import complete

pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning:distributed"),
    pytest.mark.filterwarnings("ignore::UserWarning:pyspark"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


def run(out: Path, *parts: str) -> list[dict[str, Any]]:
    console, plan = Console(quiet=True), Plan(parts, quick=True)
    complete(cells.parts(plan, out), console, command="okspca reproduce")
    page.write(plan, out, console)
    return read(plan, out)


def test_ranges_cover_the_stream_whoever_makes_them(tmp_path: Path) -> None:
    log = tmp_path / "log"
    blocks = [block for part in ranges(10_000, 3_000, log) for block in part]
    X, y = rows(0, 10_000)
    np.testing.assert_array_equal(np.concatenate([block[0] for block in blocks]), X)
    np.testing.assert_array_equal(np.concatenate([block[1] for block in blocks]), y)
    assert [int(line.split()[2]) for line in log.read_text().splitlines()] == [3000] * 3 + [1000]
    assert list(RowRange(5, 5)) == []


def test_merging_and_sparse_rows_in_their_quick_form(tmp_path: Path) -> None:
    found = {row["part"]: row for row in run(tmp_path, "merge", "sparse")}
    assert found["merge"]["apart"] <= 1e-12
    assert found["merge"]["rows_learned"] == 70 * 512
    assert found["merge"]["depth"] == 3
    assert found["sparse"]["rows_learned"] == 4_000
    for name in ("tables.md", "index.html", "sparse.png", "provenance.json"):
        assert (tmp_path / name).stat().st_size > 0
    before = (tmp_path / "rows.jsonl").read_bytes()
    run(tmp_path, "merge")
    assert (tmp_path / "rows.jsonl").read_bytes() == before


def test_dask_in_its_quick_form_with_a_kill(tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="needs okspca[dask]")
    found = run(tmp_path, "equal", "turns", "scale")
    assert found[0]["apart"] <= 1e-12
    alternating, (one, two, killed) = found[1:7], found[7:]
    assert [row["workers"] for row in alternating] == [1, 2] * 3
    assert {row["sha256"] for row in alternating} == {alternating[0]["sha256"]}
    assert (one["rows_learned"], two["rows_learned"]) == (12_000, 60_000)
    assert killed["killed_at"] is not None
    assert killed["sha256"] == two["sha256"]
    assert sum(line[2] for line in two["log"]) == 60_000
    assert (tmp_path / "scale.png").stat().st_size > 0


def test_spark_in_its_quick_form(tmp_path: Path) -> None:
    pytest.importorskip("pyspark", reason="needs okspca[spark]")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java")
    found = run(tmp_path, "spark")
    assert found[0]["apart"] <= 1e-12
    assert found[0]["rows_learned"] == 10_000


def test_the_tables_say_what_fails() -> None:
    base = {"part": "equal", "rows_learned": 5}
    table = equality([{**base, "apart": 1e-13}, {**base, "apart": 1e-9}])
    assert [line[-1] for line in table.rows] == ["holds", "fails"]
    common = {"part": "scale", "rows": 10, "seconds": 1.0}
    runs = [
        {**common, "workers": 1, "kill": False, "rows_per_second": 10.0, "sha256": "a"},
        {**common, "workers": 2, "kill": False, "rows_per_second": 18.0, "sha256": "b"},
        {**common, "workers": 2, "kill": True, "rows_per_second": 15.0, "sha256": "c"},
    ]
    lines = throughput(runs).rows
    assert [line[4] for line in lines] == ["1.00", "1.80", "1.50"]
    assert [line[5] for line in lines] == ["–", "–", "differs"]
    speeds = {(0, 1): 10.0, (0, 2): 19.0, (1, 1): 10.0, (1, 2): 16.0, (2, 1): 10.0, (2, 2): 15.0}
    alternating = [
        {"part": "turns", "turn": turn, "workers": workers, "rows_per_second": speed}
        for (turn, workers), speed in speeds.items()
    ]
    assert [line[-1] for line in turns(alternating).rows] == ["1.90", "1.60", "1.50", "1.60: fails"]
    assert turns(alternating[:3]).rows[-1][-1] == "1.90: holds"
    merge = {"part": "merge", "fan_in": 8, "state_bytes": 2**20, "median_seconds_of_a_task": [0.5]}
    planned = large_runs([*runs, merge]).rows
    # 9 rows a second and core: the slower of the two measures.
    assert planned[0][1] == "111,111,111.1"
    assert planned[1][3:] == ("3", "1.500", "115.0")


def test_wrong_parts_and_other_settings_are_refused(tmp_path: Path) -> None:
    words = ["reproduce", "distributed", "--part", "equality", "--out", str(tmp_path)]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 2
    assert "no part 'equality'" in result.output
    RowFile(tmp_path / "rows.jsonl", {"other": 1})
    result = CliRunner().invoke(app, ["reproduce", "distributed", "--out", str(tmp_path)])
    assert result.exit_code == 1
    assert "other settings" in result.output
