"""Warnings that point at the line of the user's program that caused them.

How many calls lie between that line and the warning depends on the way: scikit-learn wraps
``transform``, a pipeline calls ``fit`` itself.  So the calls are looked at, not counted.
"""

import inspect
import warnings

#: Packages whose lines tell a user nothing about a warning of ours.
PASSED_OVER = ("okspca", "sklearn", "joblib")


def warn(message: str, category: type[Warning]) -> None:
    """Warn, and name the innermost line outside of this package and scikit-learn."""
    level, frame = 1, inspect.currentframe()
    while frame is not None and frame.f_globals["__name__"].partition(".")[0] in PASSED_OVER:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level if frame is not None else 2)
