"""From rows to ratios: who is divided by whom, the median and spread, and the verdict."""

from dataclasses import dataclass
from statistics import median

from okspca_lab.bench.cells import CLAIMS, Claim
from okspca_lab.bench.measure import Timed

#: Largest angle, in degrees, at which an answer counts as exact.
EXACT_ANGLE = 1e-6
#: Largest angle, in radians, at which two trackers count as the same.
SAME_SPAN = 1e-10


@dataclass(frozen=True)
class Ratio:
    """One contender of ours divided by another, over all repetitions of a cell.

    Attributes
    ----------
    cell, ours, other : str
        What was divided by what.
    ratios : tuple of float
        One for each repetition.
    ours_us, other_us : float
        Median over the repetitions of the mean time per row.
    angle_degrees, span_radians : float or None
        Worst quality of ours over all repetitions.
    claim : Claim or None
        What is claimed about it.

    Examples
    --------
    >>> Ratio("c", "ours", "other", (0.2, 0.1, 0.4), 1.0, 5.0, None, None, None).spread
    (0.1, 0.4)
    """

    cell: str
    ours: str
    other: str
    ratios: tuple[float, ...]
    ours_us: float
    other_us: float
    angle_degrees: float | None
    span_radians: float | None
    claim: Claim | None

    @property
    def middle(self) -> float:
        """Median ratio."""
        return median(self.ratios)

    @property
    def spread(self) -> tuple[float, float]:
        """Smallest and largest ratio."""
        return min(self.ratios), max(self.ratios)

    @property
    def is_right(self) -> bool:
        """Whether the answers had the quality that goes with the claim."""
        if self.span_radians is not None:
            return self.span_radians <= SAME_SPAN
        if self.claim is not None and not self.claim.is_basis:
            return True
        return self.angle_degrees is not None and self.angle_degrees <= EXACT_ANGLE

    @property
    def verdict(self) -> str:
        """Tell what became of the claim, where there is one."""
        if self.claim is None:
            return ""
        if not self.is_right:
            return "wrong"
        if self.middle <= self.claim.aim:
            return "aim reached"
        return "met" if self.middle <= self.claim.must else "missed"


def ratios_of(rows: list[Timed]) -> list[Ratio]:
    """Form all ratios of interest, in the order of the rows."""
    cells: dict[str, dict[str, list[Timed]]] = {}
    for row in rows:
        cells.setdefault(row.cell, {}).setdefault(row.contender, []).append(row)
    return [
        _ratio(cell, timed[ours], timed[other])
        for cell, timed in cells.items()
        for ours, other in pairs(list(timed))
    ]


def pairs(contenders: list[str]) -> list[tuple[str, str]]:
    """Say who is divided by whom, the contenders of a cell being in their usual order.

    The first is divided by everyone else's, its variants by the first of those.  What scikit-learn
    does in blocks is set against blocks.

    Examples
    --------
    >>> pairs(["ours", "ours-blocks", "paper-exact", "sklearn-pca"])
    [('ours', 'paper-exact'), ('ours-blocks', 'sklearn-pca'), ('ours-blocks', 'paper-exact')]
    """
    ours = [name for name in contenders if name.startswith("ours")]
    others = [name for name in contenders if name not in ours]
    found = []
    for other in others:
        in_blocks = other.startswith("sklearn") and "ours-blocks" in ours
        found.append(("ours-blocks" if in_blocks else ours[0], other))
    return found + [(variant, others[0]) for variant in ours if (variant, others[0]) not in found]


def _ratio(cell: str, ours: list[Timed], other: list[Timed]) -> Ratio:
    """Divide repetition by repetition."""
    names = ours[0].contender, other[0].contender
    claims = [c for c in CLAIMS if (c.cell, c.ours, c.other) == (cell, *names)]
    angles = [row.angle_degrees for row in ours if row.angle_degrees is not None]
    spans = [row.span_radians for row in ours if row.span_radians is not None]
    return Ratio(
        cell,
        *names,
        tuple(a.mean_us / b.mean_us for a, b in zip(ours, other, strict=True)),
        median(row.mean_us for row in ours),
        median(row.mean_us for row in other),
        max(angles, default=None),
        max(spans, default=None),
        claims[0] if claims else None,
    )
