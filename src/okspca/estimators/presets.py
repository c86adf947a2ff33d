"""What a model aims at: the paper's target, or the one that predicts better, named by one word.

====================  ====================  =============================================
``preset``            ``objective="auto"``  ``frequencies="auto"``
====================  ====================  =============================================
``"paper"``           ``"covariance"``      ``"drawn"``
``"predictive"``      ``"whitened"``        ``"trained"``, where that can be
====================  ====================  =============================================

``target_features="auto"`` follows the objective: ``"fourier"``, as in the paper, for
``"covariance"``, and ``"response"`` for ``"whitened"``, unless a number of random features was
given.

A value given for either parameter wins over the preset.  Frequencies cannot be learned from sparse
rows, which would be filled; a ready-made ``input_map`` is meant to stay as it is; the rows of more
than ``MOST_INPUTS`` inputs are too long to be kept; and with more than ``MOST_FEATURES`` features
people would wait for minutes.  In these cases they stay as drawn.  Frequencies that are a product
of signs have nothing to train or mix: with ``sampling="structured"`` the highest rung is scales.
"""

from typing import Any, NamedTuple

from scipy.sparse import issparse

from okspca.features.ladder import DRAWN, SCALED, TRAINED
from okspca.features.structured import STRUCTURED

AUTO, PAPER, PREDICTIVE = "auto", "paper", "predictive"
PRESETS = (PAPER, PREDICTIVE)
FOURIER, RESPONSE = "fourier", "response"
NEVER, ON_DRIFT = "never", "on-drift"
#: Rows of so many inputs are kept for the search of a map: 4,096 of them take 64 MB.
MOST_INPUTS = 2048
#: With more features than these, the search would take minutes.
MOST_FEATURES = 2048


def objective_of(model: Any) -> str:
    """Return the objective of a model, with the preset applied.

    Examples
    --------
    >>> from okspca import OKSPCA
    >>> objective_of(OKSPCA()), objective_of(OKSPCA(preset="predictive"))
    ('covariance', 'whitened')
    """
    if model.objective != AUTO:
        return str(model.objective)
    return "whitened" if model.preset == PREDICTIVE else "covariance"


def frequencies_of(model: Any) -> str:
    """Return the highest rung of the ladder of maps that a model allows, with the preset applied.

    Examples
    --------
    >>> from okspca import OKSPCA
    >>> frequencies_of(OKSPCA()), frequencies_of(OKSPCA(preset="predictive"))
    ('drawn', 'trained')
    >>> frequencies_of(OKSPCA(preset="predictive", frequencies="drawn"))
    'drawn'
    >>> frequencies_of(OKSPCA(preset="predictive", sampling="structured"))
    'scaled'
    """
    if model.frequencies != AUTO:
        return str(model.frequencies)
    if model.preset != PREDICTIVE or model.input_map is not None:
        return DRAWN
    return SCALED if model.sampling == STRUCTURED else TRAINED


class Asked(NamedTuple):
    """What a model is asked to choose by its first rows, beside the map."""

    bandwidth: bool = False
    components: bool = False


def asked_of(model: Any) -> Asked:
    """Return what a model is asked to choose.

    Examples
    --------
    >>> from okspca import OKSPCA
    >>> asked_of(OKSPCA(bandwidth="auto"))
    Asked(bandwidth=True, components=False)
    """
    components = isinstance(model.n_components, str)
    return Asked(model.bandwidth == AUTO and model.input_map is None, components)


def searches(model: Any) -> bool:
    """Whether first rows are kept to choose by them, if they are such that they can be."""
    return frequencies_of(model) != DRAWN or any(asked_of(model))


def target_features_of(model: Any) -> str:
    """Return the kind of features of a numeric response, with the objective applied.

    Examples
    --------
    >>> from okspca import OKSPCA
    >>> target_features_of(OKSPCA()), target_features_of(OKSPCA(preset="predictive"))
    ('fourier', 'response')
    """
    if model.target_features != AUTO:
        return str(model.target_features)
    is_random = objective_of(model) == "covariance" or model.n_target_features is not None
    return FOURIER if is_random else RESPONSE


def asked_from(model: Any, X: Any) -> Asked:
    """Return what is chosen for a stream that begins with these rows; sparse ones are not kept."""
    return Asked() if issparse(X) or X.shape[1] > MOST_INPUTS else asked_of(model)


def frequencies_from(model: Any, X: Any) -> str:
    """Return the highest rung for a stream that begins with these rows."""
    is_large = X.shape[1] > MOST_INPUTS or int(model.n_random_features) > MOST_FEATURES
    if model.frequencies == AUTO and (issparse(X) or is_large):
        return DRAWN
    return frequencies_of(model)


def target_in_words(model: Any) -> str:
    """Say what a model aims at; once it has learned rows, what they allowed.

    Examples
    --------
    >>> from okspca import OKSPCA
    >>> target_in_words(OKSPCA()), target_in_words(OKSPCA(preset="predictive"))
    ('covariance, as in the paper', 'predictive (whitened, trained frequencies)')
    >>> target_in_words(OKSPCA(objective="whitened"))
    'whitened, drawn frequencies'
    """
    frequencies = frequencies_of(model)
    learned = model.learned
    if learned is not None and learned.pipeline is not None and learned.search is None:
        frequencies = DRAWN
    objective = objective_of(model)
    if (objective, frequencies) == ("covariance", DRAWN):
        return "covariance, as in the paper"
    words = f"{objective}, {frequencies} frequencies"
    is_predictive = (objective, frequencies) == ("whitened", TRAINED)
    return f"predictive ({words})" if is_predictive else words
