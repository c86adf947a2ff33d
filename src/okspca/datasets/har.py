"""Human activity recognition from a smartphone: six activities of thirty people.

From the UCI Machine Learning Repository (data set 240, Anguita et al., ESANN 2013; its README asks
for a citation of that paper and excludes commercial use).  The official split keeps people apart:
21 of them (7,352 rows) are for training, 9 (2,947 rows) for testing.

The published archive has 561 features.  A smaller file holds only the 265 features of the time
domain, all rows, same split; it is loaded where the archive is not there, and always under its own
name, HAR-265, since results on it are not results on the full set.
"""

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from okspca.datasets.files import DataFile, DataFileError, find, folders

ARCHIVE = "UCI HAR Dataset"
FULL, PARTIAL = "HAR", "HAR-265"
ROWS = {"train": 7352, "test": 2947}
#: Rows per activity, which tell a complete archive from a damaged one.
ACTIVITIES = {
    "train": [1226, 1073, 986, 1286, 1374, 1407],
    "test": [496, 471, 420, 491, 532, 537],
}
_ADVICE = (
    "Get data set 240, 'Human Activity Recognition Using Smartphones', from the UCI Machine "
    f"Learning Repository and unpack it, so that there is a folder '{ARCHIVE}'."
)
PARTS = {
    "train": DataFile(
        "har_time265_train.npz",
        "592eed3b55e71c9d44f0bf65e15527939369fcf370b4d27c9d8e8d9676ac8a1f",
        _ADVICE,
    ),
    "test": DataFile(
        "har_time265_test.npz",
        "c49a7a9d3bf4b2d7783a321a4682a01a1e9f8dbbefe7eac93880da6b654e9de0",
        _ADVICE,
    ),
}


@dataclass(frozen=True)
class HarPart:
    """One side of the official split.

    Attributes
    ----------
    X : ndarray
        Features, 561 or 265 of them.
    y : ndarray
        Activities 1 to 6.
    subject : ndarray
        Who it was, 1 to 30.
    """

    X: NDArray[np.float64]
    y: NDArray[np.int64]
    subject: NDArray[np.int64]


def load_har() -> tuple[str, HarPart, HarPart]:
    """Load the name ("HAR" or "HAR-265"), the training part and the test part.

    Raises
    ------
    DataFileError
        Neither form is there, with what to do.
    """
    for folder in folders():
        if (folder / ARCHIVE / "train" / "X_train.txt").is_file():
            return FULL, *(_from_archive(folder / ARCHIVE, side) for side in ROWS)  # type: ignore[return-value]
    return PARTIAL, *(_from_table(PARTS[side]) for side in ROWS)  # type: ignore[return-value]


def _from_archive(folder: Path, side: str) -> HarPart:
    """Read the text files of the published archive."""
    X = np.loadtxt(folder / side / f"X_{side}.txt")
    y = np.loadtxt(folder / side / f"y_{side}.txt", dtype=np.int64)
    subject = np.loadtxt(folder / side / f"subject_{side}.txt", dtype=np.int64)
    complete = X.shape == (ROWS[side], 561) and np.bincount(y)[1:].tolist() == ACTIVITIES[side]
    if not complete or subject.shape != y.shape:
        digest = hashlib.sha256(X.tobytes()).hexdigest()[:12]
        message = (
            f"{folder / side} is not the published archive: X has shape {X.shape} (digest "
            f"{digest}) and the activities come {np.bincount(y)[1:].tolist()} times. {_ADVICE}"
        )
        raise DataFileError(message)
    return HarPart(X, y, subject)


def _from_table(file: DataFile) -> HarPart:
    """Read the file of time-domain features."""
    _, path = find(file)
    with np.load(path, allow_pickle=False) as arrays:
        return HarPart(
            arrays["X"], arrays["y"].astype(np.int64), arrays["subject"].astype(np.int64)
        )
