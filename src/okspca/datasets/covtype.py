"""Covertype: which of seven kinds of forest covers a patch of land, told by maps alone.

From the UCI Machine Learning Repository (data set 31, J. Blackard, CC BY 4.0): 581,012 patches of
30 x 30 metres in Colorado.  Ten inputs are quantities (height, slope, distances, shade), four say
which wilderness area it is, forty which kind of soil.
"""

import gzip

import numpy as np
from numpy.typing import NDArray

from okspca.datasets.files import DataFile, find

_ADVICE = (
    "It is data set 31 of the UCI Machine Learning Repository, 'Covertype': take covtype.data.gz "
    "from its archive."
)
TABLE = DataFile(
    "covtype.csv.gz", "2c248281ab4f08737f16b6ece537ae49604cfacdaf90a188ef0f6474ccacf459", _ADVICE
)
ORIGINAL = DataFile(
    "covtype.data.gz",
    "614360d0257557dd1792834a85a1cdebfadc3c4f30b011d56afee7ffb5b15771",
    _ADVICE,
    url="https://ndownloader.figshare.com/files/5976039",
)
FILES = (TABLE, ORIGINAL)


def load_covtype(*, download: bool = True) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Load X (581012 x 54) and y (classes 1 to 7), in the published order.

    Raises
    ------
    DataFileError
        The file is not there, with what to do.
    """
    file, path = find(*FILES, download=download)
    with gzip.open(path, "rt", encoding="ascii") as lines:
        # All are whole numbers below 7,200; so few bytes are read many times faster.
        table = np.loadtxt(lines, delimiter=",", skiprows=int(file is TABLE), dtype=np.int16)
    return table[:, :54].astype(np.float64), table[:, 54].astype(np.int64)
