"""What agrees with the paper: committed comparisons, by widths that were not made for a number."""

from pathlib import Path

import pytest

from okspca_lab.studies.comparison import (
    ORDERING,
    RESULT,
    SETTING,
    Comparison,
    Given,
    Same,
    SameSide,
    compared,
    count_tolerance,
    counted,
    write_comparison,
)
from okspca_lab.studies.population import compare as population
from okspca_lab.studies.population import plan as population_plan
from okspca_lab.studies.population import results as population_results
from okspca_lab.studies.prediction import compare as prediction
from okspca_lab.studies.prediction.protocol import FINAL_SEEDS
from okspca_lab.studies.prediction.results import Results
from okspca_lab.studies.prediction.tasks import TASKS
from okspca_lab.studies.rows import read_rows
from okspca_lab.studies.services import compare as services
from okspca_lab.studies.services import published
from okspca_lab.studies.services.compare_text import random_requests
from okspca_lab.studies.services.results import read_results

RESULTS = Path(__file__).resolve().parents[3] / "results"
HAR = "HAR-265"


def lines_of(study: str) -> list[Comparison]:
    """Compare the committed rows of a study."""
    folder = RESULTS / study
    if study == "services":
        return services.compare(read_results(folder, "paper", quick=False))
    if study == "population":
        return population.compare(population_results.read(population_plan.Plan(), folder))
    tasks = [HAR if name == "HAR" else name for name in TASKS]
    settings = {"study": study, "version": 1, "quick": False, "har": HAR}
    rows = read_rows(folder / "rows.jsonl", settings)
    return prediction.compare(Results(rows, tasks, FINAL_SEEDS, quick=False))


@pytest.mark.parametrize("study", ["prediction", "services", "population"])
def test_the_committed_comparison_is_that_of_the_committed_rows(study: str, tmp_path: Path) -> None:
    if not (RESULTS / study).is_dir():
        pytest.skip("the results are not part of this installation")
    lines = lines_of(study)
    write_comparison(tmp_path / "comparison.csv", lines)
    committed = (RESULTS / study / "comparison.csv").read_text(encoding="utf-8")
    assert (tmp_path / "comparison.csv").read_text(encoding="utf-8") == committed
    page = "README.md" if study == "population" else "index.html"
    assert counted(lines) in (RESULTS / study / page).read_text(encoding="utf-8")


def test_the_tolerance_tells_the_kind_where_nothing_else_is_said() -> None:
    lines = [
        compared("t", "r", "c", "1.5", 3.0, SameSide(1.0)),
        compared("t", "r", "k", "4", 4, Given()),
        compared("t", "r", "n", "4", 4, Same()),
        compared("t", "r", "faster, of 5", "4", 4, Same(), kind=ORDERING),
    ]
    assert [line.kind for line in lines] == [ORDERING, SETTING, RESULT, ORDERING]


def test_counts_may_be_off_by_chance_only_where_chance_decides() -> None:
    groups = [group for by in published.GROUPS.values() for group in by.values()]
    undecided = [group for group in groups if services.faster_tolerance(group) != Same()]
    assert all(float(group.low) < 1.0 < float(group.high) for group in undecided)
    assert len(undecided) == 2
    assert count_tolerance("0", of=5).width == count_tolerance("5", of=5).width == 0.0
    # Two draws of the random requests, of which all methods of a stream share one.
    assert 400.0 < random_requests().width < 800.0
