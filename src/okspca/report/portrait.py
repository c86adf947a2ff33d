"""A saved model together with rows to draw it with, and the pictures of both."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure

from okspca.diagnostics.stability import Stability
from okspca.errors import DataError, NotReadyError
from okspca.estimators import OKSPCA
from okspca.estimators.data import CLASSIFICATION
from okspca.estimators.preparing import prepared_names
from okspca.estimators.saving import load_model
from okspca.files.comparison import Scores, scores
from okspca.files.held_out import HeldOut, score_held_out
from okspca.files.readers import expanded
from okspca.files.reading import Reading
from okspca.files.samples import Sample, read_sample, usable_inputs
from okspca.files.verdict import Setting, setting_of
from okspca.numerics.arrays import Floats
from okspca.numerics.leading import by_svd
from okspca.pipeline import PipelineState
from okspca.report.charts import (
    Plot,
    embedding_chart,
    quality_chart,
    relevance_chart,
    spectrum_chart,
)
from okspca.report.input_shares import relevance
from okspca.report.pictures import draw_embedding, draw_quality, draw_relevance, draw_spectrum
from okspca.report.second_axis import second_axis
from okspca.state.streams import StreamRecord

DRAWN_ROWS, RELEVANCE_ROWS = 3000, 2000
#: Singular values below this share of the largest are rounding.
ROUNDING = 1e-12


class Portrait(NamedTuple):
    """What there is to show; ``sample`` is None where no rows could be had."""

    path: Path
    model: OKSPCA
    record: StreamRecord | None
    sample: Sample | None
    #: Files that were read for it.
    inputs: tuple[str, ...] = ()
    #: Scores on rows that it has not learned, where such were given.
    held_out: HeldOut | None = None

    @property
    def classes(self) -> bool:
        """Whether the target is a class."""
        return self.model.task_ == CLASSIFICATION

    @property
    def target(self) -> str:
        """What the target is called."""
        return "target" if self.record is None else self.record.target

    @property
    def setting(self) -> Setting:
        """What a verdict needs to know."""
        return setting_of(self.model, self.target)

    def scores(self) -> Scores | None:
        """Scores on held-out rows, else running scores, if the fit was evaluated."""
        if self.held_out is not None:
            return self.held_out.scores
        return None if self.record is None else scores(self.record.evaluation, classes=self.classes)

    def stability(self) -> Stability | None:
        """The estimated error, if it was asked for and can be made."""
        try:
            return self.model.estimate_stability()
        except NotReadyError:
            return None

    def spectrum(self) -> Floats:
        """All singular values of the moment."""
        return self.model.ready().read(_spectrum)


def open_portrait(
    path: Path,
    inputs: list[str],
    reading: Reading,
    most_rows: int,
    held_out: Sequence[str] = (),
) -> Portrait:
    """Load a model; rows come from ``inputs``, or from where it was fitted if that is there."""
    model, record = load_model(OKSPCA, path)
    if getattr(model, "input_map_", None) is None:
        message = f"{path} has not learned enough rows to have a basis; there is nothing to draw."
        raise DataError(message)
    if record is None:
        if inputs or held_out:
            message = f"{path} does not know its columns; only `okspca fit` notes them."
            raise DataError(message)
        return Portrait(path, model, None, None, (str(path),))
    classes = model.task_ == CLASSIFICATION
    found = inputs or usable_inputs(record)
    sample = read_sample(record, found, reading, classes, most_rows) if found else None
    files = (str(path), *expanded(found), *expanded(list(held_out)))
    scored = score_held_out(model, record, list(held_out), reading) if held_out else None
    return Portrait(path, model, record, sample, files, scored)


def _spectrum(state: PipelineState) -> Floats:
    """Singular values of C̄, without those that are rounding of the largest."""
    scaled = state.moment.scaled()
    if scaled.is_zero:
        return np.zeros(0)
    sigma = by_svd(scaled.Ct).sigma
    return sigma[sigma > ROUNDING * sigma[0]] * scaled.scale


def _embedding(portrait: Portrait) -> Figure | None:
    """Rows in the coordinates of the embedding."""
    if portrait.sample is None:
        return None
    X, y = portrait.sample.drawn(DRAWN_ROWS)
    if not len(X):
        return None
    Z = np.asarray(portrait.model.transform(X))
    second = second_axis(portrait.model, X, Z)
    return draw_embedding(Z, y, portrait.target, classes=portrait.classes, second=second)


def _spectrum_picture(portrait: Portrait) -> Figure:
    """The singular values and the rank."""
    found = portrait.stability()
    recommended = None if found is None else found.recommended_rank
    rank, asked = portrait.model.basis().rank, portrait.model.n_components_
    return draw_spectrum(portrait.spectrum(), rank, asked, recommended)


def _quality(portrait: Portrait) -> Figure | None:
    """The course of the fit."""
    if portrait.record is None:
        return None
    found = portrait.scores()
    return draw_quality(portrait.record.history, "score" if found is None else found.measure)


def _relevance(portrait: Portrait) -> Figure | None:
    """Which inputs drive which component."""
    if portrait.sample is None:
        return None
    X, _ = portrait.sample.drawn(RELEVANCE_ROWS)
    names = prepared_names(portrait.model, portrait.sample.names)
    return draw_relevance(relevance(portrait.model, X), names) if len(X) else None


#: Every picture by its name; None where it needs what is not there.
PICTURES: dict[str, Callable[[Portrait], Figure | None]] = {
    "embedding": _embedding,
    "spectrum": _spectrum_picture,
    "quality": _quality,
    "relevance": _relevance,
}


def charts(portrait: Portrait) -> dict[str, list[Plot]]:
    """Data of every picture; empty where there are none."""
    model, sample = portrait.model, portrait.sample
    found = portrait.scores()
    told: dict[str, list[Plot]] = {
        "spectrum": spectrum_chart(portrait.spectrum(), model.basis().rank)
    }
    if portrait.record is not None:
        measure = "score" if found is None else found.measure
        told["quality"] = quality_chart(portrait.record.history, measure)
    if sample is not None:
        X, y = sample.drawn(DRAWN_ROWS)
        if len(X):
            Z = np.asarray(model.transform(X))
            told["embedding"] = embedding_chart(Z, y, portrait.target, classes=portrait.classes)
            some = sample.drawn(RELEVANCE_ROWS)[0]
            names = prepared_names(model, sample.names)
            told["relevance"] = relevance_chart(relevance(model, some), names)
    return told
