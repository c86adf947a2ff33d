"""What a dashboard asks of a pipeline's state, all of it at once."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from okspca.basis import Basis
from okspca.estimators import OKSPCA
from okspca.estimators.data import CLASSIFICATION
from okspca.estimators.explaining import input_shares
from okspca.estimators.fitted import classes_of
from okspca.estimators.learned import SCORE, rows_seen
from okspca.estimators.monitored import Alarm, Monitored
from okspca.estimators.prequential import PrequentialScore
from okspca.features.attribution import slopes_over
from okspca.features.bandwidth import MEDIAN_ROWS
from okspca.numerics.arrays import Floats
from okspca.numerics.matrix import product
from okspca.pipeline import Embedding, PipelineState
from okspca.pipeline.answers import embedding, mean_features, request

#: The statistic whose contributions tell which inputs moved, and how many of them are named.
SPE_TREND, MOST_MOVED = "spe trend", 5


class Seen(NamedTuple):
    """Answers about one state."""

    rows: int
    task: str | None
    classes: NDArray[Any]
    embedding: Embedding
    mean: Floats
    basis: Basis
    is_aligned: bool
    score: PrequentialScore | None

    def certificate(self) -> dict[str, Any]:
        """Status, rank and what is proven."""
        proof, basis = self.basis.certificate, self.basis
        return {
            "status": basis.status.name.lower(),
            "rank": basis.rank,
            "rho_lower": None if proof is None else proof.rho_lower,
            "angle_upper": None if proof is None else proof.angle_upper,
        }

    def input_shares(self, rows: Floats, singular_values: Floats) -> Floats:
        """Share of each input in what moves the components over rows.

        A component counts by its squared singular value, which is what it has in common with the
        target.
        """
        found = self.embedding
        S: Floats = found.standardizer.transform(rows)
        slopes = slopes_over(found.input_map, found.columns, S)
        each = input_shares(slopes, S.std(axis=0))
        # A class may have come in between.
        weights = singular_values**2 if len(singular_values) == len(each) else np.ones(len(each))
        shares = product(weights, each)
        return shares / max(float(shares.sum()), np.finfo(np.float64).tiny)


def seen(model: OKSPCA, state: PipelineState) -> Seen:
    """Ask one state for everything that a page shows of it."""
    record = model.learned
    task = None if record is None else record.intake.task
    is_class = task == CLASSIFICATION
    return Seen(
        rows_seen(state),
        task,
        classes_of(state.target_map) if is_class else np.zeros(0),
        embedding(state),
        mean_features(state),
        request(state),
        state.align,
        state.companions.get(SCORE),
    )


def pilot_rows_left(model: OKSPCA) -> int:
    """Rows up to where the map is final, or up to the first answer where rows are held back."""
    record = model.learned
    if record is None:
        return 0
    if record.pipeline is None:
        waiting = 0 if record.first_preparation is None else record.first_preparation.n_waiting
        return max(max(waiting, MEDIAN_ROWS) - record.n_rows, 0)
    return 0 if record.search is None else record.search.n_awaited


def called(name: str, named: Mapping[str, str]) -> str:
    """What an input is called, if the column that it was made of has another name.

    Examples
    --------
    >>> called("x0 is missing", {"x0": "flow"}), called("x1", {"x0": "flow"})
    ('flow is missing', 'x1')
    """
    column, space, rest = name.partition(" ")
    return f"{named.get(column, column)}{space}{rest}"


def moved(found: Monitored, alarm: Alarm) -> dict[str, float]:
    """Shares of the inputs that left their limits together with a target.

    Empty where the alarm names inputs itself, or the trend of the SPE is within its limit.
    """
    names, last = list(found.names), alarm.row - found.first_row
    if alarm.inputs or SPE_TREND not in names or not 0 <= last < len(found.values):
        return {}
    place = names.index(SPE_TREND)
    if not found.values[last, place] > found.limits[place]:
        return {}
    # All rows at hand: few tell little about what a trend has gathered.
    parts = np.nan_to_num(found.spe_contributions[: last + 1]).mean(axis=0).clip(0.0)
    order = np.argsort(-parts, kind="stable")[:MOST_MOVED].tolist()
    return {found.inputs[i]: float(parts[i] / parts.sum()) for i in order if parts[i] > 0.0}
