"""Which states a model was merged from, so that no row is counted twice.

A state is known by a digest of its sums: rows, weight, classes, means and cross-moment.  Two models
that hold the same sums to the last bit have learned the same rows, or are copies of one another; a
merged model remembers the digests of what it was merged from.  So these are found out:

* a model and itself, a copy of it, or the same file loaded twice;
* a model and one that it was merged into, or that was merged into it;
* two models into which the same third one was merged.

Not found out: a model and an earlier or later state of the same stream that was never merged, other
models that learned some of the same rows, states of a single row, and what lies more than
``MOST_KEPT`` merges back.
"""

from hashlib import sha256

from okspca.errors import MergeError
from okspca.features import OneHotMap
from okspca.pipeline import PipelineState
from okspca.pipeline.learning import settled
from okspca.state.fields import Sink, Source

#: The name under which digests accompany a pipeline.
ANCESTRY = "ancestry"
DIGITS, MOST_KEPT = 16, 4096
#: Single rows are often alike; from here on, states that are alike are the same.
FEWEST_ROWS = 2


def merged_ancestry(mine: PipelineState, theirs: PipelineState) -> tuple[str, ...]:
    """Digests of all that two states are made of; raise where they have something in common."""
    here, there = (ancestry_of(state) for state in (mine, theirs))
    common = set(here) & set(there)
    if common:
        message = (
            "The models have rows in common: one of them is the other, contains it, or was merged "
            "from a state that the other was merged from too, so rows would count twice.  If "
            "their rows are different and only look alike, use distinct=True."
        )
        raise MergeError(message)
    if not (mine.rows and theirs.rows):  # neutral: what the other contains is all there is
        here, there = (state.companions.get(ANCESTRY, ()) for state in (mine, theirs))
    return (*here, *there)[-MOST_KEPT:]


def ancestry_of(state: PipelineState) -> tuple[str, ...]:
    """Digests of a state and of what was merged into it."""
    known: tuple[str, ...] = state.companions.get(ANCESTRY, ())
    return known if state.rows < FEWEST_ROWS else (*known, digest_of(state))


def digest_of(state: PipelineState) -> str:
    """A short name for the sums of a state, the same wherever they are the same."""
    moment, target_map = settled(state).moment, state.target_map
    classes = target_map.classes if isinstance(target_map, OneHotMap) else None
    digest = sha256(repr((state.rows, float(moment.weight), classes)).encode())
    for array in (moment.arrays.left_mean, moment.arrays.right_mean, moment.arrays.sums):
        digest.update(array.tobytes())
    return digest.hexdigest()[:DIGITS]


def write_ancestry(sink: Sink, ancestry: tuple[str, ...]) -> None:
    """Write the digests, if there are any."""
    if ancestry:
        sink.put(ANCESTRY, list(ancestry))


def read_ancestry(source: Source) -> tuple[str, ...]:
    """Read the digests, if there are any."""
    if ANCESTRY not in source.names():
        return ()
    found = source.texts(ANCESTRY)
    for digest in found:
        if len(digest) != DIGITS or not set(digest) <= set("0123456789abcdef"):
            source.refuse(ANCESTRY, digest)
    return found or tuple(source.refuse(ANCESTRY, "empty"))
