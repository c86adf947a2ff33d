"""Sparse rows at the door: what they need of the settings and of what was learned before."""

from typing import Any

import numpy as np
from scipy.sparse import issparse

from okspca.errors import DataError
from okspca.estimators.presets import AUTO
from okspca.features import FourierMap, StructuredMap
from okspca.features.ladder import DRAWN
from okspca.pipeline import Pipeline
from okspca.standardize import FrozenStandardizer, NoStandardizer
from okspca.standardize.sparse import SparseStandardizer


def check_sparse_rows(model: Any, pipeline: Pipeline | None, X: Any) -> None:
    """Raise where rows are sparse and would have to be filled."""
    if not issparse(X):
        return
    forgets = model.standardize == "causal" and model.forget_standardizers
    searched = pipeline is not None and "search" in pipeline.state.companions
    refused = {
        "frequencies": model.frequencies not in (AUTO, DRAWN),
        "input_map": type(model.input_map) not in (type(None), FourierMap, StructuredMap),
        "window": model.window is not None and forgets,
        "forgetting": model.forgetting < 1.0 and forgets,
        "missing_indicators": model.missing == "impute" and model.missing_indicators,
    }
    for name, is_refused in refused.items():
        if is_refused:
            message = f"{name}={getattr(model, name)!r} cannot be combined with sparse rows"
            raise DataError(f"{message}; leave it at its default, or give X.toarray().")
    if searched:
        message = "X is sparse, but the model learns which inputs matter from rows that were not"
        raise DataError(f"{message}; use frequencies='drawn', or give X.toarray().")
    learned = model.input_standardizer if pipeline is None else pipeline.state.input_standardizer
    if learned is not None and not _only_scales(learned):
        message = (
            "X is sparse, but the model centres its inputs, which would fill them; start a model "
            "with sparse rows, or give X.toarray()."
        )
        raise DataError(message)


def _only_scales(standardizer: Any) -> bool:
    """Whether a standardiser leaves zeros as they are."""
    if isinstance(standardizer, FrozenStandardizer):
        return not np.any(standardizer.mean)
    return isinstance(standardizer, SparseStandardizer | NoStandardizer)
