"""The numbers that a running fit shows."""

from typing import Any

from okspca.errors import NotReadyError
from okspca.estimators import OKSPCA
from okspca.estimators.data import CLASSIFICATION
from okspca.estimators.presets import target_in_words
from okspca.files.comparison import scores
from okspca.files.verdict import other_words, verdict
from okspca.state.streams import StreamRecord


def numbers_of(model: OKSPCA, record: StreamRecord, *, with_error_bar: bool) -> dict[str, Any]:
    """Say how far a fit is and how good; everything is plain JSON."""
    basis = model.basis()
    proof = basis.certificate
    found = scores(record.evaluation, classes=model.task_ == CLASSIFICATION)
    told: dict[str, Any] = {
        "rows_read": record.rows_read,
        "rows_skipped": record.rows_skipped,
        "values_imputed": record.values_imputed,
        "target": target_in_words(model),
        "target_words": other_words(found, model),
        "rank": basis.rank,
        "rho_lower": None if proof is None else proof.rho_lower,
        "objective": float((basis.singular_values**2).sum()),
        "error_bar": _error_bar(model) if with_error_bar else None,
        "scores": None if found is None else found.plain(),
    }
    if record.evaluation is not None:
        told["verdict"] = verdict(found, model, record.target)
    return told


def _error_bar(model: OKSPCA) -> tuple[float, float, float] | None:
    """Estimated degrees to the population's subspace and their interval, where there are any."""
    try:
        found = model.estimate_stability()
    except NotReadyError:
        return None
    if not found.angles:
        return None
    low, high = found.angle_intervals[0]
    return float(found.angles[0]), float(low), float(high)
