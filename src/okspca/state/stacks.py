"""The two stacks behind a window, on disk."""

from collections.abc import Callable
from typing import TypeVar

from okspca.numerics.two_stacks import TwoStacks
from okspca.state.fields import Sink, Source

PartT = TypeVar("PartT")


def write_stacks(
    sink: Sink, stacks: TwoStacks[PartT], write: Callable[[Sink, PartT], None]
) -> None:
    """Write everything that the stacks hold."""
    for name, held in stacks.parts().items():
        inner = sink.inside(name)
        inner.put("n", len(held))
        for number, part in enumerate(held):
            write(inner.inside(str(number)), part)


def read_stacks(source: Source, stacks: TwoStacks[PartT], read: Callable[[Source], PartT]) -> None:
    """Fill empty stacks with what was written."""
    parts: dict[str, tuple[PartT, ...]] = {}
    for name in stacks.parts():
        inner = source.inside(name)
        n = inner.count("n", most=stacks.n_blocks + 1)
        parts[name] = tuple(read(inner.inside(str(number))) for number in range(n))
        inner.close()
    if bool(parts["back"]) != bool(parts["back_total"]) or len(parts["back_total"]) > 1:
        source.refuse("back_total", "not of these blocks")
    if len(parts["front"]) + len(parts["back"]) > stacks.n_blocks:
        source.refuse("back", "too many blocks")
    stacks.replace(parts)
    source.close()
