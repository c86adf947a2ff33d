"""Indicators of text columns, by pandas: what the estimators' encoder must agree with."""

import numpy as np
import pandas as pd

from okspca.numerics.arrays import Floats

Values = dict[str, list[str]]


def most_frequent(frame: pd.DataFrame, names: list[str], most: int) -> Values:
    """The most frequent values of text columns, sorted."""
    found = {}
    for name in names:
        counts = frame[name].dropna().astype(str).value_counts().sort_index()
        ranked = counts.sort_values(ascending=False, kind="stable")
        found[name] = sorted(ranked.index[:most])
    return found


def dummies(frame: pd.DataFrame, values: Values) -> tuple[Floats, list[str]]:
    """The frame with indicators in place of text, missing where the text is; and their names."""
    parts, names = [], []
    for name in frame.columns:
        if name not in values:
            parts.append(frame[[name]].astype(float).to_numpy())
            names.append(name)
            continue
        text = frame[name].astype(object)
        text = text.where(text.isna(), text.astype(str))
        table = pd.get_dummies(text, dtype=float).reindex(columns=values[name], fill_value=0.0)
        parts.append(np.where(text.isna().to_numpy()[:, None], np.nan, table.to_numpy(float)))
        names += [f"{name}={value}" for value in values[name]]
    return np.ascontiguousarray(np.hstack(parts)), names
