"""Sensorless drive diagnosis: eleven conditions of a motor, told by features of its currents.

From the UCI Machine Learning Repository (data set 325, M. Bator, CC BY 4.0): 58,509 rows of 48
features, sorted by class.  The features differ in scale by five orders of magnitude.
"""

import gzip

import numpy as np
from numpy.typing import NDArray

from okspca.datasets.files import DataFile, find

_ADVICE = (
    "It is data set 325 of the UCI Machine Learning Repository, 'Dataset for Sensorless Drive "
    "Diagnosis': take Sensorless_drive_diagnosis.txt from its archive."
)
TABLE = DataFile(
    "sensorless.csv.gz", "dc70a50b434d7d745ec64e5977be6784eaf5ea003f4d280f6975407233f65389", _ADVICE
)
ORIGINAL = DataFile(
    "Sensorless_drive_diagnosis.txt",
    "366b8c5c564a5a4d07600db9180d2871f51489104b554f6320781514059f35a9",
    _ADVICE,
    url="https://archive.ics.uci.edu/static/public/325/dataset+for+sensorless+drive+diagnosis.zip",
    member="Sensorless_drive_diagnosis.txt",
)
FILES = (TABLE, ORIGINAL)


def load_sensorless(*, download: bool = True) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Load X (58509 x 48) and y (classes 1 to 11), sorted by class as published.

    Raises
    ------
    DataFileError
        The file is not there, with what to do.
    """
    file, path = find(TABLE, ORIGINAL, download=download)
    if file is TABLE:
        with gzip.open(path, "rt", encoding="ascii") as lines:
            table = np.loadtxt(lines, delimiter=",", skiprows=1)
    else:
        table = np.loadtxt(path)
    return table[:, :48].copy(), table[:, 48].astype(np.int64)
