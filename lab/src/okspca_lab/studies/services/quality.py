"""Pass C, untimed: every answer of every service against the offline full moment.

A request changes nothing that a service maintains, so one walk that asks after every observation
holds the answers of all schedules; a schedule only picks among them.  In the paper build all
services of a walk share one front end and moment, which are bit for bit those each would compute
for itself.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from okspca.numerics.arrays import Floats
from okspca.numerics.spectrum import helmert
from okspca_lab.studies.paper_services import (
    AccumulateOnly,
    PaperPipeline,
    PaperService,
    answer_from,
    paper_service,
)
from okspca_lab.studies.rows import Row
from okspca_lab.studies.services.accounting import (
    GEOMETRY,
    Ledger,
    Reference,
    mean_of,
    reference_of,
)
from okspca_lab.studies.services.methods import Delivered, Server, delivered, make_server
from okspca_lab.studies.workloads import REGIMES, SCHEDULES, Maps, Regime, draw_maps, stream

#: Angle that the paper's description of the latter half of R256 uses.
AWAY_DEGREES = 80.0
#: Regimes whose whole trajectories are kept for the figures.
DRAWN = ("R128", "R256")
#: How often streams beyond the study are looked at: a number that shares no divisor with the
#: periods of the caches, so that answers of every age are met equally often.
LOOK_EVERY = 7

Ask = Callable[[], Delivered]


class Walk(NamedTuple):
    """What came of walking along one stream.

    Attributes
    ----------
    regime : Regime
        Dimensions.
    ledgers : dict
        The answers of each method.
    last : Reference
        The exact answer after the last observation.
    structure : dict
        Largest relative residual of the identity behind each structured service.
    """

    regime: Regime
    ledgers: dict[str, Ledger]
    last: Reference
    structure: Row


def walk_paper(
    regime: Regime,
    seed: int,
    services: dict[str, PaperService],
    n_rows: int | None = None,
    *,
    every: int = 1,
) -> Walk:
    """Walk a stream with services of the paper build that share one front end."""
    maps = draw_maps(regime, seed)
    pipeline = PaperPipeline(regime, maps, _Together(services))

    def asked(service: PaperService) -> Ask:
        return lambda: delivered(answer_from(service, pipeline.moment, regime.n_components))

    asks = {name: asked(service) for name, service in services.items()}
    return _walk((regime, seed, n_rows, every), pipeline, [], asks)


def walk_ours(regime: Regime, seed: int, methods: Sequence[str], n_rows: int | None = None) -> Walk:
    """Walk a stream with services of our build, each through its public door."""
    maps = draw_maps(regime, seed)
    pipeline = PaperPipeline(regime, maps, AccumulateOnly())
    servers = {name: make_server("ours", name, regime, maps) for name in methods}

    def asked(server: Server) -> Ask:
        return lambda: delivered(server.request())

    asks = {name: asked(server) for name, server in servers.items()}
    return _walk((regime, seed, n_rows, 1), pipeline, list(servers.values()), asks)


def _walk(
    along: tuple[Regime, int, int | None, int],
    pipeline: PaperPipeline,
    servers: list[Server],
    asks: dict[str, Ask],
) -> Walk:
    """Learn row by row; after each, or so many, factor the moment and note everyone's answer.

    ``along``: regime, seed, number of rows, and after how many of them to look.
    """
    regime, seed, n_rows, every = along
    X, y = stream(regime, seed, n_rows)
    ledgers = {name: Ledger(X.shape[0]) for name in asks}
    structure: Row = {"binary": 0.0, "contrast": 0.0}
    for i, (x, target) in enumerate(zip(X, y.tolist(), strict=True)):
        pipeline.step(x, target)
        for server in servers:
            server.step(x, target)
        if (i + 1) % every and i + 1 < X.shape[0]:
            continue
        C = pipeline.moment.centred()
        reference = reference_of(C, regime.n_components)
        for name, ask in asks.items():
            ledgers[name].enter(i + 1, reference, *ask())
        _note_structure(structure, regime, C)
    return Walk(regime, ledgers, reference, structure)


class _Together(PaperService):
    """Several services that follow one moment."""

    def __init__(self, services: dict[str, PaperService]) -> None:
        self.services = services

    def observe(self, moment: Any) -> None:
        """Let each of them follow."""
        for service in self.services.values():
            service.observe(moment)

    def factors(self, moment: Any) -> None:
        """Nobody asks them together."""


def _note_structure(structure: Row, regime: Regime, C: Floats) -> None:
    """Keep the largest relative residual of the identities that structured services rest on."""
    size = float(np.linalg.norm(C))
    if regime.n_classes is None or size == 0.0:
        return
    if regime.n_classes == 2:
        residual = float(np.linalg.norm(C[:, 0] + C[:, 1])) / size
        structure["binary"] = max(structure["binary"], residual)
        return
    H = helmert(regime.n_classes)
    residual = float(np.linalg.norm(C - (C @ H) @ H.T)) / size
    structure["contrast"] = max(structure["contrast"], residual)


def quality_rows(walk: Walk, seed: int) -> dict[str, list[Row]]:
    """Summarise a walk: for each method one row per schedule, and one for the last observation."""
    regime, found = walk.regime, {}
    for name, ledger in walk.ledgers.items():
        n = ledger.q_ref.size
        told = {"regime": regime.name, "seed": seed, "method": name}
        rows = [
            {"kind": "quality", **told, "schedule": s.name, **ledger.summary(s.requests(n, seed))}
            for s in SCHEDULES.values()
        ]
        rows.append({"kind": "terminal", **told, **_terminal(walk, ledger)})
        rows.append({"kind": "latter-half", **told, **_latter_half(ledger)})
        if walk.structure.get(name):
            rows.append({"kind": "structure", **told, "residual": walk.structure[name]})
        found[name] = rows
    return found


def _terminal(walk: Walk, ledger: Ledger) -> Row:
    """Describe the answer after the last observation."""
    last = walk.last
    row: Row = {
        "r_ref": last.rank,
        "q_ref": last.q,
        "q_out": int(ledger.q_out[-1]),
        "relative_gap": last.gap / last.best if last.best else None,
    }
    return row | {name: _or_none(getattr(ledger, name)[-1]) for name in GEOMETRY}


def _latter_half(ledger: Ledger) -> Row:
    """Count answers of the second half that are far away although valid, fresh and untied."""
    n = ledger.q_ref.size
    half = np.arange(n) >= n // 2
    sound = half & ledger.matched & ~ledger.stale & ~ledger.tied
    return {
        "requests": int(np.count_nonzero(half)),
        "sound": int(np.count_nonzero(sound)),
        "away": int(np.count_nonzero(ledger.angle[sound] > AWAY_DEGREES)),
        "smallest_angle": float(ledger.angle[sound].min()) if sound.any() else None,
    }


def trajectories(walk: Walk) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield what the figures need, in single precision."""
    for name, ledger in walk.ledgers.items():
        yield name, {key: getattr(ledger, key).astype(np.float32) for key in GEOMETRY}


