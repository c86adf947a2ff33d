"""The rows of the study of many processes, and how each part was made."""

from pathlib import Path

from okspca_lab.studies.distributed.plan import Plan
from okspca_lab.studies.rows import Record, Row, read_rows


def read(plan: Plan, out: Path) -> list[Row]:
    """All rows that are there, whichever parts the plan names."""
    return read_rows(out / "rows.jsonl", plan.settings)


def record_of(out: Path, part: str) -> Record:
    """Where it is told how a part was made."""
    return Record(out / "provenance.json", part)


def told_of(out: Path, rows: list[Row]) -> dict[str, dict[str, str]]:
    """How each part that there are rows of was made."""
    parts = dict.fromkeys(row["part"] for row in rows)
    return {part: record_of(out, part).read() or {} for part in parts}
