r"""The path of one observation: standardise, map, accumulate, serve.

For each row, in this order: the input and target are standardised with the rows *before* it, mapped
to features, added to the moment; the service follows; the standardisers learn the row last.  A
block is transport only: it is cut at the observations where something is due (a cache, a warm
block, an alignment anchor), so where a block ends decides nothing.

A moment from whose sums something is decided (a ridge) gets its rows together at fixed row numbers
(:mod:`okspca.pipeline.waiting`): then all answers are the same to the last bit however the stream
was cut.

Rooms meet here in plain arrays; this is the only module that knows them all.
"""

import copy
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from okspca.basis import Basis
from okspca.diagnostics.same_target import SameTargetReport, same_target_report
from okspca.diagnostics.stability import Stability, estimate_stability
from okspca.diagnostics.words import error_lines
from okspca.errors import NotReadyError, NumericalError
from okspca.features import FeatureMap, FourierMap
from okspca.features.curve import polynomials
from okspca.features.linear import Origin
from okspca.moments import Moment, MomentWindow, SubMoments, Target
from okspca.moments.arrays import Change, EncodedRows
from okspca.moments.units import SideUnits, Units
from okspca.numerics.arrays import LARGEST_VALUE, Floats, copied, frozen, is_writable
from okspca.numerics.leading import by_svd, within_span
from okspca.numerics.scratch import scratch
from okspca.numerics.sparse import largest_entry
from okspca.numerics.spectrum import numerical_rank
from okspca.numerics.subspace import aligned
from okspca.pipeline.fast_row import (
    LEARNED,
    LEARNED_CONSTANT,
    NEW_DIRECTION,
    Lane,
    LeanTarget,
)
from okspca.pipeline.snapshot import Answer, Readable
from okspca.pipeline.waiting import StandardizedRows, joined, n_rows, next_fold
from okspca.services import Service
from okspca.services.answers import certificate_of
from okspca.standardize import RunningStandardizer, Standardizer

CHUNK_ROWS = 512
FIRST_ANCHOR = 64
FIRST_TURN = 192
NEVER = 1 << 62
FLOAT64 = np.dtype(np.float64)
ANCHOR_RETRY = 8
# The parts whose arrays learning changes in place, and what it replaces as a whole.
STANDARDIZERS = ("input_standardizer", "target_standardizer")
LEARNING = (*STANDARDIZERS, "moment", "sub_moments", "window", "service_state")
REPLACED = (
    *("rows", "anchor", "constant_target", "waiting", "input_origin", "target_origin"),
    *("target_map", "companions"),
)


class Embedding(NamedTuple):
    """What embeds rows: standardiser, map, and the columns that features are multiplied with."""

    standardizer: Standardizer
    input_map: FeatureMap
    columns: Floats

    def of(self, X: Floats) -> Floats:
        """Embed rows."""
        Z = np.empty((X.shape[0], self.columns.shape[1]))
        for start in range(0, X.shape[0], CHUNK_ROWS):
            rows = slice(start, start + CHUNK_ROWS)
            Phi = self.input_map.transform(self.standardizer.transform(X[rows]))
            Z[rows] = Phi @ self.columns
        return Z


