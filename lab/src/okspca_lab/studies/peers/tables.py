"""The tables of the comparison."""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import product

import numpy as np

from okspca.report.tables import Table, mean_sd
from okspca_lab.studies.peers import about
from okspca_lab.studies.peers.data import LARGE, shown
from okspca_lab.studies.peers.methods import (
    AUTO,
    BY_NAME,
    COVARIANCE,
    GROUPS,
    HEAD,
    LONG,
    METHODS,
    PREDICTORS,
    REDUCERS,
    RUNGS,
    Method,
)
from okspca_lab.studies.peers.results import MARGIN, Difference, Results

BELOW = (*(rung for rung in RUNGS if rung != AUTO), COVARIANCE)
BOOSTING = BY_NAME["gradient boosting"]
#: How far the embedding of covtype may be below gradient boosting.
NEAR = 0.015
MEBIBYTE = 2.0**20
SPREAD = "Mean ± standard deviation over the seeds that each was run with."


def held(loss: Difference) -> str:
    """Say whether a mean loss is at most the margin and two standard errors.

    Examples
    --------
    >>> held(Difference(0.009, 0.003, 10)), held(Difference(0.012, 0.003, 10))
    ('held', 'missed')
    """
    if not np.isfinite(loss.error):
        return "–"
    return "held" if loss.mean <= MARGIN + 2.0 * loss.error else "missed"


def ladder(results: Results) -> Table:
    """Mean paired loss of "auto" against every rung below it and the covariance target."""
    lines = []
    for name in results.data:
        losses = [results.difference(name, below, AUTO) for below in BELOW]
        known = [loss for loss in losses if loss is not None]
        if known:
            words = [held(loss) for loss in known]
            verdict = next((word for word in ("missed", "–") if word in words), "held")
            own = _mean(results, name, AUTO)
            lines.append((shown(name), own, *map(_loss, losses), str(known[0].pairs), verdict))
    header = ("data set", "auto", *(f"{below.name} − auto" for below in BELOW), "seeds", "verdict")
    return Table(
        'What "auto" loses against what is below it',
        header,
        lines,
        f"Mean paired loss ± its standard error (macro-F1, or R² of numbers); held where it is at "
        f"most {MARGIN} + 2 standard errors everywhere.",
        words=(len(header) - 1,),
    )


def standing(results: Results) -> Table:
    """For every rival, on how many data sets we are better, alike and worse, and at what cost."""
    lines = []
    for rival in results.methods(REDUCERS, PREDICTORS):
        own, known = own_side(rival), judged(results, rival)
        if known:
            counts = Counter(pair.counts for pair in known.values())
            means = [pair.mean for pair in known.values()]
            typical = (f"{np.median(means):+.3f}", f"{np.mean(means):+.3f}")
            costs = (ratio(results, known, rival, cost) for cost in ("fit_seconds", "embed_us"))
            wins = (str(counts[sign]) for sign in (1, 0, -1))
            seeds = _range([pair.pairs for pair in known.values()])
            lines.append(
                (
                    rival.name,
                    own.name.removeprefix("okspca "),
                    *wins,
                    *typical,
                    seeds,
                    *map(_times, costs),
                )
            )
    header = (
        "what you use",
        "ours",
        "ours better",
        "alike",
        "ours worse",
        "median difference",
        "mean difference",
        "seeds",
        "its fit / ours",
        "its use / ours",
    )
    note = (
        f"Better or worse: the mean paired difference exceeds {MARGIN} + 2 standard errors. "
        "Reducers are compared with okspca auto, a linear probe on the same number of components; "
        "predictors with okspca head. Costs: geometric mean over "
        "data sets of the ratio of processor times. Data sets count where at least two seeds are "
        f"shared; {LARGE} has a table of its own. {limits(results)}"
    )
    return Table("Is it better than what I use?", header, lines, note, words=(1,))


