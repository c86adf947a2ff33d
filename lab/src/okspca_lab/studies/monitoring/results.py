"""The rows of the monitoring study, asked for by name."""

from pathlib import Path

from scipy.stats import beta

from okspca_lab.studies.monitoring.plan import SETTINGS, Plan
from okspca_lab.studies.rows import Row, read_rows


def read(plan: Plan, out: Path) -> list[Row]:
    """Rows of the seeds of a plan; more may be there."""
    rows = read_rows(out / "rows.jsonl", SETTINGS)
    return [row for row in rows if row["seed"] in plan.seeds]


def rows_of(rows: list[Row], **wanted: str) -> list[Row]:
    """Rows with certain values."""
    return [row for row in rows if all(row[name] == value for name, value in wanted.items())]


def interval(hits: int, n: int) -> tuple[float, float]:
    """Clopper and Pearson's 95 % interval of a share.

    Examples
    --------
    >>> low, high = interval(5, 200)
    >>> round(low, 3), round(high, 3)
    (0.008, 0.057)
    """
    low = float(beta.ppf(0.025, hits, n - hits + 1)) if hits else 0.0
    high = float(beta.ppf(0.975, hits + 1, n - hits)) if hits < n else 1.0
    return low, high