class Pipeline(Readable):
    """Causal front end, moment and service, advanced together.

    Parameters
    ----------
    inputs, targets : tuple of (Standardizer, FeatureMap)
        How rows of x and of y become features.
    moment : Moment
        Where they are accumulated.
    service : Service
        How a basis is supplied.
    n_components : int
        Number of columns asked for.
    seed : int
        Seed of the service's own randomness.
    align : bool
        Keep an anchor that `embedding_basis` is rotated towards.
    stability : int
        Number of disjoint sub-moments to keep for :meth:`stability`; 0 keeps none.
    window : int
        Number of rows that the moment covers; 0 for all.

    Examples
    --------
    >>> import numpy as np
    >>> from okspca.features import IdentityMap
    >>> from okspca.moments import CrossMoment
    >>> from okspca.services import Exact
    >>> from okspca.standardize import NoStandardizer
    >>> linear = NoStandardizer(), IdentityMap(1)
    >>> pipeline = Pipeline(linear, linear, CrossMoment(1, 1), Exact(), n_components=1)
    >>> pipeline.run(np.array([[0.0], [1.0]]), np.array([[1.0], [3.0]]), np.ones(2))
    >>> pipeline.request().singular_values.tolist()
    [0.5]
    """

    def __init__(
        self,
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
    ) -> None:
        self.input_standardizer, self.input_map = inputs
        self.target_standardizer, self.target_map = targets
        self.moment = moment
        self.sub_moments = SubMoments(stability, moment) if stability else None
        self.window = MomentWindow(window, moment) if window else None
        self.service = service
        self.n_components = n_components
        self.align = align
        self.rows = 0
        self.anchor: Floats | None = None
        #: The response that every row so far had; None once two of them differed, and for labels
        #: (a single class makes a moment of zero by itself).
        self.constant_target: Floats | None = None
        #: What the owner keeps in step with the rows; its values are replaced, never changed.
        self.companions: dict[str, Any] = {}
        #: Rows that are standardised but not yet part of the moment.
        self.waiting: tuple[StandardizedRows, ...] = ()
        self.input_origin = self._new_origin(*inputs)
        self.target_origin = self._new_origin(*targets)
        self.service_state = service.start(self.input_map.n_features, n_components, seed)
        self._lane: Lane | None = None
        self._is_writable = False
        self._settled: tuple[int, Self] | None = None

    def embed(self, X: Floats) -> Floats:
        """Input features of rows as the next observation would have them; learns nothing."""
        return self.input_map.transform(self.input_standardizer.transform(X))

    def step(self, x: Floats, y: Floats, weight: float = 1.0) -> None:
        """Learn one observation, given as one-dimensional arrays."""
        self.run(x[np.newaxis], y[np.newaxis], np.array([weight]))

    def run(
        self,
        X: Floats,
        Y: Floats,
        weights: Floats,
        *,
        target_map: FeatureMap | None = None,
        **companions: Any,
    ) -> None:
        """Learn rows in order (n x d inputs, n x d_y targets or column numbers of classes).

        ``target_map`` (one with more classes) and ``companions`` replace the present ones in the
        same change, so that whoever reads meets all of it or nothing.

        All or nothing: whatever interrupts it (an error in a map or a factorisation, Ctrl-C), the
        state is put back to what it was before the first row.
        """
        self._make_writable()
        before = self.published = self._left_behind(X.shape[0])
        self.version += 1
        try:
            self.target_map = self.target_map if target_map is None else target_map
            self.companions = {**self.companions, **companions}
            start, n = 0, X.shape[0]
            while start < n:
                stop = start + min(n - start, CHUNK_ROWS, self._next_due() - self.rows)
                self._learn(X[start:stop], Y[start:stop], weights[start:stop])
                start = stop
        except BaseException:
            # Copies again: a reader may still hold what was published.
            self.__dict__.update(before._saved(LEARNING))
            raise
        finally:
            self.version += 1
            self.published = None

    def twin(self) -> Self:
        """Return a copy that shares nothing that learning changes."""
        twin = copy.copy(self)
        twin.__dict__.update(self._saved(LEARNING))
        if twin.sub_moments is not None:  # what was saved shares them until a block changes one
            twin.sub_moments.groups = [copied(group) for group in twin.sub_moments.groups]
        return twin

    def settled(self) -> Self:
        """Return this state with all its rows in the moment: what answers are computed from.

        Where rows are waiting, that is a copy; it is kept until the next change.
        """
        if not self.waiting:
            return self
        version, known = self.version, self._settled
        if known is not None and known[0] == version:
            return known[1]
        twin = self.twin()
        twin.fold()
        if self.version == version and not version & 1:
            self._settled = version, twin
        return twin

    def read(self, question: Callable[[Self], Answer]) -> Answer:
        """Answer a question about the settled state between two changes."""
        return self.read_as_is(lambda state: question(state.settled()))

    def read_as_is(self, question: Callable[[Self], Answer]) -> Answer:
        """Answer a question about the state as it is kept, waiting rows and all."""
        return super().read(question)

    def learn_lean(self, x: Floats | Sequence[float], target: LeanTarget) -> bool:
        """Learn one row by the fused kernel (``target``: the response, or the column of a class).

        False where the general path must take the row; nothing was learned then.
        """
        lane = self._lane or self._open_lane()
        if lane is None:
            return False
        if not (type(x) is np.ndarray and x.dtype is FLOAT64 and x.flags.carray):
            try:
                np.copyto(lane.x, x)
            except (TypeError, ValueError):  # not numbers: the general path says what is wrong
                return False
            x = lane.x
        self.version += 1
        try:
            learned = lane.learn(x, target)
            if learned == NEW_DIRECTION and self.moment.add_direction(lane.psi):
                self._renew_lane(lane)
                learned = lane.learn(x, target)
            if learned < LEARNED:
                return False
            self.rows += 1
            if self.constant_target is not None and (self.constant_target != target).any():
                self.constant_target = None
            is_constant = learned == LEARNED_CONSTANT or self.constant_target is not None
            self.moment.is_constant = is_constant
            if self.sub_moments is not None:
                self._group_row(self.sub_moments, lane)
            if self.service.scans:
                self.service.follow_row(self.service_state, self.moment, self.rows)
            if self.rows >= lane.due:
                self._follow(None)
                lane.due = self._next_due()
        except BaseException:
            self._count_row(lane)
            self._lane = None  # its table may be out of date
            raise
        finally:
            self.version += 1
        return True

    def request(self) -> Basis:
        """Supply a certified basis of the current moment."""
        if self.rows == 0:
            return Basis.not_initialised(self.input_map.n_features)
        return self.service.serve(self.service_state, self.settled().moment, self.rows)

    def request_uncertified(self) -> Basis:
        """Supply a basis without its certificate."""
        if self.rows == 0:
            return Basis.not_initialised(self.input_map.n_features)
        return self.service.serve_uncertified(self.service_state, self.settled().moment, self.rows)

    def maintained(self) -> Basis:
        """Return all columns a tracking service maintains; for others, the requested basis."""
        rows = self.service.maintained(self.service_state)
        if rows is None:
            return self.request()
        target = self.target()
        sigma = within_span(rows, target.Ct).sigma
        norms = np.linalg.norm(rows @ target.Ct.T, axis=1) * target.scale
        certificate = None if target.is_zero else certificate_of(rows, sigma, target)
        return Basis.of(rows.T, norms, built_at=self.rows, certificate=certificate)

    def embedding_basis(self) -> Floats:
        """Weights of the features that embeddings use (D_x x k)."""
        return self.settled().moment.feature_weights(self.delivered_columns())

    def delivered_columns(self) -> Floats:
        """Columns as services deliver them: maintained, or requested and padded with zeros."""
        basis = self.maintained()
        vectors = basis.vectors
        if self.align and self.anchor is not None and basis.rank and self.anchor.shape[1]:
            vectors = aligned(vectors, self.anchor)
        return np.pad(vectors, ((0, 0), (0, self.n_components - basis.rank)))

    def embedding(self) -> Embedding:
        """What embeds rows as of now."""
        return Embedding(copied(self.input_standardizer), self.input_map, self.embedding_basis())

    def mean_features(self) -> Floats:
        """Mean of the input features, as :meth:`embed` shows them."""
        mean = self.settled().moment.means()[0]
        if self.input_origin is None:
            return mean
        origin = np.zeros((1, self.input_map.n_inputs)) + self.input_origin.point
        return mean + self.embed(origin)[0]

    def target(self) -> Target:
        """The current moment as services see it."""
        return self.settled().moment.target()

    def report(self) -> SameTargetReport:
        """Compare the delivered basis with the exact solution of the same moment."""
        target = self.target()
        exact = by_svd(target.Ct)
        sigma = exact.sigma * target.scale
        reference_rank = 0 if target.is_zero else numerical_rank(sigma)
        q = min(self.n_components, reference_rank)
        full = self.service.maintained(self.service_state)
        if full is None or q == 0:
            delivered = self.request().vectors
            bases = (delivered, delivered)
        else:
            extracted = within_span(full, target.Ct).rows[:q]
            bases = (full.T, extracted.T)
        C = target.Ct.T * target.scale
        return same_target_report(self.rows, C, (exact.rows.T, sigma), (q, reference_rank), bases)

    def stability(self) -> Stability:
        """Estimate how far the exact subspace of the rows so far is from the population's."""
        state = self.settled()
        if state.sub_moments is None:
            message = "No sub-moments were kept; make the model with stability=8."
            raise NotReadyError(message)
        groups = state.sub_moments.arrays(state.moment.rows)
        groups = state.moment.in_target_coordinates(groups)
        return estimate_stability(self.rows, groups, self.n_components, self.target().is_zero)

    def error_lines(self) -> str:
        """Say how far delivered, exact and population subspace are apart, in two lines."""
        try:
            stability: Stability | str = self.stability()
        except NotReadyError as failure:
            stability = f"not estimated. {failure}"
        return error_lines(self.request().certificate, stability)

    def renew(self, *, is_new: bool = True) -> None:
        """Bring everything that rests on the moment up to date with a replaced, or new, one."""
        self._note_constancy()
        self.note_units()
        self._lane = None
        if is_new and self._period() is not None:
            # What the service keeps belongs to the old moment.
            self.service.observe(self.service_state, self.moment, None, self.rows)

    def widen_inputs(self, input_map: FeatureMap) -> None:
        """Go on with a map of more inputs, of which all rows so far count as zero."""
        self.version += 1
        more = input_map.n_inputs - self.input_map.n_inputs
        self.waiting = tuple(
            rows._replace(inputs=np.pad(rows.inputs, ((0, 0), (0, more)))) for rows in self.waiting
        )
        self.input_map, self._lane = input_map, None
        self.version += 1

    def _make_writable(self) -> None:
        """Replace arrays that kernels may not write to, as a memory-mapped file gives them.

        Whatever replaces them later is made here and can be written.
        """
        if not self._is_writable and not all(is_writable(p) for p in self._parts().values()):
            self.__dict__.update(self._saved(LEARNING))
        self._is_writable = True

    def _left_behind(self, n: int) -> Self:
        """Go on with copies of what ``n`` rows will change; return the state that is left behind.

        Readers may hold that state for as long as they like, so nothing of it ever changes again.
        """
        before = copy.copy(self)
        # Rows that will only wait leave the moment, the dear part, as it is.
        only_wait = self.moment.folds and self.rows + n < self._next_due()
        self.__dict__.update(self._saved(STANDARDIZERS if only_wait else LEARNING))
        return before

    def _saved(self, names: Sequence[str]) -> dict[str, Any]:
        """What learning changes, copied so that it can be put back; of large parts, those named."""
        saved = {name: copied(part) for name, part in self._parts(names).items()}
        shared = {name: getattr(self, name) for name in REPLACED}
        return {**saved, **shared, "_lane": None}

    def _parts(self, names: Sequence[str] = LEARNING) -> dict[str, Any]:
        """Return the parts that this pipeline has and that learning changes."""
        parts = {name: getattr(self, name) for name in names}
        return {name: part for name, part in parts.items() if part is not None}

    def _learn(self, X: Floats, Y: Floats, weights: Floats) -> None:
        """Learn rows among which nothing is due except, possibly, after the last."""
        rows = self._standardized(X, Y, weights)
        if self.rows == 0 and not self.moment.labels:
            self.constant_target = Y[0].copy()
        if self.constant_target is not None and (self.constant_target != Y).any():
            self.constant_target = None
        self._note_constancy()
        change, due = None, self._next_due()
        if not self.moment.folds:
            self.note_units()
            change = self._accumulate(rows)
        else:
            self._check_features(rows)
            self.waiting = (*self.waiting, rows)
        self.rows += X.shape[0]
        if self.waiting and self.rows == due:
            self.fold()
        self._lane = None
        self._follow(change)

    def fold(self) -> None:
        """Put the waiting rows into the moment."""
        if self.waiting:
            rows, self.waiting = joined(self.waiting), ()
            self.note_units()
            self._accumulate(rows)

    def _standardized(self, X: Floats, Y: Floats, weights: Floats) -> StandardizedRows:
        """Standardise rows with those before them, which the standardisers then learn."""
        linear_inputs = linear_targets = None
        if self.input_origin is not None:
            self.input_origin = self.input_origin.after(X)
            linear_inputs = X - self.input_origin.point
        if self.target_origin is not None:
            self.target_origin = self.target_origin.after(Y)
            linear_targets = Y - self.target_origin.point
        Z = self.input_standardizer.scan(X, weights)
        T = self.target_standardizer.scan(Y, weights)
        return StandardizedRows(Z, T, linear_inputs, linear_targets, weights)

    def _accumulate(self, standardized: StandardizedRows) -> Change | None:
        """Add rows to the moment; return the change that a single one made to it."""
        clock, compression = self.moment.rows, self.moment.compression
        rows, change = self._encoded(standardized), None
        if self.service.scans:
            self.service.scan(self.service_state, self.moment, rows, self.rows)
        elif rows.Phi.shape[0] == 1:
            change = self.moment.add_one(rows)
        else:
            self.moment.add(rows)
        if self.sub_moments is not None:
            if compression is not None and self.moment.compression is None:
                self.sub_moments.expand(compression)
            self.sub_moments.add(rows, clock)
        if self.window is not None:
            if compression is not None and self.moment.compression is None:
                self.window.expand(compression)
            self.window.add(rows, self.moment)
        return change

    def _note_constancy(self) -> None:
        """Tell the moment whether all inputs or all responses so far were alike.

        The first row is shown raw and may make a moment of its own; there is no target all the
        same.
        """
        sides = self.input_standardizer, self.target_standardizer
        is_constant = any(standardizer.is_constant() for standardizer in sides)
        self.moment.is_constant = is_constant or self.constant_target is not None

    def note_units(self) -> None:
        """Tell the moment what its linear features are divided by when it is asked for."""
        inputs = self.input_standardizer, self.input_map, self.input_origin
        targets = self.target_standardizer, self.target_map, self.target_origin
        if self.input_origin is not None or self.target_origin is not None:
            self.moment.units = Units(_units(*inputs), _units(*targets))

    def _new_origin(self, standardizer: Standardizer, feature_map: FeatureMap) -> Origin | None:
        """Begin to keep linear features in data units, where their scale is learned on the way.

        A tracker steps along the features of each row as they come, so it gets them standardised.
        """
        is_learned = isinstance(standardizer, RunningStandardizer) and not self.service.scans
        if feature_map.linear is None or not is_learned:
            return None
        return Origin.unknown(feature_map.n_inputs)

    def _encoded(self, rows: StandardizedRows) -> EncodedRows:
        """Describe rows in the coordinates that the moment stores."""
        Phi = self._features(self.input_map, rows.inputs, rows.linear_inputs, "input")
        if self.moment.compression is not None:
            along = polynomials(self.target_map, rows.targets)
            encoded = None if along is None else self.moment.encode_along(Phi, along, rows.weights)
            if encoded is not None:
                return encoded
        Psi = self._features(self.target_map, rows.targets, rows.linear_targets, "target")
        return self.moment.encode(Phi, Psi, rows.weights)

    def _check_features(self, rows: StandardizedRows) -> None:
        """Raise, while the call that brought the rows can still be refused, where one is no number.

        Cosines of moderate numbers need no check.
        """
        for feature_map, Z, linear, side in (
            (self.input_map, rows.inputs, rows.linear_inputs, "input"),
            (self.target_map, rows.targets, rows.linear_targets, "target"),
        ):
            if type(feature_map) is not FourierMap or largest_entry(Z) > LARGEST_VALUE:
                self._features(feature_map, Z, linear, side)

    def _features(
        self, feature_map: FeatureMap, Z: Floats, linear: Floats | None, side: str
    ) -> Floats:
        """Features of a block, valid until the next one is learned; raise where one is no number.

        One such row would spoil the sums.  Cosines of moderate numbers need no check.
        """
        if type(feature_map) is FourierMap:
            shape = Z.shape[0], feature_map.n_features
            features = feature_map.fill(Z, scratch(f"{side} features", shape))
            if largest_entry(Z) <= LARGEST_VALUE:
                return features
        else:
            features = feature_map.transform(Z)
        if linear is not None:
            features = features.copy()
            features[:, feature_map.linear] = linear
        if not np.isfinite(features.sum()):
            row = self.rows + int(np.argmin(np.isfinite(features).all(axis=1))) + 1
            message = (
                f"The {side} features of observation {row} are not finite; nothing was learned."
            )
            raise NumericalError(message)
        return features

    def _follow(self, change: Change | None) -> None:
        """Do what is due after the observation that was learned last."""
        if self.rows == self._next_turn(self.rows - 1):
            rotation = self.moment.concentrate()
            if rotation is not None and self.sub_moments is not None:
                self.sub_moments.turn(rotation)
            if self._lane is not None:
                self._renew_lane(self._lane)
        period = self._period()
        if not self.service.scans and period is not None and self.rows % period == 0:
            self.service.observe(self.service_state, self.moment, change, self.rows)
        if self.align and self._next_anchor(self.rows - 1) == self.rows:
            self.anchor = frozen(self.delivered_columns())

    def _open_lane(self) -> Lane | None:
        """Bind the fused kernel, where this pipeline is of the kind it serves."""
        inputs = self.input_standardizer, self.input_map
        targets = self.target_standardizer, self.target_map
        needs_change = not self.service.scans and self._period() == 1
        if needs_change or self.window is not None or not Lane.fits(inputs, targets, self.moment):
            return None
        self._make_writable()
        inputs = self.input_standardizer, self.input_map
        targets = self.target_standardizer, self.target_map
        due = self._next_due()
        self._lane = Lane(inputs, targets, self.moment, due)  # type: ignore[arg-type]
        self._lane.lag = self.moment.rows - self.rows
        if self.sub_moments is not None:
            self._lane.ungrouped = self.rows - self.sub_moments.rows
        return self._lane

    def _renew_lane(self, lane: Lane) -> None:
        """Bring the fused kernel up to date with a compression that was extended or turned."""
        lane.renew(self.moment)
        lane.due = self._next_due()  # a wider moment may be served in another way
        lane.has_groups = False

    def _group_row(self, groups: SubMoments, lane: Lane) -> None:
        """Let the row that was learned last join its group."""
        if not lane.has_groups:
            groups.prepare(self.moment.width)
            lane.has_groups = True
        groups.add_one(lane.rows, self.moment.rows - 1)

    def _count_row(self, lane: Lane) -> None:
        """Count a row that the kernel had learned when Ctrl-C came in between."""
        rows = self.moment.rows - lane.lag
        if rows > self.rows:
            self.rows += 1
        if self.sub_moments is not None and rows > self.sub_moments.rows + lane.ungrouped:
            self._group_row(self.sub_moments, lane)

    def __getstate__(self) -> dict[str, Any]:
        """Leave the bound kernel out of copies and files; it is made anew when needed."""
        local = {"_lane": None, "_is_writable": False, "_settled": None}
        return {**super().__getstate__(), **local}

    def _period(self) -> int | None:
        """How often the service wants to follow the stream."""
        return self.service.period(self.service_state, self.moment.width)

    def _next_due(self) -> int:
        """Return the next observation after which something other than learning happens."""
        room = CHUNK_ROWS
        if self.window is not None:
            room = self.window.room() - n_rows(self.waiting)
        due = min(self.rows + room, self._next_turn(self.rows))
        if self.moment.folds:
            due = min(due, next_fold(self.rows))
        period = self._period()
        if not self.service.scans and period is not None:
            due = min(due, (self.rows // period + 1) * period)
        return min(due, self._next_anchor(self.rows)) if self.align else due

    def _next_turn(self, t: int) -> int:
        """Return the next observation after ``t`` at which compressed targets are concentrated.

        That is at 192, 384, 768, ...: more often would cost as much as it spares.
        """
        if self.moment.compression is None or self.window is not None or self.moment.folds:
            return NEVER
        turn = FIRST_TURN
        while turn <= t:
            turn *= 2
        return turn

    def _next_anchor(self, t: int) -> int:
        """Return the next observation after ``t`` that sets an anchor.

        That is at 64, 128, 256, ..., and at every multiple of 8 while the anchor lacks directions
        that the target may have by now (a class that came late).
        """
        doubled = max(FIRST_ANCHOR, 1 << t.bit_length())
        if self.anchor is None:
            return doubled
        most = self.moment.width - 1 if self.moment.labels else self.n_components
        held = int(np.count_nonzero(self.anchor.any(axis=0)))
        if held >= min(self.n_components, most):
            return doubled
        return min(doubled, (t // ANCHOR_RETRY + 1) * ANCHOR_RETRY)


def _units(
    standardizer: Standardizer, feature_map: FeatureMap, origin: Origin | None
) -> SideUnits | None:
    """Return what the features of one side are divided by; None where they have no unit."""
    if origin is None:
        return None
    assert isinstance(standardizer, RunningStandardizer)
    scale = standardizer.scale(standardizer.rule.plain)
    divisor = np.ones(feature_map.n_features)
    divisor[feature_map.linear] = scale
    away = (standardizer.mean - origin.point) / scale
    # All other features of such a map are bounded by one.
    bounded = feature_map.n_features - feature_map.n_inputs
    spread = bounded + float((standardizer.variance / scale**2).sum())
    return SideUnits(divisor, spread + float((away**2).sum()), spread)