def judged(results: Results, rival: Method) -> dict[str, Difference]:
    """Return how much ours is above a rival where both were run often enough to tell."""
    own = own_side(rival)
    pairs = {name: results.difference(name, own, rival) for name in results.data if name != LARGE}
    return {name: pair for name, pair in pairs.items() if pair is not None and pair.pairs > 1}


def gaps(results: Results, group: str) -> Table:
    """How much ours is above each rival of a group, on the seeds that both have."""
    rivals = results.methods(group)
    lines = []
    for name in results.data:
        pairs = [results.difference(name, own_side(rival), rival) for rival in rivals]
        if name != LARGE and any(pairs):
            lines.append((shown(name), *map(_loss, pairs)))
    header = ("data set", *(f"ours − {rival.name}" for rival in rivals))
    note = "Mean paired difference ± its standard error: above zero ours is better."
    return Table(f"How much ours is above other {group}", header, lines, note)


def limits(results: Results) -> str:
    """Say who learned from fewer rows, and who is missing."""
    run = results.methods(*GROUPS)
    short = [f"{one.name}: {one.most_rows:,}" for one in run if one.most_rows]
    missing = [f"{one.name} (package {one.needs})" for one in METHODS if not one.is_installed]
    missing = [name for name in missing if name.split(" (")[0] not in {one.name for one in run}]
    said = [
        f"Rows to learn from, at most: {', '.join(short)}." if short else "",
        f"Not installed where this was run: {', '.join(missing)}." if missing else "",
    ]
    return " ".join(one for one in said if one)


def own_side(rival: Method) -> Method:
    """What of ours a rival is compared with: the embedding, or the head."""
    return HEAD if rival.predicts else AUTO


def ratio(
    results: Results, names: Sequence[str] | dict[str, Difference], rival: Method, cost: str
) -> float:
    """Geometric mean over data sets of what a rival costs in units of ours, on shared seeds."""
    logs = []
    for name in names:
        theirs, ours = results.of(name, rival), results.of(name, own_side(rival))
        shared = set(theirs) & set(ours)
        means = (np.mean([by[seed][cost] for seed in shared]) for by in (theirs, ours))
        logs.append(np.subtract(*(np.log(max(mean, 1e-9)) for mean in means)))
    return float(np.exp(np.mean(logs)))


def scores(results: Results, title: str, *methods: Method) -> Table:
    """Mean score and its spread over seeds."""
    run = [one for one in results.methods(*GROUPS) if one in methods]
    return _by_data(results, title, run, _mean_sd, SPREAD)


def costs(results: Results) -> list[Table]:
    """Processor time to fit and to use, and growth of memory."""
    every = results.methods(*GROUPS)
    return [
        _by_data(results, "Processor seconds to fit", every, _typical("fit_seconds", 1.0)),
        _by_data(results, "Processor µs per row to use", every, _typical("embed_us", 1.0)),
        _by_data(
            results,
            "Growth of memory while fitting, MiB",
            every,
            _typical("memory", 1.0 / MEBIBYTE),
        ),
    ]


def rungs(results: Results) -> Table:
    """On which rung "auto" ended."""
    lines = []
    for name in results.data:
        ended = Counter(row["rung"] for row in results.of(name, AUTO).values())
        if ended:
            told = ", ".join(f"{rung} {n}" for rung, n in ended.most_common())
            lines.append((shown(name), told))
    return Table('Where "auto" ended', ("data set", "rung, seeds"), lines, words=(1,))


