"""Every contender by name: how it is called in tables, and how it is made for a feed.

Adding a contender is adding an entry.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from okspca.services import Adam
from okspca_lab.bench.contenders import (
    Contender,
    Ours,
    OursByBlock,
    OursIngest,
    OursOption,
    OursRequest,
    Paper,
)
from okspca_lab.bench.feed import Feed
from okspca_lab.bench.libraries import (
    Features,
    PaperWith,
    SolverAlone,
    UnsupervisedPCA,
    randomized,
)
from okspca_lab.bench.live import (
    FromScratch,
    LiveRows,
    RiverForest,
    Single,
    SingleRows,
    TestThenTrain,
    Wide,
)
from okspca_lab.bench.one_row import OurRow, PipelineRow
from okspca_lab.studies.partial_svd import arpack, full_svd, propack


class Entry(NamedTuple):
    """A label for people, and a maker."""

    label: str
    make: Callable[[Feed], Contender]


def _adam(feed: Feed, kind: type[Ours]) -> Ours:
    """Track with Adam from the start that the paper's tracker has."""
    return kind(feed, solver=Adam(random_state=feed.maps.initial_seed))


def our_adam(feed: Feed) -> Ours:
    """Make okspca with the Adam tracker, row by row."""
    return _adam(feed, Ours)


def paper_adam(feed: Feed) -> Paper:
    """Make the paper's Adam tracker."""
    return Paper(feed, "adam")


_UNCOMPRESSED: dict[str, Any] = {"solver": "warm-block", "compress": False}

ENTRIES: dict[str, Entry] = {
    "ours": Entry("okspca, row by row", Ours),
    "ours-blocks": Entry("okspca, in blocks", OursByBlock),
    "ours-uncertified": Entry("okspca, no certificate", partial(Ours, certify=False)),
    "ours-whitened": Entry("okspca, whitened", partial(OursOption, objective="whitened")),
    "ours-relevance": Entry(
        "okspca, relevance learned on the way", partial(OursOption, frequencies="scaled")
    ),
    "ours-forgetting": Entry("okspca, forgetting", partial(OursOption, forgetting=0.999)),
    "ours-window": Entry("okspca, window of 1,024 rows", partial(OursOption, window=1024)),
    "ours-stability": Entry("okspca, stability", partial(OursOption, stability=8)),
    "plain-blocks": Entry("okspca without options, in blocks", OursByBlock),
    "ours-two-threads": Entry("okspca, two threads, in blocks", partial(OursByBlock, n_threads=2)),
    "ours-whitened-two-threads": Entry(
        "okspca, whitened, two threads, in blocks",
        partial(OursOption, objective="whitened", n_threads=2),
    ),
    "plain-whitened": Entry(
        "okspca, whitened, one thread, in blocks", partial(OursOption, objective="whitened")
    ),
    "ours-ingest": Entry("okspca, learning only", OursIngest),
    "ours-adam": Entry("okspca Adam", our_adam),
    "ours-adam-blocks": Entry("okspca Adam, in blocks", partial(_adam, kind=OursByBlock)),
    "ours-warm": Entry("okspca warm block", partial(Ours, **_UNCOMPRESSED)),
    "ours-warm-request": Entry(
        "okspca warm block, request alone", partial(OursRequest, **_UNCOMPRESSED)
    ),
    "ours-transform-one": Entry("okspca, transform_one", partial(OurRow, question="transform")),
    "ours-predict-one": Entry("okspca, predict_one", partial(OurRow, question="predict")),
    "ours-proba-one": Entry("okspca, predict_proba_one", partial(OurRow, question="predict_proba")),
    "ours-transform-row": Entry(
        "okspca, transform of one row", partial(OurRow, question="transform", block=True)
    ),
    "ours-predict-row": Entry(
        "okspca, predict of one row", partial(OurRow, question="predict", block=True)
    ),
    "ours-live": Entry("okspca, whitened, row by row", partial(LiveRows, objective="whitened")),
    "plain-live": Entry("okspca, covariance, row by row", LiveRows),
    "plain-scratch": Entry(
        "okspca, whitened, solved anew", partial(FromScratch, objective="whitened")
    ),
    "ours-test-then-train": Entry("okspca, predict_one then learn_one", TestThenTrain),
    "river-forest": Entry("river, adaptive forest of ten, predict then learn", RiverForest),
    "ours-structured": Entry("okspca, structured map", partial(Wide, sampling="structured")),
    "plain-dense": Entry("okspca, dense map", Wide),
    "ours-single": Entry("okspca, rows of float32, in blocks", Single),
    "plain-double": Entry("okspca, rows of float64, in blocks", Wide),
    "ours-single-whitened": Entry(
        "okspca, whitened, rows of float32, in blocks", partial(Single, objective="whitened")
    ),
    "plain-double-whitened": Entry(
        "okspca, whitened, rows of float64, in blocks", partial(Wide, objective="whitened")
    ),
    "ours-single-rows": Entry("okspca, rows of float32, row by row", SingleRows),
    "plain-double-rows": Entry("okspca, rows of float64, row by row", LiveRows),
    "paper-exact": Entry("paper, exact on request", partial(Paper, service="exact-on-request")),
    "paper-adam": Entry("paper, Adam", paper_adam),
    "paper-accumulate": Entry("paper, learning only", partial(Paper, service="accumulate-only")),
    "paper-arpack": Entry("paper with SciPy ARPACK", partial(PaperWith, solver=arpack)),
    "paper-propack": Entry("paper with SciPy PROPACK", partial(PaperWith, solver=propack)),
    "paper-randomized": Entry("paper with randomized_svd", partial(PaperWith, solver=randomized)),
    "arpack": Entry("SciPy ARPACK alone", partial(SolverAlone, solver=arpack)),
    "propack": Entry("SciPy PROPACK alone", partial(SolverAlone, solver=propack)),
    "randomized": Entry("randomized_svd alone", partial(SolverAlone, solver=randomized)),
    "full-svd": Entry("NumPy svd alone", partial(SolverAlone, solver=full_svd)),
    "sklearn-transform": Entry(
        "scikit-learn scaler + RBFSampler, transform only", partial(Features, scaler_learns=False)
    ),
    "sklearn-features": Entry(
        "scikit-learn scaler + RBFSampler", partial(Features, scaler_learns=True)
    ),
    "sklearn-row": Entry(
        "scikit-learn scaler + RBFSampler + linear model, predict of one row", PipelineRow
    ),
    "sklearn-pca": Entry("scikit-learn scaler + RBFSampler + IncrementalPCA", UnsupervisedPCA),
}
