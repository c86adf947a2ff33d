"""Every public class shows how it is used, in an example that runs as a doctest."""

import inspect
from collections.abc import Iterator

import pytest

import okspca
from okspca import diagnostics, errors, estimators, features, moments, services, standardize


def public_classes() -> Iterator[type]:
    for module in (okspca, diagnostics, estimators, features, moments, services):
        for name in module.__all__:
            thing = getattr(module, name)
            if inspect.isclass(thing):
                yield thing
    for module in (errors, standardize):
        for name, thing in vars(module).items():
            own = inspect.isclass(thing) and thing.__module__ == module.__name__
            if own and not name.startswith("_"):
                yield thing


@pytest.mark.parametrize("public", sorted(set(public_classes()), key=str), ids=lambda c: c.__name__)
def test_has_a_runnable_example(public: type) -> None:
    assert public.__doc__ is not None
    assert ">>>" in public.__doc__
