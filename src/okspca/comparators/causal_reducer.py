"""What the comparators share: a causal front end, checks, and learning a block whole or not at all.

A comparator sees ``phi(S(x))``: the input standardised by the rows before it (or as it is), then
mapped to random Fourier features (or as it is).  Subclasses keep their numbers in one state object
and advance it by a compiled scan over rows, so that the way a stream is cut into blocks changes
nothing but the last digits of the features.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self, TypeVar

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from okspca.errors import DataError
from okspca.estimators.building import seeds_of, variance_rule
from okspca.estimators.data import check_numbers, check_values, validated
from okspca.estimators.parameters import is_count, is_positive
from okspca.features import FeatureMap, FourierMap, IdentityMap
from okspca.features.bandwidth import sqrt_dimension
from okspca.numerics.arrays import Floats, copied
from okspca.pipeline import CHUNK_ROWS
from okspca.services.checks import reject
from okspca.standardize import CausalStandardizer, NoStandardizer, Standardizer

#: From features to their embedding.
Projection = Callable[[Floats], Floats]
Reducer = TypeVar("Reducer", bound="CausalReducer")


@dataclass
class FrontEnd:
    """How a row becomes features, and how the response is scaled."""

    inputs: Standardizer
    input_map: FeatureMap
    targets: Standardizer

    def embed(self, X: Floats) -> Floats:
        """Features of rows as the next observation would have them; learns nothing."""
        return self.input_map.transform(self.inputs.transform(X))

    def scan(self, X: Floats) -> Floats:
        """Features of rows, each standardised by the rows before it; then learn them."""
        Phi = self.input_map.transform(self.inputs.scan(X, np.ones(X.shape[0])))
        return np.ascontiguousarray(Phi)

    def scan_response(self, y: Floats) -> Floats:
        """Responses, each scaled by those before it; then learn them."""
        return self.targets.scan(y, np.ones(y.shape[0]))[:, 0]

    def copy(self) -> "FrontEnd":
        """Copy what learning changes."""
        return FrontEnd(copied(self.inputs), self.input_map, copied(self.targets))


class Learned(NamedTuple):
    """What a reducer has learned; replaced as a whole, so that nobody reads half of a change."""

    front: FrontEnd
    state: Any
    n_rows: int


class CausalReducer(
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
    ABC,
):
    """Base of the comparators; see :class:`~okspca.comparators.CIPLS` for the parameters.

    A subclass says how to begin (:meth:`start`), how to learn (:meth:`scan`) and how to embed
    (:meth:`projection`, :meth:`width`); checks, features and copies are made here.
    """

    #: Whether learning needs a response.
    supervised: ClassVar[bool] = False

    n_random_features: int | None
    bandwidth: str | float
    standardize: str | None
    variance_floor: str | float
    input_map: FeatureMap | None
    random_state: int | RandomState | None
    _learned: Learned | None = None

    @property
    def learned(self) -> Learned | None:
        """Everything that was learned, as one record; None before the first row."""
        return self._learned

    @learned.setter
    def learned(self, record: Learned) -> None:
        """Replace what was learned."""
        self._learned = record

    @abstractmethod
    def start(self, n_features: int) -> Any:
        """Make the state for rows of so many features."""

    @abstractmethod
    def scan(self, state: Any, Phi: Floats, y: Floats) -> None:
        """Learn rows in order, changing the arrays of the state in place."""

    @abstractmethod
    def projection(self, state: Any) -> Projection:
        """Return what embeds features with the present state."""

    @abstractmethod
    def width(self, n_features: int) -> int:
        """Number of columns of an embedding."""

    def check_parameters(self) -> None:
        """Raise for a parameter whose value cannot be used."""
        if self.n_random_features is not None and not is_count(self.n_random_features):
            reject("n_random_features", self.n_random_features, "a positive whole number or None")
        if self.bandwidth != "sqrt-dim" and not is_positive(self.bandwidth):
            reject("bandwidth", self.bandwidth, "a positive number or 'sqrt-dim'")
        if self.standardize not in ("causal", None):
            reject("standardize", self.standardize, "'causal' or None")
        if self.variance_floor not in ("relative", "paper") and not is_positive(
            self.variance_floor
        ):
            reject("variance_floor", self.variance_floor, "'relative', 'paper' or a number")
        if self.input_map is not None and not isinstance(self.input_map, FeatureMap):
            reject("input_map", self.input_map, "a FeatureMap or None")

    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Forget everything and learn these rows, in their order."""
        return learn_jointly([self], X, [y], fresh=True)[0]

    def partial_fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Learn a block of any size; it is rejected whole where anything in it is wrong."""
        return learn_jointly([self], X, [y], fresh=not self.__sklearn_is_fitted__())[0]

    def transform(self, X: ArrayLike) -> Floats:
        """Embed rows with the present state; learns nothing."""
        check_is_fitted(self)
        return embed_jointly([self], X)

    @property
    def n_samples_seen_(self) -> int:
        """Number of rows learned."""
        return self._fitted("n_samples_seen_").n_rows

    @property
    def input_map_(self) -> FeatureMap:
        """The map in use."""
        return self._fitted("input_map_").front.input_map

    @property
    def input_standardizer_(self) -> Standardizer:
        """The standardiser of the inputs in use."""
        return self._fitted("input_standardizer_").front.inputs

    def __sklearn_is_fitted__(self) -> bool:
        """Whether any rows were learned."""
        return self._learned is not None

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn whether y is required."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self.supervised
        return tags

    @property
    def _n_features_out(self) -> int:
        """Number of columns of an embedding."""
        front = self._fitted("the number of output features").front
        return self.width(front.input_map.n_features)

    def _fitted(self, name: str) -> Learned:
        """Return what was learned, or raise as an attribute that does not exist yet would."""
        if self._learned is None:
            message = f"{name} exists only after rows were learned."
            raise AttributeError(message)
        return self._learned

    def working_copy(self, n_inputs: int, *, fresh: bool) -> Learned:
        """Return what can be learned on: empty parts, or copies of those in use."""
        if self._learned is not None and not fresh:
            front, state, n_rows = self._learned
            return Learned(front.copy(), _copied_state(state), n_rows)
        front = self._front_end(n_inputs)
        return Learned(front, self.start(front.input_map.n_features), 0)

    def checked(self, X: Any, *, reset: bool) -> Floats:
        """scikit-learn's checks, and ours, of the inputs."""
        checks = {"dtype": np.float64, "ensure_all_finite": False}
        checked: Floats = validated(self, X, reset=reset, **checks)
        check_values(checked, "X")
        return checked

    def response(self, y: Any, n_rows: int) -> Floats:
        """Return one number per row; zeros where the method takes no response."""
        if not self.supervised:
            return np.zeros((n_rows, 1))
        if y is None:
            message = (
                f"This {type(self).__name__} estimator requires y to be passed, "
                "but the target y is None."
            )
            raise DataError(message)
        numbers = check_numbers(y, n_rows)
        if numbers.shape[1] != 1:
            message = f"y has {numbers.shape[1]} columns; {type(self).__name__} takes one response."
            raise DataError(message)
        return numbers

    def _front_end(self, n_inputs: int) -> FrontEnd:
        """Build the standardisers and the map."""
        inputs: Standardizer = NoStandardizer()
        targets: Standardizer = NoStandardizer()
        if self.standardize == "causal":
            rule = variance_rule(self.variance_floor)
            inputs = CausalStandardizer(n_inputs, rule)
            targets = CausalStandardizer(1, rule) if self._scales_response() else targets
        return FrontEnd(inputs, self._map(n_inputs), targets)

    def _scales_response(self) -> bool:
        """Whether the response goes through a standardiser of its own."""
        return self.supervised

    def _map(self, n_inputs: int) -> FeatureMap:
        """Return the ready-made map, a drawn one, or the identity."""
        if self.input_map is not None:
            if self.input_map.n_inputs != n_inputs:
                message = (
                    f"X has {n_inputs} columns, but input_map takes {self.input_map.n_inputs}."
                )
                raise DataError(message)
            return self.input_map
        if self.n_random_features is None:
            return IdentityMap(n_inputs)
        width = sqrt_dimension(n_inputs) if self.bandwidth == "sqrt-dim" else float(self.bandwidth)
        return FourierMap.sample(
            n_inputs,
            int(self.n_random_features),
            bandwidth=width,
            seed=seeds_of(self.random_state)[0],
        )


