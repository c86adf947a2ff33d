"""Batches of several inputs under the columns of the first."""

import pyarrow as pa

from okspca.errors import DataError
from okspca.files.reading import COLUMNS, NUMBER, TEXT, Reading

SHOWN = 5


class Aligned:
    """The columns that all inputs must have, and what the later ones are read as."""

    def __init__(self, schema: pa.Schema, name: str, reading: Reading) -> None:
        self._schema, self._first = schema, name
        self._names = schema.names
        kinds = {
            field.name: NUMBER if field.type == pa.float64() else TEXT
            for field in schema
            if reading.kind_of(field.name) is None and field.type in (pa.float64(), pa.string())
        }
        self.reading = reading._replace(kinds={**kinds, **reading.kinds})
        self._used = [
            each for each in self._names if reading.kind_of(each) != TEXT or each in reading.kinds
        ]

    def take(self, batch: pa.RecordBatch, name: str) -> pa.RecordBatch:
        """Bring a batch into the form of the first."""
        if batch.schema.equals(self._schema):
            return batch
        names = batch.schema.names
        if set(names) != set(self._names) or len(names) != len(self._names):
            self._check(names, name)
        arrays = [self._array(batch, place, name) for place in range(len(self._names))]
        return pa.RecordBatch.from_arrays(arrays, schema=self._schema)

    def _check(self, names: list[str], name: str) -> None:
        """Say which columns differ, unless nobody uses them."""
        there = set(names)
        lacking = [each for each in self._used if each not in there]
        known = set(self._names)
        more = [each for each in names if each not in known]
        if lacking:
            message = f"{name} has no column {_listed(lacking)}, which {self._first} has."
            raise DataError(message)
        if more and self.reading.columns is None and not set(more) <= self.reading.drop:
            advised = self.reading.advised
            columns = ", or name the inputs with --columns" if COLUMNS in advised else ""
            how = f"; leave it out with --drop{columns}."
            message = f"{name} has a column {_listed(more)}, which {self._first} has not{how}"
            raise DataError(message)

    def _array(self, batch: pa.RecordBatch, place: int, name: str) -> pa.Array:
        """One column in the type of the first file."""
        field = self._schema.field(place)
        found = batch.schema.get_field_index(field.name)
        if found < 0:
            return pa.nulls(batch.num_rows, field.type)
        column = batch.column(found)
        if column.type == field.type:
            return column
        try:
            return column.cast(field.type)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as failure:
            told = f"holds {column.type}, but {field.type} in {self._first}"
            message = f"{name}, column {field.name!r} {told}."
            raise DataError(message) from failure


def _listed(names: list[str]) -> str:
    """A few names."""
    return ", ".join(map(repr, names[:SHOWN])) + (", ..." if len(names) > SHOWN else "")
