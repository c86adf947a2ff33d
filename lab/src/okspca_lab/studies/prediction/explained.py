"""Why numbers differ from the published ones: the experiments of the run, in words and tables."""

from okspca.report.page import Part
from okspca.report.tables import Table
from okspca_lab.studies.prediction import methods, published
from okspca_lab.studies.prediction.excursions import AWAY_DEGREES, LOOK_EVERY
from okspca_lab.studies.prediction.explained_har import other_data
from okspca_lab.studies.prediction.explained_nudges import nudged
from okspca_lab.studies.prediction.explained_splits import other_splits
from okspca_lab.studies.prediction.results import Results
from okspca_lab.studies.prediction.statistics import paired_effect
from okspca_lab.studies.prediction.tables import open_choice, task_of

#: What was tried before the choices in use were made; few of the trials are part of the run.
CHOSEN_BY_RESULT = (
    "Read the agreement of the CIPLS pipelines with this in mind: where the paper is silent, the "
    "choice in use was made after seeing which one gives the published numbers. Tried were five "
    "forms of the loadings (sums with a component's own score, sums with the score of the "
    "component before, divided by the sum of squared scores, means, means with a centred "
    "response), response scaled or not, inputs standardised or not, and, where numbers overflow, "
    "five rules (exponents carried, columns set to zero, component frozen, row skipped with and "
    "without its mean). The form of the loadings is settled by four regression means and spreads "
    "that agree to the last printed digit over ten seeds. The overflow rule is not settled: "
    "freezing was picked on two or three seeds of one task because it came closest there. With "
    "own-score sums, inputs as they are and exponents carried, the choices first made, two lines "
    "fewer agreed."
)


def explanations(results: Results) -> list[Part]:
    """Say what the experiments found."""
    parts: list[Part] = []
    if "HAR-265" in results.tasks:
        parts += other_data(results)
    parts += [CHOSEN_BY_RESULT, *_inputs(results)]
    parts += _overflow(results)
    parts += _loadings(results)
    parts += other_splits(results)
    parts += _excursions(results)
    parts += nudged(results)
    return parts


def _inputs(results: Results) -> list[Part]:
    """Raw or standardised inputs of the linear comparators."""
    return [
        "The paper does not say whether its linear comparators see standardised inputs. With the "
        "causal standardiser the published regression means and spreads of CIPLS come out to the "
        "last digit, and the ordering on Spirals-3 holds; so that is the choice in use. The other "
        "choice, inputs as they are, is reported here once. It matters where inputs have "
        "different units: the columns of Sensorless differ by five orders of magnitude.",
        open_choice(results),
    ]


def _overflow(results: Results) -> list[Part]:
    """What happens to CIPLS where double precision ends."""
    names = [name for name in results.tasks if task_of(name).rank > 1]
    rows = []
    for name in names:
        cells = []
        for method, other in methods.OVERFLOW.items():
            cells += [results.scores(name, m).mean() for m in (method, other)]
        rows.append(_beside_paper(name, cells))
    header = (
        "task",
        "k",
        "RFF-CIPLS, paper",
        "RFF-CIPLS, freeze",
        "RFF-CIPLS, any exponent",
        "CIPLS, freeze",
        "CIPLS, any exponent",
    )
    note = (
        "Mean scores. For several classes this is the one-vs-rest adapter, and the paper's value "
        "is its OKSPCA score minus its paired effect."
    )
    return [
        "The loadings of CIPLS are sums, so from the fourth or fifth component on its numbers "
        "leave the range of double precision; what the paper's code does then is not published. "
        "Two ways were run: a component keeps its last finite weights (freeze), or its exponent is "
        "carried separately and it goes on (any exponent). Up to four components they are the "
        "same. At ten, on Sensorless, they are far apart, and freezing comes closest to the "
        "published numbers; so that is the choice in use. OKSPCA's lead over the CIPLS pipelines "
        "there is in good part their overflow: with exponents carried, it shrinks on random "
        "features, and the linear pipeline is ahead.",
        Table("Experiment: CIPLS where double precision ends", header, rows, note),
        *_lead(results),
    ]


