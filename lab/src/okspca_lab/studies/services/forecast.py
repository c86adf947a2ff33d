"""How long a run will take, told by its first seed."""

from collections.abc import Sequence

from okspca_lab.studies.rows import Group


class Forecast:
    """Watches groups finish; after those of the first seed it says what to expect of all.

    Parameters
    ----------
    seeds : sequence of int
        Seeds of the run, in its order; groups of other seeds are not counted.
    groups : sequence of lists of cells
        What is missing.

    Examples
    --------
    >>> groups = [[{"part": "A0", "regime": "C2", "seed": seed}] for seed in (1, 2, 3)]
    >>> watch = Forecast((1, 2, 3), groups)
    >>> watch(groups[0], 60.0)
    'One seed took 1.0 minutes; expect 3 for all seeds of this run.'
    >>> watch(groups[1], 60.0)
    ''
    """

    def __init__(self, seeds: Sequence[int], groups: Sequence[Group]) -> None:
        self.groups = [group for group in groups if group[0]["seed"] in seeds]
        self.left = sum(group[0]["seed"] == seeds[0] for group in groups)
        self.worth_it = self.left < len(groups)
        self.took: dict[str, float] = {}

    def __call__(self, group: Group, seconds: float) -> str:
        """Note a finished group; return what there is to say."""
        self.took[_alike(group)] = seconds
        self.left -= 1
        if self.left != 0 or not self.worth_it:
            return ""
        so_far = sum(self.took.values())
        usual = so_far / len(self.took)
        total = sum(self.took.get(_alike(group), usual) for group in self.groups)
        return (
            f"One seed took {so_far / 60.0:.1f} minutes; expect {total / 60.0:.0f} for all seeds "
            "of this run."
        )


def _alike(group: Group) -> str:
    """Name what groups of different seeds have in common."""
    cell = group[0]
    return f"{cell['part']} {cell['regime']} {cell.get('schedule')} {cell.get('method')}"
