"""The blocks behind a moment that covers a window, on disk."""

from okspca.moments import Moment, MomentWindow
from okspca.moments.moment_window import N_BLOCKS, rows_per_block
from okspca.state.fields import Sink, Source
from okspca.state.moments import read_moment, write_moment
from okspca.state.stacks import read_stacks, write_stacks


def write_window(sink: Sink, window: MomentWindow) -> None:
    """Write the blocks."""
    sink.put("window", window.window)
    sink.put("filled", window.filled)
    write_moment(sink.inside("newest"), window.newest)
    write_stacks(sink.inside("stacks"), window.stacks, write_moment)


def read_window(source: Source, moment: Moment, most_right: int) -> MomentWindow:
    """Read the blocks behind a moment."""
    size = source.count("window", least=N_BLOCKS)
    window = MomentWindow(size, moment)
    empty = window.newest
    window.filled = source.count("filled", most=rows_per_block(size) - 1)
    window.newest = _read_block(source.inside("newest"), moment, most_right, empty)
    read_stacks(
        source.inside("stacks"), window.stacks, lambda s: _read_block(s, moment, most_right, empty)
    )
    source.close()
    return window


def _read_block(source: Source, moment: Moment, most_right: int, empty: Moment) -> Moment:
    """Read one block, in the coordinates of the moment and with the settings of an empty one."""
    n_left = moment.arrays.sums.shape[1]
    block = read_moment(source, n_left, most_right)
    fits = type(block) is type(moment) and block.width <= moment.width
    if not fits or block.labels or block.compression is not None or block.forgetting != 1.0:
        source.refuse("width", block.width)
    for name in ("ridge", "class_weighting"):
        if getattr(block, name, None) != getattr(empty, name, None):
            source.refuse(name, getattr(block, name))
    return block
