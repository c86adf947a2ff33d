"""Every number of the paper's tables beside ours."""

import numpy as np

from okspca.features.bandwidth import MEDIAN_ROWS
from okspca.numerics.arrays import Floats
from okspca.services import Adam
from okspca_lab.studies.comparison import (
    Comparison,
    Decades,
    Factor,
    Given,
    Same,
    Tolerance,
    score_tolerance,
)
from okspca_lab.studies.prediction import fits, protocol, published
from okspca_lab.studies.prediction.compare_text import compare_orderings, compare_text
from okspca_lab.studies.prediction.comparer import TINY, Comparer, add_geometry, geometric, mean
from okspca_lab.studies.prediction.results import Results
from okspca_lab.studies.prediction.statistics import Effect, paired_effect, selection
from okspca_lab.studies.prediction.tasks import DEVELOPED, TASKS


def compare(results: Results) -> list[Comparison]:
    """Compare everything."""
    comparer = Comparer(results)
    for part in (
        _tasks,
        _regression,
        _classification,
        _settings,
        _paired,
        _controls,
        _trajectory,
        _regression_geometry,
        compare_text,
        compare_orderings,
    ):
        part(comparer)
    return comparer.lines


def _tasks(c: Comparer) -> None:
    for name, printed in published.TASKS_TABLE.items():
        task, size = TASKS[name], c.results.size(c.name(name))
        if size is None:
            values: list[float | None] = [None] * len(printed)
        else:
            width = size["n_classes"] or task.n_features
            inputs = [size["n_train"], size["n_test"], size["n_inputs"]]
            values = [*inputs, task.n_features, width, task.rank]
        for column, paper, ours in zip(published.TASK_COLUMNS, printed, values, strict=True):
            c.add("Table 1: tasks", name, column, paper, ours, Given())


def _regression(c: Comparer) -> None:
    for method, by_task in published.REGRESSION.items():
        for task, (paper, sd) in by_task.items():
            values = c.results.scores(task, method)
            c.mean("Table 2: regression", task, method, paper, values, sd)
    for task, printed in published.SAME_TARGET.items():
        scores = [c.results.scores(task, "OKSPCA", kind) for kind in ("full", "extracted", "exact")]
        for column, paper, values in zip(
            ("Full", "Extracted", "Exact"), printed[:3], scores, strict=True
        ):
            c.mean("Table 2: regression", task, column, paper, values)
        c.add(
            "Table 2: regression",
            task,
            "Exact − full",
            printed[3],
            mean(scores[2] - scores[0]),
            TINY,
        )


def _classification(c: Comparer) -> None:
    artefact = "Table 3: classification diagnostics"
    for task, (k, original, exact, rho, angle, distance) in published.CLASSIFICATION.items():
        r, name = c.results, c.name(task)
        there = r.scores(name, "OKSPCA").size > 0
        c.add(artefact, task, "k", k, TASKS[task].rank if there else None, Given())
        c.mean(artefact, task, "Original F1", original, r.scores(name, "OKSPCA"))
        c.mean(artefact, task, "Exact F1", exact, r.scores(name, "OKSPCA", "exact"))
        add_geometry(c, artefact, task, (rho, angle, distance))


def _settings(c: Comparer) -> None:
    artefact, adam = "Table S1: settings", Adam()
    rows = c.results.development()
    chosen = selection(rows)[0] if rows else None
    complete = {row["task"] for row in rows} >= {c.name(task) for task in DEVELOPED}
    whole = chosen if complete else None
    c.add(artefact, "selected", "rate", "0.03", whole.rate if whole else None, Same())
    c.add(artefact, "selected", "clip", "0.5", whole.clip if whole else None, Same())
    c.add(artefact, "development", "runs", "90", len(rows) if whole else None, Given())
    for column, paper, ours in (
        ("rate in use", "0.03", protocol.LEARNING_RATE),
        ("clip in use", "0.5", protocol.CLIP),
        ("beta 1", "0.9", adam.beta1),
        ("beta 2", "0.999", adam.beta2),
        ("epsilon", "1e-8", adam.epsilon),
        ("smallest rate of the grid", "0.003", fits.RATES[0]),
        ("middle rate of the grid", "0.01", fits.RATES[1]),
        ("largest rate of the grid", "0.03", fits.RATES[2]),
        ("smaller clip of the grid", "0.5", fits.CLIPS[0]),
        ("larger clip of the grid", "1.0", fits.CLIPS[1]),
        ("development seeds", "5", len(protocol.DEVELOPMENT_SEEDS)),
        ("rows for the bandwidth, at most", "512", MEDIAN_ROWS),
    ):
        c.add(artefact, "settings", column, paper, ours, Given())
    for task, printed in published.BANDWIDTHS.items():
        size = c.results.size(c.name(task))
        for column, key, width in zip(
            ("σ_x by our median rule", "σ_y by our median rule"),
            ("bandwidth", "target_bandwidth"),
            printed,
            strict=True,
        ):
            if width is not None:
                found = None if size is None else size[key]
                c.add(artefact, task, column, width, found, Factor(1.05))


