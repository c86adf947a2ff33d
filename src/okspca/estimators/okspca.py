"""OKSPCA: the estimator that streams (x, y) and hands out certified supervised coordinates."""

import copy
import warnings
import weakref
from collections.abc import Hashable, Sequence
from typing import Any, Self

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from okspca.basis import Basis
from okspca.diagnostics.same_target import SameTargetReport
from okspca.errors import DataError, MergeError, NotReadyError, RankWarning
from okspca.estimators.building import Rows, build, pilot_rows, resolve_service
from okspca.estimators.data import check_values
from okspca.estimators.fitted import FittedAttributes
from okspca.estimators.intake import Intake
from okspca.estimators.parameters import check_parameters
from okspca.features import FeatureMap, OneHotMap
from okspca.numerics.arrays import Floats
from okspca.pipeline import CHUNK_ROWS, Pipeline
from okspca.services import Service
from okspca.standardize import Standardizer

# Models whose zero columns were explained: kept outside of them, since reading changes no state.
_EXPLAINED: weakref.WeakSet[Pipeline] = weakref.WeakSet()


class OKSPCA(
    FittedAttributes,
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """Online kernel supervised principal components.

    Streams pairs (x, y) in blocks of any size, keeps one centred cross-moment between random
    features of x and features of y, and supplies on request an orthonormal basis of its leading
    left singular subspace, with a proof of how good it is.  Memory does not grow with the stream.

    Parameters
    ----------
    n_components : int, default=2
        Number of columns of the embedding.
    n_random_features : int, default=256
        Number of random Fourier features of the inputs.
    n_target_features : int, optional
        Number of random Fourier features of a continuous target; the same as for the inputs by
        default.
    task : {"auto", "classification", "regression"}, default="auto"
        With "auto" the dtype of y decides: floating point is regression, all else labels.
    bandwidth : {"sqrt-dim", "median"} or float, default="sqrt-dim"
        Bandwidth of the input kernel on standardised inputs.  "median" holds back the first 512
        rows, draws the map from them, then learns them in order.
    target_bandwidth : {"sqrt-dim", "median"} or float, default=1.0
        Bandwidth of the target kernel on the standardised response.
    kernel : {"gaussian", "laplacian", "matern12", "matern32", "matern52"}, default="gaussian"
        Stationary kernel that the features approximate.
    sampling : {"plain", "orthogonal"}, default="plain"
        How frequencies are drawn.
    solver : str or Service, default="exact"
        How a basis is supplied: "exact", "warm-block", "cached", "exact-each", "binary",
        "contrast", the trackers "adam" and "projected-gradient", or a service object with its own
        settings.
    objective : {"covariance"}, default="covariance"
        What the leading subspace maximises: the squared cross-covariance with the target features.
    standardize : {"causal", "frozen", None}, default="causal"
        "causal": each row with the mean and variance of the rows before it.  "frozen": with fixed
        ones, from `input_standardizer`, from all rows in :meth:`fit`, or from the first 512 rows of
        a stream.
    variance_floor : {"relative", "paper"} or float, default="relative"
        When a column is too constant to be scaled: at rounding level of its mean, the paper's
        absolute floor of 1e-7, or an absolute variance of your own.
    forgetting : float, default=1.0
        Factor by which the past fades with every row; 1 forgets nothing.
    forget_standardizers : bool, default=True
        Whether the factor acts on the standardisers too.
    align : bool, default=False
        Rotate embeddings towards an anchor that learning renews at 64, 128, 256, ... rows, so that
        models trained on them keep working while the stream goes on.
    compress : bool, default=True
        Store the moment of a scalar response in the few dozen directions its features use
        (lossless).
    input_map, target_map : FeatureMap, optional
        Ready-made maps instead of drawn ones.
    input_standardizer, target_standardizer : Standardizer, optional
        Ready-made standardisers; they are copied.
    random_state : int, RandomState or None, default=None
        Seed of the maps and of the solver's start.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_random_features)
        What :meth:`transform` multiplies with; zero rows beyond the rank for solvers that do not
        track.
    singular_values_ : ndarray of shape (n_components,)
        Singular values of C̄ along them.
    moment_ : CrossMoment
        The accumulated moment; ``moment_.matrix()`` is C̄.
    classes_ : ndarray
        Classes in the order of the columns of the moment (classification).
    n_samples_seen_ : int
        Rows learned.
    input_map_, target_map_ : FeatureMap
        The maps in use.
    input_standardizer_, target_standardizer_ : Standardizer
        The standardisers in use.

    Examples
    --------
    >>> import numpy as np
    >>> from okspca import OKSPCA
    >>> random = np.random.RandomState(0)
    >>> X = random.normal(size=(500, 5))
    >>> y = np.sin(X[:, 0]) + X[:, 1] ** 2
    >>> model = OKSPCA(n_components=2, random_state=0)
    >>> for rows in np.array_split(np.arange(500), 10):
    ...     model = model.partial_fit(X[rows], y[rows])
    >>> model.transform(X[:3]).shape
    (3, 2)
    >>> basis = model.basis()
    >>> basis.rank, basis.age, basis.certificate.rho_lower > 0.999999
    (2, 0, True)
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        n_random_features: int = 256,
        n_target_features: int | None = None,
        task: str = "auto",
        bandwidth: str | float = "sqrt-dim",
        target_bandwidth: str | float = 1.0,
        kernel: str = "gaussian",
        sampling: str = "plain",
        solver: str | Service[Any] = "exact",
        objective: str = "covariance",
        standardize: str | None = "causal",
        variance_floor: str | float = "relative",
        forgetting: float = 1.0,
        forget_standardizers: bool = True,
        align: bool = False,
        compress: bool = True,
        input_map: FeatureMap | None = None,
        target_map: FeatureMap | None = None,
        input_standardizer: Standardizer | None = None,
        target_standardizer: Standardizer | None = None,
        random_state: int | RandomState | None = None,
    ) -> None:
        self.n_components = n_components
        self.n_random_features = n_random_features
        self.n_target_features = n_target_features
        self.task = task
        self.bandwidth = bandwidth
        self.target_bandwidth = target_bandwidth
        self.kernel = kernel
        self.sampling = sampling
        self.solver = solver
        self.objective = objective
        self.standardize = standardize
        self.variance_floor = variance_floor
        self.forgetting = forgetting
        self.forget_standardizers = forget_standardizers
        self.align = align
        self.compress = compress
        self.input_map = input_map
        self.target_map = target_map
        self.input_standardizer = input_standardizer
        self.target_standardizer = target_standardizer
        self.random_state = random_state

    def fit(
        self, X: ArrayLike, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Forget everything and learn these rows, in their order.

        With ``standardize="frozen"`` a first pass over all rows fixes the standardisers.
        """
        fresh = copy.copy(self)
        for name in ("_intake", "_pipeline", "_pilot", "n_features_in_", "feature_names_in_"):
            fresh.__dict__.pop(name, None)
        classes = None if y is None else _sorted_classes(y, sample_weight)
        fresh._learn(X, y, classes, sample_weight, whole=True)
        self.__dict__ = fresh.__dict__
        return self

    def partial_fit(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        classes: Sequence[Hashable] | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn a block of any size; the way a stream is cut into blocks changes no result.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Inputs.
        y : array-like of shape (n,) or (n, d_y)
            Labels, numbers, or several numbers per row.
        classes : sequence, optional
            Classes known beforehand.  Others may appear at any time: a late class gives the same
            subspace as one declared at the start.
        sample_weight : array-like of shape (n,), optional
            A weight counts as repetition; rows of weight zero are checked and ignored.

        Raises
        ------
        DataError
            The block was rejected as a whole and nothing was learned from it.
        """
        return self._learn(X, y, classes, sample_weight, whole=False)

    def learn_one(self, x: ArrayLike, y: Any) -> Self:
        """Learn one observation: a one-dimensional x and its target."""
        row = np.asarray(x, dtype=np.float64)
        if row.ndim != 1:
            message = f"learn_one takes a one-dimensional x, not one of shape {row.shape}."
            raise DataError(message)
        targets = np.asarray(y)[np.newaxis]
        pipeline = getattr(self, "_pipeline", None)
        if pipeline is None:
            return self.partial_fit(row[np.newaxis], targets)
        if row.shape[0] != self.n_features_in_:
            message = f"x has {row.shape[0]} values, but the model learned {self.n_features_in_}."
            raise DataError(message)
        X = row[np.newaxis]
        check_values(X, "x")
        rows = self._intake.commit(self._intake.admit(X, targets, None, None))
        pipeline.run(rows.X, rows.Y, rows.weights)
        return self

    def transform(self, X: ArrayLike) -> Floats:
        """Embed rows with the present basis and standardiser; learns nothing.

        Coordinates are ``U^T phi(x)``, uncentred.
        """
        pipeline = self._ready()
        checked = validate_data(self, X, reset=False, dtype=np.float64, ensure_all_finite=False)
        check_values(checked, "X")
        columns = pipeline.embedding_basis()
        self._warn_of_zero_columns(pipeline)
        embedding = np.empty((checked.shape[0], self.n_components))
        for start in range(0, checked.shape[0], CHUNK_ROWS):
            rows = slice(start, start + CHUNK_ROWS)
            embedding[rows] = pipeline.embed(checked[rows]) @ columns
        return embedding

    def basis(self, *, kind: str = "extracted", align_to: Basis | None = None) -> Basis:
        """Supply a basis of the current moment, with its certificate.

        Parameters
        ----------
        kind : {"extracted", "maintained"}
            For tracking solvers: the best block inside the maintained span, or all maintained
            columns.
        align_to : Basis, optional
            Rotate within the span towards an earlier basis.
        """
        if kind not in ("extracted", "maintained"):
            message = f"kind={kind!r} is not known; give 'extracted' or 'maintained'."
            raise ValueError(message)
        check_is_fitted(self)
        if self._pipeline is None:
            return Basis.not_initialised(self._n_input_features())
        basis = self._pipeline.request() if kind == "extracted" else self._pipeline.maintained()
        return basis if align_to is None else basis.aligned_to(align_to)

    def diagnose(self) -> SameTargetReport:
        """Compare the delivered basis with the exact solution of the same moment."""
        return self._ready().report()

    def solver_health(self) -> dict[str, float]:
        """Counters and numbers of the solver's maintenance (clips, re-initialisations, ...)."""
        pipeline = self._ready()
        return pipeline.service.health(pipeline.service_state)

    def merge(self, other: Self) -> Self:
        """Pool another model over the same maps into this one, in place.

        The realised features of both are pooled exactly.  With causal standardisers that is not
        what one run over all rows would have given, since each side was standardised by its own
        past; with ``standardize="frozen"`` (one shared standardiser) or None it is.  Tracking
        solvers cannot be pooled.
        """
        mine, theirs = self._ready(), other._ready()
        if self.n_features_in_ != other.n_features_in_ or self._intake.task != other._intake.task:
            message = "The models differ in their number of inputs or in their task."
            raise MergeError(message)
        pooled = copy.deepcopy(mine)
        pooled.merge(theirs)
        self._pipeline = pooled
        if isinstance(pooled.target_map, OneHotMap):
            self._intake.labels = pooled.target_map
        return self

    def __sklearn_is_fitted__(self) -> bool:
        """Whether any rows were learned."""
        return "_intake" in self.__dict__

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that y is required."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    @property
    def _n_features_out(self) -> int:
        """Number of columns of an embedding; like any fitted attribute, absent before learning."""
        if not self.__sklearn_is_fitted__():
            message = "The output features are known only after rows were learned."
            raise AttributeError(message)
        return self.n_components

    def _learn(self, X: Any, y: Any, classes: Any, sample_weight: Any, *, whole: bool) -> Self:
        """Admit a block, then learn it; ``whole`` says that no more rows will come."""
        first = "_intake" not in self.__dict__
        if first:
            check_parameters(self)
            intake = Intake(self.task, resolve_service(self.solver))
        else:
            # While rows are held back, building may still fail: only then a copy must be at risk.
            intake = self._intake if self._pipeline is not None else copy.deepcopy(self._intake)
            validate_data(self, X, reset=False, skip_check_array=True)
        if y is None:
            message = (
                f"This {type(self).__name__} estimator requires y to be passed, "
                "but the target y is None."
            )
            raise DataError(message)
        checked = check_array(X, dtype=np.float64, ensure_all_finite=False, estimator=self)
        check_values(checked, "X")
        self._check_map_width(checked.shape[1])
        admitted = intake.admit(checked, y, sample_weight, classes)
        if whole and admitted.X.shape[0] == 0:
            message = "Every sample_weight is zero; there is nothing to learn."
            raise DataError(message)
        self._take(intake, intake.commit(admitted), whole=whole)
        if first:
            validate_data(self, X, reset=True, skip_check_array=True)
        return self

    def _take(self, intake: Intake, rows: Rows, *, whole: bool) -> None:
        """Learn admitted rows, building the pipeline as soon as enough of them are known."""
        pipeline = self.__dict__.get("_pipeline")
        pilot = self.__dict__.get("_pilot")
        if pipeline is None:
            rows = rows if pilot is None else pilot.followed_by(rows)
            needed = pilot_rows(self)
            if not whole and len(rows) < needed:
                self._intake, self._pipeline, self._pilot = intake, None, rows
                return
            all_rows = whole and self.standardize == "frozen"
            shown = rows if all_rows else rows.first(max(needed, 1))
            pipeline = build(self, shown, intake.labels)
        self._intake, self._pipeline, self._pilot = intake, pipeline, None
        pipeline.run(rows.X, rows.Y, rows.weights)

    def _check_map_width(self, n_inputs: int) -> None:
        """Raise where a ready-made input map takes another number of columns."""
        if self.input_map is not None and self.input_map.n_inputs != n_inputs:
            message = f"X has {n_inputs} columns, but input_map takes {self.input_map.n_inputs}."
            raise DataError(message)

    def _n_input_features(self) -> int:
        """Number of input features, known before the map is drawn."""
        return self.n_random_features if self.input_map is None else self.input_map.n_features

    def _ready(self) -> Pipeline:
        """Return the pipeline, or say what is missing."""
        check_is_fitted(self)
        if self._pipeline is None:
            message = (
                f"{self.n_samples_seen_} of the {pilot_rows(self)} rows that bandwidth='median' or "
                "standardize='frozen' needs were seen; learn more rows, call fit, or give "
                "a bandwidth in numbers or a ready-made standardiser instead."
            )
            raise NotReadyError(message)
        return self._pipeline

    def _warn_of_zero_columns(self, pipeline: Pipeline) -> None:
        """Explain columns that are zero because there are too few classes."""
        target_map = pipeline.target_map
        if pipeline.service.tracks or not isinstance(target_map, OneHotMap):
            return
        most = max(target_map.n_features - 1, 0)
        if self.n_components > most and pipeline not in _EXPLAINED:
            _EXPLAINED.add(pipeline)
            message = (
                f"{target_map.n_features} classes have at most {most} supervised directions, so of "
                f"n_components={self.n_components} the columns beyond {most} are zero."
            )
            warnings.warn(message, RankWarning, stacklevel=3)


def _sorted_classes(y: Any, sample_weight: Any) -> list[Hashable] | None:
    """Classes of a complete label vector in sorted order; None where y is not plain labels."""
    array = np.asarray(y)
    if array.dtype.kind not in "iubUSO" or array.ndim != 1:
        return None
    if sample_weight is not None:
        weights = np.asarray(sample_weight)
        if weights.shape == array.shape:
            array = array[weights != 0]
    try:
        unique: list[Hashable] = np.unique(array).tolist()
    except TypeError:
        return None
    return unique or None
