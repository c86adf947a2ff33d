r"""Many machines, one model: states that are sums, and what may be said of their merges.

A state is a sum of fixed size, so shards of a stream can be learned anywhere and merged in any
order.  What that equals:

* **Frozen scalers.**  Every shard starts from one state of zero rows, :func:`identity`, which holds
  the maps, the standardisers and the classes.  Then ``merge`` is associative and commutative to
  rounding, :func:`identity` is neutral, and the merge of all shards equals one sequential run with
  ``standardize="frozen"``: 1e-12 for the dense moment, whatever the number of shards (where means
  are more than some hundred standard deviations from zero, the first pass costs digits).  The
  standardisers come from a first pass (:class:`Survey`, which merges in the same way) or from a
  pilot sample (a survey of that sample alone).
* **Causal scalers.**  A shard standardises a row by the rows *it* saw before.  The merge is still
  the exact sum of what the shards realised, but not what one run over all rows would have given.
  So everything here freezes: ``standardize="causal"`` is taken as ``"frozen"``.
* **What has no merge.**  Trackers and windows follow one stream and are refused.
  ``ridge="auto"`` adds up the errors that each shard made: it merges, but a shard of another
  length may choose another ridge; give a number where runs must be equal.

Two passes by hand; engines (:mod:`~okspca.distributed.dask`, :mod:`~okspca.distributed.spark`) do
just this, with bytes between their workers:

>>> import numpy as np
>>> from okspca import OKSPCA
>>> from okspca.datasets import response_surface
>>> shards = [response_surface(500, seed=number) for number in range(4)]
>>> model = OKSPCA(2, n_random_features=64, random_state=0)
>>> survey = Survey(model)
>>> for X, y in shards:
...     survey = survey.merge(Survey(model).add(X, y))
>>> start = identity(model, survey).to_bytes()
>>> states = [learn(OKSPCA, start, [shard]) for shard in shards]
>>> merged = OKSPCA.from_bytes(merge_states(OKSPCA, states))
>>> alone = OKSPCA(2, n_random_features=64, random_state=0, standardize="frozen")
>>> alone = alone.fit(*(np.concatenate(part) for part in zip(*shards)))
>>> bool(np.allclose(merged.moment_.matrix(), alone.moment_.matrix(), rtol=0.0, atol=1e-12))
True
"""

from okspca.distributed.states import (
    FAN_IN,
    identity,
    learn,
    merge_states,
    merge_surveys,
    survey_of,
    tree_depth,
)
from okspca.distributed.survey import Survey

__all__ = [
    "FAN_IN",
    "Survey",
    "identity",
    "learn",
    "merge_states",
    "merge_surveys",
    "survey_of",
    "tree_depth",
]
