"""The tables of the precision study."""

from okspca.report.tables import Table
from okspca_lab.studies.precision.cells import AS_THEY_ARE, MODELS, ROUNDED, SINGLE
from okspca_lab.studies.precision.results import by_form, largest_change, mean_score
from okspca_lab.studies.rows import Row

#: What scores may move by.
MOST = 1e-3
NOTE = (
    "Development rows; accuracy or R² of the head, macro-F1 or R² of a probe on the embedding of "
    "the tracker, as in the prediction study. Mean score over seeds with rows of float64, and what "
    "rows of float32 change: of the mean score, which the last column is about, and of the score "
    "of a seed at most. Beside that, what a seed moves by at most where the rows are only rounded "
    "to float32 and features stay double, and from there on, by the features alone."
)


def scores(rows: list[Row]) -> Table:
    """Scores with rows as they are, and how far they move."""
    lines = []
    for task in _tasks(rows):
        for model in MODELS:
            forms = by_form(rows, task, model)
            before, after = (mean_score(forms[given]) for given in (AS_THEY_ARE, SINGLE))
            pairs = (SINGLE, AS_THEY_ARE), (ROUNDED, AS_THEY_ARE), (SINGLE, ROUNDED)
            moved = (f"{largest_change(forms[one], forms[other]):.1e}" for one, other in pairs)
            verdict = "yes" if abs(after - before) <= MOST else "no"
            name, n = forms[SINGLE][0]["rows"], str(len(forms[SINGLE]))
            change = f"{after - before:+.1e}"
            lines.append((name, model, n, f"{before:.4f}", change, *moved, verdict))
    header = (
        "task",
        "model",
        "seeds",
        "score",
        "change",
        "of a seed",
        "by rounded rows",
        "by features",
        "within 0.001",
    )
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
