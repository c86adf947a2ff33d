"""A class is registered once; settings and states are read by their annotations."""

import dataclasses
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from okspca import StateError
from okspca.basis import Basis
from okspca.estimators import OKSPCA
from okspca.estimators.parameter_form import read_parameters, write_parameters
from okspca.features import IdentityMap
from okspca.moments import ScaledMoment
from okspca.numerics.arrays import Floats, Integers
from okspca.pipeline import PipelineState
from okspca.services import BY_NAME, Adam, Exact, Service, ServiceState, WarmBlock
from okspca.services.stored import Seed, Stored
from okspca.state.annotations import parts_of
from okspca.state.container import Content
from okspca.state.fields import Sink, Source
from okspca.state.pipelines import FIELDS
from okspca.state.registry import Registry
from okspca.state.services import SERVICES, read_state, write_state


@dataclass
class NewState(ServiceState):
    """Counters and arrays of a service that files have never heard of."""

    basis: Annotated[Floats, Stored(("k", "D"), "unit")]
    sums: Annotated[Floats, Stored(("D",))]
    work: Annotated[Floats, Stored(("k", "w"), "scratch")]
    places: Annotated[Integers, Stored((3,))]
    last: Basis | None = None
    steps: int = 0


@dataclass(frozen=True)
class New(Service[NewState]):
    """Settings of every kind."""

    n: int = 2
    limit: float | None = None
    quick: bool = False
    rule: Literal["near", "far"] = "near"
    name: str = ""
    seed: Seed | None = None
    block: WarmBlock = dataclasses.field(default_factory=WarmBlock)

    def sizes(self, n_features: int, n_components: int) -> dict[str, int]:
        return {**super().sizes(n_features, n_components), "w": self.n}

    def start(self, n_features: int, n_components: int, seed: int) -> NewState:
        zeros = np.zeros((n_components, n_features)), np.zeros(n_features)
        work, places = np.zeros((n_components, self.n)), np.zeros(3, dtype=np.int64)
        return NewState(n_features, n_components, *zeros, work, places)

    def request(self, state: NewState, scaled: ScaledMoment, t: int) -> Basis:
        return Basis.not_initialised(state.n_features)


def registry() -> Registry[Service[Any]]:
    made: Registry[Service[Any]] = Registry("use another")
    made.add("new", New)
    made.add("warm-block", WarmBlock)
    return made


def header(service: Service[Any]) -> dict[str, Any]:
    sink = Sink()
    registry().write(sink, service)
    return sink.content().header


@pytest.mark.parametrize(
    "service",
    [New(), New(7, 0.5, True, "far", "ä", 3, WarmBlock(2)), New(limit=2, seed=(1 << 32) - 1)],
)
def test_settings_of_a_new_service_come_back(service: New) -> None:
    assert registry().read(Source(Content(header(service), {}))) == service


WRONG: list[tuple[str, Any]] = [
    *[("n", value) for value in (None, 2.5, True, "2", -1)],
    ("limit", "1"),
    ("limit", True),
    ("limit", {}),
    *[("quick", value) for value in (0, None)],
    *[("rule", value) for value in ("else", None, 1)],
    *[("name", value) for value in (3, None)],
    *[("seed", value) for value in (-1, 1 << 32, 1.0)],
    ("block", None),
    ("block", {}),
    ("block", {"kind": "new"}),
    *[("kind", value) for value in ("old", None)],
    ("more", 1),
]


@pytest.mark.parametrize(
    ("name", "value"),
    WRONG,
)
def test_a_setting_of_another_kind_is_refused(name: str, value: Any) -> None:
    with pytest.raises(StateError):
        registry().read(Source(Content({**header(New()), name: value}, {})))


def test_a_setting_that_is_lacking_is_refused() -> None:
    for name in parts_of(New):
        rest = {key: value for key, value in header(New()).items() if key != name}
        with pytest.raises(StateError, match=f"its field {name} is missing"):
            registry().read(Source(Content(rest, {})))


def test_what_a_class_says_about_its_settings_still_counts() -> None:
    sink = Sink()
    SERVICES.write(sink, Adam(clip=2.0))
    changed = {**sink.content().header, "clip": -2.0}
    with pytest.raises(StateError, match=r"clip=-2\.0 cannot be used"):
        SERVICES.read(Source(Content(changed, {})))


