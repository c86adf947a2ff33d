"""Electricity: whether the price in New South Wales goes up or down, every half hour.

The Australian market from May 1996 to December 1998 (M. Harries, 1999), in the normalised form that
the literature on streams knows as "elec": 45,312 rows in order of time, with the time of day, price
and demand in two states, and what is transferred between them.  The class is 1 where the price is
above the mean of the last 24 hours.
"""

import gzip

import numpy as np
from numpy.typing import NDArray

from okspca.datasets.files import DataFile, find

_ADVICE = "It is elec.csv of scikit-multiflow 0.4.1, 45,312 lines of six inputs and the class."
TABLE = DataFile(
    "electricity.csv.gz",
    "a912ce85fbdf510b7faed50c59c1b1070482a0e7500ccfdf1217c5032158a190",
    _ADVICE,
)
ORIGINAL = DataFile(
    "elec.csv",
    "ebdfe5480ae25a43a7d054286135e3a9484697a2850d5158a333b1578c28bb97",
    _ADVICE,
    url="https://raw.githubusercontent.com/online-ml/river/"
    "2cf9e49a1f849100e1b55e3e474e086ddfa6fff2/src/skmultiflow/data/datasets/elec.csv",
)
FILES = (TABLE, ORIGINAL)


def load_electricity(*, download: bool = True) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Load X (45312 x 6) and y (0 or 1), in order of time.

    Raises
    ------
    DataFileError
        The file is not there, with what to do.
    """
    file, path = find(*FILES, download=download)
    contents = path.read_bytes()
    text = (gzip.decompress(contents) if file is TABLE else contents).decode("ascii")
    table = np.loadtxt(text.splitlines(), delimiter=",", skiprows=1)
    return table[:, :6].copy(), table[:, 6].astype(np.int64)