def near_boosting(results: Results) -> Table:
    """How far a linear probe on the embedding of covtype is from gradient boosting."""
    lines = []
    for one, (measure, words) in product(
        (AUTO, LONG), (("accuracy", "accuracy"), ("score", "macro-F1"))
    ):
        gap = results.difference("covtype", BOOSTING, one, measure)
        if gap is not None:
            means = (results.values("covtype", by, measure).mean() for by in (one, BOOSTING))
            verdict = "held" if gap.mean <= NEAR else "missed"
            shown_means = (f"{mean:.3f}" for mean in means)
            lines.append((one.name, words, *shown_means, _loss(gap), verdict))
    header = (
        "embedding",
        "measure",
        "embedding, k = 6",
        "boosting",
        "boosting − embedding",
        f"≤ {NEAR}",
    )
    return Table("Covtype beside gradient boosting", header, lines, words=(1, 5))


def largest(results: Results) -> Table:
    """All pictures of Fashion-MNIST and the official test."""
    columns = {"score": ".4f", "accuracy": ".4f", "fit_seconds": ".0f", "embed_us": ".0f"}
    lines = []
    for one in results.methods(*GROUPS):
        rows = list(results.of(LARGE, one).values())
        if rows:
            means = {name: np.mean([row[name] for row in rows]) for name in columns}
            numbers = (f"{means[name]:{form}}" for name, form in columns.items())
            counts = (f"{rows[0]['rows_fitted']:,}", str(len(rows)))
            lines.append((one.name, one.group, *numbers, *counts))
    header = (
        "method",
        "group",
        "macro-F1",
        "accuracy",
        "seconds to fit",
        "µs per row to use",
        "rows learned",
        "seeds",
    )
    note = "All of ours and the reducers have nine components; the other predictors use all inputs."
    title = "Fashion-MNIST, 60,000 pictures, official test, k = 9"
    return Table(title, header, lines, note, words=(1,))


def every(results: Results) -> list[Table]:
    """All tables that have lines, the main one first."""
    tables = [
        standing(results),
        ladder(results),
        near_boosting(results),
        scores(results, "Our embeddings: scores of a linear probe", COVARIANCE, *RUNGS, LONG),
        gaps(results, REDUCERS),
        scores(results, "Other reducers: the same probe", AUTO, *results.methods(REDUCERS)),
        gaps(results, PREDICTORS),
        scores(results, "Predictors", HEAD, *results.methods(PREDICTORS)),
        largest(results),
        rungs(results),
        *costs(results),
        about.methods(results),
        about.sizes(results),
    ]
    return [table for table in tables if table.rows]


def _by_data(
    results: Results,
    title: str,
    methods: Sequence[Method],
    cell: Callable[[Results, str, Method], str],
    note: str = "",
) -> Table:
    """A line for every data set, a column for every method."""
    lines = [
        (shown(name), *(cell(results, name, one) for one in methods))
        for name in results.data
        if methods
    ]
    return Table(title, ("data set", *(one.name for one in methods)), lines, note)


def _typical(name: str, unit: float) -> Callable[[Results, str, Method], str]:
    """Return what writes the median of a cost."""

    def cell(results: Results, data: str, method: Method) -> str:
        values = results.values(data, method, name)
        return f"{np.median(values) * unit:.3g}" if values.size else "–"

    return cell


def _mean_sd(results: Results, data: str, method: Method) -> str:
    """Write mean and spread, where it was run."""
    found = results.values(data, method)
    if found.size < 2:
        return f"{found[0]:.3f} ± –" if found.size else "–"
    return mean_sd(float(found.mean()), float(found.std(ddof=1)))


def _mean(results: Results, data: str, method: Method) -> str:
    """Write a mean."""
    return f"{results.values(data, method).mean():.3f}"


def _loss(loss: Difference | None) -> str:
    """Write a difference with its error, which one pair does not tell."""
    if loss is None:
        return "–"
    return f"{loss.mean:+.4f} ± " + (f"{loss.error:.4f}" if loss.pairs > 1 else "–")


def _range(counts: Sequence[int]) -> str:
    """Write the least and the most."""
    least, most = min(counts), max(counts)
    return str(least) if least == most else f"{least} to {most}"


def _times(value: float) -> str:
    """Write a ratio."""
    return f"{value:.3g} ×"
