"""Why numbers differ: the experiments, and what they gave."""

from okspca.studies.comparison import Comparison
from okspca.studies.page import Part
from okspca.studies.prediction.results import Results


def explanations(results: Results, lines: list[Comparison]) -> list[Part]:
    """Say what the experiments found."""
    del results, lines
    return []