def test_objects_of_other_classes_have_no_form() -> None:
    class Own(WarmBlock):
        """A block of the user's making."""

    with pytest.raises(StateError, match="Own is not a built-in part; use a solver of"):
        SERVICES.write(Sink(), Own())
    with pytest.raises(StateError, match="Own is not a built-in part; use a WarmBlock"):
        SERVICES.write(Sink(), Exact(Own()))


def state() -> NewState:
    made = New().start(4, 2, 0)
    made.basis[0, 1], made.sums[2], made.places[1], made.steps = 1.0, 9.0, 5, 3
    made.work[0, 0] = np.nan
    return made


def test_the_state_of_a_new_service_comes_back() -> None:
    sink, before = Sink(), state()
    write_state(sink, before)
    after = read_state(Source(sink.content()), New(), (4, 2))
    assert isinstance(after, NewState)
    for field in dataclasses.fields(NewState):
        np.testing.assert_array_equal(getattr(after, field.name), getattr(before, field.name))


@pytest.mark.parametrize("name", ["basis", "sums", "work", "places"])
@pytest.mark.parametrize("fault", ["lacks", "is longer", "is of another type"])
def test_an_array_of_another_shape_or_type_is_refused(name: str, fault: str) -> None:
    sink = Sink()
    write_state(sink, state())
    content = sink.content()
    array = content.tensors.pop(name)
    if fault == "is longer":
        content.tensors[name] = np.concatenate([array, array])
    elif fault == "is of another type":
        other = np.int64 if array.dtype == np.float64 else np.float64
        content.tensors[name] = np.zeros(array.shape, dtype=other)
    with pytest.raises(StateError):
        read_state(Source(content), New(), (4, 2))


def test_entries_are_what_the_annotation_says() -> None:
    for name, value, refused in (
        ("basis", 2.0, True),
        ("basis", np.nan, True),
        ("sums", np.inf, True),
        ("sums", 1e9, False),
        ("work", np.inf, False),
    ):
        sink = Sink()
        write_state(sink, state())
        content = sink.content()
        content.tensors[name].flat[0] = value
        if refused:
            with pytest.raises(StateError):
                read_state(Source(content), New(), (4, 2))
        else:
            read_state(Source(content), New(), (4, 2))


def test_every_field_of_a_pipeline_has_a_form() -> None:
    names = [field.name for field in FIELDS]
    assert sorted([*names, "companions"]) == sorted(
        field.name for field in dataclasses.fields(PipelineState)
    )


@pytest.mark.parametrize("name", BY_NAME)
def test_every_service_has_a_form(name: str) -> None:
    sink, service = Sink(), BY_NAME[name]()
    SERVICES.write(sink, service)
    assert SERVICES.read(Source(sink.content())) == service
    sink = Sink()
    write_state(sink, service.start(6, 2, 0))
    read_state(Source(sink.content()), service, (6, 2))


def test_objects_among_parameters_are_read_by_the_annotation_of_the_parameter() -> None:
    class Bare(OKSPCA):
        """A subclass whose constructor says nothing about its parameters."""

        def __init__(self, input_map=None, random_state=None):  # type: ignore[no-untyped-def]
            super().__init__(input_map=input_map, random_state=random_state)

    def written(model: BaseEstimator) -> dict[str, Any]:
        sink = Sink()
        write_parameters(sink, model)
        return sink.content().header

    made = Bare(IdentityMap(3))  # type: ignore[no-untyped-call]
    found = read_parameters(Source(Content(written(made), {})), Bare)
    assert isinstance(found["input_map"], IdentityMap)
    wrong = {**written(OKSPCA()), "solver": written(made)["input_map"]}
    with pytest.raises(StateError, match="its field solver/kind is 'identity'"):
        read_parameters(Source(Content(wrong, {})), OKSPCA)
    with pytest.raises(StateError, match="its field align is 'an object'"):
        read_parameters(Source(Content({**written(OKSPCA()), "align": {}}, {})), OKSPCA)
