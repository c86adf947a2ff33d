"""OKSPCA: the estimator that streams (x, y) and hands out certified supervised coordinates."""

import copy
import warnings
import weakref
from collections.abc import Hashable, Sequence
from os import PathLike
from typing import Any, Self, TypeGuard

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from okspca.basis import Basis
from okspca.diagnostics.same_target import SameTargetReport
from okspca.diagnostics.stability import Stability
from okspca.errors import DataError, MergeError, NotReadyError, RankWarning
from okspca.estimators.building import Rows, build, check_widths, pilot_rows, resolve_service
from okspca.estimators.data import check_row, check_values, validated
from okspca.estimators.fitted import FittedAttributes
from okspca.estimators.intake import Intake
from okspca.estimators.learned import SEARCH, Learned
from okspca.estimators.missing import as_array
from okspca.estimators.parameters import check_parameters
from okspca.estimators.pooling import check_same_kind
from okspca.estimators.relevance_search import RelevanceSearch
from okspca.estimators.saving import load_model, model_bytes, model_from, save_model
from okspca.estimators.sparse_rows import check_sparse_rows
from okspca.estimators.stability import StabilityAttribute
from okspca.features import FeatureMap, OneHotMap
from okspca.features.bandwidth import MEDIAN_ROWS
from okspca.numerics.arrays import Floats
from okspca.pipeline import Pipeline, PipelineState
from okspca.pipeline.answers import (
    embedding,
    errors_in_words,
    maintained,
    report,
    request,
    request_uncertified,
    stability,
)
from okspca.pipeline.merging import check_merge, merge
from okspca.services import Service
from okspca.standardize import Standardizer

