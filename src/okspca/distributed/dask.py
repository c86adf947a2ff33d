"""Fit and transform Dask arrays and data frames (``pip install okspca[dask]``).

Both passes are trees of pure tasks over partitions, always of the same shape: a task that is lost
with its worker is run again and gives the same bytes, so a death changes the time and nothing else.
Partitions are read twice, once per pass, and never held.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from dask import compute, delayed

from okspca.distributed.frames import column_of, embed, embedding_names, input_names, matrix_of
from okspca.distributed.states import (
    FAN_IN,
    Block,
    check_can_be_sharded,
    first_rows,
    groups,
    identity,
    learn,
    merge_states,
    merge_surveys,
    n_first_rows,
    seeded,
    survey_of,
)
from okspca.distributed.survey import Survey
from okspca.errors import DataError
from okspca.estimators import OKSPCA

Part = Block | Iterable[Block]


def fit(
    data: Any,
    target: Any,
    *,
    model: OKSPCA | None = None,
    sample_weight: Any = None,
    pilot: Block | None = None,
    fan_in: int = FAN_IN,
) -> OKSPCA:
    """Fit a model to partitioned rows, on the cluster of the current client if there is one.

    Parameters
    ----------
    data : dask.dataframe.DataFrame or dask.array.Array
        Rows.
    target : str or dask.array.Array
        Name of the target column of a data frame, or one target per row of an array.
    model : OKSPCA, optional
        The settings; "causal" standardisers are taken as frozen ones.
    sample_weight : str or dask.array.Array, optional
        Name of a column, or one weight per row.
    pilot : (X, y) or (X, y, weights), optional
        Rows to take the standardisers from, and learned frequencies; then there is one pass instead
        of two.
    fan_in : int
        States that one task merges.

    Returns
    -------
    OKSPCA
        A new model, which equals one fitted to all rows with ``standardize="frozen"``.

    Examples
    --------
    >>> import dask.array as da
    >>> X = da.random.default_rng(0).normal(size=(2000, 3), chunks=(500, 3))
    >>> model = fit(X, X[:, 0] ** 2, model=OKSPCA(2, n_random_features=64, random_state=0))
    >>> model.n_samples_seen_, transform(model, X).shape
    (2000, (2000, 2))
    """
    blocks = _blocks(data, target, sample_weight)
    return fit_blocks(blocks, model=model, pilot=pilot, fan_in=fan_in)


def fit_blocks(
    blocks: Sequence[Any],
    *,
    model: OKSPCA | None = None,
    pilot: Block | None = None,
    fan_in: int = FAN_IN,
) -> OKSPCA:
    """Fit a model to rows that delayed values hold or make, one value per partition.

    Parameters
    ----------
    blocks : sequence of dask.delayed.Delayed
        Each gives a tuple (X, y) or (X, y, weights), or an iterable of such tuples; an iterable
        makes its blocks on the worker, one after the other, and so in bounded memory.
    model, pilot, fan_in
        As for :func:`fit`.
    """
    model = seeded(OKSPCA() if model is None else model)
    check_can_be_sharded(model)
    kind = type(model)
    if not blocks:
        message = "There are no partitions, so there is nothing to learn."
        raise DataError(message)
    if pilot is None:
        surveys = [delayed(_survey)(model, block) for block in blocks]
        merged = _tree(surveys, lambda some: delayed(merge_surveys)(model, some), fan_in)
        found = compute(merged)[0]
        most = n_first_rows(model)
        first = first_rows(_first_of_each(blocks, model.missing, most), most=most) if most else None
    else:
        found, first = survey_of(model, [pilot]), pilot
    start = delayed(identity(model, Survey.from_bytes(model, found), first).to_bytes())
    states = [delayed(_learn)(kind, start, block) for block in blocks]
    tree = _tree(states, lambda some: delayed(merge_states)(kind, some), fan_in)
    return kind.from_bytes(compute(tree)[0])


def transform(model: OKSPCA, data: Any, columns: Sequence[str] | None = None) -> Any:
    """Embed partitioned rows lazily; the result is partitioned alike.

    Parameters
    ----------
    model : OKSPCA
        A fitted model.
    data : dask.dataframe.DataFrame or dask.array.Array
        Rows.
    columns : sequence of str, optional
        Input columns of a data frame; by default those the model was fitted with, or all.
    """
    kind, state = type(model), model.to_bytes()
    if not hasattr(data, "map_partitions"):
        chunks = (data.chunks[0], (len(embedding_names(model)),))
        rows = data.rechunk({1: -1})
        return rows.map_blocks(
            _embed_block, kind, state, chunks=chunks, dtype=np.float64, meta=np.empty((0, 0))
        )
    chosen = list(columns or getattr(model, "feature_names_in_", data.columns))
    names = embedding_names(model)
    meta = {name: np.dtype(np.float64) for name in names}
    return data.map_partitions(_embed_frame, kind, state, chosen, names, meta=meta)


def _blocks(data: Any, target: Any, weight: Any) -> list[Any]:
    """One delayed block per partition: inputs, target and, where given, weights."""
    if hasattr(data, "map_partitions"):
        columns = input_names([str(name) for name in data.columns], target, weight)
        return [delayed(_frame_block)(part, target, columns, weight) for part in data.to_delayed()]
    parts = [data.rechunk({1: -1}), target] + ([] if weight is None else [weight])
    delays = [_row_parts(part, data) for part in parts]
    return [delayed(tuple)(list(block)) for block in zip(*delays, strict=True)]


def _frame_block(part: Any, target: str, columns: list[str], weight: str | None) -> Block:
    """Split a partition; its inputs stay a frame, so that the model knows their names."""
    rest = [column_of(part, name) for name in (target, weight) if name is not None]
    return (part[columns], *rest)


def _row_parts(part: Any, like: Any) -> list[Any]:
    """Partitions of an array along its rows, cut as the inputs are."""
    if part.numblocks[0] != like.numblocks[0] or not np.isnan(sum(part.chunks[0])):
        if len(part) != len(like):
            message = f"The inputs have {len(like)} rows, but the target or weights {len(part)}."
            raise DataError(message)
        part = part.rechunk({0: like.chunks[0], **({1: -1} if part.ndim == 2 else {})})
    return list(part.to_delayed().ravel())


def _tree(parts: list[Any], merged: Callable[[list[Any]], Any], fan_in: int) -> Any:
    """Merge neighbours until one is left."""
    while len(parts) > 1:
        parts = [merged(list(group)) for group in groups(parts, fan_in)]
    return parts[0]


def _survey(model: OKSPCA, part: Part) -> bytes:
    """Pass one over a partition."""
    return survey_of(model, _several(part))


def _learn(kind: type[OKSPCA], start: bytes, part: Part) -> bytes:
    """Pass two over a partition."""
    return learn(kind, start, _several(part))


def _first_of_each(blocks: Sequence[Any], missing: str, most: int) -> Iterator[Block]:
    """First rows of one partition after the other, as they are asked for."""
    for block in blocks:
        yield compute(delayed(_first)(block, missing, most))[0]


def _first(part: Part, missing: str, most: int) -> Block:
    """First rows of a partition."""
    return first_rows(_several(part), missing, most)


def _several(part: Part) -> Iterable[Block]:
    """The blocks of a partition."""
    return [part] if isinstance(part, tuple) else part


def _embed_block(X: Any, kind: type[OKSPCA], state: bytes) -> Any:
    """Embed a chunk of an array."""
    return embed(kind, state, X)


def _embed_frame(
    part: Any, kind: type[OKSPCA], state: bytes, columns: list[str], names: list[str]
) -> Any:
    """Embed a partition of a data frame; rows keep their index."""
    rows = part[columns] if hasattr(kind.from_bytes(state), "feature_names_in_") else None
    Z = embed(kind, state, matrix_of(part, columns, gaps=True) if rows is None else rows)
    return type(part)(Z, index=part.index, columns=names)
