"""The services of the study by name, in two builds, all behind the same two calls.

`paper`: plain NumPy, one observation at a time (:mod:`okspca_lab.studies.paper_services`).
`ours`: the compiled package through its public door, and solvers from elsewhere given the same
compiled front end.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple, Protocol

from okspca.basis import Basis, Status
from okspca.numerics.arrays import Floats
from okspca_lab.studies.paper_services import (
    PaperAnswer,
    PaperPipeline,
    paper_service,
    service_names,
)
from okspca_lab.studies.workloads import Maps, Regime

CONTROL = "accumulate-only"
#: The schedule without requests.
NEVER = "never"
#: The paper's Adam, timed again among ours so that both are of one run.
ANCHOR = "paper-adam"

LABELS = {
    "exact-on-request": "Exact-request",
    "adam": "Adam",
    "projected-gradient": "PG",
    "cache-10": "Cache-10",
    "cache-100": "Cache-100",
    "exact-each": "Exact-each",
    "binary": "Binary",
    "contrast": "Contrast",
    "exact": "Exact (okspca)",
    "warm-block": "Warm block",
    "incremental": "Incremental SVD",
    "full-svd": "Full SVD",
    "arpack": "ARPACK",
    "propack": "PROPACK",
    CONTROL: "Learning only",
    ANCHOR: "Paper's Adam",
}

#: Answers that may be old.
CACHED = ("cache-10", "cache-100")
#: Services of okspca that claim to be exact and fresh.
OWN_EXACT = ("exact", "warm-block", "exact-each", "binary", "contrast")


class Delivered(NamedTuple):
    """What a request gave, whatever the build."""

    vectors: Floats | None
    built_at: int
    status: Status


class Server(Protocol):
    """Learns observations one by one and answers requests."""

    @property
    def step(self) -> Callable[[Floats, Any], object]:
        """Learns one observation."""

    @property
    def request(self) -> Callable[[], Any]:
        """Answers a request."""


def methods_of(regime: Regime, build: str) -> tuple[str, ...]:
    """Name the services that apply to a regime.

    Examples
    --------
    >>> from okspca_lab.studies.workloads import REGIMES
    >>> sum(len(methods_of(regime, "paper")) for regime in REGIMES.values())
    33
    >>> methods_of(REGIMES["C2"], "ours")[:4]
    ('exact', 'warm-block', 'binary', 'incremental')
    """
    if build == "paper":
        return service_names(regime)
    structured = {None: (), 2: ("binary",)}.get(regime.n_classes, ("contrast",))
    others = ("incremental", "adam", "projected-gradient", "full-svd", "arpack", "propack")
    return ("exact", "warm-block", *structured, *others, "exact-each", *CACHED)


def make_server(build: str, method: str, regime: Regime, maps: Maps) -> Server:
    """Make a service with its front end, ready for the first observation."""
    if build == "paper" or method == ANCHOR:
        name = method.removeprefix("paper-")
        return PaperPipeline(regime, maps, paper_service(name, regime, maps))
    # Imported here: it takes seconds, which processes that time the paper build need not spend.
    ours: Server = import_module("okspca_lab.studies.services.our_server").OurServer(
        method, regime, maps
    )
    return ours


def delivered(answer: PaperAnswer | Basis) -> Delivered:
    """Bring the answers of both builds into one form."""
    if isinstance(answer, Basis):
        return Delivered(answer.vectors if answer.rank else None, answer.built_at, answer.status)
    return Delivered(answer.basis, answer.built_at, answer.status)
