"""Which inputs drive each component: random features mean nothing to people, gradients do.

The relevance of input i for component k is the root mean square of the derivative of the component
by the standardised input over rows, in units of the component's own standard deviation: by how many
of its standard deviations the component moves when the input moves by one of its own.  The formulas
are in :mod:`okspca.features.attribution`.
"""

import numpy as np
from numpy.typing import ArrayLike

from okspca.estimators import OKSPCA
from okspca.numerics.arrays import Floats


def relevance(model: OKSPCA, X: ArrayLike) -> Floats:
    """Return the relevance (components x inputs) over rows of X; zero beyond the rank.

    Rows may be whatever the model embeds, a data frame too; inputs are those of ``input_names_``.

    Examples
    --------
    >>> import numpy as np
    >>> random = np.random.RandomState(0)
    >>> X = random.normal(size=(2000, 3))
    >>> model = OKSPCA(1, random_state=0).fit(X, X[:, 1])
    >>> int(relevance(model, X)[0].argmax())
    1
    """
    # What never varies moves nothing, however steep the component is in its direction.
    varies = np.ptp(model.complete_rows(X), axis=0) > 0.0
    return model.explain(X).steepness * varies
