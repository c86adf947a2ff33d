"""The errors okspca raises itself; each message names what was wrong and what to do."""


class DataError(ValueError):
    """A block of data was rejected.  Nothing was learned from it and no state has changed."""


class NotReadyError(ValueError, AttributeError):
    """Something was asked of a model that has not yet seen enough rows to answer."""


class NumericalError(ArithmeticError):
    """A factorisation failed or gave non-finite values; no basis is returned."""


class MergeError(ValueError):
    """Two states cannot be pooled; the message says which part differs."""


class RankWarning(UserWarning):
    """More components were asked for than the target has directions; the rest are zero columns."""


class ManyClassesWarning(UserWarning):
    """An integer target has so many values that it looks like a number, not a label."""