def learn_jointly(
    reducers: Sequence[Reducer], X: Any, responses: Sequence[Any], *, fresh: bool
) -> Sequence[Reducer]:
    """Let reducers of the same parameters and past learn a block, each with its own response.

    They see the same features, which are made once, by the first one's map.  The block is checked,
    learned on copies, and these are taken over at the end.
    """
    for reducer in reducers:
        if fresh:
            reducer.check_parameters()
        checked = reducer.checked(X, reset=fresh)
    n_rows, n_inputs = checked.shape
    numbers = [r.response(y, n_rows) for r, y in zip(reducers, responses, strict=True)]
    copies = [reducer.working_copy(n_inputs, fresh=fresh) for reducer in reducers]
    shared = copies[0].front
    for start in range(0, n_rows, CHUNK_ROWS):
        rows = slice(start, start + CHUNK_ROWS)
        Phi = shared.scan(checked[rows])
        for reducer, y, (front, state, _) in zip(reducers, numbers, copies, strict=True):
            reducer.scan(state, Phi, front.scan_response(y[rows]))
    for reducer, (front, state, before) in zip(reducers, copies, strict=True):
        own = FrontEnd(shared.inputs, shared.input_map, front.targets)
        reducer.learned = Learned(own, state, before + n_rows)
    return reducers


def embed_jointly(reducers: Sequence[CausalReducer], X: Any) -> Floats:
    """Embed rows by reducers that learned jointly; their columns side by side."""
    checked = reducers[0].checked(X, reset=False)
    learned = [own for reducer in reducers if (own := reducer.learned) is not None]
    front = learned[0].front
    width = reducers[0].width(front.input_map.n_features)
    projections = [r.projection(own.state) for r, own in zip(reducers, learned, strict=True)]
    out = np.empty((checked.shape[0], width * len(reducers)))
    for start in range(0, checked.shape[0], CHUNK_ROWS):
        rows = slice(start, start + CHUNK_ROWS)
        Phi = front.embed(checked[rows])
        for number, project in enumerate(projections):
            out[rows, number * width : (number + 1) * width] = project(Phi)
    return out


def _copied_state(state: Any) -> Any:
    """Copy a named tuple of arrays."""
    return type(state)(*(np.array(array) for array in state))
