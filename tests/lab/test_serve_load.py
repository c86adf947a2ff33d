"""Loads of a service: short ones, and what the tables say of them."""

import json
from pathlib import Path

import pytest

from okspca_lab.ordeals.serve_load import loaded
from okspca_lab.ordeals.serve_tables import main, tables

RESULTS = Path(__file__).resolve().parents[2] / "results" / "serving"


@pytest.mark.parametrize(("kind", "model"), [("json", "covariance"), ("arrow", "regressor")])
def test_every_acknowledged_row_is_in_the_model_once(kind: str, model: str) -> None:
    load = loaded(kind, model, 1.0)
    assert load.is_clean
    assert load.rows == load.rows_in_model > 0
    assert load.reads > 0
    assert 0.0 < load.read_ms["p50"] <= load.read_ms["p99"] <= load.read_ms["most"]
    assert load.memory_mib["most"] > 50.0


def test_a_row_too_many_or_too_few_is_missed() -> None:
    load = {
        "kind": "json",
        "model": "covariance",
        "seconds": 10.0,
        "rows_in_model": 30_000,
        "rows_per_second": 3000.0,
        "read_ms": {"p50": 1.0, "p99": 2.0, "most": 3.0},
        "memory_mib": {"half-way": 300.0, "end": 300.0},
        "is_clean": True,
    }
    made = {"processor": "one", "versions": "some"}

    def verdict(**changed: object) -> str:
        (table,) = tables({"load": {"loads": [{**load, **changed}], "made": made}})
        return table.rows[0][-1]

    assert verdict() == "met"
    assert verdict(is_clean=False) == "missed"
    assert verdict(rows_per_second=1999.0) == "missed"
    assert verdict(read_ms={"p50": 1.0, "p99": 50.1, "most": 60.0}) == "missed"
    # Nothing is asked of other models but that nothing is lost and answers come.
    assert verdict(model="whitened", rows_per_second=1.0) == "met"


def test_tables_are_those_of_the_rows(tmp_path: Path) -> None:
    for path in RESULTS.glob("*.json"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    main(tmp_path)
    assert (tmp_path / "tables.md").read_text() == (RESULTS / "tables.md").read_text()
    kills = json.loads((RESULTS / "kills.json").read_text())
    assert kills["failures"] == []
