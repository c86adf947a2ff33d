"""Kin8nm: the distance of a robot arm's end from a target, given eight joint angles.

From the DELVE archive of the University of Toronto (OpenML data set 189): 8,192 rows of a
simulation, medium noise, highly non-linear.
"""

import numpy as np
from numpy.typing import NDArray

from okspca.datasets.files import DataFile, find

_ADVICE = "It is OpenML data set 189, 'kin8nm', as a CSV file with a header and y as last column."
FILES = (
    DataFile(
        "kin8nm.csv", "fb234f0dc8d69a8596e3514533234753ecb1a5868748215d25eeb2adee226ab9", _ADVICE
    ),
    # The same file with the line ends of another system.
    DataFile(
        "kin8nm-crlf.csv",
        "5e0a126945f55098a264a08c686c28265f8c4c5cfae4e2190023075b84514f81",
        _ADVICE,
        url="https://raw.githubusercontent.com/AlexHagemeister/HighlyAdaptiveRidge/"
        "83fe26a31b44f7e97396e68e94b3f36513b05f65/data/kin8nm.csv",
    ),
)


def load_kin8nm(*, download: bool = True) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Load X (8192 x 8, angles in radians) and y (distances), in the published order.

    Raises
    ------
    DataFileError
        The file is not there, with what to do.
    """
    _, path = find(*FILES, download=download)
    table = np.loadtxt(path, delimiter=",", skiprows=1)
    return table[:, :8].copy(), table[:, 8].copy()
