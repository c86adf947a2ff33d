"""How rows are completed and text is encoded, on disk."""

from itertools import pairwise

import numpy as np

from okspca.estimators.categories import CATEGORY_ROWS, Categories
from okspca.estimators.filling import Means
from okspca.estimators.preparing import Preparation
from okspca.numerics.arrays import Floats
from okspca.state.fields import MOST, Sink, Source


def write_preparation(sink: Sink, preparation: Preparation) -> None:
    """Write what completes rows."""
    sink.put("indicators", preparation.indicators)
    sink.put("rows_skipped", preparation.n_skipped)
    sink.put("values_filled", preparation.n_filled)
    means = preparation.means
    sink.put("fills", means is not None)
    if means is not None:
        sink.array("sums", means.sums)
        sink.array("weights", means.weights)
        sink.put("total", means.total)
        sink.put("fixed", means.fixed)
    if preparation.categories is not None:
        _write_categories(sink.inside("categories"), preparation.categories)


def read_preparation(source: Source, n_columns: int, *, waits: bool) -> Preparation:
    """Read what completes rows of so many columns; ``waits`` says that rows are held back."""
    indicators, n_skipped, n_filled = (
        source.flag("indicators"),
        source.count("rows_skipped"),
        source.count("values_filled"),
    )
    categories, n_encoded = None, n_columns
    if source.is_object("categories"):
        categories = _read_categories(source.inside("categories"), n_columns, waits=waits)
        n_encoded = categories.width(n_columns)
    means = _read_means(source, n_encoded) if source.flag("fills") else None
    source.close()
    return Preparation(means, indicators, n_skipped, n_filled, categories)


def check_codes(source: Source, categories: Categories, X: Floats) -> None:
    """Refuse rows that wait where a code stands for no value, or a value for no row."""
    for place, values in categories.texts.items():
        codes = X[~np.isnan(X[:, place]), place]
        if set(codes.tolist()) != set(range(len(values))):
            source.refuse("pilot_inputs", "codes of other values")
    if not np.isnan(X[:, sorted(categories.undecided)]).all():
        source.refuse("pilot_inputs", "values of columns without any")


def _write_categories(sink: Sink, categories: Categories) -> None:
    """Write the values of text columns.

    The columns are an array, which cannot go unread: of each its place, whether it holds text for
    certain, and how often its value had no indicator.
    """
    texts = [(place, 1, categories.n_unseen.get(place, 0)) for place in categories.texts]
    rows = sorted([*texts, *((place, 0, 0) for place in categories.undecided)])
    sink.array("columns", np.array(rows, dtype=np.int64))
    sink.put("values", [list(values) for values in categories.texts.values()])


def _read_categories(source: Source, n_columns: int, *, waits: bool) -> Categories:
    """Read the values of text columns."""
    places, are_text, n_unseen = source.integers("columns", (None, 3)).T.tolist()
    in_order = all(one < other for one, other in pairwise(places))
    if not places or not in_order or not 0 <= places[0] <= places[-1] < n_columns:
        source.refuse("columns", "of impossible places")
    if not set(are_text) <= ({0, 1} if waits else {1}):
        source.refuse("columns", "of impossible kinds")
    if min(n_unseen) < 0 or max(n_unseen) > (0 if waits else MOST):
        source.refuse("columns", "of impossible counts")
    known = [place for place, is_text in zip(places, are_text, strict=True) if is_text]
    lists = source.raw("values")
    if not isinstance(lists, list) or len(lists) != len(known):
        source.refuse("values", "not of these columns")
    for values in lists:
        _check_list(source, values, waits=waits)
    source.close()
    texts = {place: tuple(values) for place, values in zip(known, lists, strict=True)}
    unseen = {} if waits else dict(zip(places, n_unseen, strict=True))
    return Categories(texts, frozenset(places) - set(known), not waits, unseen)


def _check_list(source: Source, values: object, *, waits: bool) -> None:
    """Refuse what is no list of different values; once they are fixed they are sorted."""
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        source.refuse("values", "not texts")
        return
    is_sorted = waits or values == sorted(values)
    if len(values) > CATEGORY_ROWS or len(set(values)) != len(values) or not is_sorted:
        source.refuse("values", "impossible values")


def _read_means(source: Source, n_columns: int) -> Means:
    """Read the means."""
    sums, weights = (source.array(name, (n_columns,)) for name in ("sums", "weights"))
    means = Means(sums, weights, source.number("total", least=0.0, most=MOST), source.flag("fixed"))
    if (means.total + weights).min() < 0.0:
        source.refuse("total", means.total)
    return means
