"""Checks of service settings; each message names the setting, its value and what it must be."""

import dataclasses
import math
import numbers
from typing import Any

from okspca.numerics.scalars import plain


def make_plain(service: Any) -> None:
    """Turn NumPy's numbers among the settings of a frozen service into Python's own."""
    for field in dataclasses.fields(service):
        object.__setattr__(service, field.name, plain(getattr(service, field.name)))


def check_positive(**settings: float | None) -> None:
    """Raise unless every setting is a positive finite number or None."""
    for name, value in settings.items():
        if value is not None and not (_is_number(value) and 0.0 < value < math.inf):
            reject(name, value, "a positive number")


def check_fraction(**settings: float) -> None:
    """Raise unless every setting is a number of at least 0 and below 1."""
    for name, value in settings.items():
        if not (_is_number(value) and 0.0 <= value < 1.0):
            reject(name, value, "a number of at least 0 and below 1")


def check_count(*, least: int = 1, **settings: int) -> None:
    """Raise unless every setting is a whole number of at least ``least``."""
    for name, value in settings.items():
        is_whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
        if not (is_whole and value >= least):
            reject(name, value, f"a whole number of at least {least}")


def _is_number(value: object) -> bool:
    """Whether a value is a real number and not a truth value."""
    # To Python, True is a number.
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def reject(name: str, value: object, remedy: str) -> None:
    """Raise the one form of message."""
    message = f"{name}={value!r} cannot be used; give {remedy}."
    raise ValueError(message)
