"""The tables of the precision study."""

import numpy as np

from okspca.report.tables import Table
from okspca_lab.studies.precision.cells import AS_THEY_ARE, MODELS, ROUNDED, SINGLE
from okspca_lab.studies.precision.results import by_form, largest_change
from okspca_lab.studies.rows import Row

#: What scores may move by.
MOST = 1e-3
NOTE = (
    "Development rows; accuracy or R² of the head, macro-F1 or R² of a probe on the embedding of "
    "the tracker, as in the prediction study. Mean score over seeds, and by how much the score of "
    "a seed moves at most from that of rows of float64: where the rows are only rounded, and where "
    "they are float32, with features in single precision."
)


def scores(rows: list[Row]) -> Table:
    """Scores with rows as they are, and how far they move."""
    lines = []
    for task in _tasks(rows):
        for model in MODELS:
            forms = by_form(rows, task, model)
            mean = np.mean([row["score"] for row in forms[AS_THEY_ARE]])
            changes = [largest_change(forms[g], forms[AS_THEY_ARE]) for g in (ROUNDED, SINGLE)]
            verdict = "yes" if max(changes) <= MOST else "no"
            shown = (f"{change:.1e}" for change in changes)
            name = forms[SINGLE][0]["rows"]
            lines.append((name, model, str(len(forms[SINGLE])), f"{mean:.4f}", *shown, verdict))
    header = ("task", "model", "seeds", "score", "rounded rows", "float32", "within 0.001")
    return Table("Scores with rows of float64 and of float32", header, lines, NOTE)


def errors(rows: list[Row]) -> Table:
    """What the features of rows held out are off by, in units of the largest possible value."""
    lines = []
    for task in _tasks(rows):
        for model in MODELS:
            own = by_form(rows, task, model)[SINGLE]
            found = [max(row[name] / row["amplitude"] for row in own) for name in MEASURED]
            lines.append((own[0]["rows"], model, *(f"{one:.1e}" for one in found)))
    header = ("task", "model", "largest difference", "proven for these rows")
    note = "In units of the largest value that a feature can have; worst of the seeds."
    return Table("Errors of the features", header, lines, note)


MEASURED = ("largest", "of_rows")


def _tasks(rows: list[Row]) -> list[str]:
    """Tasks in the order they come in."""
    return list(dict.fromkeys(row["task"] for row in rows))
