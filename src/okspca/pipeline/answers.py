"""What can be asked of a state: a basis, an embedding, a report.

Every function takes a *settled* state, one without waiting rows, and changes nothing.  Pass it to
:meth:`Pipeline.read`, which settles the state first and remembers the answers.
"""

from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from okspca.basis import Basis
from okspca.errors import NotReadyError
from okspca.features import FeatureMap, FourierMap, SingleFourierMap
from okspca.numerics.addresses import read_only
from okspca.numerics.arrays import Floats, copied
from okspca.numerics.crew import share_out
from okspca.numerics.leading import by_svd, within_span
from okspca.numerics.matrix import product
from okspca.numerics.spectrum import numerical_rank
from okspca.numerics.subspace import aligned
from okspca.pipeline.asking import answered_once, asked_ahead, recalled
from okspca.pipeline.schedule import CHUNK_ROWS
from okspca.pipeline.state import PipelineState
from okspca.services.answers import certificate_of
from okspca.standardize import Standardizer

if TYPE_CHECKING:
    from okspca.diagnostics import SameTargetReport, Stability


class Embedding(NamedTuple):
    """What embeds rows: standardiser, map, and the columns that features are multiplied with."""

    standardizer: Standardizer
    input_map: FeatureMap
    columns: Floats

    def of(self, X: Floats) -> Floats:
        """Embed rows."""
        Z = np.empty((X.shape[0], self.columns.shape[1]))

        def work(start: int, stop: int) -> None:
            for first in range(start, stop, CHUNK_ROWS):
                rows = slice(first, min(first + CHUNK_ROWS, stop))
                Phi = self.input_map.transform(self.standardizer.transform(X[rows]))
                Z[rows] = product(Phi, self.columns)

        # A map of the user's own need not be one that threads can share.
        feature_map = self.input_map
        if type(feature_map) in (FourierMap, SingleFourierMap):
            operations = len(Z) * feature_map.n_features * feature_map.n_inputs
            share_out(work, len(Z), operations, step=CHUNK_ROWS)
        else:
            work(0, len(Z))
        return Z


@asked_ahead
@answered_once
def request(state: PipelineState) -> Basis:
    """Supply a certified basis of the moment."""
    if state.rows == 0:
        return Basis.not_initialised(state.input_map.n_features)
    return state.service.serve(state.service_state, state.moment, state.rows)


@asked_ahead
@answered_once
def request_uncertified(state: PipelineState) -> Basis:
    """Supply a basis without its certificate."""
    known: Basis | None = recalled(state, request)
    if known is not None:
        return known._replace(certificate=None)
    if state.rows == 0:
        return Basis.not_initialised(state.input_map.n_features)
    return state.service.serve_uncertified(state.service_state, state.moment, state.rows)


@asked_ahead
@answered_once
def maintained(state: PipelineState) -> Basis:
    """Return all columns a tracking service maintains; for others, the requested basis."""
    rows = None if state.tracker is None else state.tracker.maintained(state.service_state)
    if rows is None:
        return request(state)
    scaled = state.moment.scaled()
    sigma = within_span(rows, scaled.Ct).sigma
    norms = np.linalg.norm(product(rows, scaled.Ct.T), axis=1) * scaled.scale
    certificate = None if scaled.is_zero else certificate_of(rows, sigma, scaled)
    return Basis.of(rows.T, norms, built_at=state.rows, certificate=certificate)


@asked_ahead
@answered_once
def delivered_columns(state: PipelineState) -> Floats:
    """Columns as services deliver them: maintained, or requested and padded with zeros."""
    vectors = delivered_directions(state)
    missing = state.n_columns - vectors.shape[1]
    if missing <= 0:
        return read_only(vectors)
    return read_only(np.hstack([vectors, np.zeros((vectors.shape[0], missing))]))


def delivered_directions(state: PipelineState) -> Floats:
    """The same without zeros."""
    basis = maintained(state)
    if state.align and state.anchor is not None and basis.rank and state.anchor.shape[1]:
        return aligned(basis.vectors, state.anchor)
    return basis.vectors


@asked_ahead
@answered_once
def embedding_basis(state: PipelineState) -> Floats:
    """Weights of the features that embeddings use (D_x x k)."""
    return read_only(state.moment.feature_weights(delivered_columns(state)))


@asked_ahead
@answered_once
def embedding(state: PipelineState) -> Embedding:
    """What embeds rows as of now."""
    return Embedding(copied(state.input_standardizer), state.input_map, embedding_basis(state))


def input_features(state: PipelineState, X: Floats) -> Floats:
    """Input features of rows as the next observation would have them."""
    return state.input_map.transform(state.input_standardizer.transform(X))


def mean_features(state: PipelineState) -> Floats:
    """Mean of the input features, as :func:`input_features` shows them."""
    mean = state.moment.left_mean()
    if state.input_origin is None:
        return mean
    origin = np.zeros((1, state.input_map.n_inputs)) + state.input_origin.point
    return mean + input_features(state, origin)[0]


@answered_once
def report(state: PipelineState) -> "SameTargetReport":
    """Compare the delivered basis with the exact solution of the same moment."""
    scaled = state.moment.scaled()
    exact = by_svd(scaled.Ct)
    sigma = exact.sigma * scaled.scale
    reference_rank = 0 if scaled.is_zero else numerical_rank(sigma)
    q = min(state.n_columns, reference_rank)
    full = None if state.tracker is None else state.tracker.maintained(state.service_state)
    if full is None or q == 0:
        delivered = request(state).vectors
        bases = (delivered, delivered)
    else:
        extracted = within_span(full, scaled.Ct).rows[:q]
        bases = (full.T, extracted.T)
    C = scaled.Ct.T * scaled.scale
    diagnostics = import_module("okspca.diagnostics.same_target")  # few ask for it
    return diagnostics.same_target_report(
        state.rows, C, (exact.rows.T, sigma), (q, reference_rank), bases
    )


@answered_once
def stability(state: PipelineState) -> "Stability":
    """Estimate how far the exact subspace of the rows so far is from the population's."""
    if state.sub_moments is None:
        message = "No sub-moments were kept; make the model with stability=8."
        raise NotReadyError(message)
    groups = state.moment.in_target_coordinates(state.sub_moments.arrays(state.moment.rows))
    has_no_target = state.moment.scaled().is_zero
    diagnostics = import_module("okspca.diagnostics.stability")
    return diagnostics.estimate_stability(state.rows, groups, state.n_columns, has_no_target)


@answered_once
def errors_in_words(state: PipelineState) -> str:
    """Say how far delivered, exact and population subspace are apart, in two lines."""
    try:
        found: Stability | str = stability(state)
    except NotReadyError as failure:
        found = f"not estimated. {failure}"
    words = import_module("okspca.diagnostics.words")
    return words.error_lines(request(state).certificate, found)
