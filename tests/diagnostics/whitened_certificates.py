"""Certificates of the whitened objective against 80-digit arithmetic, over as many cases as asked.

Run as ``python -m tests.diagnostics.whitened_certificates --cases 2000 --wide 100``.
"""

import argparse
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import RandomState

from okspca.basis import Basis
from okspca.moments import WhitenedMoment
from okspca.numerics.leading import by_svd, within_span
from okspca.services import Cached, Contrast, Exact, ExactSnapshot, Service, WarmBlock
from okspca.services.answers import certificate_of
from tests.diagnostics.whitened_cases import Case, draw, orthonormal, stored_numbers
from tests.reference.exact_whitening import Truth, truth_about

SHARP_CONDITION, SHARP_GAP, SHARP_ANGLE = 1e6, 1e-3, 1e-6
SERVICES: tuple[Service[Any], ...] = (ExactSnapshot(), Exact(), WarmBlock(), Cached(), Contrast())


@dataclass
class Tally:
    """What was found.

    ``violations`` are false statements, ``blunt`` exact answers of well-conditioned, well-separated
    problems whose angle is not certified to within 1e-6 degrees: both must be empty.
    """

    cases: int = 0
    wide: int = 0
    without_target: int = 0
    angles_claimed: int = 0
    due_to_be_sharp: int = 0
    loosest_due: float = 0.0
    largest_true_share_of_claim: float = 0.0
    kinds: dict[str, int] = field(default_factory=dict)
    violations: list[str] = field(default_factory=list)
    blunt: list[str] = field(default_factory=list)


def answers(case: Case, seed: int) -> Basis:
    """One service's answer; every eleventh case has an arbitrary block instead."""
    moment, t = case.moment, max(case.moment.rows, 1)
    D = moment.arrays.sums.shape[1]
    if seed % 11 == 0:
        return arbitrary(case, seed)
    service = SERVICES[seed // 3 % 15 if seed // 3 % 15 < len(SERVICES) else 0]
    if isinstance(service, Contrast) and not moment.scaled().labels:
        service = ExactSnapshot()
    state = service.start(D, min(case.k, D), seed)
    if isinstance(service, Cached):
        service.observe(state, moment, None, t)
        t += 1
    return service.serve(state, moment, t)


def arbitrary(case: Case, seed: int) -> Basis:
    """Any orthonormal block, near the exact one or not, with its certificate."""
    random, scaled = RandomState(seed), case.moment.scaled()
    D = scaled.Ct.shape[1]
    exact = by_svd(scaled.Ct).rows[: case.k].T
    noise = 10.0 ** random.uniform(-12, 0) * orthonormal(random, D, exact.shape[1])
    rows = np.ascontiguousarray(np.linalg.qr(exact + noise)[0].T)
    certificate = None
    if not scaled.is_zero:
        inspected = by_svd(scaled.Ct) if seed % 2 else within_span(rows, scaled.Ct)
        certificate = certificate_of(rows, inspected.sigma, scaled)
    return Basis.of(rows.T, np.ones(len(rows)), built_at=1, certificate=certificate)


def faults(basis: Basis, truth: Truth) -> list[str]:
    """Which statements of a certificate are false."""
    certificate = basis.certificate
    assert certificate is not None
    found = []
    if not 1.0 - certificate.rho_lower >= truth.loss:
        found.append(f"rho {certificate.rho_lower!r}, lost {truth.loss!r}")
    pairs = {
        "angle": (certificate.angle_upper, truth.angle),
        "distance": (certificate.distance_upper, truth.distance),
        "gap": (truth.gap if certificate.gap_lower is not None else None, certificate.gap_lower),
    }
    for name, (upper, lower) in pairs.items():
        if upper is not None and lower is not None and not upper >= lower:
            found.append(f"{name} {upper!r} < {lower!r}")
    return found


def is_due(moment: WhitenedMoment, truth: Truth) -> bool:
    """Whether an exact answer must be certified sharply: nothing was dropped, well separated."""
    separated = truth.condition <= SHARP_CONDITION and truth.relative_gap >= SHARP_GAP
    return separated and moment.scaled().dropped == 0.0


def check(tally: Tally, seed: int, D: int | None = None) -> None:
    """Draw a case, answer it, and compare the certificate with the truth."""
    case = draw(seed, D)
    basis = answers(case, seed)
    tally.cases += 1
    tally.kinds[case.kind] = tally.kinds.get(case.kind, 0) + 1
    tally.wide += case.moment.arrays.sums.shape[1] >= 256
    if basis.certificate is None:
        tally.without_target += 1
        return
    truth = truth_about(case.moment.feature_weights(basis.vectors), stored_numbers(case.moment))
    name = f"{case.kind} {seed} {D or ''}"
    tally.violations += [f"{name}: {fault}" for fault in faults(basis, truth)]
    angle = basis.certificate.angle_upper
    if angle is not None:
        tally.angles_claimed += 1
        share = truth.angle / angle
        tally.largest_true_share_of_claim = max(tally.largest_true_share_of_claim, share)
    if seed % 11 and basis.age == 0 and is_due(case.moment, truth):
        tally.due_to_be_sharp += 1
        tally.loosest_due = max(tally.loosest_due, 90.0 if angle is None else angle)
        if angle is None or angle > SHARP_ANGLE:
            tally.blunt.append(f"{name}: {angle!r}, {truth}")


def main() -> None:
    """Check the cases and write the tally."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--wide", type=int, default=100, help="cases of 256 features besides")
    parser.add_argument("--out", type=Path, default=None)
    asked = parser.parse_args()
    tally = Tally()
    for seed in range(asked.cases):
        check(tally, seed)
    for seed in range(asked.wide):
        check(tally, seed, 256)
    command = f"python -m {__spec__.name} --cases {asked.cases} --wide {asked.wide}"
    text = json.dumps({"command": command, **asdict(tally)}, indent=2)
    print(text)
    if asked.out is not None:
        asked.out.parent.mkdir(parents=True, exist_ok=True)
        asked.out.write_text(text + "\n")


if __name__ == "__main__":
    main()
