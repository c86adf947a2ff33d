"""What an estimator has learned, as one record."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from okspca.errors import NotReadyError, StateError
from okspca.estimators.building import Rows
from okspca.estimators.data import validated
from okspca.estimators.intake import Intake
from okspca.estimators.map_search import MapSearch
from okspca.estimators.preparing import PREPARATION, Preparation
from okspca.features import FeatureMap
from okspca.features.bandwidth import MEDIAN_ROWS
from okspca.features.base import FLOAT64
from okspca.pipeline import Pipeline, PipelineState

if TYPE_CHECKING:
    from okspca.estimators.live_monitor import Live
    from okspca.estimators.monitor import Monitor
    from okspca.estimators.prequential import PrequentialScore

#: Names of the companions of a pipeline.
SEARCH, SCORE = "search", "score"
Names = NDArray[np.object_]


class Columns(NamedTuple):
    """The inputs: how many there are, their names where they have any, and their precision.

    The precision is what features are computed in, as the first rows said.
    """

    n: int
    names: Names | None
    precision: str = FLOAT64

    @property
    def listed(self) -> list[Any]:
        """The names as a list; empty where there are none."""
        return [] if self.names is None else self.names.tolist()

    @property
    def called(self) -> list[Any]:
        """What the columns are called where names are shown."""
        return self.listed or [f"x{number}" for number in range(self.n)]

    def are_plain_in(self, X: Any) -> bool:
        """Whether X needs no conversion and, having no names to compare, no check of them.

        Before the first block was checked, which is where ``n`` is zero, any number of columns is
        right.
        """
        return (
            type(X) is np.ndarray
            and X.dtype == np.float64
            and X.flags.c_contiguous
            and X.ndim == 2
            and X.size > 0
            and X.shape[1] == (self.n or X.shape[1])
            and self.names is None
        )


class Record(NamedTuple):
    """All an estimator has learned; it is replaced as a whole, so nobody reads half of a change.

    What must keep step with single rows (a search for the input map, a score) stands in
    the ``companions`` of the pipeline, which change together with it.

    Attributes
    ----------
    columns : Columns
        The inputs.
    intake : Intake
        What is known about the target.
    pipeline : Pipeline or None
        None while rows are held back.
    pilot : Rows or None
        Rows that are held back until the pipeline can be built, as the door lets them in.
    first_preparation : Preparation or None
        How they will be completed; once there is a pipeline, its companion tells.
    monitor : Monitor or None
        What new rows are compared with; None before a calibration.
    live : Live or None
        What renews it while rows are learned; None where nothing does.
    """

    columns: Columns
    intake: Intake
    pipeline: Pipeline | None
    pilot: Rows | None
    first_preparation: Preparation | None = None
    monitor: "Monitor | None" = None
    live: "Live | None" = None

    @property
    def n_rows(self) -> int:
        """Number of rows learned or held back."""
        if self.pipeline is not None:
            return self.pipeline.read_as_is(rows_seen)
        return 0 if self.pilot is None else len(self.pilot)

    @property
    def labels(self) -> FeatureMap | None:
        """The classes, in the order of their columns; None where the target is no class."""
        if self.intake.labels is None or self.pipeline is None:
            return self.intake.labels
        return self.pipeline.read_as_is(lambda state: state.target_map)

    @property
    def search(self) -> MapSearch | None:
        """The search for the input map; None where there is none."""
        found: MapSearch | None = self._companion(SEARCH)
        return found

    @property
    def score(self) -> "PrequentialScore | None":
        """Sums over the rows that were predicted before they were learned; None without any."""
        found: PrequentialScore | None = self._companion(SCORE)
        return found

    @property
    def preparation(self) -> Preparation | None:
        """How rows are completed; None where all of them must be complete."""
        if self.pipeline is None:
            return self.first_preparation
        found: Preparation | None = self._companion(PREPARATION)
        return found

    def with_preparation(self, preparation: Preparation) -> "Record":
        """Take over what rows that were looked at tell about those that wait, if any do."""
        waits = self.pipeline is None
        return self._replace(first_preparation=preparation) if waits else self

    def ready(self) -> Pipeline:
        """Return the pipeline, or say what is missing."""
        if self.pipeline is None and self.pilot is None:
            message = "No row was learned yet: each of them lacked a value; learn complete rows."
            raise NotReadyError(message)
        if self.pipeline is None:
            raise NotReadyError(self._what_is_awaited())
        return self.pipeline

    def _what_is_awaited(self) -> str:
        """Say what rows are held back for."""
        awaited = 0 if self.first_preparation is None else self.first_preparation.n_waiting
        if self.n_rows < awaited:
            return (
                f"{self.n_rows} of the {awaited} rows in which categories='one-hot' counts the "
                "values of text columns were seen; learn more rows, or call fit."
            )
        return (
            f"{self.n_rows} of the {MEDIAN_ROWS} rows that bandwidth='median' or "
            "standardize='frozen' needs were seen; learn more rows, call fit, or give "
            "a bandwidth in numbers or a ready-made standardiser instead."
        )

    def _companion(self, name: str) -> Any:
        """Return what accompanies the pipeline under a name; None where there is none."""
        if self.pipeline is None:
            return None
        return self.pipeline.read_as_is(lambda state: state.companions.get(name))


def rows_seen(state: PipelineState) -> int:
    """Number of rows learned, with those that a new map has let go."""
    search: MapSearch | None = state.companions.get(SEARCH)
    return state.rows + (0 if search is None else search.rows_before)


def names_of(X: Any) -> Names | None:
    """Names of the columns of a frame, as scikit-learn finds them; None where X has none."""
    # To tell, scikit-learn has all installed packages looked through for kinds of frames.
    if type(X) is np.ndarray:
        return None
    probe = BaseEstimator()
    validated(probe, X, reset=True, skip_check_array=True)
    found: Names | None = getattr(probe, "feature_names_in_", None)
    return found


def __getattr__(name: str) -> Any:
    """Refuse the record of earlier versions, which is the first thing their pickles ask for."""
    if name == "Learned":
        message = (
            "This pickle was made by an earlier version of okspca, and pickles do not outlive "
            "their version: load it with that version, and use save, whose files all later ones "
            "load."
        )
        raise StateError(message)
    message = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(message)