_FITTED = ("_learned", "n_features_in_", "feature_names_in_")
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
    target_features : {"fourier", "chebyshev", "raw"}, default="fourier"
        Features of a numeric response: random Fourier features, the response with Chebyshev
        polynomials of it up to degree 6, or the response alone; several outputs as well.
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
    objective : {"covariance", "whitened"}, default="covariance"
        What the leading subspace maximises: the squared cross-covariance with the target features,
        as in the paper, or the same after the input features were whitened, which predicts better
        at the same width.  For "whitened" the covariance of the features is kept too, ``basis()``
        lives in whitened coordinates, and ``components_`` holds the weights of the features.
    ridge : float or "auto", default="auto"
        For "whitened": what is added to the variance of every feature, in units of the mean
        variance.  Large values give the paper's target, small ones reduced-rank regression.  "auto"
        chooses among powers of ten by how well rows are predicted before they are learned.
    class_weighting : {"squared", "proportional", "balanced"}, default="squared"
        For "whitened": a class of share p counts p², as in the paper, p, or the same as any other.
    relevance : {"learned", "low-rank", None}, default=None
        "learned" finds out on the first 4,096 rows which inputs matter and draws the map anew for
        them after 512, 1,024, 2,048 and 4,096 rows, where that predicts better; before the last
        time, only with eight rows per input.  The rows are kept until then and learned again.
        "low-rank" does the same for mixtures of inputs, at most 2,048 of them: it keeps a matrix of
        that width.
    standardize : {"causal", "frozen", None}, default="causal"
        "causal": each row with the mean and variance of the rows before it.  "frozen": with fixed
        ones, from `input_standardizer`, from all rows in :meth:`fit`, or from the first 512 rows of
        a stream.  Rows that come sorted by an input move its mean along with them, so that features
        of early and late rows mean different things: shuffle them, or use "frozen" with `fit`.
    variance_floor : {"relative", "paper"} or float, default="relative"
        When a column is too constant to be scaled: at rounding level of its mean, the paper's
        absolute floor of 1e-7, or an absolute variance of your own.
    forgetting : float, default=1.0
        Factor by which the past fades with every row; 1 forgets nothing.
    window : int, optional
        Learn from the last rows only: at most so many, and at least 15/16 of them.  Memory is that
        of some 30 moments.  Cannot be combined with `forgetting` or `stability`.
    forget_standardizers : bool, default=True
        Whether the factor, or the window, acts on the standardisers too.
    stability : int, default=0
        Number of disjoint sub-moments to keep beside the moment, from which :meth:`stability`
        estimates the statistical error (8 is a good number).  Each row then changes one of them
        too; memory is that of so many more moments.  0 keeps none and costs nothing.
    align : bool, default=False
        Rotate embeddings towards an anchor that learning renews at 64, 128, 256, ... rows (sooner
        when a late class adds a direction), so that models trained on them keep working while the
        stream goes on.
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
    relevance_ : ndarray of shape (d,)
        Share of each input in what matters (with ``relevance``, once the map was tested); all zero
        where the rows told nothing, as with a constant response.
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

    stability = StabilityAttribute()

    def __init__(
        self,
        n_components: int = 2,
        *,
        n_random_features: int = 256,
        n_target_features: int | None = None,
        task: str = "auto",
        bandwidth: str | float = "sqrt-dim",
        target_features: str = "fourier",
        target_bandwidth: str | float = 1.0,
        kernel: str = "gaussian",
        sampling: str = "plain",
        solver: str | Service[Any] = "exact",
        objective: str = "covariance",
        ridge: str | float = "auto",
        class_weighting: str = "squared",
        relevance: str | None = None,
        standardize: str | None = "causal",
        variance_floor: str | float = "relative",
        forgetting: float = 1.0,
        window: int | None = None,
        forget_standardizers: bool = True,
        stability: int = 0,
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
        self.target_features = target_features
        self.target_bandwidth = target_bandwidth
        self.kernel = kernel
        self.sampling = sampling
        self.solver = solver
        self.objective = objective
        self.ridge = ridge
        self.class_weighting = class_weighting
        self.relevance = relevance
        self.standardize = standardize
        self.variance_floor = variance_floor
        self.forgetting = forgetting
        self.window = window
        self.forget_standardizers = forget_standardizers
        self.stability = stability
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
        for name in _FITTED:
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
        X : array-like or sparse matrix of shape (n, d)
            Inputs.  A model whose first block is sparse scales its inputs without centring them;
            sparse rows are never filled.
        y : array-like of shape (n,) or (n, d_y)
            Labels, numbers, or several numbers per row.
        classes : sequence, optional
            Classes known beforehand.  Others may appear at any time: a late class gives the same
            subspace as one declared at the start.
        sample_weight : array-like of shape (n,), optional
            A weight counts as repetition in the moment and in the standardisers (which see the row
            once before they learn it); rows of weight zero are checked and ignored.

        Raises
        ------
        DataError
            The block was rejected as a whole and nothing was learned from it.
        """
        lean = classes is None and sample_weight is None and self._learn_single(X, y)
        return self if lean else self._learn(X, y, classes, sample_weight, whole=False)

    def learn_one(self, x: ArrayLike, y: Any) -> Self:
        """Learn one observation: a one-dimensional x and its target.

        A row that is refused leaves no trace.  If a solver that follows the stream fails after a
        row was learned, its error is raised and the row stays learned.
        """
        learned: Learned | None = self.__dict__.get("_learned")
        pipeline = None if learned is None else learned.pipeline
        shape = x.shape if type(x) is np.ndarray else _unmasked_shape(x)
        if learned is not None and shape == (self.n_features_in_,) and self._is_lean(pipeline):
            target = learned.intake.numbers_of(y)
            if target is not None and pipeline.learn_row(x, target):  # type: ignore[arg-type]
                return self
        row = check_row(x)
        if row.ndim != 1:
            message = f"learn_one takes a one-dimensional x, not one of shape {row.shape}."
            raise DataError(message)
        targets = as_array(y)[np.newaxis]
        if learned is None or pipeline is None:
            return self.partial_fit(row[np.newaxis], targets)
        if row.shape[0] != self.n_features_in_:
            message = f"x has {row.shape[0]} values, but the model learned {self.n_features_in_}."
            raise DataError(message)
        X = row[np.newaxis]
        check_values(X, "x")
        intake = learned.intake
        with intake.taking(intake.admit(X, targets, None, None)) as rows:
            self._run(learned, rows)
        return self

    def _learn_single(self, X: Any, y: Any) -> bool:
        """Learn a block of one plain row by the fast path; False where the general one must."""
        learned: Learned | None = self.__dict__.get("_learned")
        if learned is None or not (self._is_plain(X) and type(y) is np.ndarray):
            return False
        pipeline = learned.pipeline
        if pipeline is None or not self._is_lean(pipeline):
            return False
        if y.shape[:1] != (1,) or X.shape[0] != 1 or y.dtype.kind not in "fiuU":
            return False
        target = learned.intake.numbers_of(y[0] if y.ndim > 1 else y.tolist()[0])
        return target is not None and pipeline.learn_row(X[0], target)

    def transform(self, X: ArrayLike) -> Floats:
        """Embed rows with the present basis and standardiser; learns nothing.

        Coordinates are ``U^T phi(x)``, uncentred.
        """
        pipeline = self._ready()
        if pipeline.state.rows == 0:
            message = "This state has learned no rows yet; learn some, or merge states that have."
            raise NotReadyError(message)
        _warn_of_zero_columns(pipeline)
        checked = self._checked_rows(pipeline, X)
        return pipeline.read(embedding).of(checked)

    def _checked_rows(self, pipeline: Pipeline, X: ArrayLike) -> Floats:
        """Check rows that are to be embedded."""
        checks = {"dtype": np.float64, "ensure_all_finite": False, "accept_sparse": "csr"}
        checked: Floats = validated(self, X, reset=False, **checks)
        check_values(checked, "X")
        check_sparse_rows(self, pipeline, checked)
        return checked

    def basis(
        self, *, kind: str = "extracted", align_to: Basis | None = None, certify: bool = True
    ) -> Basis:
        """Supply a basis of the current moment, with its certificate.

        Parameters
        ----------
        kind : {"extracted", "maintained"}
            For tracking solvers: the best block inside the maintained span, or all maintained
            columns.
        align_to : Basis, optional
            Rotate within the span towards an earlier basis.
        certify : bool
            False leaves the certificate out and saves its cost, about a quarter of an exact
            request.

        Notes
        -----
        One thread may learn while others call this, :meth:`transform`, :meth:`diagnose` or read
        ``components_``: each sees the state after some row or block, never one in between.
        """
        if kind not in ("extracted", "maintained"):
            message = f"kind={kind!r} is not known; give 'extracted' or 'maintained'."
            raise ValueError(message)
        learned: Learned | None = self.__dict__.get("_learned")
        pipeline = None if learned is None else learned.pipeline
        if pipeline is None:
            check_is_fitted(self)
            return Basis.not_initialised(self._n_input_features())
        if kind == "extracted":
            basis = pipeline.read(request if certify else request_uncertified)
        else:
            basis = pipeline.read(maintained)
            basis = basis if certify else basis._replace(certificate=None)
        return basis if align_to is None else basis.aligned_to(align_to)

    def diagnose(self) -> SameTargetReport:
        """Compare the delivered basis with the exact solution of the same moment."""
        return self._ready().read(report)

    def estimate_stability(self) -> Stability:
        """Estimate how far the exact basis is from what endless data would give.

        This is the sampling error, which no solver can remove; a certificate is about the other
        question, how far the delivered basis is from the exact one.  ``model.stability()`` is the
        same.  The model must have been made with ``stability=8`` or so.

        Returns
        -------
        Stability
            Distance, angles, their intervals and the recommended rank.
        """
        return self._ready().read(stability)

    def error_lines(self) -> str:
        """Say in two lines how far delivered, exact and population subspace are apart."""
        return self._ready().read(errors_in_words)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name; ``stability`` is the number, not the method."""
        return {**super().get_params(deep), "stability": self.__dict__["stability"]}

    def solver_health(self) -> dict[str, float]:
        """Counters and numbers of the solver's maintenance (clips, re-initialisations, ...)."""
        return self._ready().read(lambda p: p.service.health(p.service_state))

    def merge(self, other: Self) -> Self:
        """Pool another model over the same maps into this one, in place.

        The realised features of both are pooled exactly.  With causal standardisers that is not
        what one run over all rows would have given, since each side was standardised by its own
        past; with ``standardize="frozen"`` (one shared standardiser) or None it is.  Tracking
        solvers cannot be pooled.  A state of zero rows (:func:`okspca.distributed.identity`) is the
        neutral element.

        Raises
        ------
        MergeError
            The message says which of maps, parameters, schema or standardisers differs; neither
            model has changed.
        """
        mine, theirs = self._ready().state, other._ready().snapshot()
        if _searches(mine) or _searches(theirs):
            message = (
                "A model is still finding out which inputs matter; pool models that share "
                "an input_map, with relevance=None."
            )
            raise MergeError(message)
        check_same_kind(self, other, (self._learned.intake, other._learned.intake))
        check_merge(mine, theirs)
        pooled = copy.deepcopy(mine)
        merge(pooled, theirs)
        pooled.companions = {**pooled.companions, **self._pooled_companions(mine, theirs)}
        intake = copy.copy(self._learned.intake)
        if isinstance(pooled.target_map, OneHotMap):
            intake.labels = pooled.target_map
        self._learned = Learned(intake, Pipeline(pooled), None)
        return self

    def _pooled_companions(self, mine: PipelineState, theirs: PipelineState) -> dict[str, Any]:
        """What two pooled pipelines are accompanied by, where that can be pooled."""
        return {}

    def save(self, path: str | PathLike[str], *, overwrite: bool = False) -> None:
        """Save the whole state to a file, atomically and without pickle.

        A model that is there already is kept beside it, as ``<path>.previous``.  A model that is
        loaded and goes on learning equals one that was never saved, to the last bit.  Parts of your
        own making (services, maps, standardisers) cannot be saved so.

        Parameters
        ----------
        path : path-like
            Where to write; nothing is written to the null device.
        overwrite : bool, default=False
            Whether a regular file that holds something else than a model may be replaced.

        Raises
        ------
        StateError
            It cannot be written, or something else is there; the message says what.
        """
        save_model(self, path, overwrite=overwrite)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Load a model that :meth:`save` has written.

        Raises
        ------
        StateError
            The file is not a whole and unchanged model; the message says why.
        """
        model: Self = load_model(cls, path)[0]
        return model

    def to_bytes(self) -> bytes:
        """Return the whole state as the bytes that :meth:`save` would write to a file."""
        return model_bytes(self)

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Make the model whose :meth:`to_bytes` these are.

        Raises
        ------
        StateError
            They are not a whole and unchanged model; the message says why.
        """
        model: Self = model_from(cls, data)[0]
        return model

    def __sklearn_is_fitted__(self) -> bool:
        """Whether any rows were learned."""
        return "_learned" in self.__dict__

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that y is required, and that X may be sparse."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = self.relevance is None
        return tags

    @property
    def _n_features_out(self) -> int:
        """Number of columns of an embedding; like any fitted attribute, absent before learning."""
        if not self.__sklearn_is_fitted__():
            message = "The output features are known only after rows were learned."
            raise AttributeError(message)
        pipeline = self._learned.pipeline
        return int(self.n_components) if pipeline is None else pipeline.state.n_components

    def _learn(self, X: Any, y: Any, classes: Any, sample_weight: Any, *, whole: bool) -> Self:
        """Admit a block, then learn it; ``whole`` says that no more rows will come."""
        first = "_learned" not in self.__dict__
        try:
            if first or self._learned.pipeline is None:
                check_parameters(self)
            if first or not self._is_plain(X):
                validated(self, X, reset=first, skip_check_array=True)
            self._admit_and_take(X, y, (classes, sample_weight), whole=whole)
        except BaseException:
            if first:
                for name in _FITTED:
                    self.__dict__.pop(name, None)
            raise
        return self

    def _admit_and_take(self, X: Any, y: Any, extras: tuple[Any, Any], *, whole: bool) -> None:
        """Check everything about a block, and only then let it change anything."""
        learned = self.__dict__.get("_learned") or Learned(Intake(self.task), None, None)
        if learned.pipeline is None:
            # While rows are held back, building may still fail: only then a copy must be at risk.
            learned = learned._replace(intake=copy.copy(learned.intake))
            learned.intake.service = resolve_service(self.solver)
        if y is None:
            message = (
                f"This {type(self).__name__} estimator requires y to be passed, "
                "but the target y is None."
            )
            raise DataError(message)
        plain = self._is_plain(X)
        checked = X if plain else validated(self, X, reset=None, ensure_all_finite=False)
        check_values(checked, "X")
        check_sparse_rows(self, learned.pipeline, checked)
        admitted = learned.intake.admit(checked, y, extras[1], extras[0])
        numbers = admitted.numbers
        check_widths(self, checked.shape[1], None if numbers is None else numbers.shape[1])
        if whole and admitted.X.shape[0] == 0:
            message = "Every sample_weight is zero; there is nothing to learn."
            raise DataError(message)
        with learned.intake.taking(admitted) as rows:
            self._take(learned, rows, whole=whole)

    def _is_plain(self, X: Any) -> bool:
        """Whether X needs no conversion and, having no names to compare, no check of them."""
        return (
            type(X) is np.ndarray
            and X.dtype == np.float64
            and X.flags.c_contiguous
            and X.ndim == 2
            and X.size > 0
            and X.shape[1] == self.n_features_in_
            and "feature_names_in_" not in self.__dict__
        )

    def _take(self, learned: Learned, rows: Rows, *, whole: bool) -> None:
        """Learn admitted rows, building the pipeline as soon as enough of them are known."""
        intake, pipeline, pilot = learned
        if pipeline is not None:
            self._run(learned, rows)
            return
        rows = rows if pilot is None else pilot.followed_by(rows)
        needed = max(pilot_rows(self, labels=intake.labels is not None), 1)
        if whole or len(rows) >= needed:
            all_rows = whole and self.standardize == "frozen"
            pipeline = build(self, rows if all_rows else rows.first(needed), intake.labels)
            if self.relevance is None:
                pipeline.run(rows.X, rows.Y, rows.weights)
            else:
                low_rank = self.relevance == "low-rank"
                search = RelevanceSearch(pipeline.state.twin(), low_rank=low_rank)
                pipeline = search.learn(pipeline, rows)
        self._learned = Learned(intake, pipeline, rows if pipeline is None else None)

    def _run(self, learned: Learned, rows: Rows, **companions: Any) -> None:
        """Learn admitted rows, in a search for the inputs that matter or without."""
        pipeline = learned.pipeline
        assert pipeline is not None
        search: RelevanceSearch | None = pipeline.state.companions.get(SEARCH)
        beside = {"target_map": learned.intake.labels, **companions}
        if search is None:
            pipeline.run(rows.X, rows.Y, rows.weights, **beside)
            return
        followed = search.learn(pipeline, rows, **beside)
        if followed is not pipeline:
            self._learned = learned._replace(pipeline=followed)

    def _is_lean(self, pipeline: Pipeline | None) -> TypeGuard[Pipeline]:
        """Whether nothing but the pipeline has to see a row."""
        companions = {} if pipeline is None else pipeline.state.companions
        return pipeline is not None and not (companions and _searches(pipeline.state))

    def _n_input_features(self) -> int:
        """Number of input features, known before the map is drawn."""
        return int(self.n_random_features) if self.input_map is None else self.input_map.n_features

    def _ready(self) -> Pipeline:
        """Return the pipeline, or say what is missing."""
        check_is_fitted(self)
        learned = self._learned
        if learned.pipeline is None:
            message = (
                f"{learned.n_rows} of the {MEDIAN_ROWS} rows that bandwidth='median' or "
                "standardize='frozen' needs were seen; learn more rows, call fit, or give "
                "a bandwidth in numbers or a ready-made standardiser instead."
            )
            raise NotReadyError(message)
        return learned.pipeline


def _searches(state: PipelineState) -> bool:
    """Whether rows are still kept to find out which inputs matter."""
    search: RelevanceSearch | None = state.companions.get(SEARCH)
    return search is not None and not search.is_final


def _warn_of_zero_columns(pipeline: Pipeline) -> None:
    """Explain, once, columns that are zero because there are too few classes."""
    state, target_map = pipeline.state, pipeline.state.target_map
    if state.service.tracks or not isinstance(target_map, OneHotMap):
        return
    most = max(target_map.n_features - 1, 0)
    if state.n_components > most and pipeline not in _EXPLAINED:
        _EXPLAINED.add(pipeline)
        message = (
            f"{target_map.n_features} classes have at most {most} supervised directions, so of "
            f"n_components={state.n_components} the columns beyond {most} are zero."
        )
        warnings.warn(message, RankWarning, stacklevel=3)


def _unmasked_shape(x: Any) -> tuple[int, ...] | None:
    """Shape of a row that is no plain array; None where a mask says that values are missing."""
    return None if isinstance(x, np.ma.MaskedArray) else np.shape(x)


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
