"""What a model aims at: the paper's target, or the one that predicts better, named by one word.

====================  ==================  =============================================
``preset``            ``objective="auto"``  ``relevance="auto"``
====================  ==================  =============================================
``"paper"``           ``"covariance"``    ``None``
``"predictive"``      ``"whitened"``      ``"learned"``, where that can be
====================  ==================  =============================================

A value given for either parameter wins over the preset.  Relevance cannot be learned from sparse
rows, which would be filled; a ready-made ``input_map`` is meant to stay as it is; and the rows of
more than ``MOST_INPUTS`` inputs are too long to be kept.  In these cases there is none.
"""

from typing import Any

from scipy.sparse import issparse

AUTO, PAPER, PREDICTIVE = "auto", "paper", "predictive"
PRESETS = (PAPER, PREDICTIVE)
#: The first 4,096 rows of so many inputs take 64 MB while relevance is learned from them.
MOST_INPUTS = 2048


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


def relevance_of(model: Any) -> str | None:
    """Return the kind of relevance that a model asks for, with the preset applied.

    Examples
    --------
    >>> from okspca import OKSPCA
    >>> relevance_of(OKSPCA()), relevance_of(OKSPCA(preset="predictive"))
    (None, 'learned')
    >>> relevance_of(OKSPCA(preset="predictive", relevance=None)) is None
    True
    """
    if model.relevance != AUTO:
        return None if model.relevance is None else str(model.relevance)
    return "learned" if model.preset == PREDICTIVE and model.input_map is None else None


def relevance_from(model: Any, X: Any) -> str | None:
    """Return the kind of relevance that is learned from a stream that begins with these rows."""
    if model.relevance == AUTO and (issparse(X) or X.shape[1] > MOST_INPUTS):
        return None
    return relevance_of(model)


def target_in_words(model: Any) -> str:
    """Say what a model aims at; once it has learned rows, what they allowed.

    Examples
    --------
    >>> from okspca import OKSPCA
    >>> target_in_words(OKSPCA()), target_in_words(OKSPCA(preset="predictive"))
    ('covariance, as in the paper', 'predictive (whitened, learned relevance)')
    >>> target_in_words(OKSPCA(objective="whitened"))
    'whitened, without relevance'
    """
    relevance = relevance_of(model)
    learned = model.learned
    if learned is not None and learned.pipeline is not None and learned.search is None:
        relevance = None
    kinds = {
        None: "without relevance",
        "learned": "learned relevance",
        "low-rank": "low-rank relevance",
    }
    objective = objective_of(model)
    if objective == "covariance" and relevance is None:
        return "covariance, as in the paper"
    words = f"{objective}, {kinds[relevance]}"
    return f"predictive ({words})" if (objective, relevance) == ("whitened", "learned") else words
