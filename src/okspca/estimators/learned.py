"""What an estimator has learned, as one record."""

from typing import Any, NamedTuple

from okspca.estimators.building import Rows
from okspca.estimators.intake import Intake
from okspca.features import FeatureMap
from okspca.pipeline import Pipeline

#: Names of the companions of a pipeline.
SEARCH, SCORE = "search", "score"


class Learned(NamedTuple):
    """All an estimator has learned; it is replaced as a whole, so nobody reads half of a change.

    What must keep step with single rows (a search for the inputs that matter, a score) stands in
    the ``companions`` of the pipeline, which change together with it.

    Attributes
    ----------
    intake : Intake
        What is known about the target.
    pipeline : Pipeline or None
        None while rows are held back.
    pilot : Rows or None
        Rows that are held back until the pipeline can be built.
    """

    intake: Intake
    pipeline: Pipeline | None
    pilot: Rows | None

    @property
    def n_rows(self) -> int:
        """Number of rows learned or held back."""
        if self.pipeline is not None:
            return self.pipeline.read_as_is(lambda state: state.rows)
        return 0 if self.pilot is None else len(self.pilot)

    @property
    def labels(self) -> FeatureMap | None:
        """The classes, in the order of their columns; None where the target is no class."""
        if self.intake.labels is None or self.pipeline is None:
            return self.intake.labels
        return self.pipeline.read_as_is(lambda state: state.target_map)

    def companion(self, name: str) -> Any:
        """Return what accompanies the pipeline under a name; None where there is none."""
        if self.pipeline is None:
            return None
        return self.pipeline.read_as_is(lambda state: state.companions.get(name))