def paper_services(regime: Regime, maps: Maps, methods: Sequence[str]) -> dict[str, PaperService]:
    """Make services of the paper build."""
    return {name: paper_service(name, regime, maps) for name in methods}


def further_rows(
    regime_name: str, seed: int, methods: Sequence[str], n_rows: int | None
) -> list[Row]:
    """Average the geometry of a stream that is not part of the study, looking now and then."""
    regime = REGIMES[regime_name]
    services = paper_services(regime, draw_maps(regime, seed), methods)
    walk = walk_paper(regime, seed, services, n_rows, every=LOOK_EVERY)
    told = {"kind": "further", "regime": regime.name, "seed": seed}
    return [
        {**told, "method": name}
        | {key: mean_of(getattr(ledger, key)[ledger.matched]) for key in GEOMETRY}
        for name, ledger in walk.ledgers.items()
    ]


def walk_of(
    build: str, regime_name: str, seed: int, methods: Sequence[str], n_rows: int | None
) -> Walk:
    """Walk a stream of a regime with some services of a build."""
    regime = REGIMES[regime_name]
    if build == "ours":
        return walk_ours(regime, seed, methods, n_rows)
    services = paper_services(regime, draw_maps(regime, seed), methods)
    return walk_paper(regime, seed, services, n_rows)


def _or_none(value: float) -> float | None:
    """What is undefined stays so."""
    return None if np.isnan(value) else float(value)
