"""The tables of the rows past the paper."""

import numpy as np

from okspca.report.tables import Table, mean_sd
from okspca_lab.studies.prediction.beyond.plan import (
    EVERYTHING,
    GOALS,
    LADDER,
    LONG_PILOT,
    TRUE_INPUTS,
    VARIANTS,
    Goal,
)
from okspca_lab.studies.prediction.beyond.results import before, shares
from okspca_lab.studies.prediction.results import Results
from okspca_lab.studies.prediction.tables import spread


def goals(results: Results) -> Table:
    """Set the best of the paper, the setting before, and what was reached side by side."""
    rows = []
    for task in results.tasks:
        goal, scores = goal_of(task), results.scores(task, EVERYTHING.name)
        earlier = np.array([before(task)[seed] for seed in results.seeds])
        gains = scores - earlier
        error = spread(gains) / np.sqrt(gains.size)
        must = f"{goal.must:.3f}" if goal.must is not None else f"{earlier.mean():.3f} - 2 SE"
        rows.append(
            (
                task,
                f"{goal.reduced:.3f}",
                f"{goal.unreduced:.3f}",
                f"{earlier.mean():.3f}",
                mean_sd(float(scores.mean()), spread(scores)),
                f"{gains.mean():+.4f} ± {2.0 * error:.4f}",
                must,
                f"{goal.aim:.3f}",
                verdict(goal, float(scores.mean()), float(gains.mean()), float(error)),
            )
        )
    header = (
        "task",
        "best reduced, paper",
        "all features, paper",
        "before",
        "ours",
        "gain, ± 2 SE",
        "must",
        "aim",
        "reached",
    )
    return Table("One setting for all tasks", header, rows, words=(8,))


def verdict(goal: Goal, reached: float, gain: float, error: float) -> str:
    """Say what was reached.

    Examples
    --------
    >>> verdict(Goal(0.4, 0.5, 0.95, must=0.9), 0.92, 0.1, 0.01)
    'must'
    >>> verdict(Goal(0.4, 0.5, 0.95), 0.92, -0.03, 0.01)
    'fails'
    """
    if reached >= goal.aim:
        return "aim"
    is_held = gain >= -2.0 * error if goal.must is None else reached >= goal.must
    return "must" if is_held else "fails"


def ablation(results: Results) -> Table:
    """Mean scores with each ingredient added alone, then rung by rung."""
    rows = [
        (variant.name, *(_mean(results, task, variant.name) for task in results.tasks))
        for variant in VARIANTS
    ]
    return Table("Each ingredient alone", ("representation", *results.tasks), rows)


def every_seed(results: Results) -> Table:
    """The scores of every rung and seed."""
    rows = [
        (task, variant.name, *(f"{score:.4f}" for score in results.scores(task, variant.name)))
        for task in results.tasks
        for variant in (*LADDER, LONG_PILOT)
        if results.scores(task, variant.name).size == len(results.seeds)
    ]
    header = ("task", "representation", *map(str, results.seeds))
    return Table("Every seed", header, rows, words=(1,))


def _mean(results: Results, task: str, method: str) -> str:
    """Mean score over the seeds, where there are any."""
    scores = results.scores(task, method)
    return f"{scores.mean():.3f}" if scores.size else "–"


def relevance_table(results: Results) -> Table:
    """Share of relevance that the true inputs have."""
    rows = []
    for task in [name for name in results.tasks if name in TRUE_INPUTS]:
        found = shares(results, task)[:, : TRUE_INPUTS[task]].sum(axis=1)
        if found.size:
            rows.append((task, str(TRUE_INPUTS[task]), f"{found.mean():.3f}", f"{found.min():.3f}"))
    header = ("task", "inputs that matter", "their share, mean", "smallest over seeds")
    return Table("Learned relevance", header, rows)


def goal_of(task: str) -> Goal:
    """What a task is measured against, under the name of the data that are there."""
    return GOALS["HAR" if task.startswith("HAR") else task]
