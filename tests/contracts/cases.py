"""What the contracts run over: solvers, kinds of target, front ends, and small random streams."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from numpy.random import RandomState
from numpy.typing import NDArray

from okspca import OKSPCA
from okspca.features import SingleFourierMap
from okspca.numerics.arrays import Floats
from okspca.services import BY_NAME, Cached, Exact, Service, WarmBlock
from okspca.standardize import CausalStandardizer, FrozenStandardizer

#: Every named solver, and settings that reach branches small data would not: a short cache, a block
#: that is refreshed often, a moment that counts as wide.
SOLVERS: dict[str, str | Service[Any]] = {
    **{name: name for name in BY_NAME},
    "cached-7": Cached(every=7),
    "warm-block": WarmBlock(n_guards=2, refresh_every=5),
    "exact-wide": Exact(block=WarmBlock(n_guards=1, refresh_every=5)),
}
TRACKERS = ("adam", "projected-gradient")
CACHES = {"cached": 10, "cached-7": 7, "exact-each": 1}
TASKS = ("binary", "multiclass", "scalar", "two-output")
LABEL_TASKS = ("binary", "multiclass")
MODES = ("causal", "frozen", None)
QUIRKS = ("plain", "offset", "constant column", "repeats", "small units")


#: Rows from which a map is learned in a climbing case, if ``early_climbs`` is in use.
PILOT_ROWS = 12


class Case(NamedTuple):
    """One solver on one kind of target; the highest rung of input maps, and what they are."""

    solver: str
    task: str
    rung: str = "drawn"
    objective: str = "covariance"
    sampling: str = "plain"
    precision: str = "float64"

    @property
    def settings(self) -> dict[str, Any]:
        """Parameters that a case stands for."""
        solver = {"solver": SOLVERS[self.solver], "sampling": self.sampling}
        if self.rung == "drawn":
            return solver
        learned = {"frequencies": self.rung, "pilot_rows": PILOT_ROWS}
        return {**solver, **learned, "objective": self.objective}

    @property
    def tracks(self) -> bool:
        """Whether the solver maintains its basis by recursion."""
        return self.solver in TRACKERS

    @property
    def every(self) -> int | None:
        """How often a cache is renewed; None for solvers that answer afresh."""
        return CACHES.get(self.solver)


#: Every rung with both objectives, with classes and with numbers, and with solvers that follow.
CLIMBING = (
    Case("exact", "multiclass", "scaled", "covariance"),
    Case("exact", "scalar", "scaled", "whitened"),
    Case("exact", "binary", "mixed", "whitened"),
    Case("cached-7", "scalar", "mixed", "covariance"),
    Case("exact", "two-output", "trained", "whitened"),
    Case("exact", "multiclass", "trained", "whitened"),
    Case("adam", "scalar", "trained", "covariance"),
    Case("exact", "multiclass", "scaled", "whitened", "structured"),
)
#: The map of many inputs: with classes and with numbers, and with solvers that follow.
STRUCTURED = (
    Case("exact", "multiclass", sampling="structured"),
    Case("exact", "two-output", sampling="structured"),
    Case("cached-7", "scalar", sampling="structured"),
    Case("adam", "scalar", sampling="structured"),
)
#: Input features in single precision: every way in which rows reach a moment, and a learned map.
SINGLE = (
    Case("exact", "multiclass", precision="float32"),
    Case("exact", "two-output", precision="float32"),
    Case("cached-7", "scalar", precision="float32"),
    Case("adam", "scalar", precision="float32"),
)
SINGLE_CLIMBING = (Case("exact", "binary", "trained", "whitened", precision="float32"),)
#: Options that a ready-made map would make void.
OF_DRAWN_MAPS = {"bandwidth", "random_state", "missing_indicators", "input_map"}


def cases(
    solvers: Sequence[str] = tuple(SOLVERS),
    tasks: Sequence[str] = TASKS,
    *,
    climbing: bool = False,
    single: bool = True,
) -> pytest.MarkDecorator:
    """Parametrise ``case`` over the solvers and the targets each of them serves, and over maps.

    With ``climbing``, over every rung of the ladder of input maps too; without ``single``, over no
    map that was made for the columns of the stream.
    """
    found = [Case(solver, task) for solver in solvers for task in tasks if _serves(solver, task)]
    rungs = [*CLIMBING, *SINGLE_CLIMBING]
    more = [case for case in rungs if climbing and case.task in tasks]
    others = [*STRUCTURED, *(SINGLE if single else ())]
    more += [case for case in others if case.solver in solvers and case.task in tasks]
    ids = [f"{case.solver}-{case.task}" for case in found] + ["-".join(case) for case in more]
    return pytest.mark.parametrize("case", [*found, *more], ids=ids)


modes = st.sampled_from(MODES)
POOLABLE = tuple(name for name in SOLVERS if name not in TRACKERS)
#: Solvers that solve the present moment at each request.
FRESH = tuple(name for name in POOLABLE if name not in CACHES)


#: The ways rows reach the standardisers and the moment: in products over blocks as they come, over
#: blocks cut where something is due, and in the two row scans.
ROUTES = ("exact", "cached-7", "adam", "projected-gradient")


def contract(max_examples: int) -> settings:
    """Settings of every property here: reproducible, and never a matter of time.

    A recipe is short enough to read as it was drawn, so failures are shown without shrinking.
    """
    return settings(
        max_examples=max_examples,
        deadline=None,
        derandomize=True,
        database=None,
        phases=(Phase.explicit, Phase.generate),
        suppress_health_check=[HealthCheck.too_slow],
    )


@dataclass(frozen=True)
class Stream:
    """The recipe of a small random stream, and the sizes of a model for it."""

    task: str
    n: int
    d: int
    seed: int
    quirk: str
    n_components: int
    n_features: int
    n_target_features: int | None

    @cached_property
    def raw(self) -> Floats:
        """Inputs before the quirk.

        The first three rows are far apart: a tiny early standard deviation would magnify rounding,
        and that is not what the contracts are about.
        """
        values: Floats = RandomState(self.seed).normal(size=(self.n, self.d))
        start = np.array([[-1.0], [1.0], [0.5]])[: self.n]
        values[:3] = start + 0.1 * values[:3]
        return values[np.arange(self.n) // 2] if self.quirk == "repeats" else values

    @cached_property
    def X(self) -> Floats:  # noqa: N802 - the letter it has in the maths
        """Inputs."""
        if self.quirk == "constant column":
            return np.column_stack([self.raw[:, :-1], np.full(self.n, 3.0)])
        return self._in_units(self.raw)

    @cached_property
    def weights(self) -> Floats:
        """Positive weights, most of them not whole."""
        return np.asarray(RandomState(self.seed + 1).choice([0.25, 1.0, 1.5, 3.0], size=self.n))

    @cached_property
    def y(self) -> NDArray[Any]:
        """Targets: labels (numbers or text), one number or two numbers per row."""
        z = self.raw[:, 0]
        noise = 0.3 * RandomState(self.seed + 2).normal(size=self.n)
        if self.task == "scalar":
            return self._in_units(np.sin(z) + noise)
        if self.task == "two-output":
            return self._in_units(np.column_stack([np.sin(z) + noise, (z + 1.0) ** 2 - noise]))
        edges = [0.0] if self.task == "binary" else [-0.7, 0.0, 0.8]
        labels = np.digitize(z + noise, edges)
        return labels if self.seed % 2 else np.array(["d", "a", "c", "b"])[labels]

    @property
    def has_labels(self) -> bool:
        """Whether the target is a class."""
        return self.task in LABEL_TASKS

    def _in_units(self, values: Floats) -> Floats:
        """Measured far from zero or in small units, where the quirk says so."""
        if self.quirk == "offset":
            return values + 100.0
        return values * 1e-6 if self.quirk == "small units" else values


@st.composite
def streams(
    draw: st.DrawFn, task: str, *, least: int = 2, most: int = 30, quirks: Sequence[str] = QUIRKS
) -> Stream:
    """Draw a stream of ``least`` to ``most`` rows.

    The first draw is always the simplest, so the simplest is a stream worth testing: all rows,
    several columns.
    """
    return Stream(
        task=task,
        n=least + most - draw(st.integers(least, most)),
        d=draw(st.sampled_from((3, 1, 2, 4))),
        seed=draw(st.integers(0, 10_000)),
        quirk=draw(st.sampled_from(quirks)),
        n_components=draw(st.sampled_from((2, 1, 3))),
        n_features=draw(st.sampled_from((16, 8, 24))),
        n_target_features=draw(st.sampled_from((None, 64))),
    )


def with_target(stream: Stream, y: NDArray[Any]) -> Stream:
    """Return the same inputs with other targets."""
    changed = replace(stream, n=len(y))
    vars(changed)["y"] = y
    return changed


def cuts(n: int) -> st.SearchStrategy[list[int]]:
    """Draw places to cut ``n`` rows."""
    places = st.integers(1, max(n - 1, 1)).map(lambda place: max(n - place - 1, 1))
    return st.lists(places, unique=True, min_size=1, max_size=6).map(sorted)


def make(case: Case, stream: Stream, mode: str | None = "causal", **options: Any) -> OKSPCA:
    """Make an empty model for a stream."""
    settings_ = {
        "n_components": stream.n_components,
        "n_random_features": stream.n_features,
        "n_target_features": stream.n_target_features,
        "random_state": stream.seed,
        **case.settings,
        **front_end(mode, stream),
        **options,
    }
    # Single precision by its map, so that a plain reference gets rows of double precision.
    if case.precision == "float32" and not OF_DRAWN_MAPS & set(options):
        settings_["input_map"] = SingleFourierMap.sample(
            stream.d, stream.n_features, bandwidth=1.5, seed=stream.seed
        )
    return OKSPCA(**settings_)


def front_end(mode: str | None, stream: Stream) -> dict[str, Any]:
    """Parameters of a front end; frozen ones share one ready-made standardiser per stream."""
    options: dict[str, Any] = {"standardize": mode}
    if mode == "frozen":
        options["input_standardizer"] = frozen_on(stream.X)
        if not stream.has_labels:
            options["target_standardizer"] = frozen_on(stream.y.reshape(stream.n, -1))
    return options


def learn(
    model: OKSPCA,
    stream: Stream,
    places: Sequence[int] = (),
    *,
    rows: slice = slice(None),
    weights: Floats | None = None,
) -> OKSPCA:
    """Learn rows of a stream, cut at ``places`` (counted from the first of them)."""
    X, y = stream.X[rows], stream.y[rows]
    weight = None if weights is None else weights[rows]
    bounds = [0, *(place for place in places if place < len(X)), len(X)]
    for start, stop in pairwise(bounds):
        some = None if weight is None else weight[start:stop]
        model.partial_fit(X[start:stop], y[start:stop], sample_weight=some)
    return model


def learn_singly(model: OKSPCA, stream: Stream, rows: slice = slice(None)) -> OKSPCA:
    """Learn rows of a stream one at a time through the single-row path."""
    for x, y in zip(stream.X[rows], stream.y[rows], strict=True):
        model.learn_one(x, y)
    return model


def service_of(solver: str) -> Service[Any]:
    """Make the service behind a name."""
    named = SOLVERS[solver]
    return BY_NAME[named]() if isinstance(named, str) else named


def _serves(solver: str, task: str) -> bool:
    """Whether a solver accepts a kind of target."""
    n_targets = {"binary": 2, "multiclass": 4, "scalar": 1, "two-output": 2}[task]
    labels = task in LABEL_TASKS
    return service_of(solver).objection(labels=labels, n_targets=n_targets) is None


def frozen_on(values: Floats) -> FrozenStandardizer:
    """Standardiser frozen on all rows."""
    pilot = CausalStandardizer(values.shape[1])
    pilot.scan(np.ascontiguousarray(values), np.ones(len(values)))
    return FrozenStandardizer.of(pilot)
