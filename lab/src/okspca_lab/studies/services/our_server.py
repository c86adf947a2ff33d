"""The services of our build: okspca's own, and solvers from elsewhere behind its front end."""

from typing import Any

from okspca.estimators import OKSPCA
from okspca.services import Adam, Cached, ProjectedGradient, Service
from okspca_lab.studies.services.incremental import Incremental
from okspca_lab.studies.services.methods import CONTROL
from okspca_lab.studies.services.solvers import OnRequest
from okspca_lab.studies.workloads import PROJECTED_GRADIENT_STEPS, Maps, Regime

#: These see the moment over all target features, as its users elsewhere would.
UNCOMPRESSED = ("warm-block", "full-svd", "arpack", "propack")


class OurServer:
    """okspca's estimator behind the two calls."""

    def __init__(self, method: str, regime: Regime, maps: Maps) -> None:
        self.model = OKSPCA(
            regime.n_components,
            variance_floor="paper",
            input_map=maps.input_map,
            target_map=maps.target_map,
            compress=method not in UNCOMPRESSED,
            solver=_solver(method, regime, maps),
        )
        self.step = self.model.learn_one
        self.request = self.model.basis


def _solver(method: str, regime: Regime, maps: Maps) -> str | Service[Any]:
    """Choose the service object of a method; trackers start where the paper's do."""
    if method in ("full-svd", "arpack", "propack"):
        return OnRequest(method)
    made: dict[str, Service[Any]] = {
        "adam": Adam(random_state=maps.initial_seed),
        "projected-gradient": ProjectedGradient(
            PROJECTED_GRADIENT_STEPS.get(regime.name, 0.1), random_state=maps.initial_seed
        ),
        "cache-10": Cached(every=10),
        "cache-100": Cached(every=100),
        "incremental": Incremental(),
        CONTROL: OnRequest("full-svd"),
    }
    return made.get(method, method)
