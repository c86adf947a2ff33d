"""What input features are computed in: the dtype of the first rows says."""

from typing import Any

import numpy as np
from scipy.sparse import issparse

from okspca.features import FourierMap, SingleFourierMap
from okspca.features.base import FLOAT32, FLOAT64
from okspca.features.fourier import SAMPLINGS

#: Single precision as NumPy and polars, pandas, Arrow, and Arrow within pandas call it.
_SINGLE = frozenset({"float32", "Float32", "float", "float[pyarrow]"})
#: How types begin that hold text, of which inputs are made by themselves.
_TEXT = ("object", "str", "utf8", "large_string", "category", "categorical", "enum", "dictionary")


def precision_of(model: Any, X: Any) -> str:
    """What a model computes its features in whose first rows are these.

    Single precision where X is a dense array of float32, or a frame all of whose columns of numbers
    are, and the map is one of dense random frequencies; double precision everywhere else.
    """
    if isinstance(model.input_map, SingleFourierMap):
        return FLOAT32
    is_drawn = model.input_map is None and model.sampling in SAMPLINGS
    if not (is_drawn or type(model.input_map) is FourierMap) or issparse(X):
        return FLOAT64
    return FLOAT32 if _is_single(X) else FLOAT64


def _is_single(X: Any) -> bool:
    """Whether the numbers of an array or a frame are float32."""
    dtype = getattr(X, "dtype", None)
    if dtype is not None:
        return isinstance(dtype, np.dtype) and dtype == np.float32
    # An Arrow table has a schema instead.
    kinds: Any = getattr(X, "dtypes", getattr(getattr(X, "schema", None), "types", ()))
    numbers = [name for name in map(str, kinds) if not name.lower().startswith(_TEXT)]
    return bool(numbers) and all(name in _SINGLE for name in numbers)
