"""Learn from Spark Structured Streaming, exactly once (``pip install okspca[spark]``).

A learner is handed to ``foreachBatch``::

    learner = StreamLearner("model.okspca", OKSPCA(task="regression", random_state=0),
                            columns=["price", "size"], target="sold", query="sales",
                            order_by="event_time")
    (rows.writeStream.queryName("sales").foreachBatch(learner)
         .option("checkpointLocation", "checkpoint").start())

**Batches.**  Spark calls ``foreachBatch`` at least once for each batch: one that was under way when
the driver died comes again, with the same number and, from sources that can be read again (files,
Kafka, Delta), the same rows.  The number of the next batch is saved with the model, in one file,
atomically.  A batch below it is left out, one above it is refused: the batches between were learned
by no model or by another one.  So each batch is learned exactly once wherever the driver dies.
Numbers belong to a checkpoint; its identifier is saved as well, and batches of another checkpoint
are refused, since they would begin at zero and be left out in silence.

**Rows of a batch.**  Spark gives them no order.  With ``order_by`` they are sorted by these columns
(and, where those are equal, by all that is learned), and the whole stream has the order of its
batches: the model is that of one sequential run in this order, to rounding.  Without it the order
in a batch is Spark's, and may be another one when a batch comes again.  With
``standardize="frozen"`` or ``None`` the moment is a sum in which order is rounding (1e-12); causal
standardisers, learned frequencies and first rows depend on it.

A batch is brought to the driver and learned there, so its size bounds the driver's memory:
``maxFilesPerTrigger``, ``maxOffsetsPerTrigger``.  For embeddings of a stream,
:func:`okspca.distributed.spark.transform` takes streaming frames as they are.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from okspca.distributed.following import Follower
from okspca.distributed.frames import block_of, input_names
from okspca.errors import DataError
from okspca.estimators import OKSPCA
from okspca.estimators.preparing import RAISE
from okspca.state.streams import StreamRecord

#: Where Spark tells a batch which query, and so which checkpoint, it belongs to.
QUERY_ID = "sql.streaming.queryId"


class StreamLearner:
    """A model that learns the batches of a streaming query.

    Parameters
    ----------
    path : path
        File of the model and the number of its next batch; where it exists, learning goes on.
    model : OKSPCA
        Where to begin otherwise; its task must be given.
    columns : sequence of str
        Input columns.
    target : str
        The target column.
    query : str
        Name of the query; a file of another one is refused.
    order_by : sequence of str
        Columns by which the rows of a batch are sorted, such as the time of the event.
    sample_weight : str, optional
        A column of weights.
    """

    def __init__(
        self,
        path: Path | str,
        model: OKSPCA,
        *,
        columns: Sequence[str],
        target: str,
        query: str,
        order_by: str | Sequence[str] = (),
        sample_weight: str | None = None,
    ) -> None:
        record = StreamRecord((f"spark:{query}",), target, tuple(columns), "raise")
        self._follower = Follower(path, model, record)
        self.order_by = [order_by] if isinstance(order_by, str) else list(order_by)
        self.sample_weight = sample_weight
        self._takes_any = bool(self.record.rows_read and not self.record.offsets)

    @property
    def model(self) -> OKSPCA:
        """The model."""
        return self._follower.model

    @property
    def record(self) -> StreamRecord:
        """What was read."""
        return self._follower.record

    @property
    def next_batch(self) -> int | None:
        """Number of the batch that is learned next; None where any is."""
        if self._takes_any:
            return None
        return self.record.offsets[0][2] if self.record.offsets else 0

    def __call__(self, batch: Any, batch_id: int) -> None:
        """Learn a batch and save, unless that was done before; for ``foreachBatch``.

        Parameters
        ----------
        batch : pyspark.sql.DataFrame
            Its rows.
        batch_id : int
            Its number.
        """
        self._follower.settle()
        if not self._is_new(_query_of(batch), batch_id):
            self._follower.save()
            return
        table = self._sorted(batch.select(*self._selected(batch)).toArrow())
        learned = self.record._replace(
            offsets=((_query_of(batch), 0, batch_id + 1),),
            rows_read=self.record.rows_read + len(table),
        )
        try:
            self._learn(table, learned)
        finally:
            self._follower.settle()
            self._follower.save()
        self._takes_any = False

    def release(self) -> None:
        """Forget the checkpoint: the next batch is learned, of whatever checkpoint and number.

        For a query that begins again with a new checkpoint, behind the rows that were learned.
        """
        self._follower.settle()
        self._follower.record = self.record._replace(offsets=())
        self._follower.save()
        self._takes_any = True

    def _is_new(self, query: str, batch_id: int) -> bool:
        """Whether a batch was not learned, or raise where others should come first."""
        following, path = self.next_batch, self._follower.path
        if following is None:
            return True
        known = self.record.offsets[0][0] if self.record.offsets else query
        if query != known:
            message = f"{path} has learned from the checkpoint of query {known}"
            remedy = "take that checkpoint, another file, or call release() to go on with this one"
            raise DataError(f"{message}, but the batch belongs to query {query}; {remedy}.")
        if batch_id > following:
            message = f"Batch {batch_id} came, but {path} awaits batch {following}"
            remedy = "take the file that belongs to this checkpoint, or call release() to go on"
            raise DataError(f"{message}; {remedy} without those between.")
        return batch_id == following

    def _selected(self, batch: Any) -> list[str]:
        """The columns to bring to the driver."""
        input_names(batch.columns, self.record.target, self.sample_weight)
        weight = [] if self.sample_weight is None else [self.sample_weight]
        wanted = [*self.order_by, *self.record.columns, self.record.target, *weight]
        missing = [name for name in wanted if name not in batch.columns]
        if missing:
            message = f"There is no column {missing[0]!r}; the columns are "
            raise DataError(f"{message}{', '.join(batch.columns)}.")
        return list(dict.fromkeys(wanted))

    def _sorted(self, table: Any) -> Any:
        """The rows in their order; equal ones are equal in all that is learned."""
        if not self.order_by:
            return table
        return table.sort_by([(name, "ascending") for name in table.column_names])

    def _learn(self, table: Any, learned: StreamRecord) -> None:
        """Learn the rows of a batch, of which there may be none."""
        if not len(table):
            self._follower.record = learned
            return
        gaps = self.model.missing != RAISE
        names = list(self.record.columns)
        X, y, *weights = block_of(table, self.record.target, names, self.sample_weight, gaps=gaps)
        self._follower.learn(X, y, learned, *weights)


def _query_of(batch: Any) -> str:
    """Identifier of the query of a batch, which its checkpoint keeps; empty where it is unknown."""
    session = batch.sparkSession
    context = getattr(session, "sparkContext", None)
    return str((context and context.getLocalProperty(QUERY_ID)) or "")
