"""Columns of formats that know types: whole numbers as floating point, numbers written as text."""

from collections.abc import Callable, Iterator

import pyarrow as pa

from okspca.errors import DataError
from okspca.files import plans
from okspca.files.columns import check_present
from okspca.files.numerals import Numerals, cleaned
from okspca.files.plans import Plan, Unsure
from okspca.files.reading import COPY, LABEL, TEXT, Reading

#: Says where a row stands.
Place = Callable[[int], str]
TEXTS = (pa.types.is_string, pa.types.is_large_string)


class TypedColumns:
    """What is done to the columns of batches, decided by the first rows."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._plans: dict[int, Plan] = {}
        self._whole: list[int] = []
        self.is_planned = False

    def plan(self, first: pa.RecordBatch, place: Place) -> None:
        """Find the columns of whole numbers, and those that hold numbers written as text."""
        check_present(self._reading.needed, first.schema.names)
        self.is_planned = True
        for number, field in enumerate(first.schema):
            if self._reading.kind_of(field.name) in (TEXT, LABEL, COPY):
                continue
            if pa.types.is_integer(field.type):
                self._whole.append(number)
            if any(is_kind(field.type) for is_kind in TEXTS):
                plan = self._plan(first.column(number), field.name, place)
                self._plans |= {number: plan} if plan is not None else {}

    def changed(self, batch: pa.RecordBatch, place: Place) -> Iterator[pa.RecordBatch]:
        """Change the columns of one batch; a value that is wrong is named after what is right."""
        wrong = self._first_wrong(batch)
        if wrong is None:
            yield self._changed(batch)
            return
        row, number, value = wrong
        if row:
            yield self._changed(batch.slice(0, row))
        name, noun = batch.schema.names[number], self._plans[number].noun
        message = f"{place(row)}, column {name!r}: {value!r} is not {noun}."
        raise DataError(message)

    def _first_wrong(self, batch: pa.RecordBatch) -> tuple[int, int, str] | None:
        """Row, column and text of the first value that is not what it should be."""
        found = []
        for number, plan in self._plans.items():
            texts = self._texts(batch.column(number))
            row = plan.first_other(texts)
            if row is not None:
                found.append((row, number, texts[row].as_py()))
        return min(found, default=None)

    def _changed(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Change the columns of a batch in which nothing is wrong."""
        if not self._plans and not self._whole:
            return batch
        arrays = batch.columns
        for number in self._whole:
            arrays[number] = arrays[number].cast(pa.float64(), safe=False)
        for number, plan in self._plans.items():
            arrays[number] = plan.make(self._texts(arrays[number]))
        return pa.RecordBatch.from_arrays(arrays, names=batch.schema.names)

    def _plan(self, column: pa.Array, name: str, place: Place) -> Plan | None:
        """Numbers, or None for text; what is nearly numbers is refused."""
        texts = self._texts(column)
        numerals = Numerals(self._reading.decimal or ".", self._reading.thousands or "")
        try:
            return plans.loose_plan(texts.drop_null().to_pylist(), numerals, name)
        except Unsure as doubt:
            where = place(texts.to_pylist().index(doubt.value))
            message = f"{where}, column {name!r}: {doubt.value!r} {doubt.told(self._reading)}"
            raise DataError(message) from doubt

    def _texts(self, column: pa.Array) -> pa.Array:
        """Texts as they are; words for missing values only where some were given."""
        return cleaned(column.cast(pa.string()), self._reading.na)