def _beside_paper(name: str, cells: list[float]) -> tuple[str, ...]:
    """Task, rank, the published score of RFF-CIPLS where it can be derived, and our scores."""
    task = task_of(name).name.replace("HAR-265", "HAR")
    paper = "–"
    if task in published.CLASSIFICATION:
        score = float(published.CLASSIFICATION[task][1]) - float(published.PAIRED[task][0])
        paper = f"{score:.4f}"
    elif task in published.REGRESSION["RFF-CIPLS"]:
        paper = published.REGRESSION["RFF-CIPLS"][task][0]
    return name, str(task_of(name).rank), paper, *(f"{cell:.4f}" for cell in cells)


def _loadings(results: Results) -> list[Part]:
    """What happens to CIPLS when loadings take a component's own score."""
    shown = (
        methods.RFF_CIPLS,
        methods.RFF_CIPLS_OWN,
        methods.RFF_CIPLS_OWN_ANY,
        methods.LINEAR_CIPLS,
        methods.CIPLS_OWN,
        methods.CIPLS_OWN_ANY,
    )
    names = [name for name in results.tasks if results.scores(name, methods.CIPLS_OWN).size]
    if not names:
        return []
    rows = [_beside_paper(n, [results.scores(n, m).mean() for m in shown]) for n in names]
    text = (
        "The other open choice is whose score enters the loadings from the second component on: "
        "that of the component before, as in the authors' code and in use here, or a component's "
        "own, as in the equations of partial least squares. Both were run, the latter also with "
        "exponents carried."
    )
    header = ("task", "k", "RFF-CIPLS, paper", *shown)
    return [text, Table("Experiment: CIPLS with other loadings, mean scores", header, rows)]


def _lead(results: Results) -> list[Part]:
    """OKSPCA against the linear pipeline on Sensorless."""
    difference = results.scores("Sensorless", "OKSPCA") - results.scores("Sensorless", "CIPLS")
    if not difference.size:
        return []
    effect = paired_effect(difference)
    return [
        "So the published ordering on Sensorless, OKSPCA above the linear CIPLS pipeline, hangs on "
        f"how components stop. With freezing, the paired difference is {effect.mean:+.4f} "
        f"[{effect.low:+.4f}, {effect.high:+.4f}] here, on a split that is not the paper's: the "
        "two are close. With exponents carried, the linear pipeline is clearly ahead."
    ]


def _excursions(results: Results) -> list[Part]:
    """How often, how far and how long the tracker strays."""
    rows = sorted(
        (row for row in results.rows if row["kind"] == "excursions"), key=lambda r: r["seed"]
    )
    if not rows:
        return []
    looks, away = sum(r["looks"] for r in rows), sum(r["away"] for r in rows)
    silent = sum(r["without_bound"] for r in rows)
    worst = max(rows, key=lambda r: r["worst_angle"])
    lines = [
        (
            str(r["seed"]),
            f"{r['away'] / r['looks']:.2%}",
            str(r["episodes"]),
            f"{r['longest']:,}",
            f"{r['worst_at']:,}",
            f"{r['worst_angle']:.2f}",
            f"{r['worst_rho']:.6f}",
            f"{r['worst_gap']:.2e}",
        )
        for r in rows
    ]
    header = (
        "seed",
        f"looks above {AWAY_DEGREES:g}°",
        "episodes",
        "longest (rows)",
        "worst at",
        "worst angle",
        "its ρ",
        "its relative gap",
    )
    text = (
        f"The published midpoint of Sensorless seed {published.ADVERSE_SEED} (78° at ρ = 0.97) is "
        "one state of one stream, and the split behind that stream is not published. Followed "
        f"every {LOOK_EVERY} rows after the first tenth, our trackers do the same thing, at other "
        f"moments: {away} of {looks} looks ({away / looks:.2%}) are more than {AWAY_DEGREES:g}° "
        f"away, and the worst is {worst['worst_angle']:.1f}° at ρ = {worst['worst_rho']:.4f} (seed "
        f"{worst['seed']}, observation {worst['worst_at']:,}). No episode "
        f"outlasts {max(r['longest'] for r in rows) + LOOK_EVERY} rows, so the four later "
        f"checkpoints of a stream meet one in {1.0 - (1.0 - away / looks) ** 4:.0%} of cases. "
        f"At {silent} of those {away} looks the "
        "certificate proved no angle at all, which is how it shows them when they happen: the "
        "last eigenvalue gap is about a thousandth of the leading one, so a small loss of "
        "objective allows a large angle."
    )
    return [text, Table("Experiment: how often the Sensorless tracker strays", header, lines)]
