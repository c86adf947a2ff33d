"""Certificates of models that learn their map, against a plain solve of all their rows."""

from dataclasses import replace

import numpy as np
import pytest

from okspca import OKSPCA
from okspca.features import CosineMap
from okspca.numerics.arrays import Floats
from tests.contracts.cases import CLIMBING, Case, Stream, learn, make
from tests.reference import ladder as plain
from tests.reference.whitening import symmetric_root, weighted_moments

pytestmark = [
    pytest.mark.filterwarnings("ignore::okspca.RankWarning"),
    pytest.mark.usefixtures("early_climbs"),
]
EXACT = tuple(case for case in CLIMBING if case.solver == "exact")
RIDGE = 0.01
#: What the polynomials of a response count beside it, and how many there are with it.
WEIGHT, DEGREE = 0.01, 6


def target_features(model: OKSPCA, stream: Stream) -> Floats:
    """Indicators of classes, or a response and what its polynomials say beside it."""
    if stream.has_labels:
        return (stream.y[:, np.newaxis] == model.classes_).astype(float)
    columns = []
    for y in stream.y.reshape(stream.n, -1).T:
        angle = np.arccos(np.clip(y / 3.0, -1.0, 1.0))
        columns += [y, *(WEIGHT * np.cos(n * angle) for n in range(2, DEGREE + 1))]
    return np.column_stack(columns)


def plain_target(model: OKSPCA, case: Case, stream: Stream) -> tuple[Floats, Floats]:
    """The matrix whose leading left subspace is wanted, and what makes its rows of features."""
    assert isinstance(model.input_map_, CosineMap)
    Phi = plain.features(
        stream.X, model.input_map_.frequencies(slice(None)), model.input_map_.phases
    )
    Psi = target_features(model, stream)
    S, C, _ = weighted_moments(Phi, Psi, stream.weights)
    if case.objective != "whitened":
        return C, np.eye(len(S))
    root = symmetric_root(S, RIDGE, float(stream.weights.sum()))
    return root @ C, root


@pytest.mark.parametrize("place", [7, 10, 40], ids=["as drawn", "between climbs", "final"])
@pytest.mark.parametrize("case", EXACT, ids=["-".join(case) for case in EXACT])
def test_certificates_hold_against_a_plain_solve(case: Case, place: int) -> None:
    stream = replace(Stream(case.task, 40, 3, 3, "plain", 2, 16, None), n=place)
    model = learn(make(case, stream, None, ridge=RIDGE), stream, weights=stream.weights)
    basis, q = model.basis(), model.basis().rank
    M, root = plain_target(model, case, stream)
    exact, sigma, _ = np.linalg.svd(M)
    # Weights of the features, in the coordinates of the plain solve.
    U = np.linalg.solve(root, model.components_[:q].T)
    np.testing.assert_allclose(U.T @ U, np.eye(q), atol=1e-7)
    np.testing.assert_allclose(basis.singular_values[:q], sigma[:q], rtol=1e-7)
    captured = float(((M.T @ U) ** 2).sum() / (sigma[:q] ** 2).sum())
    distance = float(np.linalg.norm(U @ U.T - exact[:, :q] @ exact[:, :q].T))
    certificate = basis.certificate
    assert certificate is not None
    assert 1.0 - 1e-6 <= certificate.rho_lower <= captured + 1e-9
    if certificate.distance_upper is not None:
        assert distance <= certificate.distance_upper + 1e-6
    if certificate.gap_lower is not None:
        assert certificate.gap_lower <= (sigma[q - 1] ** 2 - sigma[q] ** 2) * (1.0 + 1e-6)
