"""What is believed of the discriminants of classes, in the plainest way."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_expit, logit, logsumexp


def log_odds(v: NDArray[Any]) -> NDArray[Any]:
    """Each class against all others, for one row."""
    return np.array([v[c] - logsumexp(np.delete(v, c)) for c in range(len(v))])


def bounded(r: NDArray[Any], shares: NDArray[Any], n: float) -> NDArray[Any]:
    """Log likelihood ratios with one row more on either side."""
    b = np.logaddexp(r + np.log(shares * n), 0.0) - np.log(shares * n + 1.0)
    others = (1.0 - shares) * n
    return -(np.logaddexp(-b + np.log(others), 0.0) - np.log(others + 1.0))


def first(
    v: NDArray[Any], found: Any, shares: NDArray[Any], a: NDArray[Any], b: NDArray[Any], n: float
) -> NDArray[Any]:
    """The first opinion on a row: found.shares and found.spreads are those of the claims."""
    claims = np.arcsinh((log_odds(v) - logit(found.shares)) / found.spreads).clip(-8.0, 8.0)
    return np.asarray(log_expit(logit(shares) + bounded(a * claims + b, shares, n)))


def second(v: NDArray[Any], found: Any, into: Any, A: NDArray[Any], n: float) -> NDArray[Any]:
    """The second opinion on a row."""
    scores = v - np.log(found.shares)
    scores = (scores - scores.mean()) / np.sqrt((found.spreads**2).mean())
    if into is not None:
        scores = scores @ into.M + into.shift
    log_p = np.log(found.shares) + np.append(scores, 1.0) @ A
    ratios = bounded(log_odds(log_p) - logit(found.shares), found.shares, n)
    found_p = log_expit(logit(found.shares) + ratios)
    return np.asarray(found_p - logsumexp(found_p))


def blended(log_p: NDArray[Any], log_q: NDArray[Any], weight: float) -> NDArray[Any]:
    """Both opinions, the second with a weight."""
    q = np.exp(log_q) / np.exp(log_q).sum()
    return np.asarray(np.log(weight * np.exp(log_p) + (1.0 - weight) * q))
