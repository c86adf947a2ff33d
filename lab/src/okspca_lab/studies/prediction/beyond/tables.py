"""The tables of the rows past the paper."""

from okspca.report.tables import Table, mean_sd
from okspca_lab.studies.prediction.beyond.plan import EVERYTHING, GOALS, TRUE_INPUTS, VARIANTS, Goal
from okspca_lab.studies.prediction.beyond.results import shares
from okspca_lab.studies.prediction.results import Results
from okspca_lab.studies.prediction.tables import spread


def goals(results: Results) -> Table:
    """Set the best of the paper, what must be reached and what was reached side by side."""
    rows = []
    for task in results.tasks:
        goal, scores = goal_of(task), results.scores(task, EVERYTHING.name)
        reached = float(scores.mean())
        verdict = "aim" if reached >= goal.aim else "must" if reached >= goal.must else "fails"
        limits = (f"{x:.3f}" for x in (goal.reduced, goal.unreduced, goal.must, goal.aim))
        rows.append((task, *limits, mean_sd(reached, spread(scores)), verdict))
    header = (
        "task",
        "best reduced, paper",
        "all features, paper",
        "must",
        "aim",
        "ours",
        "reached",
    )
    return Table("One setting for all tasks", header, rows, words=(6,))


def ablation(results: Results) -> Table:
    """Mean scores with each ingredient added alone."""
    rows = [
        (v.name, *(f"{results.scores(task, v.name).mean():.3f}" for task in results.tasks))
        for v in VARIANTS
    ]
    return Table("Each ingredient alone", ("representation", *results.tasks), rows)


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
