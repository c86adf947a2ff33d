"""The errors okspca raises itself; each message names what was wrong and what to do."""


class DataError(ValueError):
    """A block of data was rejected.  Nothing was learned from it and no state has changed.

    Examples
    --------
    >>> from okspca import OKSPCA
    >>> OKSPCA().partial_fit([[1.0], [float("nan")]], [0, 1])
    Traceback (most recent call last):
    okspca.errors.DataError: X contains NaN at row 1, column 0; ...
    """


class NotReadyError(ValueError, AttributeError):
    """Something was asked of a model that has not yet seen enough rows to answer.

    Examples
    --------
    >>> from okspca import OKSPCA
    >>> OKSPCA(bandwidth="median").partial_fit([[1.0], [2.0]], [0, 1]).transform([[1.0]])
    Traceback (most recent call last):
    okspca.errors.NotReadyError: 2 of the 512 rows ...
    """


class NumericalError(ArithmeticError):
    """A map or a factorisation gave non-finite values; nothing is learned or returned.

    Examples
    --------
    >>> import numpy as np
    >>> from okspca.numerics.leading import by_svd
    >>> by_svd(np.array([[np.nan]]))
    Traceback (most recent call last):
    okspca.errors.NumericalError: The ...
    """


class MergeError(ValueError):
    """Two states cannot be merged; the message says which part differs.

    Examples
    --------
    >>> from okspca import OKSPCA
    >>> one, two = (OKSPCA(random_state=s).fit([[1.0], [2.0]], [0, 1]) for s in (0, 1))
    >>> one.merge(two)
    Traceback (most recent call last):
    okspca.errors.MergeError: The input maps differ; ...
    """


class StateError(ValueError):
    """A model could not be saved, or a file is not a whole and unchanged model.

    Examples
    --------
    >>> from okspca import OKSPCA
    >>> OKSPCA.load("no-such-file.okspca")
    Traceback (most recent call last):
    okspca.errors.StateError: no-such-file.okspca cannot be read: No such file or directory.
    """


class RankWarning(UserWarning):
    """More components were asked for than the target has directions; the rest are zero columns.

    Examples
    --------
    >>> import warnings
    >>> from okspca import OKSPCA
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     Z = OKSPCA(2, random_state=0).fit([[1.0], [2.0], [4.0]], [0, 1, 1]).transform([[3.0]])
    >>> caught[0].category.__name__, float(Z[0, 1])
    ('RankWarning', 0.0)
    """


class ManyClassesWarning(UserWarning):
    """A target taken for labels has so many values that it looks like a quantity.

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> from okspca import OKSPCA
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     model = OKSPCA(random_state=0).fit(np.ones((200, 1)), np.arange(200))
    >>> caught[0].category.__name__
    'ManyClassesWarning'
    """


class FewValuesWarning(UserWarning):
    """A target taken for a quantity has so few values, all whole, that it looks like labels.

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> from okspca import OKSPCA
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     model = OKSPCA(random_state=0).fit(np.ones((200, 1)), np.arange(200) % 11 + 1.0)
    >>> caught[0].category.__name__
    'FewValuesWarning'
    """


class ConditionError(ValueError):
    """A bound was asked for whose condition does not hold; the message begins with its name.

    Examples
    --------
    >>> from okspca.diagnostics.bounds import Confidence
    >>> Confidence(1.5)
    Traceback (most recent call last):
    okspca.errors.ConditionError: confidence: delta=1.5, but it must lie between 0 and 1.
    """
