"""OKSPCA: the estimator that streams (x, y) and hands out certified supervised coordinates."""

from importlib import import_module
from os import PathLike
from typing import Any, Self

from numpy.random import RandomState
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin

from okspca.estimators.answering import check_embeds
from okspca.estimators.monitoring import Monitoring
from okspca.estimators.presets import AUTO
from okspca.estimators.relearning import Relearning
from okspca.features import FeatureMap
from okspca.features.ladder import DRAWN
from okspca.numerics.arrays import Floats
from okspca.pipeline import PipelineState
from okspca.pipeline.answers import embedding
from okspca.services import Service
from okspca.standardize import Standardizer


class OKSPCA(
    Relearning,
    Monitoring,
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """Online kernel supervised principal components.

    Streams pairs (x, y) in blocks of any size, keeps one centred cross-moment between random
    features of x and features of y, and supplies on request an orthonormal basis of its leading
    left singular subspace, with a proof of how good it is.  Memory does not grow with the stream.

    The defaults are the paper's.  ``preset="predictive"`` is the better setting: over 40 cells of
    data sets kept apart from development, its whitened target predicted better than the paper's in
    35, as well in 5 and worse in none; the frequencies it trains on the first rows add to that.

    Parameters
    ----------
    n_components : int, "auto" or None, default=2
        Number of columns of the embedding.  For "whitened" only: None is one less than there are
        classes, following those that come late, or one for each number of the response; "auto" is
        as many as `pilot_rows` show to be needed: the smallest number that predicts held-back rows
        within one standard error of the best, None before that.
    n_random_features : int, default=256
        Number of random Fourier features of the inputs.
    n_target_features : int, optional
        Number of random Fourier features of a continuous target; by default as for the inputs.
    task : {"auto", "classification", "regression"}, default="auto"
        With "auto" the dtype of y decides at the first row: floating point is regression, all else
        labels.  A warning says where that looks wrong: whole numbers of more than 100 kinds, or at
        most 30 different ones as floating point in a first block.
    bandwidth : {"sqrt-dim", "median", "auto"} or float, default="sqrt-dim"
        Bandwidth of the input kernel on standardised inputs.  "median" holds back the first 512
        rows, draws the map from them, then learns them in order.  "auto" begins with "sqrt-dim" and
        tries an eighth to eight times of it when frequencies are tried (see `frequencies`), even if
        these stay as drawn.
    target_features : {"auto", "fourier", "response", "chebyshev", "raw"}, default="auto"
        Features of a numeric response, or of several.  "fourier": random ones, as in the paper.
        "chebyshev": the response and Chebyshev polynomials of it up to degree 6.  "response": the
        same (of a higher degree where there are more components), with polynomials that count a
        hundredth, so that the first components are the best predictors of the response and the
        others tell more about its distribution.  "raw": the response alone.  "auto" is "response"
        for the whitened objective and "fourier" otherwise, or where `n_target_features` is given.
    target_bandwidth : {"sqrt-dim", "median"} or float, default=1.0
        Bandwidth of the target kernel on the standardised response.
    kernel : str, default="gaussian"
        Stationary kernel that the features approximate: "gaussian", "laplacian", "matern12",
        "matern32" or "matern52".
    sampling : {"plain", "orthogonal", "structured"}, default="plain"
        How frequencies are drawn: independently; in orthogonal blocks; or, for thousands of inputs,
        as products of signs and fast Hadamard transforms, which take a fraction of the time and of
        the memory.  The last two need a kernel of the Euclidean distance, so not the Laplacian, and
        frequencies of the last can be "scaled" but not "mixed" or "trained".
    solver : str or Service, default="exact"
        How a basis is supplied: "exact", "warm-block", "cached", "exact-each", "binary",
        "contrast", the trackers "adam" and "projected-gradient", or a service object with its own
        settings.
    preset : {"paper", "predictive"}, default="paper"
        What "auto" means for `objective` and `frequencies`: "covariance" and "drawn", or "whitened"
        and "trained", which predict better.  Values given for them win.
    objective : {"auto", "covariance", "whitened"}, default="auto"
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
    frequencies : {"auto", "drawn", "scaled", "mixed", "trained"}, default="auto"
        How far the frequencies of the input map may be learned from the first rows: not at all
        ("drawn"), scaled by one number per input, by a matrix that mixes inputs, or each trained by
        itself.  After 512, 1,024, 2,048, ... rows (eight per input at least) and at last after
        `pilot_rows`, the rows so far choose, and each step is taken only if it predicts held-back
        rows better; then they are learned again with the new map.  A stream that ends before has
        the map as drawn.  With "auto" the preset decides, and frequencies stay as drawn for sparse
        rows, a ready-made `input_map`, and more than 2,048 inputs or features.
    pilot_rows : int, default=8192
        Number of first rows from which frequencies are learned; they are kept until then, in at
        most 64 MB.  Afterwards the map is final.
    relearn : {"never", "on-drift"}, default="never"
        With "on-drift" and the whitened objective, an alarm begins a fresh pilot
        (:meth:`relearn_features`): rows are predicted before they join the moment, and a test of
        Page and Hinkley tells when that succeeds less than it did.  It costs one solution per 256
        rows.
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
        Number of disjoint sub-moments to keep beside the moment, from which
        :meth:`estimate_stability` estimates the statistical error (8 is a good number).  Each row
        then changes one of them too; memory is that of so many more moments.  0 keeps none and
        costs nothing.
    align : bool, default=False
        Rotate embeddings towards an anchor that learning renews at 64, 128, 256, ... rows (sooner
        when a late class adds a direction), so that models trained on them keep working while the
        stream goes on.
    compress : bool, default=True
        Store the moment of a scalar response in the few dozen directions its features use
        (lossless).
    missing : {"raise", "skip", "impute"}, default="raise"
        What is done with rows that lack an input (NaN, None, NA): "raise" refuses the block and
        names row and column; "skip" leaves them out, and embeds them as NaN; "impute" fills in the
        mean of the earlier rows that have the value.  Rows without a target are refused or left
        out.  Infinity is never a missing value.
    missing_indicators : bool, default=False
        With "impute": add one input per column, 1 where its value is missing.
    categories : {"raise", "one-hot"}, default="raise"
        What is done with text columns of data frames (text and categories of pandas and polars):
        "raise" refuses them; "one-hot" makes one input for each of the most frequent values among
        the first 512 rows, which wait until then.  Other values are zero in all of them.
    max_categories : int, default=20
        With "one-hot": the most inputs that one text column becomes.
    input_map, target_map : FeatureMap, optional
        Ready-made maps instead of drawn ones.
    input_standardizer, target_standardizer : Standardizer, optional
        Ready-made standardisers; they are copied.
    n_threads : int, default=1
        Cores for long blocks, within the limits of BLAS, OpenMP and Numba.  It changes no bit.
    random_state : int, RandomState or None, default=None
        Seed of the maps and of the solver's start.

    Attributes
    ----------
    n_components_ : int
        Number of columns of an embedding.
    components_ : ndarray of shape (n_components, n_random_features)
        What :meth:`transform` multiplies with; zero rows beyond the rank for solvers that do not
        track.
    singular_values_ : ndarray of shape (n_components,)
        Singular values of C̄ along them.
    moment_ : CrossMoment
        The accumulated moment; ``moment_.matrix()`` is C̄.
    classes_ : ndarray
        Classes in the order of the columns of the moment (classification).
    n_samples_seen_, n_rows_skipped_, n_values_imputed_ : int
        Rows learned, rows left out because a value was missing, and values filled in.
    n_unseen_categories_ : dict of str to int
        By text column, rows learned whose value has no input of its own.
    input_names_ : list of str
        Names of the inputs in the order of ``relevance_``.
    input_map_, target_map_ : FeatureMap
        The maps in use.
    precision_ : {"float64", "float32"}
        What input features are computed in, as the dtype of the first rows said.
    relevance_ : ndarray of shape (d,)
        Share of each input in what matters (with learned `frequencies`, once the map was tested);
        all zero where the rows told nothing, as with a constant response.
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
        n_components: int | str | None = 2,
        *,
        n_random_features: int = 256,
        n_target_features: int | None = None,
        task: str = "auto",
        bandwidth: str | float = "sqrt-dim",
        target_features: str = "auto",
        target_bandwidth: str | float = 1.0,
        kernel: str = "gaussian",
        sampling: str = "plain",
        solver: str | Service[Any] = "exact",
        preset: str = "paper",
        objective: str = "auto",
        ridge: str | float = "auto",
        class_weighting: str = "squared",
        frequencies: str = "auto",
        pilot_rows: int = 8192,
        relearn: str = "never",
        standardize: str | None = "causal",
        variance_floor: str | float = "relative",
        forgetting: float = 1.0,
        window: int | None = None,
        forget_standardizers: bool = True,
        stability: int = 0,
        align: bool = False,
        compress: bool = True,
        missing: str = "raise",
        missing_indicators: bool = False,
        categories: str = "raise",
        max_categories: int = 20,
        input_map: FeatureMap | None = None,
        target_map: FeatureMap | None = None,
        input_standardizer: Standardizer | None = None,
        target_standardizer: Standardizer | None = None,
        n_threads: int = 1,
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
        self.preset = preset
        self.objective = objective
        self.ridge = ridge
        self.class_weighting = class_weighting
        self.frequencies = frequencies
        self.pilot_rows = pilot_rows
        self.relearn = relearn
        self.standardize = standardize
        self.variance_floor = variance_floor
        self.forgetting = forgetting
        self.window = window
        self.forget_standardizers = forget_standardizers
        self.stability = stability
        self.align = align
        self.compress = compress
        self.missing = missing
        self.missing_indicators = missing_indicators
        self.categories = categories
        self.max_categories = max_categories
        self.input_map = input_map
        self.target_map = target_map
        self.input_standardizer = input_standardizer
        self.target_standardizer = target_standardizer
        self.n_threads = n_threads
        self.random_state = random_state

    def transform(self, X: ArrayLike) -> Floats:
        """Embed rows with the present basis and standardiser; learns nothing.

        Coordinates are ``U^T phi(x)``, uncentred.
        """
        check_embeds(self.ready())
        return self._answer(X, embedding)[1]

    def merge(self, other: Self, *, distinct: bool = False) -> Self:
        """Merge another model over the same maps into this one, in place.

        The realised features of both are merged exactly.  With causal standardisers that is not
        what one run over all rows would have given, since each side was standardised by its own
        past; with ``standardize="frozen"`` (one shared standardiser) or None it is.  Tracking
        solvers cannot be merged.  A state of zero rows (:func:`okspca.distributed.identity`) is the
        neutral element.

        Parameters
        ----------
        other : OKSPCA
            It stays as it is.
        distinct : bool, default=False
            True where the rows of both are known to be different.  Otherwise a model is not merged
            with itself, a copy of it, a model that contains it or one that has a merged part in
            common with it.  Two models are taken for the same where they hold the same sums of two
            rows or more; rows in common that were not merged (an earlier state of the same stream,
            overlapping files) are not found out.

        Raises
        ------
        MergeError
            The message says which of maps, parameters, schema or standardisers differs, or that
            rows would count twice; neither model has changed.
        """
        merging = import_module("okspca.estimators.merging")  # as with files: many never merge
        merged = merging.merged_record(self, other, self._merged_companions, distinct=distinct)
        self._learned = merged
        return self

    def _merged_companions(self, mine: PipelineState, theirs: PipelineState) -> dict[str, Any]:
        """What two merged pipelines are accompanied by, where that can be merged."""
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
        _saving().save_model(self, path, overwrite=overwrite)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Load a model that :meth:`save` has written.

        Raises
        ------
        StateError
            The file is not a whole and unchanged model; the message says why.
        """
        model: Self = _saving().load_model(cls, path)[0]
        return model

    def to_bytes(self) -> bytes:
        """Return the whole state as the bytes that :meth:`save` would write to a file."""
        data: bytes = _saving().model_bytes(self)
        return data

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Make the model whose :meth:`to_bytes` these are.

        Raises
        ------
        StateError
            They are not a whole and unchanged model; the message says why.
        """
        model: Self = _saving().model_from(cls, data)[0]
        return model

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that y is required, and that X may be sparse."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = self.frequencies in (AUTO, DRAWN)
        tags.input_tags.allow_nan = self.missing != "raise"
        return tags

    @property
    def output_container(self) -> str | None:
        """What `set_output` has chosen for embeddings; None where it was not called."""
        try:
            chosen: str | None = self._sklearn_output_config.get("transform")
        except AttributeError:
            return None
        return chosen

    @property
    def _n_features_out(self) -> int:
        """Number of columns of an embedding; like any fitted attribute, absent before learning."""
        return self.n_components_


def _saving() -> Any:
    """Import what reads and writes files: many programs never do either."""
    return import_module("okspca.estimators.saving")
