"""Row numbers at which something is due: always ahead, and the same from wherever one looks."""

from collections.abc import Callable
from functools import partial

import pytest

from okspca.pipeline.schedule import next_anchor, next_fold, next_multiple, next_power, next_turn

RULES: dict[str, Callable[[int], int]] = {
    "multiple": partial(next_multiple, period=7),
    "power": partial(next_power, first=64),
    "fold": next_fold,
    "turn": next_turn,
    "anchor": next_anchor,
    "late anchor": partial(next_anchor, lacks_directions=True),
}


@pytest.mark.parametrize("name", RULES)
def test_what_is_due_next_does_not_depend_on_where_one_stands(name: str) -> None:
    rule = RULES[name]
    due = rule(0)
    for t in range(3000):
        if t == due:
            due = rule(t)
        assert rule(t) == due > t