def _effect(values: Floats) -> Effect | None:
    return paired_effect(values) if values.size else None


def _paired(c: Comparer) -> None:
    for task, printed in published.PAIRED.items():
        name = c.name(task)
        difference = c.results.scores(name, "OKSPCA") - c.results.scores(name, "RFF-CIPLS")
        names = ("OKSPCA − RFF-CIPLS-based", "95 % low", "95 % high")
        _add_effect(c, task, names, printed, difference, score_tolerance(difference))
    for task, printed in published.PAIRED_SAME_TARGET.items():
        scores = [c.results.scores(task, "OKSPCA", kind) for kind in ("extracted", "exact")]
        columns = tuple(f"extracted − exact{part}" for part in ("", ", 95 % low", ", 95 % high"))
        _add_effect(c, task, columns, printed, scores[0] - scores[1], TINY)


def _add_effect(
    c: Comparer,
    task: str,
    columns: tuple[str, ...],
    printed: tuple[str, ...],
    differences: Floats,
    tolerance: Tolerance,
) -> None:
    """Compare a paired effect and its interval."""
    effect = _effect(differences) or (None,) * 3
    for column, paper, ours in zip(columns, printed, effect, strict=True):
        c.add("Table S3: paired effects", task, column, paper, ours, tolerance)


def _controls(c: Comparer) -> None:
    artefact = "Table S4: controls"
    for task, (rank, *printed) in published.CONTROLS.items():
        name = c.name(task)
        columns = (
            ("Old OKSPCA", c.results.scores(name, "OKSPCA", "old budget")),
            ("Raw-X", c.results.scores(name, "Raw-X")),
            ("RFF-X", c.results.scores(name, "RFF-X")),
        )
        ours = TASKS[task].old_rank if columns[0][1].size else None
        c.add(artefact, task, "k_old", rank, ours, Given())
        for (column, values), (paper, sd) in zip(columns, printed, strict=True):
            c.mean(artefact, task, column, paper, values, sd)


def _trajectory(c: Comparer) -> None:
    artefact = "Table S5: Sensorless seed 104"
    rows = c.results.geometry("Sensorless")
    for position, printed in enumerate(published.TRAJECTORY):
        here = [r for r in rows if r["observation"] == int(printed[0])]
        mine = next((r for r in here if r["seed"] == published.ADVERSE_SEED), None)
        row = f"checkpoint {position + 1}"
        for column, key, paper in zip(
            ("observation", "k_train", "r_τ", "q", "ρ", "θ_max (deg)", "d_P"),
            ("observation", None, "reference_rank", "rank", "rho", "angle", "distance"),
            printed,
            strict=True,
        ):
            value = None if mine is None else TASKS["Sensorless"].rank if key is None else mine[key]
            tolerance: Tolerance = Given() if key in ("observation", None) else Same()
            if key == "rho":
                tolerance = Decades(0.5)
            elif key in ("angle", "distance"):
                tolerance = geometric(np.array([r[key] for r in here]))
            c.add(artefact, row, column, paper, value, tolerance)


def _regression_geometry(c: Comparer) -> None:
    artefact = "Table S6: regression geometry"
    for task, (rank, rho, distance, angle) in published.REGRESSION_GEOMETRY.items():
        ranks = c.results.terminal(task, "rank")
        c.add(artefact, task, "q_T", rank, mean(ranks), Same())
        add_geometry(c, artefact, task, (rho, angle, distance))
