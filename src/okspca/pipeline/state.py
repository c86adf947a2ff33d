"""The state of a pipeline: one record of all that its answers depend on.

Learning a block makes a new record, and the old one never changes again; whoever reads it may keep
it for as long as they like.  Learning a single row, which must be quick, changes the record in use
in place (:mod:`okspca.pipeline.snapshot` says how others read it all the same).
"""

import copy
from dataclasses import dataclass, field, fields
from typing import Any, Self

from okspca.features import FeatureMap
from okspca.features.linear import Origin
from okspca.moments import Moment, MomentWindow, SubMoments
from okspca.numerics.arrays import Floats, copied, is_writable
from okspca.pipeline.waiting import StandardizedRows
from okspca.services import Service, Tracker
from okspca.standardize import RunningStandardizer, Standardizer

# When the arrays of a part are changed in place: as rows come, or as they join the moment.  All
# other fields are replaced as a whole, so copies of the record share them.
COMING, JOINING = {"changes": "as rows come"}, {"changes": "as rows join the moment"}


@dataclass(eq=False, repr=False)
class PipelineState:
    """Front ends, moment, service, and what they have learned.

    Attributes
    ----------
    input_standardizer, target_standardizer : Standardizer
        How rows are scaled by the rows before them.
    input_map, target_map : FeatureMap
        How scaled rows become features; classes that come late replace ``target_map``.
    moment : Moment
        Where features are accumulated.
    service : Service
        How a basis is supplied.
    service_state : object
        What the service maintains.
    n_components : int
        Number of columns asked for.
    align : bool
        Keep an anchor that embeddings are rotated towards.
    sub_moments : SubMoments or None
        Moments of disjoint parts of the stream, for estimates of stability.
    window : MomentWindow or None
        The blocks behind a moment that covers the last rows only.
    input_origin, target_origin : Origin or None
        Where linear features are measured from, if they are summed in data units.
    rows : int
        Number of rows learned.
    anchor : ndarray or None
        The columns that embeddings are rotated towards.
    constant_target : ndarray or None
        The response that every row so far had; None once two of them differed, and for labels (a
        single class makes a moment of zero by itself).
    waiting : tuple of StandardizedRows
        Rows that are standardised but not yet part of the moment.
    companions : dict
        What the owner keeps in step with the rows; its values are replaced, never changed.
    follows_classes : bool
        Deliver one column less than there are classes, ``n_components`` at most.

    Examples
    --------
    >>> from okspca.features import IdentityMap
    >>> from okspca.moments import CrossMoment
    >>> from okspca.services import Exact
    >>> from okspca.standardize import NoStandardizer
    >>> linear = NoStandardizer(), IdentityMap(1)
    >>> PipelineState.start(linear, linear, CrossMoment(1, 1), Exact(), n_components=1).rows
    0
    """

    input_standardizer: Standardizer = field(metadata=COMING)
    input_map: FeatureMap
    target_standardizer: Standardizer = field(metadata=COMING)
    target_map: FeatureMap
    moment: Moment = field(metadata=JOINING)
    service: Service[Any]
    service_state: Any = field(metadata=JOINING)
    n_components: int
    align: bool = False
    sub_moments: SubMoments | None = field(default=None, metadata=JOINING)
    window: MomentWindow | None = field(default=None, metadata=JOINING)
    input_origin: Origin | None = None
    target_origin: Origin | None = None
    rows: int = 0
    anchor: Floats | None = None
    constant_target: Floats | None = None
    waiting: tuple[StandardizedRows, ...] = ()
    companions: dict[str, Any] = field(default_factory=dict)
    follows_classes: bool = False

    @classmethod
    def start(
        cls,
        inputs: tuple[Standardizer, FeatureMap],
        targets: tuple[Standardizer, FeatureMap],
        moment: Moment,
        service: Service[Any],
        *,
        n_components: int,
        seed: int = 0,
        align: bool = False,
        stability: int = 0,
        window: int = 0,
        follows_classes: bool = False,
    ) -> Self:
        """Make the state before the first row.

        Parameters
        ----------
        inputs, targets : tuple of (Standardizer, FeatureMap)
            How rows of x and of y become features.
        moment : Moment
            Where they are accumulated; still empty.
        service : Service
            How a basis is supplied.
        n_components : int
            Number of columns asked for.
        seed : int
            Seed of the service's own randomness.
        align : bool
            Keep an anchor that embeddings are rotated towards.
        stability : int
            Number of disjoint sub-moments to keep; 0 keeps none.
        window : int
            Number of rows that the moment covers; 0 for all.
        follows_classes : bool
            Deliver one column less than there are classes, ``n_components`` at most.
        """
        service = service.suited_to(moment)
        return cls(
            *inputs,
            *targets,
            moment,
            service,
            service.start(inputs[1].n_features, n_components, seed),
            n_components,
            align,
            SubMoments(stability, moment) if stability else None,
            MomentWindow(window, moment) if window else None,
            _new_origin(*inputs, service),
            _new_origin(*targets, service),
            follows_classes=follows_classes,
        )

    @property
    def n_columns(self) -> int:
        """Number of columns of an embedding."""
        if not self.follows_classes:
            return self.n_components
        return max(1, min(self.n_components, self.target_map.n_features - 1))

    @property
    def tracker(self) -> Tracker[Any] | None:
        """The service, where it follows every row by itself."""
        return self.service if isinstance(self.service, Tracker) else None

    def to_learn(self, *, only_wait: bool = False) -> Self:
        """Return a copy that can learn a block while this state stays as it is.

        Rows that will only wait leave the moment, the dear part, alone: the copy shares it.
        """
        twin = copy.copy(self)
        for name in COMING_PARTS if only_wait else ALL_PARTS:
            part = getattr(self, name)
            if part is not None:
                setattr(twin, name, copied(part))
        return twin

    def twin(self) -> Self:
        """Return a copy that shares nothing that learning changes."""
        twin = self.to_learn()
        if twin.sub_moments is not None:  # blocks replace groups, but rows change them in place
            twin.sub_moments.groups = [copied(group) for group in twin.sub_moments.groups]
        return twin

    def is_writable(self) -> bool:
        """Whether kernels may write to all arrays; those of a memory-mapped file they may not."""
        parts = (getattr(self, name) for name in ALL_PARTS)
        return all(is_writable(part) for part in parts if part is not None)


def _names(*changes: dict[str, str]) -> tuple[str, ...]:
    """Names of the parts that are changed in place at certain times."""
    return tuple(one.name for one in fields(PipelineState) if one.metadata in changes)


COMING_PARTS, ALL_PARTS = _names(COMING), _names(COMING, JOINING)


def _new_origin(
    standardizer: Standardizer, feature_map: FeatureMap, service: Service[Any]
) -> Origin | None:
    """Begin to keep linear features in data units, where their scale is learned on the way.

    A tracker steps along the features of each row as they come, so it gets them standardised.
    """
    is_learned = isinstance(standardizer, RunningStandardizer) and not isinstance(service, Tracker)
    if feature_map.linear is None or not is_learned:
        return None
    return Origin.unknown(feature_map.n_inputs)
