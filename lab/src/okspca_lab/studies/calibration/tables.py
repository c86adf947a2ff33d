"""The tables of the calibration study."""

import numpy as np

from okspca.report.tables import Table
from okspca_lab.studies.calibration.cells import LOGISTIC, METHODS, OURS
from okspca_lab.studies.calibration.results import rows_of
from okspca_lab.studies.rows import Row

NOTE = (
    "Rows held out; means over seeds. Ratio: our log loss over that of logistic regression on the "
    "same embedding, mean and standard error over seeds. Expected calibration error: mean gap "
    "between the probability of the guess and how often it is right, in 15 bins."
)


def losses(rows: list[Row]) -> Table:
    """Log losses on rows held out."""
    lines = []
    for data in _sets(rows):
        by_method = {name: rows_of(rows, data, name) for name in METHODS}
        ours, theirs = (
            np.array([row["log_loss"] for row in by_method[name]]) for name in (OURS, LOGISTIC)
        )
        ratios = ours / theirs
        error = ratios.std(ddof=1) / np.sqrt(len(ratios)) if len(ratios) > 1 else 0.0
        means = (f"{np.mean([row['log_loss'] for row in own]):.4f}" for own in by_method.values())
        rows_learned = f"{by_method[OURS][0]['rows']:,}"
        lines.append((data, rows_learned, *means, f"{ratios.mean():.3f} ± {error:.3f}"))
    header = ("data set", "rows learned", *METHODS, "ratio")
    return Table("Log loss", header, lines, NOTE)


def errors(rows: list[Row]) -> Table:
    """Expected calibration errors and accuracies."""
    lines = [
        (
            data,
            *(_mean(rows, data, name, "error", ".4f") for name in METHODS),
            *(_mean(rows, data, name, "accuracy", ".4f") for name in (OURS, LOGISTIC)),
        )
        for data in _sets(rows)
    ]
    header = ("data set", *METHODS, "accuracy, ours", f"accuracy, {LOGISTIC}")
    return Table("Expected calibration error", header, lines)


def _mean(rows: list[Row], data: str, method: str, name: str, form: str) -> str:
    """Write the mean of a measure over seeds."""
    return format(float(np.mean([row[name] for row in rows_of(rows, data, method)])), form)


def _sets(rows: list[Row]) -> list[str]:
    """Data sets in the order they come in."""
    return list(dict.fromkeys(row["data"] for row in rows))
