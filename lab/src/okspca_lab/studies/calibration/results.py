"""The rows of the calibration study, asked for by name."""

from pathlib import Path

from okspca_lab.studies.calibration.plan import Plan
from okspca_lab.studies.rows import Row, read_rows


def read(plan: Plan, out: Path) -> list[Row]:
    """Rows of the data sets and seeds of a plan; more may be there."""
    rows = read_rows(out / "rows.jsonl", plan.settings)
    return [row for row in rows if row["seed"] in plan.seeds and row["data"] in plan.data]


def rows_of(rows: list[Row], data: str, method: str) -> list[Row]:
    """Rows of one data set and method, by seed."""
    own = [row for row in rows if (row["data"], row["method"]) == (data, method)]
    return sorted(own, key=lambda row: int(row["seed"]))
